"""tidy.py BUILD_DIR PATTERN...: clang-tidy over the sources that BUILD_DIR compiles and whose path matches a pattern.

Nearly all time of a run goes into the declarations of headers, which every check visits. So sources that are compiled
alike are read several at a time, in one text, and all headers in another. Each source stays in the main file, which
clang-tidy's analyzer and some of its checks look at alone; a source whose names meet those of another is read apart
from it. What one text cannot show is a using-declaration that only another of its sources uses.

A source that had no finding is not read again until what clang-tidy would see changes: its text after preprocessing,
comments kept, the files of options, or the version of clang-tidy. BUILD_DIR/tidy remembers them.
"""

import collections
import concurrent.futures
import functools
import hashlib
import json
import os
import re
import shlex
import subprocess
import sys
import threading
from pathlib import Path

TOGETHER = 16  # sources in one text
HEADER_UNITS = "/tests/structure/gantry/"
_FINDING = re.compile(r"^(/[^\n:]*):\d+:\d+: (?:error|warning): ", re.MULTILINE)
_WRONG = re.compile(r"^(/[^\n:]*):\d+:\d+: error: .*\[clang-diagnostic-error", re.MULTILINE)
_DEFINED = re.compile(
    r"^(?!namespace|using|template|//|#)\w[^\n({=;]*?(\w+)(?:\[.*\])?(?: final)?(?:\(| ?\{| =|;)", re.MULTILINE
)
_INCLUDE = re.compile(r'#include (?:<[^>]+>|("[^"]+\.hpp"))')


class Source:
    def __init__(self, entry):
        self.path = entry["file"]
        command = shlex.split(entry["command"])
        self.options = tuple(command[1 : min(command.index(o) for o in ("-o", "-fsyntax-only") if o in command)])
        self.rules = next(rules for folder in Path(self.path).parents if (rules := folder / ".clang-tidy").exists())

    def alike(self):
        return self.options, str(self.rules)

    def find_key(self, seed):
        arguments, first = list(self.options), ""
        if "-include-pch" in arguments:
            place = arguments.index("-include-pch")
            others = (*arguments[: place - 1], *arguments[place + 7 :])
            first = precompiled(arguments[place + 2].removesuffix(".pch"), others)
        self.key = digest(seed, " ".join(arguments), first, preprocessed((*arguments, self.path)))
        return self


def digest(*parts):
    return hashlib.sha256(b"\0".join(p if isinstance(p, bytes) else p.encode() for p in parts)).hexdigest()


def preprocessed(arguments):
    ran = subprocess.run(["clang++", *arguments, "-E", "-C"], capture_output=True)
    return ran.stdout if ran.returncode == 0 else os.urandom(16)  # clang-tidy names what does not compile


_once = threading.Lock()


def precompiled(header, options):
    """Of a precompiled header, which a source is preprocessed without."""
    with _once:
        return _precompiled(header, options)


@functools.cache
def _precompiled(header, options):
    return digest(preprocessed((*options, "-x", "c++", header)))


def own_names(text, part):
    """The text with its unnamed namespace, where that is all of the source, in a namespace of its own."""
    if not re.search(r"\n}  // namespace\s*(}  // namespace \S+\s*)*$", text):
        return text
    # Beside an assertion, as one namespace that is all of another would be one to write with it.
    own = f"static_assert(true); namespace part_{part} {{ namespace {{"
    text = re.sub(r"^namespace {$", own, text, flags=re.MULTILINE)
    return re.sub(r"^}  // namespace$", "} }  // namespace", text, flags=re.MULTILINE)


def meeting_names(text):
    """Names that would be declared twice in one text with another source that has them."""
    regions = re.compile(r"^namespace {$(.*?)^}  // namespace$", re.DOTALL | re.MULTILINE)
    unnamed = "\n".join(regions.findall(text)) if own_names(text, 0) == text else ""
    macros = re.findall(r"^#define (\w+)", text, re.MULTILINE)
    functions = re.findall(r"^[\w:<>* ]+ \*?(\w+)\([^()\n]*\)(?:;| \{)", regions.sub("", text), re.MULTILINE)
    aliases = re.findall(r"^using (\w+) =", unnamed, re.MULTILINE)
    return {*macros, *functions, *aliases, *_DEFINED.findall(unnamed)}


class Text:
    """Sources after each other, and where each line is from."""

    def __init__(self, sources):
        self.sources = sources
        lines, self.lines, included = [], [], set()
        for part, source in enumerate(sources):
            nesting = 0
            for number, line in enumerate(own_names(Path(source.path).read_text(), part).splitlines(), 1):
                nesting += line.startswith("#if") - line.startswith("#endif")
                if match := _INCLUDE.match(line):
                    name = (match[0], match[1] and os.path.dirname(source.path))
                    line = "" if name in included else line
                    included |= {name} if nesting == 0 else set()
                lines.append(line)
                self.lines.append((source.path, number))
        self.text = "\n".join(lines) + "\n"

    def write(self, folder):
        self.path = str(folder.resolve() / f"{digest(self.text)[:16]}{Path(self.sources[0].path).suffix}")
        Path(self.path).write_text(self.text)
        return self

    def traced(self, output):
        """The output with lines of the text named as lines of the sources."""
        here = re.compile(re.escape(self.path) + r":(\d+)")
        return here.sub(lambda match: "{}:{}".format(*self.lines[int(match[1]) - 1]), output)


class Tidy:
    def __init__(self, folder):
        self.folder = folder
        self.texts = folder / "texts"
        self.texts.mkdir(parents=True, exist_ok=True)
        parts = [subprocess.run(["clang-tidy", "--version"], capture_output=True, check=True).stdout]
        rules = sorted(path for path in Path().glob("**/.clang-tidy") if "build" not in path.parts)
        self.seed = digest(*parts, *[path.read_bytes() for path in rules])

    def is_clean(self, source):
        return (self.folder / source.key).exists()

    def read(self, sources):
        """What clang-tidy says of sources that are compiled alike; nothing when they are clean."""
        text = Text(sources).write(self.texts)
        folders = sorted({os.path.dirname(source.path) for source in sources})
        options = [*sources[0].options, *[f"-iquote{folder}" for folder in folders]]
        command = ["clang-tidy", "--quiet", "--warnings-as-errors=*", f"--config-file={sources[0].rules}", text.path]
        ran = subprocess.run([*command, "--", *options], capture_output=True, text=True)
        Path(text.path).unlink()
        output = text.traced(ran.stdout)
        if len(sources) > 1 and "[clang-diagnostic-error" in output:
            wrong = set(_WRONG.findall(output))
            apart = [s for s in sources if s.path in wrong]
            rest = [s for s in sources if s.path not in wrong]
            if not apart or not rest:
                apart, rest = sources[1:], sources[:1]
            return self.read(rest) + self.read(apart)
        found = set(_FINDING.findall(output))
        if ran.returncode != 0 and not found:
            return f"{' '.join(source.path for source in sources)}: {ran.stdout}{ran.stderr}"
        if found <= {source.path for source in sources}:  # whose a finding in a header is, nobody knows
            for source in sources:
                if source.path not in found:
                    (self.folder / source.key).touch()
        return output if found else ""


def all_headers(units, folder):
    """One source that includes what each unit does. Examples, which follow in a unit, are not read."""
    path = folder / "headers.cpp"
    path.write_text("".join(Path(unit["file"]).read_text().partition("\n")[0] + "\n" for unit in units))
    return {**units[0], "file": str(path.resolve())}


def together(sources):
    """The sources in lists of such that are compiled and checked alike, whose names do not meet, and of which no two
    call different headers by the same name."""
    lists = collections.defaultdict(list)
    for source in sources:
        text, folder = Path(source.path).read_text(), os.path.dirname(source.path)
        names, quoted = meeting_names(text), {name for name in _INCLUDE.findall(text) if name}

        def fits(part):
            return len(part[0]) < TOGETHER and not part[1] & names and all(part[2].get(q, folder) == folder for q in quoted)

        part = next(filter(fits, lists[source.alike()]), None)
        if part is None:
            part = ([], set(), {})
            lists[source.alike()].append(part)
        part[0].append(source)
        part[1].update(names)
        part[2].update(dict.fromkeys(quoted, folder))
    return [part[0] for parts in lists.values() for part in parts]


def findings(output):
    """The output cut before each finding, so that one in a header which many sources include is printed once."""
    starts = [match.start() for match in _FINDING.finditer(output)]
    return [output[a:b] for a, b in zip(starts, starts[1:] + [len(output)])] if starts else [output]


def main(build, *patterns):
    build = Path(build)
    tidy = Tidy(build / "tidy")
    wanted = re.compile("|".join(patterns) or ".")
    entries = {entry["file"]: entry for entry in json.loads((build / "compile_commands.json").read_text())}
    entries = [entry for path, entry in sorted(entries.items()) if wanted.search(path)]
    units = [entry for entry in entries if HEADER_UNITS in entry["file"]]
    # Other sources that the build writes are others with a change, or lists: what they are made of is read.
    entries = [entry for entry in entries if not entry["file"].startswith(str(build.resolve()) + "/")]
    sources = [Source(entry) for entry in ([all_headers(units, tidy.texts)] if units else []) + entries]
    printed = set()
    with concurrent.futures.ThreadPoolExecutor(int(os.environ.get("JOBS", os.cpu_count()))) as pool:
        sources = list(pool.map(lambda s: s.find_key(tidy.seed), sources))
        for output in pool.map(tidy.read, together([s for s in sources if not tidy.is_clean(s)])):
            for finding in findings(output) if output else []:
                if finding not in printed:
                    printed.add(finding)
                    print(finding, end="", flush=True)
    print(f"clang-tidy: {len(sources)} sources, {len(printed)} findings")
    return 1 if printed else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
