#!/usr/bin/env bash
# Builds the GEMMs of every element type and major with nvcc alone, and compares them on the GPU.
#
#   scripts/gemm_check_visit.sh [TYPES [TOOL]]
#
# TYPES: only what begins so, "e4m3" for instance; "" for all. With TOOL, small shapes under that tool of compute-sanitizer
# (memcheck, racecheck, synccheck, initcheck). What is printed goes to gemm_check.log in $OUT, or in build/gemm_check.
# A pair of types takes about 20 s of a core to compile; as many are compiled at a time as there are cores.
set -u
cd "$(dirname "$0")/.."
types=${1:-}
tool=${2:-}
build=build/gemm_check
log=${OUT:-$build}/gemm_check.log
mkdir -p "$build" "$(dirname "$log")"
cuda=$(dirname "$(dirname "$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)")")
export LD_LIBRARY_PATH=$cuda/lib64:${LD_LIBRARY_PATH:-}
flags=(-std=c++20 -O3 -gencode arch=compute_90a,code=sm_90a -Iinclude)
cores=$(nproc)
objects=()

compile() { # source, name, definitions
  local source=$1 object=$build/$2.o
  shift 2
  objects+=("$object")
  rm -f "$object"
  while (($(jobs -rp | wc -l) >= cores)); do wait -n; done
  { "$cuda/bin/nvcc" "${flags[@]}" "$@" -c "$source" -o "$object" >"$object.log" 2>&1 || cat "$object.log"; } &
}
kinds() { # a, b, majors of each, promoted
  [[ $1 == "$types"* ]] || return
  compile tests/gemm/on_gpu_kinds.cu "$1_$2_$3_$4_$5" \
    "-DGANTRY_A=$1" "-DGANTRY_B=$2" "-DGANTRY_MAJOR_A=$3" "-DGANTRY_MAJOR_B=$4" "-DGANTRY_PROMOTE=$5"
}

start=$SECONDS
compile tests/gemm/on_gpu.cu on_gpu
for element in bf16 f16; do
  for a in K MN; do
    for b in K MN; do kinds $element $element $a $b false; done
  done
done
for a in e4m3 e5m2; do
  for b in e4m3 e5m2; do
    for promote in false true; do kinds $a $b K K $promote; done
  done
done
for a in s8 u8; do
  for b in s8 u8; do kinds $a $b K K false; done
done
kinds tf32 tf32 K K false
wait
"$cuda/bin/nvcc" "${objects[@]}" -o "$build/on_gpu" -lcublasLt || exit 1
echo "built in $((SECONDS - start)) s" | tee "$log"
run=("$build/on_gpu" "$types")
if [[ -n $tool ]]; then
  sanitizer=$(command -v compute-sanitizer || echo "$cuda/bin/compute-sanitizer")
  run=("$sanitizer" --tool "$tool" --error-exitcode 3 "${run[@]}" small)
fi
timeout 300 "${run[@]}" 2>&1 | tee -a "$log"
exit "${PIPESTATUS[0]}"
