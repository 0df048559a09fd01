#!/usr/bin/env python3
"""Writes include/gantry/gemm/generated/spec_names.hpp: names that people may write for the members of a specification.

C++20 cannot list the members of a type, so the names that are nearly a member's are asked for one by one: with a letter
left out, doubled, swapped with the next or replaced by one beside it on the keyboard; in another case; in the singular or
plural; with a prefix or an underscore; and words that mean the same. Run without arguments it writes the file; with
--check it fails if the file differs.
"""

import sys
from pathlib import Path

OUT = Path(__file__).resolve().parent.parent / "include/gantry/gemm/generated/spec_names.hpp"

# How a member is declared, and words that mean the same.
MEMBERS = {
    "options": ("MEMBER", ("opts", "opt", "config", "configuration", "settings", "gemm_options", "kernel_options")),
    "graph": ("MEMBER", ("fusion", "epilogue", "expression", "expr", "fusion_graph", "epilogue_graph", "fused", "epilogue_fusion")),
    "operation": ("MEMBER", ("op", "fusion_operation", "named_operation", "epilogue_operation", "fusion_op")),
    "Functions": ("TYPE", ("UserFunctions", "user_functions", "FusionFunctions", "Func", "Funcs", "OwnFunctions")),
    "CopyOpR2R": ("TYPE", ("CopyOp", "CopyOpR2S", "CopyR2R", "CopyOpRegisters", "R2RCopy", "RegisterCopy")),
    "Callbacks": ("TEMPLATE", ("FusionCallbacks", "EpilogueCallbacks", "OwnCallbacks", "VisitorTree", "EVT")),
}
# Members of GemmOptions that stand alone.
OPTIONS = ("tile", "cluster", "schedule", "stages", "warpgroups", "swapped", "promote")

ROWS = ("qwertyuiop", "asdfghjkl", "zxcvbnm")


def beside(letter):
    """The letters that touch one on the keyboard, in its case."""
    found = set()
    for r, row in enumerate(ROWS):
        at = row.find(letter.lower())
        if at < 0:
            continue
        found |= {row[i] for i in (at - 1, at + 1) if 0 <= i < len(row)}
        # Each row stands half a key to the right of the one above it.
        found |= {ROWS[r - 1][i] for i in (at, at + 1) if r > 0 and i < len(ROWS[r - 1])}
        found |= {ROWS[r + 1][i] for i in (at - 1, at) if r + 1 < len(ROWS) and 0 <= i < len(ROWS[r + 1])}
    return sorted(c.upper() if letter.isupper() else c for c in found)


def edits(name):
    for i, letter in enumerate(name):
        yield name[:i] + name[i + 1 :]
        yield name[:i] + letter + name[i:]
        if i + 1 < len(name):
            yield name[:i] + name[i + 1] + letter + name[i + 2 :]
        for other in beside(letter):
            yield name[:i] + other + name[i + 1 :]


def snake(name):
    return "".join("_" + c.lower() if c.isupper() and i > 0 else c.lower() for i, c in enumerate(name))


def forms(name):
    """The name in other cases and numbers, and with what other styles put around it. Not in capitals, which may be macros."""
    first = name[0].upper() + name[1:]
    numbers = [name[:-1]] if name.endswith("s") else [name + "s"]
    for form in (name, *numbers):
        yield from (form, form.lower(), form[0].swapcase() + form[1:], snake(form))
    yield from ("k" + first, "k_" + snake(name), "m_" + snake(name), name + "_", "_" + name, "the_" + snake(name))


def names():
    """(name, the member that is meant, how the name is declared)."""
    taken = set(MEMBERS)
    for member, (kind, words) in MEMBERS.items():
        for name in sorted({*edits(member), *forms(member), *words, *("k" + w[0].upper() + w[1:] for w in words)}):
            if name.isidentifier() and name not in taken:
                taken.add(name)
                yield name, member, kind
    yield "Operation", "operation", "TYPE"  # a type where a value is read
    for option in OPTIONS:
        if option not in taken:
            yield option, "options." + option, "MEMBER"


def text():
    lines = [
        "// Written by tools/generate_spec_names.py, which says which names these are. Included with GANTRY_MEMBER, GANTRY_TYPE",
        "// and GANTRY_TEMPLATE (wrong, right) defined.",
        "// clang-format off",
    ]
    lines += [f"GANTRY_{kind}({name}, {member})" for name, member, kind in names()]
    lines += ["// clang-format on", "#undef GANTRY_MEMBER", "#undef GANTRY_TYPE", "#undef GANTRY_TEMPLATE"]
    return "\n".join(lines) + "\n"


def main(arguments):
    if arguments == ["--check"]:
        if OUT.read_text() == text():
            return 0
        print(f"{OUT.name} is not what {Path(__file__).name} writes: run it", file=sys.stderr)
        return 1
    OUT.parent.mkdir(exist_ok=True)
    OUT.write_text(text())
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
