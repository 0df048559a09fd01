"""Measures what Gantry's headers cost to compile, with every compiler on this machine, and prints a table.

  measure.py INCLUDE_DIR [--repeat N] [--nvcc PATH] [compiler...]     compilers: g++ clang++ nvcc; all found, unless named

Each figure is the best of N runs. "alone" is the whole time of compiling the file; "added" is what the row adds to the row
it builds on: the header to an empty file, the layouts to the header, the compositions to the layouts.
"""

import argparse
import random
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

COMPOSITIONS = 1000
SEED = 20240229


@dataclass(frozen=True)
class Row:
    title: str
    source: str
    added_to: str  # title of another row, or ""


def power_of_two_layout(rng, bits, modes):
    """A layout of 2**bits elements as text: random power-of-two extents, compact strides in random order."""
    cuts = sorted(rng.sample(range(1, bits), modes - 1))
    extents = [b - a for a, b in zip([0, *cuts], [*cuts, bits])]
    order = rng.sample(range(modes), modes)
    strides, done = [0] * modes, 0
    for mode in order:
        strides[mode] = done
        done += extents[mode]
    return "({}):({})".format(",".join(f"_{2**e}" for e in extents), ",".join(f"_{2**s}" for s in strides))


def rows():
    rng = random.Random(SEED)
    operands = [
        (power_of_two_layout(rng, 14, rng.randint(2, 4)), power_of_two_layout(rng, rng.randint(6, 14), rng.randint(2, 4)))
        for _ in range(COMPOSITIONS)
    ]
    include = "#include <gantry/layout.hpp>\n"
    layouts = include + "".join(
        f'constexpr auto a{i} = gantry::layout("{a}");\nconstexpr auto b{i} = gantry::layout("{b}");\n'
        for i, (a, b) in enumerate(operands)
    )
    compositions = layouts + "".join(
        f"constexpr auto c{i} = gantry::composition(a{i}, b{i});\nstatic_assert(c{i}.ok());\n" for i in range(COMPOSITIONS)
    )
    return [
        Row("an empty file", "\n", ""),
        Row("#include <gantry/layout.hpp>", include, "an empty file"),
        Row(f"{2 * COMPOSITIONS} constexpr layouts from text", layouts, "#include <gantry/layout.hpp>"),
        Row(f"{COMPOSITIONS} constexpr compositions of them", compositions, f"{2 * COMPOSITIONS} constexpr layouts from text"),
    ]


def commands(include_dir, nvcc, wanted):
    flags = ["-std=c++20", f"-I{include_dir}"]
    known = {
        "g++": [("g++ -fsyntax-only", ["g++", "-fsyntax-only", *flags]), ("g++ -O0 -c", ["g++", "-O0", "-c", *flags])],
        "clang++": [
            ("clang++ -fsyntax-only", ["clang++", "-fsyntax-only", *flags]),
            ("clang++ -O0 -c", ["clang++", "-O0", "-c", *flags]),
        ],
        "nvcc": [("nvcc -c", [nvcc, "-c", "-x", "cu", "-gencode", "arch=compute_90a,code=sm_90a", *flags])],
    }
    return [pair for name in wanted or known for pair in known[name] if shutil.which(pair[1][0])]


def seconds(command, source, repeat):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "unit.cpp"
        path.write_text(source)
        best = float("inf")
        for _ in range(repeat):
            started = time.perf_counter()
            done = subprocess.run([*command, "-o", f"{folder}/unit.o", path], capture_output=True, text=True)
            best = min(best, time.perf_counter() - started)
            if done.returncode != 0:
                first = "\n".join((done.stderr or done.stdout).splitlines()[:20])
                sys.exit(f"measure: {' '.join(command)} did not compile the file:\n{first}")
        return best


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("include_dir")
    parser.add_argument("compilers", nargs="*", metavar="compiler", help="g++, clang++ or nvcc")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--nvcc", default="nvcc")
    arguments = parser.parse_args()

    print(f"{'compiler':<22} {'what':<44} {'alone':>8} {'added':>8}")
    for title, command in commands(arguments.include_dir, arguments.nvcc, arguments.compilers):
        alone = {}
        for row in rows():
            alone[row.title] = seconds(command, row.source, arguments.repeat)
            added = f"{alone[row.title] - alone[row.added_to]:6.2f} s" if row.added_to else ""
            print(f"{title:<22} {row.title:<44} {alone[row.title]:6.2f} s {added:>8}", flush=True)


if __name__ == "__main__":
    main()
