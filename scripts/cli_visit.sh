#!/usr/bin/env bash
# The command line on a machine with a GPU: doctor, GEMMs compiled at run time, the benchmark, tuning.
#
#   scripts/cli_visit.sh --pack [BUILD [TREE]]
#                                         on any machine: puts the program of BUILD (build/release unless given), the headers of TREE
#                                         (this one) and the libraries that a bare machine lacks into build/cli_visit
#   scripts/cli_visit.sh                  on the machine with the GPU: runs what was packed, or builds it with CMake first
#   scripts/cli_visit.sh --table          the same, but measures the table of docs/measurements/default-choice.md
#
# What it prints goes to cli.log, the record to cli.json and the plot to cli.svg, in $OUT or in build/cli_visit; records of the
# table to table_*.json. Fails if a command failed. Takes about two minutes, the table five.
set -u
cd "$(dirname "$0")/.."
packed=build/cli_visit
mkdir -p "$packed/lib"

if [[ ${1:-} == --pack ]]; then
  program=${2:-build/release}/bin/gantry
  cp "$program" "$packed/gantry" || exit 1
  rm -rf "$packed/include" && cp -r "${3:-.}/include" "$packed/include"
  ldd "$program" | awk '/=> \// && !/lib(c|m|dl|pthread|rt|stdc\+\+|gcc_s)\.so/ {print $3}' | xargs -r cp -Lt "$packed/lib"
  echo "packed $program and $(find "$packed/lib" -type f | wc -l) libraries into $packed"
  exit 0
fi

if [[ ! -x $packed/gantry ]]; then
  make PRESET=release && "$0" --pack || exit 1
fi
out=${OUT:-$packed}
log=$out/cli.log
: >"$log"
cuda=$(dirname "$(dirname "$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)")")
export LD_LIBRARY_PATH=$PWD/$packed/lib:$cuda/lib64:${LD_LIBRARY_PATH:-}
export GANTRY_INCLUDE_DIR=$PWD/$packed/include GANTRY_CACHE_DIR=$PWD/$packed/cache GANTRY_TUNING=$out/tuning
gantry=$packed/gantry
failed=0
visit() { # seconds, arguments...
  local limit=$1 start=$SECONDS code
  shift
  printf '\n$ gantry %s\n' "$*" | tee -a "$log"
  timeout "$limit" "$gantry" "$@" 2>&1 | tee -a "$log"
  code=${PIPESTATUS[0]}
  printf '(status %d, %d s)\n' "$code" $((SECONDS - start)) | tee -a "$log"
  [[ $code -eq 0 ]] || failed=1
}

if [[ ${1:-} == --table ]]; then
  epilogues=('d = acc' 'd = acc + c' 'd = gelu_tanh(acc + row(bias:bf16))' 'aux:bf16 = acc + row(bias:bf16); d = gelu_tanh(aux)')
  printf '%s\n' '8192 8192 8192' '4096 14336 4096' >"$packed/lasting.txt"
  types=('--a f16' '--a tf32' '--a e4m3' '--a e4m3 --b e5m2 --promote' '--a s8' '--a u8' '--a f16 --major-a m --major-b n' '--a bf16 --layout-d column')
  # All kernels are compiled at once; what is measured meanwhile does not count.
  for epilogue in "${epilogues[@]}"; do
    timeout 40 "$gantry" bench gemm --sustained 0 --epilogue "$epilogue" >/dev/null 2>&1 &
  done
  for type in "${types[@]}"; do
    # shellcheck disable=SC2086  # several words
    timeout 40 "$gantry" bench gemm --sustained 0 --m 4096 --n 4096 --k 4096 $type >/dev/null 2>&1 &
  done
  wait
  printf 'compiled after %d s\n' "$SECONDS" | tee -a "$log"
  for i in "${!epilogues[@]}"; do
    visit 60 bench gemm --sustained 0 --epilogue "${epilogues[i]}" --json "$out/table_$i.json"
  done
  visit 60 bench gemm --shapes "$packed/lasting.txt" --sustained 3
  for type in "${types[@]}"; do
    # shellcheck disable=SC2086
    visit 20 bench gemm --sustained 0 --m 4096 --n 4096 --k 4096 $type
  done
  exit "$failed"
fi

printf '%s\n' '4096 4096 4096' '8192 8192 256' >"$packed/shapes.txt"
visit 20 doctor
visit 60 gemm --machine gpu --m 512 --n 768 --k 256 --a bf16 --d bf16 --epilogue "d = gelu(acc + row(bias))"
visit 60 gemm --machine gpu --m 1000 --n 1032 --k 520 --a f16 --inputs uniform \
  --epilogue "aux:f16 = alpha * acc + beta * c + col(scale); d = silu(aux); top = reduce_amax(aux)" --set beta=0.5
visit 60 gemm --machine gpu --m 4096 --n 4096 --k 4096 --a e4m3 --d bf16
visit 20 gemm --machine gpu --m 512 --n 768 --k 256 --a bf16 --d bf16 --epilogue "d = gelu(acc + row(bias))"
visit 90 bench gemm --shapes "$packed/shapes.txt" --epilogue "d = gelu_tanh(acc + row(bias:bf16))" --json "$out/cli.json" --plot "$out/cli.svg"
visit 90 tune --m 2048 --n 2048 --k 2048
visit 60 gemm --machine gpu --m 2048 --n 2048 --k 2048
exit "$failed"
