#!/usr/bin/env bash
# Builds and runs everything that needs a GPU, with nvcc alone: no GoogleTest, no Boost, no CMake.
#
#   scripts/gpu_visit.sh [ANSWERS]
#
# ANSWERS is the file of `conformance_simulate` (build/answers.bin unless given), made on any machine. What the programs print
# goes to visit.log in $OUT, or in build/gpu_visit. Ends with one line for each program, and fails if one failed.
set -u
cd "$(dirname "$0")/.."
answers=${1:-build/answers.bin}
log=${OUT:-build/gpu_visit}/visit.log
bin=build/gpu_visit/bin
mkdir -p "$(dirname "$log")" "$bin"
: >"$log"
nvcc=$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)
sanitizer=$(command -v compute-sanitizer || echo /usr/local/cuda/bin/compute-sanitizer)
flags=(-std=c++20 -O3 -gencode arch=compute_90a,code=sm_90a -Iinclude -I.)

compile() { # object, source
  "$nvcc" "${flags[@]}" -c "$2" -o "$1" >"$1.log" 2>&1 || { echo "cannot compile $2" && cat "$1.log"; } | tee -a "$log"
}
compile "$bin/on_gpu.o" tests/conformance/on_gpu.cu &
for part in copies products wide_products operations examples; do
  compile "$bin/$part.o" "tests/conformance/${part}_gpu.cu" &
done
compile "$bin/tile_copy.o" bench/gpu/tile_copy.cu &
compile "$bin/tile_product.o" examples/tile_product_gpu.cu &
compile "$bin/encode.o" tests/tma/gpu_encode_conformance.cu &
compile "$bin/numeric.o" tests/numeric/on_gpu.cu &
wait
"$nvcc" "$bin"/{on_gpu,copies,products,wide_products,operations,examples}.o -o "$bin/conformance"
for program in tile_copy tile_product encode numeric; do "$nvcc" "$bin/$program.o" -o "$bin/$program"; done

summary=()
visit() { # name, seconds, command...
  local name=$1 limit=$2 start=$SECONDS result
  shift 2
  printf '=== %s\n' "$name" | tee -a "$log"
  timeout "$limit" "$@" >"$bin/$name.log" 2>&1
  local code=$?
  cat "$bin/$name.log" >>"$log"
  tail -n 20 "$bin/$name.log"
  case $code in
    0) result=passed ;;
    77) result=skipped ;;
    124) result="still running after ${limit} s" ;;
    *) result=FAILED ;;
  esac
  summary+=("$(printf '%-24s %s (%d s)' "$name" "$result" $((SECONDS - start)))")
}
visit conformance 150 "$bin/conformance" "$answers"
visit tile_copy 90 "$bin/tile_copy"
visit tile_product 60 "$bin/tile_product" 300 520 200
visit encode 60 "$bin/encode"
visit numeric 60 "$bin/numeric"
visit memcheck 90 "$sanitizer" --tool memcheck --error-exitcode 1 "$bin/conformance" "$answers" --in-process --only example
visit racecheck 90 "$sanitizer" --tool racecheck --error-exitcode 1 "$bin/conformance" "$answers" --in-process --only example
visit memcheck_statements 90 "$sanitizer" --tool memcheck --error-exitcode 1 "$bin/conformance" "$answers" --in-process --only 11:
printf '%s\n' "${summary[@]}" | tee -a "$log"
! printf '%s\n' "${summary[@]}" | grep -qv -e passed -e skipped
