#!/usr/bin/env bash
# Installs the distribution packages that building Gantry needs and this machine lacks.
#
#   scripts/bootstrap.sh          what `make`, `make run` and `make test` need
#   scripts/bootstrap.sh check    also what `make check` needs: clang, clang-tidy, clang-format
#
# Looks for the programs and headers themselves, so a CMake or a library that came from elsewhere counts. When nothing is
# missing it does nothing. Root installs directly, others through sudo; where neither is possible it prints the command.
set -euo pipefail
cd "$(dirname "$0")/.."

readonly MIN_CMAKE=3.25

programs=(
  cmake:cmake
  ninja:ninja-build
  python3:python3
  c++:g++
)
headers=(
  gtest/gtest.h:libgtest-dev
  gmock/gmock.h:libgmock-dev
  benchmark/benchmark.h:libbenchmark-dev
  fmt/format.h:libfmt-dev
  CLI/CLI.hpp:libcli11-dev
  nlohmann/json.hpp:nlohmann-json3-dev
  boost/context/fiber.hpp:libboost-context-dev
  eigen3/Eigen/Core:libeigen3-dev
)
check=
if [[ ${1:-} == check ]]; then
  check=yes
  programs+=(clang++:clang clang-tidy:clang-tidy clang-format:clang-format)
elif [[ $# -gt 0 ]]; then
  echo "bootstrap: '$1' is not known; the only argument is 'check'." >&2
  exit 2
fi

clang_has_sanitizers() {
  command -v clang++ >/dev/null || return 1
  compgen -G "$(clang++ -print-runtime-dir)/libclang_rt.asan*.a" >/dev/null
}

missing_packages() {
  local entry compiler
  scripts/python.sh interpreter >/dev/null || printf '%s\n' python3-dev python3-venv
  for entry in "${programs[@]}"; do
    command -v "${entry%%:*}" >/dev/null || echo "${entry#*:}"
  done
  [[ -z $check ]] || clang_has_sanitizers || echo libclang-rt-dev
  compiler=$(command -v "${CXX:-c++}" || command -v g++ || command -v clang++ || true)
  if [[ -z $compiler ]]; then
    printf '%s\n' "${headers[@]#*:}"
    return
  fi
  for entry in "${headers[@]}"; do
    printf '#if !__has_include(<%s>)\n%s\n#endif\n' "${entry%%:*}" "${entry#*:}"
  done | "$compiler" -E -P -x c++ - | sed '/^$/d'
}

require_cmake_version() {
  local have
  have=$(cmake --version | sed -n '1s/[^0-9]*\([0-9.]*\).*/\1/p')
  if [[ $(printf '%s\n' "$MIN_CMAKE" "$have" | sort -V | head -n1) != "$MIN_CMAKE" ]]; then
    echo "bootstrap: CMake here is $have and Gantry needs $MIN_CMAKE or newer (Debian 12, Ubuntu 24.04 and later have it)." >&2
    exit 1
  fi
}

mapfile -t missing < <(missing_packages)
if [[ ${#missing[@]} -eq 0 ]]; then
  require_cmake_version
  exit 0
fi

if ! command -v apt-get >/dev/null; then
  echo "bootstrap: this is not a Debian or Ubuntu machine; install what these packages hold, then try again:" >&2
  echo "  ${missing[*]}" >&2
  exit 1
fi

as_root=()  # nothing, or sudo
if [[ $(id -u) -ne 0 ]]; then
  if ! command -v sudo >/dev/null; then
    echo "bootstrap: packages are missing, and installing them needs root. Ask for this to be run as root:" >&2
    echo "  apt-get install ${missing[*]}" >&2
    exit 1
  fi
  as_root=(sudo)
fi

# A machine that cannot fetch packages, or whose sudo refuses, ends here.
give_up() {
  echo "bootstrap: the packages could not be installed. The command that failed:" >&2
  echo "  ${as_root[*]:+sudo }apt-get install ${missing[*]}" >&2
  exit 1
}

echo "bootstrap: installing ${missing[*]}"
"${as_root[@]}" apt-get update -qq || give_up
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" || give_up
require_cmake_version
