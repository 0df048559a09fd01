#!/usr/bin/env bash
# Builds the product's benchmark with nvcc alone, and runs it.
#
#   scripts/gemm_visit.sh [ARGUMENTS OF gemm_bench]
#
# What it prints goes to gemm.log, and the figures to gemm.json, in $OUT or in build/gemm_visit.
set -u
cd "$(dirname "$0")/.."
out=${OUT:-build/gemm_visit}
mkdir -p "$out" build/gemm_visit
cuda=$(dirname "$(dirname "$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)")")
export LD_LIBRARY_PATH=$cuda/lib64:${LD_LIBRARY_PATH:-}
bench=build/gemm_visit/gemm_bench
"$cuda/bin/nvcc" -std=c++20 -O3 -gencode arch=compute_90a,code=sm_90a -Iinclude bench/gpu/gemm.cu -o "$bench" -lcublasLt || exit 1
nvidia-smi --query-gpu=name,clocks.sm,clocks.max.sm,power.limit,temperature.gpu --format=csv,noheader | tee "$out/gemm.log"
timeout 500 "$bench" --json "$out/gemm.json" "$@" 2>&1 | tee -a "$out/gemm.log"
exit "${PIPESTATUS[0]}"
