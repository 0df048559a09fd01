#!/usr/bin/env python3
"""Compiles kernels as users get them at run time, and reports those that spill, use local memory, or whose wgmma waits.

  cmake --build build/release --target gemm_candidate_sources
  scripts/ptxas_sweep.py build/release/tests/gemm/gemm_candidate_sources [--match TEXT ...] [--every N] [--nvcc PROGRAM]

Sources come from the generator: every configuration that may be chosen, with every epilogue and element. --match keeps those
whose name holds all of the texts ("bf16", "pingpong", "bias_gelu"); --every keeps each N-th. One at a time, at low priority, about
eight seconds of a core each. A configuration that has no room for an epilogue stops its build with a sentence of Gantry's, and
is counted apart. Exit status 1 for a finding.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from check_ptxas import parse  # noqa: E402

ROOT = Path(__file__).resolve().parent.parent
_ADVICE = re.compile(r"\((C75\d\d)\)")  # serialised wgmma, waits that were put in, setmaxnreg ignored


def compile_one(nvcc, source, cubin=os.devnull, flags=()):
    """The source's kernels for sm_90a; what the compiler and ptxas said is in `stdout`."""
    always = ["-std=c++20", "-cubin", "-gencode", "arch=compute_90a,code=sm_90a", "-Xptxas", "-v", f"-I{ROOT}/include"]
    command = [nvcc, *always, *flags, str(source), "-o", str(cubin)]
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def advice(report):
    """Codes of the warnings about wgmma and registers."""
    return set(_ADVICE.findall(report))


def refusal(report):
    """Gantry's sentence where it refused the configuration, or None."""
    said = re.search(r'"(gantry: [^"]*)"', report)
    return said and said[1]


def findings(report):
    found = [line.strip() for line in report.splitlines() if _ADVICE.search(line)]
    for function in parse(report).values():
        found += [problem for problem in function.problems() if problem not in found and "serialised" not in problem]
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--match", action="append", default=[])
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--nvcc", default=shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc")
    asked = parser.parse_args()
    os.nice(10)
    clean = refused = bad = 0
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([asked.program, folder], check=True, stdout=subprocess.DEVNULL)
        names = sorted(p for p in Path(folder).glob("*.cu") if all(text in p.stem for text in asked.match))
        for source in names[:: asked.every]:
            done = compile_one(asked.nvcc, source)
            registers = max((f.registers for f in parse(done.stdout).values() if f.entry), default=0)
            said = refusal(done.stdout)
            found = findings(done.stdout)
            if done.returncode != 0 and said:
                refused += 1
                print(f"{source.stem}: refused, {said}", flush=True)
            elif done.returncode != 0 or registers == 0 or found:
                bad += 1
                print(f"{source.stem}: {'; '.join(found) or done.stdout[-1500:]}", flush=True)
            else:
                clean += 1
                print(f"{source.stem}: {registers} registers", flush=True)
    print(f"{clean} clean, {refused} refused, {bad} with findings")
    return 1 if bad or not clean else 0


if __name__ == "__main__":
    sys.exit(main())
