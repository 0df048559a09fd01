#!/usr/bin/env bash
# Builds and runs the product's benchmark with nvcc alone.
#
#   scripts/gemm_visit.sh [ARGUMENTS OF gemm_bench]
#
# What it prints goes to gemm.log, and the figures to gemm.json, in $OUT or in build/gemm_visit. A build/gemmperf/gemm_bench
# that runs here is taken as it is.
set -u
cd "$(dirname "$0")/.."
out=${OUT:-build/gemm_visit}
mkdir -p "$out" build/gemm_visit
cuda=$(dirname "$(dirname "$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)")")
export LD_LIBRARY_PATH=$cuda/lib64:${LD_LIBRARY_PATH:-}
bench=build/gemm_visit/gemm_bench
"$cuda/bin/nvcc" -std=c++20 -O3 -gencode arch=compute_90a,code=sm_90a -Iinclude bench/gpu/gemm.cu -o "$bench" -lcublasLt || exit 1
nvidia-smi --query-gpu=name,clocks.sm,clocks.max.sm,power.limit,temperature.gpu --format=csv,noheader | tee "$out/gemm.log"
timeout 400 "$bench" --json "$out/gemm.json" "$@" 2>&1 | tee -a "$out/gemm.log"
