#!/usr/bin/env bash
# One visit to a GPU for 8-bit GEMMs with scales of blocks: results, and races against cuBLASLt with the same scaling. Needs build/visit with
# the program `gantry` and the libraries that it loads.
#
#   scripts/scales_visit.sh [tiles]    "tiles": every tile at two sizes as well
set -uo pipefail
cd "$(dirname "$0")/.." || exit
out=${OUT:-build/scales_visit}
mkdir -p "$out"
cuda=$(dirname "$(dirname "$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)")")
export PATH=$cuda/bin:$PATH LD_LIBRARY_PATH=$PWD/build/visit:$cuda/lib64:${LD_LIBRARY_PATH:-}
export GANTRY_CACHE_DIR=$PWD/build/visit_cache
gantry=build/visit/gantry
gemm() { timeout 90 "$gantry" gemm --machine gpu --a e4m3 "$@" 2>&1 | sed -n '1p;/^result/p;/^time/p;/^gantry/p'; }
gemm --m 1000 --n 1040 --k 1552 --scale-a block --scale-b block
gemm --m 1000 --n 1040 --k 1552 --b e5m2 --scale-a row_block --scale-b row_block --inputs uniform
gemm --m 300 --n 1360 --k 656 --scale-a block --scale-b block --tile 128x160 --epilogue "d = gelu(acc + row(bias))"
gemm --m 64 --n 4096 --k 7168 --scale-a block --scale-b block
gemm --m 500 --n 400 --k 384 --scale-a row --scale-b tensor --set scale_b=0.5
sizes=$(mktemp)
printf '%s\n' "4096 7168 16384" "4096 4096 7168" "4096 2112 7168" "4096 24576 1536" "4096 32768 512" "128 7168 16384" "128 4096 7168" \
  "64 4096 7168" "16 7168 2048" >"$sizes"
timeout 200 "$gantry" bench gemm --shapes "$sizes" --a e4m3 --scale-a block --scale-b block --sustained 0 --json "$out/scaled.json" >"$out/scaled.log" 2>&1
tail -n 14 "$out/scaled.log"
if [[ ${1:-} == tiles ]]; then
  for size in "--m 4096 --n 4096 --k 7168" "--m 4096 --n 7168 --k 16384"; do
    for tile in "128x128 --cluster 2x1" "128x128 --cluster 1x2" "128x160 --cluster 2x1" "128x144 --cluster 2x1" "128x112 --cluster 2x1" "128x160 --cluster 1x1" "128x160 --cluster 1x2" "64x160 --cluster 2x1 --schedule pingpong" "64x128 --cluster 2x1 --schedule pingpong"; do
      echo "$size $tile"
      # shellcheck disable=SC2086
      timeout 60 "$gantry" gemm --machine gpu --a e4m3 --scale-a block --scale-b block $size --tile $tile 2>&1 | grep -E "^time|^gantry|^result"
    done
  done
fi
