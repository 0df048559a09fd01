#!/usr/bin/env bash
# One visit to a GPU for sizes, strides and element types that TMA cannot address: every element type in every place
# under memcheck, odd sizes verified, and what they cost beside their aligned neighbours. Needs build/visit with the
# program `gantry` and the libraries that it loads.
#
#   scripts/any_size_visit.sh
set -uo pipefail
cd "$(dirname "$0")/.." || exit
out=${OUT:-build/any_size_visit}
mkdir -p "$out"
cuda=$(dirname "$(dirname "$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)")")
export PATH=$cuda/bin:$PATH LD_LIBRARY_PATH=$PWD/build/visit:$cuda/lib64:${LD_LIBRARY_PATH:-}
export GANTRY_CACHE_DIR=$PWD/build/visit_cache
gantry=build/visit/gantry

step() { # name, seconds, command...
  local name=$1 limit=$2 start=$SECONDS
  shift 2
  timeout "$limit" "$@" >"$out/$name.log" 2>&1
  echo "=== $name: status $? ($((SECONDS - start)) s)"
  tail -n 12 "$out/$name.log"
}
seconds() { # arguments of `gantry gemm`: the median time of a call; 0 where it failed or was wrong
  "$gantry" gemm --machine gpu --json "$@" 2>>"$out/times.err" |
    python3 -c 'import json,sys; x = json.load(sys.stdin); print(x["seconds"] if x["ok"] else 0)' || echo 0
}
ratio() { # name, most, arguments of the odd one, "--", arguments of the aligned one
  local name=$1 most=$2 odd=() aligned=()
  shift 2
  while [ "$1" != -- ]; do odd+=("$1") && shift; done
  shift
  aligned=("$@")
  python3 -c 'import sys
odd, aligned, most = float(sys.argv[2]), float(sys.argv[3]), float(sys.argv[4])
print(f"{sys.argv[1]}: {odd * 1e6:.1f} us, aligned {aligned * 1e6:.1f} us, ratio {odd / aligned if aligned else 0:.3f}, at most {most}")' \
    "$name" "$(seconds "${odd[@]}")" "$(seconds "${aligned[@]}")" "$most" | tee -a "$out/ratios.log"
}

for n in 65 97 129 1000 50257; do
  step "n$n" 120 "$gantry" gemm --machine gpu --m 300 --n "$n" --k 200
done
step everything 120 "$gantry" gemm --machine gpu --m 301 --n 203 --k 155 --batch 3 \
  --epilogue "aux:f16 = alpha * acc + c + load(x); d = gelu(aux + row(bias)); s = reduce_row_add(aux)"
step void_d 120 "$gantry" gemm --machine gpu --m 4096 --n 4096 --k 1024 --epilogue "s = reduce_col_max(acc)"
ratio "4096 x 50257 x 4096" 1.10 --m 4096 --n 50257 --k 4096 -- --m 4096 --n 50264 --k 4096
ratio "4096 x 4096 x 4095" 1.20 --m 4096 --n 4096 --k 4095 -- --m 4096 --n 4096 --k 4096
ratio "4096 x 50257 x 4096, bias and GELU" 1.10 --m 4096 --n 50257 --k 4096 --epilogue "d = gelu(acc + row(b))" -- \
  --m 4096 --n 50264 --k 4096 --epilogue "d = gelu(acc + row(b))"
ratio "4096 x 4096 x 4095 by e4m3" 1.20 --a e4m3 --m 4096 --n 4096 --k 4095 -- --a e4m3 --m 4096 --n 4096 --k 4096
step elements 560 scripts/element_sweep.py --gantry "$gantry" --machine gpu --memcheck -j "$(nproc)"
