"""tidy.py BUILD_DIR PATTERN...: clang-tidy over the sources of BUILD_DIR/compile_commands.json whose path matches a pattern.

Two things keep it short. A header is read once: of the units that compile one header each, only those are read whose header
no other of them includes. And a source that had no finding is not read again until what clang-tidy would see changes: its
text after preprocessing, comments kept, the files of options, or the version of clang-tidy. BUILD_DIR/tidy remembers them.
"""

import concurrent.futures
import hashlib
import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

HEADER_UNITS = "/tests/structure/gantry/"
_LINE_MARK = re.compile(rb'^# \d+ "([^"]+)"', re.MULTILINE)
_FINDING = re.compile(r"^/[^\n]*: (?:error|warning): ", re.MULTILINE)


class Source:
    def __init__(self, entry):
        self.path = entry["file"]
        self.directory = entry["directory"]
        self.command = shlex.split(entry["command"])

    def preprocess(self, seed):
        arguments = self.command[: self.command.index("-o")]
        ran = subprocess.run([*arguments, "-E", "-C", self.path], cwd=self.directory, capture_output=True)
        text = ran.stdout if ran.returncode == 0 else os.urandom(16)  # a source that does not compile is for clang-tidy to name
        self.key = hashlib.sha256(seed + " ".join(self.command).encode() + text).hexdigest()
        self.included = {os.path.normpath(name) for name in _LINE_MARK.findall(text)}
        return self


def seed():
    """What every result depends on beside the source."""
    parts = [subprocess.run(["clang-tidy", "--version"], capture_output=True, check=True).stdout]
    return b"".join(parts + [path.read_bytes() for path in sorted(Path().glob("**/.clang-tidy")) if "build" not in path.parts])


def without_covered(sources):
    """The sources less the header units whose header another unit that stays includes."""
    units = [s for s in sources if HEADER_UNITS in s.path]
    covered, stay = set(), set()
    for unit in sorted(units, key=lambda u: (-len(u.included), u.path)):
        header = b"/include/gantry/" + unit.path.split(HEADER_UNITS)[1].removesuffix(".cpp").encode()
        if not any(name.endswith(header) for name in covered):
            stay.add(unit.path)
            covered |= unit.included
    return [s for s in sources if HEADER_UNITS not in s.path or s.path in stay]


def tidy(build, source):
    """What clang-tidy says of it; nothing when it is clean."""
    stamp = build / "tidy" / source.key
    if stamp.exists():
        return ""
    ran = subprocess.run(
        ["clang-tidy", "-p", str(build), "--quiet", "--warnings-as-errors=*", source.path], capture_output=True, text=True
    )
    if ran.returncode == 0:
        stamp.touch()
        return ""
    return ran.stdout if _FINDING.search(ran.stdout) else f"{source.path}: {ran.stdout}{ran.stderr}"


def findings(output):
    """The output cut before each finding, so that one in a header which many sources include is printed once."""
    starts = [match.start() for match in _FINDING.finditer(output)]
    return [output[a:b] for a, b in zip(starts, starts[1:] + [len(output)])] if starts else [output]


def main(build, *patterns):
    build = Path(build)
    (build / "tidy").mkdir(exist_ok=True)
    wanted = re.compile("|".join(patterns) or ".")
    entries = {entry["file"]: entry for entry in json.loads((build / "compile_commands.json").read_text())}
    # Sources that the build writes are others with a change, or lists: what they are made of is read.
    written = [path for path in entries if path.startswith(str(build.resolve()) + "/") and HEADER_UNITS not in path]
    sources = [Source(entry) for path, entry in sorted(entries.items()) if wanted.search(path) and path not in written]
    common, printed = seed(), set()
    with concurrent.futures.ThreadPoolExecutor(int(os.environ.get("JOBS", os.cpu_count()))) as pool:
        sources = without_covered(list(pool.map(lambda s: s.preprocess(common), sources)))
        for output in pool.map(lambda s: tidy(build, s), sources):
            for finding in findings(output) if output else []:
                if finding not in printed:
                    printed.add(finding)
                    print(finding, end="", flush=True)
    print(f"clang-tidy: {len(sources)} sources, {len(printed)} findings")
    return 1 if printed else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
