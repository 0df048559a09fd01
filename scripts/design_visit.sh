#!/usr/bin/env bash
# One visit to a GPU after a change of the kernels or of host planning: kernels of before and after side by side (ab.sh), and every element
# type and major against exact sums and cuBLASLt (gemm_check_visit.sh). Needs build/ab of `scripts/ab.sh prepare`.
set -uo pipefail
cd "$(dirname "$0")/.." || exit
scripts/ab.sh run "$@" 2>&1 | tail -n 32
echo "ab: status ${PIPESTATUS[0]}"
scripts/gemm_check_visit.sh 2>&1 | tail -n 40
echo "gemm_check: status ${PIPESTATUS[0]}"
