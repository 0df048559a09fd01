"""check_tree.py ROOT layering|kept_out|machine_words|examples|links: prints a line for each place where the tree breaks that rule."""

import sys
from pathlib import Path

import headers

RULES = {
    "layering": lambda root: headers.layering_problems(root / "include"),
    "kept_out": lambda root: headers.kept_out_problems(root / "include"),
    "machine_words": lambda root: headers.machine_word_problems(root, ["include"]),
    "examples": lambda root: headers.example_problems(root / "include"),
    "links": headers.link_problems,
}


def main(root, rule):
    problems = RULES[rule](Path(root))
    print("\n".join(problems) if problems else f"{rule}: nothing to object to")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
