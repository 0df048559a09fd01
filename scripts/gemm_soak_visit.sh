#!/usr/bin/env bash
# Builds the host surface's GPU tests and the example with nvcc alone, and runs them: CUDA graphs, threads, a soak of 10,000
# launches, and a short form under compute-sanitizer.
#
#   scripts/gemm_soak_visit.sh [LAUNCHES]
#
# What it prints goes to soak.log in $OUT, or in build/gemm_soak. Fails if anything failed.
set -u
cd "$(dirname "$0")/.."
out=${OUT:-build/gemm_soak}
bin=build/gemm_soak
mkdir -p "$out" "$bin"
cuda=$(dirname "$(dirname "$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)")")
flags=(-std=c++20 -O2 -gencode arch=compute_90a,code=sm_90a -Iinclude)
"$cuda/bin/nvcc" "${flags[@]}" tests/gemm/host_on_gpu.cu tests/gemm/count_allocations.cpp -o "$bin/host_on_gpu" &
soak=$!
"$cuda/bin/nvcc" "${flags[@]}" -x cu examples/gemm_activation.cpp -o "$bin/gemm_activation" &
example=$!
wait $soak && wait $example || exit 1

: >"$out/soak.log"
failed=0
visit() { # seconds, command...
  local limit=$1 start=$SECONDS code
  shift
  echo "=== $*" | tee -a "$out/soak.log"
  timeout "$limit" "$@" 2>&1 | tee -a "$out/soak.log"
  code=${PIPESTATUS[0]}
  echo "=== exit $code after $((SECONDS - start)) s" | tee -a "$out/soak.log"
  [[ $code -eq 0 ]] || failed=1
}
visit 20 "$bin/gemm_activation"
visit 110 "$bin/host_on_gpu" --launches "${1:-10000}"
visit 120 "$cuda/bin/compute-sanitizer" --tool memcheck --error-exitcode 1 "$bin/host_on_gpu" --launches 20 --streams 2
exit $failed
