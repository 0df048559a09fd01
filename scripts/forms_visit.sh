#!/usr/bin/env bash
# One visit to a GPU for every form of a GEMM in tests/conformance/gemm_forms.txt: each is compiled, run and compared with the
# reference, as many at a time as there are cores. Needs build/visit with the program `gantry` and the libraries that it loads.
#
#   scripts/forms_visit.sh [TOOL [PATTERN]]     TOOL: of compute-sanitizer, such as memcheck, or "" for none; PATTERN: names
set -uo pipefail
cd "$(dirname "$0")/.." || exit
out=${OUT:-build/forms_visit}/forms
export TOOL=${1:-} OUT_FORMS=$out
pattern=${2:-.}
rm -rf "$out" && mkdir -p "$out"
cuda=$(dirname "$(dirname "$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)")")
export PATH=$cuda/bin:$PATH LD_LIBRARY_PATH=$PWD/build/visit:$cuda/lib64:${LD_LIBRARY_PATH:-}
export GANTRY_CACHE_DIR=$PWD/build/visit_cache GANTRY=${GANTRY:-build/visit/gantry} MACHINE=${MACHINE:-gpu}

form() { # "name: options"
  local name=${1%%:*} command status
  eval "command=(${1#*: })"
  command=("$GANTRY" gemm --machine "$MACHINE" "${command[@]}")
  [[ -n $TOOL ]] && command=(compute-sanitizer --tool "$TOOL" --error-exitcode 9 "${command[@]}")
  timeout 240 "${command[@]}" >"$OUT_FORMS/$name" 2>&1
  status=$?
  if [[ $status == 0 ]]; then echo "passed $name"; else echo "FAILED $name: status $status"; fi
}
export -f form
grep -E '^[a-z]' tests/conformance/gemm_forms.txt | grep -E "$pattern" |
  xargs -d '\n' -P "${JOBS:-$(nproc)}" -I{} bash -c 'form "$1"' _ {} >"$out.txt"
for name in $(sed -n 's/^FAILED \([a-z0-9_]*\):.*/\1/p' "$out.txt"); do
  grep "^FAILED $name:" "$out.txt"
  grep -v '^$' "$out/$name" | head -n 6
done
echo "$(grep -c '^passed' "$out.txt") passed, $(grep -c '^FAILED' "$out.txt") failed"
! grep -q '^FAILED' "$out.txt"
