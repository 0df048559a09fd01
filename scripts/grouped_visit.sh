#!/usr/bin/env bash
# One visit to a GPU for grouped GEMMs: results, memcheck, graphs, and races against cuBLASLt in a loop and torch._grouped_mm; of
# pointer arrays the results, and races against groups of rows of the same sizes. Needs build/visit with the program
# `gantry`, `libgantry.so.0.1` and the libraries that they load.
#
#   scripts/grouped_visit.sh [results|races|pointers|pointer_races]
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
array() { # name, lines of "M N K", options...
  printf '%b\n' "$2" >"$out/$1.txt"
  step "$1" 90 "$gantry" gemm --machine gpu --problems "$out/$1.txt" "${@:3}"
}
pointers() {
  local sizes="128 768 256\n0 64 64\n77 264 200\n512 8 1000\n1 128 1\n300 136 0\n5 0 64\n1000 520 72"
  array p_plain "$sizes"
  array p_uniform "$sizes" --inputs uniform --epilogue "d = gelu_tanh(acc + row(bias))"
  array p_all "$sizes" --epilogue "let z = alpha * acc + beta * c + row(r) + col(s) + load(x:bf16); d = relu(z); aux:bf16 = z; bits:u1 = z > 0; top = reduce_max(z)" --set beta=0.5
  array p_n_major "$sizes" --major-a m --major-b n
  array p_column "128 768 256\n8 8 8\n512 264 100\n0 1 1\n40 77 300" --layout-d column
  array p_fp8 "128 768 256\n16 64 1000\n77 256 200\n512 16 48" --a e4m3
  array p_in_turn "$sizes" --tile 128x128 --cluster 2x1 --schedule pingpong --epilogue "d = relu(acc + row(bias))"
  array p_cluster_n "$sizes" --tile 64x128 --cluster 1x2
  array p_many "$(printf '3 64 64\n0 8 8\n65 16 8\n%.0s' {1..2000})"
  array p_brief "$(printf '128 256 64\n%.0s' {1..1500})"
  array p_deep "$(printf '256 512 8192\n%.0s' {1..40})"
  if command -v compute-sanitizer >/dev/null; then
    printf '%b\n' "$sizes" >"$out/memcheck.txt"
    step p_memcheck 240 compute-sanitizer --tool memcheck --error-exitcode 9 "$gantry" gemm --machine gpu --problems "$out/memcheck.txt"
  fi
}
# The same GEMMs as groups of rows and as a pointer array, by turns: medians of three, and their ratio (goal 0.97).
pointer_race() { # groups, rows of each, N, K
  local name="race_$1x$2x$3x$4" rows i
  rows=$(printf "$2,%.0s" $(seq 2 "$1"))$2
  printf "$2 $3 $4\n%.0s" $(seq "$1") >"$out/$name.txt"
  for i in 1 2 3; do
    lines=1 step "${name}_rows_$i" 120 "$gantry" bench gemm --groups "$rows" --n "$3" --k "$4" --sustained 0 --json "$out/${name}_rows_$i.json"
    lines=1 step "${name}_array_$i" 120 "$gantry" bench gemm --problems "$out/$name.txt" --sustained 0 --json "$out/${name}_array_$i.json"
  done
  python3 - "$out/$name" <<'PYTHON'
import json, statistics, sys
def seconds(kind):
    found = []
    for i in (1, 2, 3):
        result = json.load(open(f"{sys.argv[1]}_{kind}_{i}.json"))["results"][0]
        found.append((result["ours"]["burst_us"], result["kernel"]))
    return statistics.median(f[0] for f in found), found[0][1]
rows, array = seconds("rows"), seconds("array")
print(f"--- {sys.argv[1].split('/')[-1]}: rows {rows[0]:.1f} us ({rows[1]}), array {array[0]:.1f} us ({array[1]}), ratio {rows[0] / array[0]:.3f}")
PYTHON
}
pointer_races() {
  pointer_race 8 4096 4096 7168
  pointer_race 64 1024 1408 2048
  pointer_race 16 512 4096 4096
  pointer_race 128 512 2048 1024
}
case ${1:-all} in
  results) results ;;
  races) races ;;
  pointers) pointers ;;
  pointer_races) pointer_races ;;
  *) results; races; pointers; pointer_races ;;
esac
exit "$failed"
