#!/usr/bin/env bash
# One visit to a GPU for grouped GEMMs: results, memcheck, graphs, and races against cuBLASLt in a loop and torch._grouped_mm. Needs
# build/visit with the program `gantry`, `libgantry.so.0` and the libraries that they load.
#
#   scripts/grouped_visit.sh [results|races]
set -uo pipefail
cd "$(dirname "$0")/.." || exit
out=${OUT:-build/grouped_visit}
mkdir -p "$out"
cuda=$(dirname "$(dirname "$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)")")
export PATH=$cuda/bin:$PATH LD_LIBRARY_PATH=$PWD/build/visit:$cuda/lib64:${LD_LIBRARY_PATH:-}
export GANTRY_CACHE_DIR=$PWD/build/visit_cache
gantry=build/visit/gantry
failed=0

step() { # name, seconds, command...
  local name=$1 limit=$2 start=$SECONDS status
  shift 2
  timeout "$limit" "$@" >"$out/$name.log" 2>&1
  status=$?
  [[ $status == 0 ]] || failed=1
  echo "=== $name: status $status ($((SECONDS - start)) s)"
  grep -v "^$" "$out/$name.log" | tail -n "${lines:-8}"
}
gemm() { step "$1" 90 "$gantry" gemm --machine gpu "${@:2}"; }

results() {
  gemm plain --groups 128,0,77,512 --n 768 --k 256
  gemm bias --groups 128,0,77,512,1,129,1000 --n 768 --k 256 --epilogue "d = gelu_tanh(acc + row(bias))" --inputs uniform
  gemm all --groups 70,0,1,300 --n 264 --k 520 --epilogue "let z = alpha * acc + beta * c + row(r) + col(s); d = relu(z); aux:bf16 = z; bits:u1 = z > 0; t = reduce_row_add(z); u = reduce_col_add(z); top = reduce_max(z)" --set beta=0.5
  gemm n_major --groups 300,5,0,700 --n 512 --k 320 --major-b n
  gemm fp8 --groups 300,5,0,700 --n 512 --k 512 --a e4m3
  gemm masked --groups 300,5,0,128 --capacity 384 --n 512 --k 512
  gemm few_rows --groups "$(printf '8,%.0s' {1..255})8" --n 1024 --k 1024
  gemm many --groups "$(printf '3,0,%.0s' {1..2000})1" --n 256 --k 64
  gemm along_k --groups-k 64,0,192,1,1000 --m 256 --n 384
  gemm along_k_c --groups-k 64,0,192 --m 200 --n 136 --epilogue "d = acc + c" --d f32
  if command -v compute-sanitizer >/dev/null; then
    step memcheck 240 compute-sanitizer --tool memcheck --error-exitcode 9 "$gantry" gemm --machine gpu --groups 128,0,77,300 --n 264 --k 136
  fi
}
races() {
  local even; even=$(printf '4096,%.0s' {1..7})4096
  lines=6 step cublaslt 200 "$gantry" bench gemm --groups "$even" --n 4096 --k 7168 --sustained 0
  lines=6 step cublaslt_k 200 "$gantry" bench gemm --groups-k "$even" --m 4096 --n 7168 --sustained 0
  if python3 -c "import torch" 2>/dev/null; then
    lines=40 step torch 500 python3 bench/gpu/grouped_torch.py --library "$(ls build/visit/libgantry.so* | head -1)" --replays 1000 --json "$out/torch.json"
  else
    echo "=== torch: PyTorch is not installed"
  fi
}
case ${1:-all} in
  results) results ;;
  races) races ;;
  *) results; races ;;
esac
exit "$failed"
