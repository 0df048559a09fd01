#!/usr/bin/env bash
# Builds the race of small and shared tiles with nvcc alone, unless it is there, and runs it.
#
#   scripts/few_rows_visit.sh [M N K]...
#
# What it prints goes to few_rows.log in $OUT or in build/few_rows.
set -u
cd "$(dirname "$0")/.."
out=${OUT:-build/few_rows}
mkdir -p "$out" build/few_rows
cuda=$(dirname "$(dirname "$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)")")
export LD_LIBRARY_PATH=$cuda/lib64:${LD_LIBRARY_PATH:-}
bench=build/few_rows/few_rows_bench
[ -x "$bench" ] || "$cuda/bin/nvcc" -std=c++20 -O3 -gencode arch=compute_90a,code=sm_90a -Iinclude bench/gpu/few_rows.cu -o "$bench" -lcublasLt || exit 1
timeout 200 "$bench" "$@" 2>&1 | tee "$out/few_rows.log"
exit "${PIPESTATUS[0]}"
