#!/usr/bin/env bash
# Builds the benchmark of fused GEMMs with nvcc alone, its kernels side by side, and runs it.
#
#   scripts/fused_visit.sh [ARGUMENTS OF fused_bench]
#
# What it prints goes to fused.log in $OUT or in build/fused_visit; spills and serialised wgmmas are named first.
set -u
cd "$(dirname "$0")/.."
out=${OUT:-build/fused_visit}
bin=build/fused_visit/bin
mkdir -p "$out" "$bin"
cuda=$(dirname "$(dirname "$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)")")
export LD_LIBRARY_PATH=$cuda/lib64:${LD_LIBRARY_PATH:-} PATH=$cuda/bin:$PATH
flags="-std=c++20 -O3 -gencode arch=compute_90a,code=sm_90a -Iinclude"
{
  echo "bench/gpu/fused.cu $bin/main.o"
  for job in 0 1 2 3; do
    for entry in 0 1 2 3 4 5; do
      echo "bench/gpu/fused_entrants.cu $bin/$job$entry.o -DGANTRY_JOB=$job -DGANTRY_ENTRY=$entry"
    done
  done
} | xargs -P "$(nproc)" -L 1 sh -c "nvcc $flags -Xptxas -v \$2 \$3 -c \$0 -o \$1 >\$1.log 2>&1 || cat \$1.log"
grep -hE "C75|[1-9][0-9]* bytes spill" "$bin"/*.log
nvcc $flags "$bin"/*.o -o "$bin/fused_bench" -lcublasLt || exit 1
timeout 300 "$bin/fused_bench" "$@" 2>&1 | tee "$out/fused.log"
exit "${PIPESTATUS[0]}"
