#!/usr/bin/env bash
# Formats every C++ and CUDA source of the repository. With --check changes nothing, names the files that would change, and
# fails if there are any.
set -euo pipefail
cd "$(dirname "$0")/.."

sources() {
  git ls-files -z --cached --others --exclude-standard -- '*.hpp' '*.h' '*.cpp' '*.cu' '*.cuh' |
    xargs -0 --no-run-if-empty ls -d 2>/dev/null || true
}

if [[ ${1:-} != --check ]]; then
  sources | xargs -d '\n' --no-run-if-empty clang-format -i
  exit
fi

unformatted=$(sources | while IFS= read -r file; do
  clang-format --dry-run --Werror "$file" 2>/dev/null || echo "  $file"
done)
if [[ -n $unformatted ]]; then
  printf 'format: these files are not formatted, and make format does it:\n%s\n' "$unformatted" >&2
  exit 1
fi
