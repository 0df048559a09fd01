#!/usr/bin/env bash
# One visit to a GPU for the cost model: times of candidates on sizes drawn at random. Needs build/visit/size_sweep and the libraries that it
# loads.
#
#   scripts/size_sweep_visit.sh SEED COUNT_PLAIN COUNT_GELU [listed]
set -uo pipefail
cd "$(dirname "$0")/.." || exit
out=${OUT:-build/size_sweep_visit}
mkdir -p "$out"
cuda=$(dirname "$(dirname "$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)")")
export PATH=$cuda/bin:$PATH LD_LIBRARY_PATH=$PWD/build/visit:$cuda/lib64:${LD_LIBRARY_PATH:-}
export GANTRY_CACHE_DIR=$PWD/build/visit_cache
seed=$1
for pair in "plain:$2" "gelu:$3"; do
  start=$SECONDS
  timeout 280 build/visit/size_sweep "$seed" "${pair#*:}" "${pair%:*}" "${@:4}" >"$out/${pair%:*}.txt" 2>"$out/${pair%:*}.log"
  echo "=== ${pair%:*}: status $? ($((SECONDS - start)) s), $(wc -l <"$out/${pair%:*}.txt") lines"
  tail -n 5 "$out/${pair%:*}.log"
done
