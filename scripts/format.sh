#!/usr/bin/env bash
# Formats every C++ and CUDA source of the repository; with --check changes nothing and fails where something would change.
set -euo pipefail
cd "$(dirname "$0")/.."

mode=(-i)
[[ ${1:-} == --check ]] && mode=(--dry-run --Werror)

git ls-files -z --cached --others --exclude-standard -- '*.hpp' '*.h' '*.cpp' '*.cu' '*.cuh' |
  while IFS= read -r -d '' file; do [[ -f $file ]] && printf '%s\0' "$file"; done |
  xargs -0 --no-run-if-empty clang-format "${mode[@]}"
