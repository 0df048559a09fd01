#!/usr/bin/env python3
"""Keeps a record of what ptxas makes of the kernels that ship: registers, stack, spills, warnings and bytes of code.

  scripts/ptxas_record.py RECORD [--program GENERATOR] [--only TEXT ...]         compares a new build with RECORD
  scripts/ptxas_record.py RECORD --write [--program GENERATOR] [--only TEXT ...] replaces or adds the lines of RECORD
                                                                                 (with --new: only adds)

Kernels are those of README's table, in the configurations of bench/gpu/ab_rows.hpp; and, where GENERATOR is given
(build/release/tests/gemm/gemm_candidate_sources), every configuration that may be chosen: bf16 with the epilogues of the
table, for a short and a long K, and each other kind of element with a plain D. --only keeps those whose name holds one of
the texts. About eight seconds of a core each, at low priority; --jobs compiles several at once.

Another compiler makes other code: with one that is not RECORD's nothing is compared, and the exit status is 77; --write then starts
RECORD anew. The comparison fails where a kernel takes more registers, stack or code than in RECORD, spills more, has a warning of ptxas
that it had not, or is not in RECORD. Less of anything is reported and passes: --write records it. No GPU is needed.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import astuple, dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from check_ptxas import parse  # noqa: E402
from ptxas_sweep import advice, compile_one, refusal  # noqa: E402

ROOT = Path(__file__).resolve().parent.parent
_ROW = re.compile(r"^\s*\{\{(\d+), (\d+), (\d+)\}, Job::(\w+),", re.MULTILINE)
_CANDIDATE = re.compile(r"(?P<configuration>.+)_(?P<epilogue>plain|c|bias_gelu|bias_gelu_aux)_k(?P<k>\d+)")
_TEXT_SECTION = re.compile(r"\] \.text(?!\S*(?:PackLines|gantry_pack))\S*\s+PROGBITS\s+\w+\s+\w+\s+([0-9a-f]+)")
_HEADER = """\
# What ptxas makes of each kernel: scripts/ptxas_record.py, which compares with it.
# {compiler}
#
# registers, bytes: stack, spill stores, spill loads, code; warnings; kernel
"""


@dataclass(frozen=True)
class Resources:
    registers: int
    stack: int
    spill_stores: int
    spill_loads: int
    code: int
    warnings: str  # "C7510,C7512", or "-"

    def grown(self, before):
        """What is worse here than before, in words."""
        names = ("registers", "bytes of stack", "bytes of spill stores", "bytes of spill loads", "bytes of code")
        for name, old, new in zip(names, astuple(before), astuple(self)):
            if new > old:
                yield f"{new} {name}, {old} before"
        for code in set(self.warnings.split(",")) - set(before.warnings.split(",")) - {"-"}:
            yield f"ptxas warns ({code})"


def table_rows():
    """Names of the rows of ab_rows.hpp, each with the flags that compile it."""
    source = ROOT / "bench/gpu/ab_entry.cu"
    rows = _ROW.findall((ROOT / "bench/gpu/ab_rows.hpp").read_text())
    if not rows:
        raise SystemExit("ptxas_record: bench/gpu/ab_rows.hpp has no row that can be read")
    return {f"table {m}x{n}x{k} {job}": (source, [f"-DGANTRY_AB_ROW={i}"]) for i, (m, n, k, job) in enumerate(rows)}


def candidates(folder):
    """The generator's sources that the record has."""
    found = {}
    for source in sorted(Path(folder).glob("*.cu")):
        match = _CANDIDATE.fullmatch(source.stem)
        if not match:
            continue
        words = match["configuration"].split("_")
        bf16_alone = words[3:] == ["bf16"]
        name = " ".join(["candidate", *words, match["epilogue"]])
        if bf16_alone:
            found[f"{name} k{match['k']}"] = (source, [])
        elif match["epilogue"] == "plain":
            # Of a configuration that is staged otherwise for a long K, that one: 64 comes before 8192.
            found[name] = (source, [])
    return found


def code_bytes(cubin):
    """Of the kernel itself: the one that packs operands, which is the same in all of them, is not counted."""
    sections = subprocess.run(["readelf", "-SW", cubin], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=True)
    return sum(int(size, 16) for size in _TEXT_SECTION.findall(sections.stdout))


def measure(nvcc, source, flags):
    """None where Gantry refuses the configuration: it has no room for the epilogue."""
    with tempfile.TemporaryDirectory() as folder:
        cubin = os.path.join(folder, "kernel.cubin")
        done = compile_one(nvcc, source, cubin, flags)
        kernels = [f for f in parse(done.stdout).values() if f.entry]
        if done.returncode != 0 and refusal(done.stdout):
            return None
        if done.returncode != 0 or not kernels:
            raise SystemExit(f"ptxas_record: {source} {' '.join(flags)} has no kernel:\n{done.stdout[-3000:]}")
        return Resources(
            max(f.registers for f in kernels),
            max(f.stack for f in kernels),
            max(f.spill_stores for f in kernels),
            max(f.spill_loads for f in kernels),
            code_bytes(cubin),
            ",".join(sorted(advice(done.stdout))) or "-",
        )


def version_of(nvcc):
    return subprocess.run([nvcc, "--version"], stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines()[-1]


def compiler_of(path):
    """The compiler that a record is of; None where there is no record."""
    return path.read_text().splitlines()[1].removeprefix("# ") if path.exists() else None


def read(path):
    record = {}
    for line in path.read_text().splitlines() if path.exists() else []:
        if line and not line.startswith("#"):
            *numbers, warnings, name = line.split(maxsplit=6)
            record[name] = Resources(*map(int, numbers), warnings)
    return record


def write(path, record, compiler):
    lines = [
        f"{r.registers:4} {r.stack:4} {r.spill_stores:4} {r.spill_loads:4} {r.code:7} {r.warnings:8} {name}\n"
        for name, r in sorted(record.items())
    ]
    path.write_text(_HEADER.format(compiler=compiler) + "".join(lines))


def compare(record, name, now):
    """Prints the difference; whether nothing grew."""
    if now is None:
        if name in record:
            print(f"ptxas_record: {name} is in the record, and is refused now")
        return name not in record
    if name not in record:
        print(f"ptxas_record: {name} is not in the record; --write adds it")
        return False
    grown = list(now.grown(record[name]))
    for what in grown:
        print(f"ptxas_record: {name}: {what}")
    if not grown and now != record[name]:
        print(f"{name}: less than in the record, now {now}")
    return not grown


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("record", type=Path)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--new", action="store_true", help="leave out kernels that are in RECORD")
    parser.add_argument("--program")
    parser.add_argument("--only", action="append", default=[])
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--nvcc", default=shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc")
    asked = parser.parse_args()
    os.nice(10)
    compiler = version_of(asked.nvcc)
    of_another = compiler_of(asked.record) not in (None, compiler)
    if of_another and not asked.write:
        print(f"ptxas_record: nothing was compared: {asked.record} is of {compiler_of(asked.record)}, and this is {compiler}")
        return 77
    record = {} if of_another else read(asked.record)
    with tempfile.TemporaryDirectory() as folder:
        kernels = table_rows()
        if asked.program:
            subprocess.run([asked.program, folder], check=True, stdout=subprocess.DEVNULL)
            kernels.update(candidates(folder))
        kernels = {name: how for name, how in kernels.items() if not asked.only or any(text in name for text in asked.only)}
        if asked.new:
            kernels = {name: how for name, how in kernels.items() if name not in record}
        elif not kernels:
            raise SystemExit(f"ptxas_record: no kernel's name holds {' or '.join(asked.only)}")
        held = True
        with ThreadPoolExecutor(asked.jobs) as pool:
            measured = pool.map(lambda how: measure(asked.nvcc, *how), kernels.values())
            for name, now in zip(kernels, measured):
                if not asked.write:
                    held = compare(record, name, now) and held
                    continue
                if now is None:
                    record.pop(name, None)
                    continue
                record[name] = now
                write(asked.record, record, compiler)  # after each, so that a stopped run loses nothing
    print(f"{len(kernels)} compiled, {'recorded' if asked.write else 'none grew' if held else 'some grew'}")
    return 0 if held else 1


if __name__ == "__main__":
    sys.exit(main())
