#!/usr/bin/env bash
# Compares the kernels of two commits on a GPU, alternating in one process (bench/gpu/ab.cu).
#
#   scripts/ab.sh prepare BEFORE [AFTER]   where git is: puts the headers of the commit BEFORE into build/ab/before, and those of AFTER
#                                          into build/ab/after; without AFTER the working tree is after
#   scripts/ab.sh build [--rows LIST]      compiles both sides and the driver, with nvcc alone; no GPU is needed
#   scripts/ab.sh run [--rows LIST] [--seconds S] [--least RATIO]
#                                          builds what is not built, then runs the driver with these options
#   scripts/ab.sh BEFORE [AFTER]           prepare and run
#
# A machine with a GPU needs the working tree, build/ab and nvcc. LIST is of rows of bench/gpu/ab_rows.hpp, as 0,4,17; all of them unless
# given. The table goes to ab.log in $OUT or in build/ab_objects; what ptxas said that it should not is printed first.
# docs/measurements/before-and-after.md says how to read it.
set -uo pipefail
cd "$(dirname "$0")/.." || exit
folder=build/ab
objects=build/ab_objects
cuda=$(dirname "$(dirname "$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)")")
export PATH=$cuda/bin:$PATH LD_LIBRARY_PATH=$cuda/lib64:${LD_LIBRARY_PATH:-}
# As kernels are compiled at run time: -O is for the host's part.
flags=(-std=c++20 -O1 -gencode "arch=compute_90a,code=sm_90a")

stop() {
  echo "ab.sh: $*" >&2
  exit 2
}

export_headers() { # commit, side
  rm -rf "${folder:?}/$2"
  mkdir -p "$folder/$2"
  git archive "$1" include | tar -x -C "$folder/$2" || stop "there are no headers of \"$1\""
  git log -1 --format="%h %s" "$1" >"$folder/$2/commit"
}

prepare() { # before [after]
  git rev-parse --quiet --verify "$1^{commit}" >/dev/null || stop "git knows no commit \"$1\""
  export_headers "$1" before
  rm -rf "${folder:?}/after"
  [[ -z ${2:-} ]] || export_headers "$2" after
  # Of the distribution, and not on every machine with a GPU.
  rm -rf "${folder:?}/system"
  if grep -rqsF '#include <tl/' include "$folder"/*/include; then
    mkdir -p "$folder/system" && cp -rL /usr/include/tl "$folder/system"
  fi
}

headers_of() { # side
  if [[ -d $folder/$1/include ]]; then echo "$folder/$1/include"; else echo include; fi
}

# One row of one side; shared objects are loaded side by side, so that nothing of them is visible but the entry.
compile_row() { # side row
  local so=$objects/$1/$2.so
  [[ -s $so ]] && return
  nvcc "${flags[@]}" "-I$(headers_of "$1")" "-I$folder/system" -DGANTRY_AB_ROW="$2" -Xptxas -v -shared \
    -Xcompiler -fPIC,-fvisibility=hidden,-fno-gnu-unique bench/gpu/ab_entry.cu -o "$so" >"$so.log" 2>&1 && return
  echo "ab.sh: row $2 of $1 does not compile:" >&2
  tail -n 20 "$so.log" >&2
  return 1
}

# Objects of other headers than are there now.
drop_stale() { # side
  local sum
  sum=$(find "$(headers_of "$1")" bench/gpu/ab_* bench/gpu/jobs.hpp -type f | LC_ALL=C sort | xargs cat | sha1sum)
  [[ $sum == "$(cat "$objects/$1/sum" 2>/dev/null)" ]] && return
  rm -f "$objects/$1"/*
  echo "$sum" >"$objects/$1/sum"
}

build() { # rows, or nothing
  [[ -d $folder/before/include ]] || stop "there is no $folder/before; run \"scripts/ab.sh prepare BEFORE\" first"
  mkdir -p "$objects"/{before,after,again}
  drop_stale before
  drop_stale after
  nvcc "${flags[@]}" -Iinclude "-I$folder/system" bench/gpu/ab.cu -o "$objects/ab" -ldl || stop "the driver does not compile"
  local rows=${1:-$("$objects/ab" --list | cut -d' ' -f1)}
  for row in ${rows//,/ }; do
    echo "before $row"
    echo "after $row"
  done | xargs -P "$(nproc)" -L 1 "$0" compile_row || stop "not every row compiles"
  # Opened under another name, so that it is loaded for a second time.
  for row in ${rows//,/ }; do cp "$objects/before/$row.so" "$objects/again/$row.so"; done
  grep -lE "\(C75|[1-9][0-9]* bytes (stack|spill)" "$objects"/*/*.log | sed 's/$/: spills, keeps a stack or waits; see there/'
  echo "compiled after $SECONDS s"
}

run() { # options of the driver
  local out=${OUT:-$objects} rows="" previous=""
  for word in "$@"; do
    [[ $previous == --rows ]] && rows=$word
    previous=$word
  done
  mkdir -p "$out"
  build "$rows" || exit
  {
    echo "before: $(cat "$folder/before/commit")"
    echo "after: $(cat "$folder/after/commit" 2>/dev/null || echo "the working tree")"
    nvidia-smi --query-gpu=name,clocks.max.sm,power.limit,temperature.gpu --format=csv,noheader 2>/dev/null
    timeout 540 "$objects/ab" "$objects" "$@" 2>&1
  } | tee "$out/ab.log"
}

case ${1:-} in
  "") sed -n '2,13s/^# \{0,1\}//p' "$0" && exit 2 ;;
  prepare)
    [[ $# -ge 2 && $# -le 3 ]] || stop "prepare takes BEFORE and, if it is not the working tree, AFTER"
    prepare "${@:2}"
    ;;
  build)
    [[ $# -eq 1 || ($# -eq 3 && $2 == --rows) ]] || stop "build takes --rows LIST or nothing"
    build "${3:-}"
    ;;
  run) run "${@:2}" ;;
  compile_row) compile_row "$2" "$3" ;;
  -*) stop "\"$1\" is no command; see the top of $0" ;;
  *)
    [[ $# -le 2 ]] || stop "BEFORE and AFTER are all that is taken here; \"run\" takes options"
    prepare "$@" && run
    ;;
esac
