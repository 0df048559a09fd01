#!/usr/bin/env bash
# Runs clang-tidy, as .clang-tidy says, over every source that the clang build compiles: tools, library, tests, and each header by
# itself. Arguments are regular expressions; with any, only sources whose path matches one of them are read.
set -euo pipefail
cd "$(dirname "$0")/.."

readonly build=build/debug-clang
scripts/bootstrap.sh check
[[ -f $build/compile_commands.json ]] || cmake --preset debug-clang >/dev/null
cmake --build $build --target write_header_units >/dev/null

pattern=$(IFS='|'; echo "${*:-.}")
python3 -c '
import json, sys
print("\n".join(sorted({entry["file"] for entry in json.load(open(sys.argv[1]))})))
' $build/compile_commands.json | grep -E "$pattern" |
  xargs --no-run-if-empty -d '\n' -n 1 -P "${JOBS:-$(nproc)}" clang-tidy -p $build --quiet --warnings-as-errors='*' 2> >(grep -v 'warnings\? generated' >&2)
