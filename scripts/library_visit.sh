#!/usr/bin/env bash
# One visit to a GPU for the library: what it costs the host, how it behaves under load, and the command line's figures on sizes that nobody
# tuned for. Needs build/visit with the programs `gantry` and `library_bench`, and the libraries that they load.
#
#   scripts/library_visit.sh
set -uo pipefail
cd "$(dirname "$0")/.." || exit
out=${OUT:-build/library_visit}
mkdir -p "$out"
cuda=$(dirname "$(dirname "$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)")")
export PATH=$cuda/bin:$PATH LD_LIBRARY_PATH=$PWD/build/visit:$cuda/lib64:${LD_LIBRARY_PATH:-}
export GANTRY_CACHE_DIR=$PWD/build/visit_cache
gantry=build/visit/gantry bench=build/visit/library_bench

step() { # name, seconds, command...
  local name=$1 limit=$2 start=$SECONDS
  shift 2
  timeout "$limit" "$@" >"$out/$name.log" 2>&1
  echo "=== $name: status $? ($((SECONDS - start)) s)"
  tail -n 25 "$out/$name.log"
}
step gemm 90 "$gantry" gemm --machine gpu --m 1536 --n 1536 --k 1536 --epilogue "d = gelu(acc + row(bias))"
step sums 90 "$gantry" gemm --machine gpu --m 1000 --n 1000 --k 4096 --epilogue "d = acc; s:f32 = reduce_row_add(acc); t deterministic = reduce_col_add(acc)"
step split 90 "$gantry" gemm --machine gpu --m 256 --n 256 --k 16384 --epilogue "d = acc + c"
step cold 120 "$bench" cold
step cost 120 "$bench" cost
step load 240 "$bench" load
step first 60 "$bench" first
step first_again 60 "$bench" first
work=$(mktemp -d)
cat >"$work/sizes" <<'END'
1 4096 4096
16 8192 8192
32 28672 8192
5000 5000 5000
1536 1536 1536
3000 1000 7000
512 4096 14336
4096 24576 1536
4096 7168 2048
1000 1000 1000
256 256 16384
END
printf '%s\n' "d = acc" "d = gelu_tanh(acc + row(bias:bf16))" >"$work/epilogues"
step bench 400 "$gantry" bench gemm --shapes "$work/sizes" --epilogues "$work/epilogues" --sustained 0 --json "$out/sizes.json"
