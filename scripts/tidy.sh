#!/usr/bin/env bash
# Runs clang-tidy, as .clang-tidy says, over every source that the clang build compiles: tools, library, tests, benchmarks and
# the headers. Arguments are regular expressions; with any, only sources whose path matches one of them are read.
set -euo pipefail
cd "$(dirname "$0")/.."

readonly build=build/tidy
scripts/bootstrap.sh check
make --no-print-directory configure PRESET=tidy >/dev/null
cmake --build $build --target write_header_units gantry_test_first gantry_test_gemm gantry_tool_headers gantry_texts gantry_embedded_headers >/dev/null
exec python3 -B scripts/tidy.py $build "$@"
