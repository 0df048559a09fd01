#!/usr/bin/env python3
"""Writes the stubs of functions whose options are those of gantry.gemm: type checkers read these, help() the signatures.

    PYTHONPATH=build/release/python build/python/bin/python scripts/python_stubs.py

Tests compare the stubs with the functions.
"""

import importlib
import inspect
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[1] / "python" / "gantry"
HEAD = "# Written by scripts/python_stubs.py from the signatures of {}.\n{}\n"

# The stub of a module, what it imports, and what it has beside functions.
STUBS = {
    "_gemm.pyi": (
        "gantry._gemm",
        "from typing import Any, Callable, Iterable, Mapping, Sequence\n\n"
        "from ._context import Context\nfrom ._plan import Plan\nfrom ._results import Explanation, Simulation\n",
    ),
    "jax.pyi": (
        "gantry.jax",
        "from pathlib import Path\nfrom typing import Any, Callable, Mapping\n\nfrom ._options import Options\n\n"
        "ACTIVATIONS: dict[str, Callable[[Any], Any]]\n",
    ),
}


def written(parameter):
    """A parameter, on a line of its own; annotations are texts already."""
    stars = {parameter.VAR_POSITIONAL: "*", parameter.VAR_KEYWORD: "**"}.get(parameter.kind, "")
    default = "" if parameter.default is parameter.empty else f" = {quoted(parameter.default)}"
    return f"    {stars}{parameter.name}: {parameter.annotation}{default},\n"


def quoted(value):
    return f'"{value}"' if isinstance(value, str) else repr(value)


def function_text(name, function):
    signature = inspect.signature(function)
    lines = [written(x) for x in signature.parameters.values() if x.kind != x.KEYWORD_ONLY]
    named = [written(x) for x in signature.parameters.values() if x.kind == x.KEYWORD_ONLY]
    if named:
        last = [lines.pop()] if lines[-1].lstrip().startswith("**") else []
        lines += ["    *,\n", *named, *last]
    inside = f"\n{''.join(lines)}" if lines else ""
    return f"def {name}({inside}) -> {signature.return_annotation}: ...\n"


def stub(module_name, imports):
    module = importlib.import_module(module_name)
    found = [
        (name, x)
        for name, x in vars(module).items()
        if inspect.isfunction(x) and x.__module__ == module_name and not name.startswith("_")
    ]
    return HEAD.format(module_name, imports) + "".join(function_text(*one) for one in found)


def main():
    for file, given in STUBS.items():
        (PACKAGE / file).write_text(stub(*given))


if __name__ == "__main__":
    main()
