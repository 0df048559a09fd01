"""check_refusal.py CASE -- COMPILER ARGS...: passes when the compiler refuses CASE, in the words that CASE expects.

CASE is a source file that must not compile. It says in comments what the reader of the error must find:

    // EXPECT: text that occurs in the compiler's output (one or more such lines)
    // EXPECT-REGEX: the same, as a regular expression
    // NO_PLACEHOLDERS    "{actual}" and its kin must not stand where a value should
    // MAX_LINES: 40      the most lines the output may have; 40 unless said

The output may have at most MAX_CHARACTERS, however long its lines are.

Spaces and line breaks count as one space, so that a compiler may fold a sentence where it likes.
"""

import re
import subprocess
import sys
from pathlib import Path

DEFAULT_MAX_LINES = 40
MAX_CHARACTERS = 8000
PLACEHOLDER = re.compile(r"\{(actual|wanted|nearest|first|second|operand|field|mode|element)\}")


def expectations(text):
    """(patterns as (said, regex), the most lines allowed)"""
    patterns = []
    for kind, said in re.findall(r"^// (EXPECT|EXPECT-REGEX): *(.*?)\s*$", text, re.MULTILINE):
        patterns.append((said, said if kind == "EXPECT-REGEX" else re.escape(" ".join(said.split()))))
    limit = re.search(r"^// MAX_LINES: *(\d+)", text, re.MULTILINE)
    return patterns, int(limit[1]) if limit else DEFAULT_MAX_LINES


def problems(text, status, output):
    patterns, max_lines = expectations(text)
    if not patterns:
        yield "the case expects no words; say them in a line '// EXPECT: ...'."
    if status == 0:
        yield "the compiler accepted it."
        return
    flat = " ".join(output.replace("\\n", " ").split())
    for said, pattern in patterns:
        if not re.search(pattern, flat):
            yield f"the compiler refused it without saying: {said}"
    found = PLACEHOLDER.search(flat)
    if found and re.search(r"^// NO_PLACEHOLDERS", text, re.MULTILINE):
        yield f"the refusal says {found[0]} where a value should stand."
    lines = len(output.splitlines())
    if lines > max_lines:
        yield f"the refusal takes {lines} lines and may take {max_lines}."
    if len(output) > MAX_CHARACTERS:
        yield f"the refusal takes {len(output)} characters and may take {MAX_CHARACTERS}."


def main(case, dash, *command):
    assert dash == "--"
    done = subprocess.run([*command, case], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    found = list(problems(Path(case).read_text(), done.returncode, done.stdout))
    for problem in found:
        print(f"{Path(case).name}: {problem}")
    if found:
        print(f"--- what the compiler said:\n{done.stdout}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
