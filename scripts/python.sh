#!/usr/bin/env bash
# The Python package: its interpreter, its virtual environment and its tests.
#
#   scripts/python.sh interpreter             names a Python 3.11 or newer that has its headers and can make environments
#   scripts/python.sh environment             makes build/python: NumPy, ml_dtypes, JAX for the CPU and pytest from PyPI, and
#                                             PyTorch where the interpreter has it. Where PyPI is out of reach, it says that
#                                             the tests are left out, and succeeds
#   scripts/python.sh test FOLDER FILE...     tests the package that lies in FOLDER; leaves with 77 where there is no environment
#   scripts/python.sh install                 installs the package into the environment, as `pip install .` does
set -euo pipefail
cd "$(dirname "$0")/.."

readonly ENVIRONMENT=build/python
readonly PACKAGES=("numpy>=1.26" "ml_dtypes>=0.5" "jax>=0.5" "pytest>=8")

interpreter() {
  local candidate path
  for candidate in ${GANTRY_PYTHON:-} python3 python3.14 python3.13 python3.12 python3.11 /usr/bin/python3; do
    path=$(command -v "$candidate") || continue
    "$path" - 2>/dev/null <<'PYTHON' && return
import ensurepip, os, sys, sysconfig, venv
if sys.version_info < (3, 11) or not os.path.exists(os.path.join(sysconfig.get_paths()["include"], "Python.h")):
    sys.exit(1)
print(sys.executable)
PYTHON
  done
  return 1
}

# One process makes the environment; a second one waits for it, and finds it made.
environment() {
  local python wanted torch
  mkdir -p build
  exec 9>build/python.lock
  flock 9
  if ! python=$(interpreter); then
    echo "python: the package's tests are left out: there is no Python 3.11 or newer with headers and venv (Debian:" \
      "python3-dev, python3-venv)"
    return
  fi
  wanted="${PACKAGES[*]}"
  # PyTorch's wheel brings several GB of CUDA packages: it is used where it is, and not installed.
  torch=$("$python" -c 'import importlib.util as u, os; t = u.find_spec("torch")
print(os.path.dirname(os.path.dirname(t.origin)) if t else "")')
  if [[ -n $torch ]]; then
    wanted+=" with torch of $torch"
  else
    echo "python: the tests of gantry.torch are left out: $python has no torch (GANTRY_PYTHON names another interpreter)"
  fi
  [[ $(cat "$ENVIRONMENT/installed" 2>/dev/null) == "$wanted" ]] && return
  rm -rf "$ENVIRONMENT"
  "$python" -m venv "$ENVIRONMENT"
  [[ -z $torch ]] || echo "$torch" >"$(echo "$ENVIRONMENT"/lib/python*/site-packages)/torch.pth"
  echo "python: installing ${PACKAGES[*]} into $ENVIRONMENT"
  if ! "$ENVIRONMENT/bin/pip" install -q --disable-pip-version-check --retries 1 "${PACKAGES[@]}" >build/python.log 2>&1; then
    echo "python: the package's tests are left out: PyPI is out of reach, or does not have ${PACKAGES[*]}:"
    tail -n 2 build/python.log | sed 's/^/  /'
    return
  fi
  echo "$wanted" >"$ENVIRONMENT/installed"
}

# The cache of kernels lies in the build folder: tests neither use nor fill the user's.
run_tests() {
  local folder=$1
  shift
  if [[ ! -f $ENVIRONMENT/installed ]]; then
    echo "python: left out, build/python is not there: scripts/python.sh environment makes it"
    exit 77
  fi
  export PYTHONPATH=$folder PYTHONDONTWRITEBYTECODE=1 JAX_PLATFORMS=${JAX_PLATFORMS:-cpu}
  export GANTRY_CACHE_DIR=${GANTRY_CACHE_DIR:-$folder/cache}
  local status=0
  "$ENVIRONMENT/bin/python" -m pytest -q -rs -p no:cacheprovider "${@/#/python/tests/}" || status=$?
  [[ $status -ne 5 ]] || exit 77  # nothing to run: what it needs is not installed, and pytest said what
  return "$status"
}

install() {
  environment
  if [[ ! -f $ENVIRONMENT/installed ]]; then
    echo "python: the package cannot be installed without these from PyPI: ${PACKAGES[*]}, scikit-build-core" >&2
    exit 1
  fi
  "$ENVIRONMENT/bin/pip" install -q --disable-pip-version-check --force-reinstall --no-deps -C build-dir=build/wheel .
  "$ENVIRONMENT/bin/python" -P -m gantry doctor
  echo "The package is installed. The interpreter to use is $PWD/$ENVIRONMENT/bin/python"
}

case ${1:-} in
  interpreter | environment | install) "$1" ;;
  test) shift && run_tests "$@" ;;
  *)
    echo "python.sh: '${1:-}' is not known; it is interpreter, environment, test or install." >&2
    exit 2
    ;;
esac
