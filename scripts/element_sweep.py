#!/usr/bin/env python3
"""Every element type in every place of a GEMM, through the command line: right, or refused by a sentence.

    scripts/element_sweep.py --gantry build/release/tools/gantry/gantry --machine gpu --memcheck

runs each on the GPU under compute-sanitizer's memcheck; operands are allocated to the byte, so that an access beyond
one of them is an error. --machine sim compiles for the simulated SM, which takes long. Sizes are odd in every second
round: rows that TMA cannot address. The exit status is 1 if anything is wrong, or refused that should run.
"""

import argparse
import concurrent.futures
import itertools
import json
import subprocess
import sys

REAL = "f64 f32 tf32 f16 bf16 e4m3 e5m2 e3m2 e2m3 e2m1 s64 u64 s32 u32 s16 u16 s8 u8 s4 u4 s2 u2 u1".split()
COMPLEX = ["cf32", "cf64"]
PACKED = {"e3m2", "e2m3", "e2m1", "s4", "u4", "s2", "u2", "u1"}
MULTIPLIED = {"f16", "bf16", "tf32", "e4m3", "e5m2", "s8", "u8"}
SIZES = {"aligned": (200, 144, 96), "odd": (201, 137, 95)}


def cases():
    """(name, arguments, whether it runs) of every type in every place."""
    for element in REAL + COMPLEX:
        real, whole = element in REAL, element not in PACKED and element in REAL
        yield f"A and B of {element}", ["--a", element], element in MULTIPLIED
        yield f"D of {element}", ["--d", element], whole or element == "cf32"
        yield f"C of {element}", ["--c", element, "--epilogue", "d = acc + c"], whole
        yield f"vectors of {element}", ["--epilogue", f"d = acc + row(r:{element}) + col(k:{element})"], real
        yield f"scalar of {element}", ["--epilogue", f"d = acc * scalar(s:{element} = 2)"], real
        tensors = f"d = acc + load(x:{element}); y:{element} = 2 * acc"
        yield f"auxiliary tensors of {element}", ["--epilogue", tensors], whole or element == "u1"
        sums = f"d = acc; s:{element} = reduce_row_add(acc); t:{element} deterministic = reduce_col_max(acc)"
        yield f"reductions of {element}", ["--epilogue", sums], element in ("f32", "bf16", "f16", "s32")


def run(case, size, options):
    name, arguments, runs = case
    m, n, k = SIZES[size]
    command = [options.gantry, "gemm", "--m", str(m), "--n", str(n), "--k", str(k), *arguments]
    command += ["--machine", options.machine, "--json"]
    if options.memcheck:
        command = ["compute-sanitizer", "--tool", "memcheck", "--error-exitcode", "9", "--log-file", "/dev/null", *command]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    # compute-sanitizer may leave with 255 where the program refused; a kernel that does not compile is not refused.
    left = done.returncode in ((1, 2, 255) if options.memcheck else (1, 2))
    refused = left and not done.stdout.strip() and "gantry: " in done.stderr and "Its source is" not in done.stderr
    try:
        right = done.returncode == 0 and json.loads(done.stdout)["ok"]
    except ValueError:
        right = False
    expected = right if runs else refused
    return expected, f"{name}, {size}: {'right' if right else 'refused' if refused else 'WRONG'}", done


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gantry", required=True)
    parser.add_argument("--machine", choices=["gpu", "sim"], default="gpu")
    parser.add_argument("--memcheck", action="store_true")
    parser.add_argument("--only", default="", help="names that contain this")
    parser.add_argument("-j", type=int, default=8)
    options = parser.parse_args()
    chosen = [(case, size) for case, size in itertools.product(cases(), SIZES) if options.only in case[0]]
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(options.j) as pool:
        for good, line, done in pool.map(lambda pair: run(*pair, options), chosen):
            print(line, flush=True)
            if not good:
                failed += 1
                print(f"  NOT AS EXPECTED, exit status {done.returncode}: {done.stderr.strip()[-400:]}", flush=True)
    print(f"{len(chosen) - failed} of {len(chosen)} as expected")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
