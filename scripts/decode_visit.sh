#!/usr/bin/env bash
# One visit to a GPU for GEMMs of few rows: every form with swapped operands against the reference, the automatic choice
# against cuBLASLt at the sizes of decoding, and a sweep over every configuration that the cost model is fitted to.
# Builds nothing: needs build/visit with the programs `gantry` and `few_rows_sweep`, and the libraries that they load.
#
#   scripts/decode_visit.sh [check|race|sweep]...     default: all three
set -uo pipefail
cd "$(dirname "$0")/.." || exit
out=${OUT:-build/decode_visit}
mkdir -p "$out"
cuda=$(dirname "$(dirname "$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)")")
export PATH=$cuda/bin:$PATH LD_LIBRARY_PATH=$PWD/build/visit:$cuda/lib64:${LD_LIBRARY_PATH:-}
export GANTRY_CACHE_DIR=$PWD/build/visit_cache
gantry=build/visit/gantry sweep=build/visit/few_rows_sweep
status=0

step() { # name, seconds, command...
  local name=$1 limit=$2 start=$SECONDS
  shift 2
  timeout "$limit" "$@" >"$out/$name.log" 2>&1
  local code=$?
  [ $code -eq 0 ] || status=1
  echo "=== $name: status $code ($((SECONDS - start)) s)"
}

check() { # name, options of gantry gemm...
  local name=$1
  shift
  step "check_$name" 60 "$gantry" gemm --machine gpu "$@"
  grep -iE "correct|wrong|mismatch|verified|error|gantry:" "$out/check_$name.log" | head -3
}

forms() {
  check plain_1 --m 1 --n 4096 --k 4096
  check plain_7 --m 7 --n 1000 --k 4096 --swap --tile 8x64
  check wide --m 61 --n 4096 --k 2048 --swap --tile 64x256
  check shared --m 64 --n 28672 --k 8192 --swap --tile 64x128
  check multicast --m 24 --n 2048 --k 2048 --swap --tile 32x64 --cluster 1x2
  for ctas in 2 4 8; do
    check "cluster_$ctas" --m 9 --n 4096 --k 4096 --swap --tile 16x64 --cluster "1x1x$ctas" --epilogue "d = acc + c"
  done
  check straight_cluster --m 200 --n 512 --k 4096 --tile 64x64 --cluster 1x1x4
  check gelu --m 16 --n 4096 --k 4096 --swap --tile 16x64 --epilogue "d = gelu_tanh(acc + row(bias:bf16))"
  check vectors --m 13 --n 4096 --k 512 --swap --tile 16x64 --epilogue "d = acc * col(s) + row(b) + beta * c"
  check tensors --m 29 --n 2048 --k 512 --swap --tile 32x64 \
    --epilogue "y:bf16 = acc + load(x:bf16) + load(m:u1); d = relu(y); n:u1 = y > 0"
  check sums --m 40 --n 4096 --k 512 --swap --tile 64x64 \
    --epilogue "d = acc; r = reduce_row_add(acc); s deterministic = reduce_col_add(acc); t = reduce_amax(acc)"
  check batch --m 5 --n 1024 --k 512 --batch 7 --swap --tile 8x128
  check majors --m 16 --n 2048 --k 512 --a f16 --major-a m --major-b n --swap --tile 16x64
  check columns --m 32 --n 2048 --k 512 --layout-d column --swap --tile 32x64
  check fp8 --m 16 --n 4096 --k 4096 --a e4m3 --promote --swap --tile 16x128
  check to_fp8 --m 16 --n 4096 --k 1024 --d e4m3 --swap --tile 16x64
  check tf32 --m 8 --n 2048 --k 1024 --a tf32 --swap --tile 8x64
  check integers --m 20 --n 2048 --k 1024 --a s8 --swap --tile 24x64
  check constant --m 16 --n 4096 --k 4096 --swap --tile 16x64 --constant b
}

work=$(mktemp -d)
for m in 1 8 16 32 64; do
  for nk in "4096 4096" "8192 8192" "28672 8192" "4096 14336"; do echo "$m $nk"; done
done >"$work/sizes"
printf '%s\n' "d = acc" "d = gelu_tanh(acc + row(bias:bf16))" >"$work/epilogues"

race() {
  step race 400 "$gantry" bench gemm --shapes "$work/sizes" --epilogues "$work/epilogues" --sustained 0 --json "$out/race.json"
  cat "$out/race.log"
}

sweep() {
  step sweep 500 "$sweep" "$work/sizes"
  # The fastest three of each size, warm and cold.
  for column in 3 5; do
    echo "--- fastest by column $column of sweep.log"
    grep -v "left out" "$out/sweep.log" | grep "|" | sort -t'|' -k1,1 -k"$column,$column"g |
      awk -F'|' '{ n[$1]++; if (n[$1] <= 3) print }'
  done
  grep "left out" "$out/sweep.log" | head -20
}

for part in "${@:-check race sweep}"; do
  for one in $part; do
    case $one in
      check) forms ;;
      race) race ;;
      sweep) sweep ;;
      *) echo "decode_visit: $one is none of check, race and sweep" >&2; exit 2 ;;
    esac
  done
done
exit $status
