#!/usr/bin/env python3
"""Reads what ptxas says of each kernel, and fails on a spill, a stack frame or a serialised wgmma.

  check_ptxas.py REPORT...         reads reports saved from `nvcc -Xptxas -v`
  check_ptxas.py -- nvcc ...       runs the compiler and reads its report
  check_ptxas.py --quiet -- nvcc   prints only what is wrong, so that it can stand before a compiler in a build

Exit status 1 for a finding, the compiler's own where it failed, 2 for a report with no kernel in it: then the options that
make ptxas talk were missing, and silence would prove nothing.
"""

import re
import shutil
import subprocess
import sys
from dataclasses import dataclass, field

_PROPERTIES = re.compile(r"Function properties for (\S+)")
_FRAME = re.compile(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads")
_ENTRY = re.compile(r"Compiling entry function '([^']+)'")
_USED = re.compile(r"Used (\d+) registers")
_LOCAL = re.compile(r"Local memory used for function '([^']+)', size of stack frame: (\d+) bytes")
_SPILLED = re.compile(r"Registers are spilled to local memory in function '([^']+)', (\d+) bytes spill stores, (\d+) bytes spill loads")
_SERIALISED = re.compile(r"\((C\d+)\).*wgmma\.mma_async instructions are serialized due to (.*?)(?: in (?:the )?function '([^']+)')?$")


@dataclass
class Function:
    name: str
    entry: bool = False
    registers: int = 0
    stack: int = 0
    spill_stores: int = 0
    spill_loads: int = 0
    serialised: list = field(default_factory=list)

    def problems(self):
        if self.spill_stores or self.spill_loads:
            yield f"spills registers: {self.spill_stores} bytes stored, {self.spill_loads} bytes loaded"
        if self.stack:
            yield f"keeps {self.stack} bytes on the stack, which is local memory"
        yield from (f"has its wgmma serialised ({code}): {why}" for code, why in self.serialised)


def parse(report):
    """The functions a report speaks of, by mangled name."""
    functions = {}

    def function(name):
        return functions.setdefault(name, Function(name))

    entry = described = None
    for line in report.splitlines():
        if match := _ENTRY.search(line):
            entry = function(match[1])
            entry.entry = True
        elif match := _PROPERTIES.search(line):
            described = function(match[1])
        elif (match := _FRAME.search(line)) and described:
            described.stack, described.spill_stores, described.spill_loads = map(int, match.groups())
        elif (match := _USED.search(line)) and entry:
            entry.registers = int(match[1])
        elif match := _LOCAL.search(line):
            function(match[1]).stack = int(match[2])
        elif match := _SPILLED.search(line):
            function(match[1]).spill_stores, function(match[1]).spill_loads = int(match[2]), int(match[3])
        elif match := _SERIALISED.search(line):
            function(match[3] or "(a function ptxas does not name)").serialised.append((match[1], match[2]))
    return functions


def readable(name):
    if not shutil.which("c++filt"):
        return name
    return subprocess.run(["c++filt", name], capture_output=True, text=True, check=True).stdout.strip()


def judge(report, quiet=False):
    """Prints what the report says; the exit status it deserves."""
    functions = parse(report).values()
    if not any(f.entry for f in functions) and not quiet:
        print("check_ptxas: the report names no kernel; compile one, with -Xptxas -v")
        return 2
    bad = False
    for f in functions:
        problems = list(f.problems())
        bad |= bool(problems)
        if not quiet:
            used = f"{f.registers} registers, " if f.entry else ""
            print(f"{readable(f.name)}: {used}{f.stack} bytes stack, {f.spill_stores}/{f.spill_loads} bytes spilled/reloaded")
        for problem in problems:
            print(f"check_ptxas: {readable(f.name)} {problem}")
    return 1 if bad else 0


def run(command, quiet):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        print(done.stdout, end="")
        return done.returncode
    said_by_others = [line for line in done.stdout.splitlines() if not re.match(r"ptxas |    \d+ bytes stack frame", line)]
    print("".join(line + "\n" for line in said_by_others), end="")
    return judge(done.stdout, quiet)


def main(arguments):
    quiet = arguments[:1] == ["--quiet"]
    arguments = arguments[quiet:]
    if arguments[:1] == ["--"] and len(arguments) > 1:
        return run(arguments[1:], quiet)
    if not arguments or arguments[0].startswith("-"):
        print(__doc__, file=sys.stderr)
        return 2
    reports = []
    for path in arguments:
        with open(path, encoding="utf-8") as report:
            reports.append(report.read())
    return judge("\n".join(reports), quiet)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
