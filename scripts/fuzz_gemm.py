#!/usr/bin/env python3
"""Runs `gantry gemm --machine sim` with random arguments, sensible and absurd ones.

  fuzz_gemm.py GANTRY [--runs N] [--seed N] [--seconds N]

Each run either verifies its GEMM without a finding of the checker, or is refused in a sentence with exit status 1 or 2.
Anything else (a wrong element, a finding, a crash, a run of more than --seconds, a refusal without words) is printed with its
command line, and the exit status is 1. Runs have 4 GiB of memory, so that absurd sizes meet the limit and not the machine.
"""

import argparse
import random
import resource
import shlex
import subprocess
import sys
from collections import Counter

TYPES = ["bf16", "f16", "e4m3", "e5m2", "tf32", "s8", "u8", "f32", "f64", "s32", "u1", "void", "half", ""]
KERNELS = [  # the first four are built in, the others are compiled and kept in the cache
    [],
    ["--schedule", "cooperative"],
    ["--schedule", "pingpong"],
    ["--tile", "64x128", "--cluster", "2x1"],
    ["--a", "f16"],
    ["--a", "e4m3"],
    ["--a", "f16", "--cluster", "1x2"],
    ["--a", "tf32"],
    ["--a", "s8"],
    ["--d", "f32", "--layout-d", "column"],
    ["--d", "f32", "--major-a", "m", "--stages", "3"],
    ["--swap"],
    ["--swap", "--tile", "16x64", "--cluster", "1x1x2"],
    ["--a", "e4m3", "--scale-a", "block", "--scale-b", "block"],
    ["--a", "e4m3", "--scale-a", "block", "--scale-b", "row_block", "--tile", "64x64"],
    ["--scale-a", "row", "--scale-b", "tensor"],
]
GROUPS = ["128,0,77", "5,64,1,200", "0,0", "300", "16,16,16,16,16,16,16,16"]
EPILOGUES = [
    "d = acc",
    "d = gelu(acc + row(bias))",
    "d = alpha * acc + beta * c",
    "aux:bf16 = alpha * acc + row(bias); d = gelu_tanh(aux)",
    "aux:f32 = acc + col(shift); d = silu(aux); top = reduce_max(aux)",
    "d = relu(acc + c + row(bias) + col(shift))",
    "d = acc; sums deterministic = reduce_row_add(acc)",
    "d = acc; sums = reduce_col_add(acc); largest = reduce_amax(acc)",
    "d = clamp(acc, -2, 2)",
    "d = select(greater(acc, 0), acc, scalar(slope) * acc)",
    "d = acc / (1 + exp(-acc))",
    "d = sqrt(abs(acc)) * rcp(2 + acc * acc)",
    "mask:u1 = greater(acc, 0); d = relu(acc)",
]
NONSENSE = ["", "d", "d =", "x = acc", "d = gleu(acc)", "d = acc +", "d = row(bias", "d = ((((((((acc))))))))", "d = c" * 40,
            "d = acc; d = acc", "aux = d", "d = 1/0", "d = nan", "d = row(acc)", "d = \u00e9", "d = acc; " * 30]
ABSURD = ["-1", "0", "2147483647", "2147483648", "4294967296", "9223372036854775807", "9223372036854775808", "1e3", "0x40", "",
          "seven", "-9223372036854775808"]


def extent(draw, most):
    around = draw.choice([8, 64, 128, 256])
    return str(max(0, min(most, draw.choice([draw.randint(1, most), around + draw.randint(-9, 9), around, 1, 0]))))


def grouped(draw, words):
    """The same with groups of rows, or of rows of K, in the place of M or K."""
    along_m = draw.random() < 0.6
    at = words.index("--m" if along_m else "--k")
    words[at:at + 2] = ["--groups" if along_m else "--groups-k", draw.choice(GROUPS)]
    if along_m and draw.random() < 0.2:
        words += ["--capacity", "304"]
    return words


def sensible(draw):
    """A GEMM that may well run."""
    words = ["--m", extent(draw, 300), "--n", str((int(extent(draw, 300)) + 7) // 8 * 8), "--k", extent(draw, 300)]
    words += draw.choice(KERNELS)
    if draw.random() < 0.2:
        words = grouped(draw, words)
    words += ["--epilogue", draw.choice(EPILOGUES)]
    if draw.random() < 0.3 and "--groups" not in words and "--groups-k" not in words:
        words += ["--batch", str(draw.randint(0, 3))]
    if draw.random() < 0.3:
        words += ["--set", draw.choice(["alpha=0", "beta=0", "alpha=-2.5", "alpha=1e30", "alpha=nan", "beta=inf", "slope=0.1"])]
    if draw.random() < 0.3:
        words += ["--inputs", draw.choice(["uniform", "zeros", "eighths"])]
    return words + ["--seed", str(draw.randint(0, 1 << 31))]


def mangled(draw):
    """The same with something that cannot be, or with another kernel."""
    words = sensible(draw)
    for _ in range(draw.randint(1, 3)):
        kind = draw.randint(0, 6)
        if kind == 0:
            words[draw.choice([1, 3, 5])] = draw.choice(ABSURD + GROUPS)
        elif kind == 1:
            words += [draw.choice(["--a", "--b", "--c", "--d"]), draw.choice(TYPES)]
        elif kind == 2:
            words += ["--tile", draw.choice(["64x64", "96x128", "128", "0x0", "128x-8", "256x256", "128x128x32", "axb", "1x1x1x1"])]
        elif kind == 3:
            words += ["--cluster", draw.choice(["1x1", "2x2", "4x4", "0x1", "-1x1", "x"])]
        elif kind == 4:
            words += ["--epilogue", draw.choice(NONSENSE)]
        elif kind == 5:
            words += [draw.choice(["--stages", "--batch"]), draw.choice(ABSURD)]
        else:
            words += draw.choice([["--promote"], ["--swap"], ["--scale-a", "block"], ["--scale-b", "tensor"], ["--scale-b", "blocks"],
                                  ["--groups", "8,-1"], ["--groups-k", "64,,64"], ["--capacity", "1"], ["--split", "reduce_add"], ["--split", "none"], ["--major-a", "m"], ["--major-b", "n"],
                                  ["--layout-d", "column"], ["--layout-c", "column"], ["--set", "gamma=1"], ["--set", "alpha"],
                                  ["--inputs", "large"], ["--machine", "moon"], ["--frobnicate"]])
    return words


def limit_memory():
    resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))


def judge(gantry, words, seconds):
    """What became of one run: a word for the count, and what is wrong with it, if anything."""
    try:
        done = subprocess.run([gantry, "gemm", "--machine", "sim", *words], capture_output=True, timeout=seconds,
                              preexec_fn=limit_memory, text=True, errors="replace")
    except subprocess.TimeoutExpired:
        return "hung", f"did not end in {seconds} s"
    said = done.stdout + done.stderr
    if done.returncode == 0:
        right = "result    correct:" in said and ("no finding" in said or "nothing to compute" in said.lower())
        return ("right", None) if right else ("unverified", said)
    if done.returncode not in (1, 2):
        return "crashed", f"status {done.returncode}: {said}"
    if done.stdout or not done.stderr.startswith("gantry: ") or len(done.stderr) < 30 or "cannot go on" in done.stderr:
        return "wrong", said
    return "refused", None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("gantry")
    parser.add_argument("--runs", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=int, default=120)
    asked = parser.parse_args()
    count = Counter()
    for run in range(asked.runs):
        draw = random.Random(asked.seed * 1_000_003 + run)
        words = sensible(draw) if draw.random() < 0.5 else mangled(draw)
        outcome, problem = judge(asked.gantry, words, asked.seconds)
        count[outcome] += 1
        if problem:
            print(f"{outcome}: gantry gemm --machine sim {shlex.join(words)}\n{problem[:1500]}\n", flush=True)
    print(", ".join(f"{number} {outcome}" for outcome, number in sorted(count.items())))
    return 0 if set(count) <= {"right", "refused"} and count["right"] else 1


if __name__ == "__main__":
    sys.exit(main())
