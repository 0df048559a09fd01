"""Every public name has an example, and every example holds."""

import doctest
import importlib

import pytest

import gantry

MODULES = [
    "",
    "._context",
    "._elements",
    "._epilogue",
    "._errors",
    "._gemm",
    "._options",
    "._outputs",
    "._plan",
    "._quantize",
    "._results",
]


@pytest.mark.parametrize("part", MODULES)
def test_examples_hold(part):
    ran = doctest.testmod(importlib.import_module("gantry" + part), optionflags=doctest.NORMALIZE_WHITESPACE)
    assert ran.attempted > 0 and ran.failed == 0


def _has_example(thing):
    return any(example for one in doctest.DocTestFinder().find(thing, "x") for example in one.examples)


@pytest.mark.parametrize("package", ["gantry", "gantry.jax", "gantry.torch"])
def test_every_public_name_has_an_example(package):
    pytest.importorskip(package.rpartition(".")[2])
    module = importlib.import_module(package)
    public = {name: getattr(module, name) for name in module.__all__}
    without = [name for name, x in public.items() if callable(x) and not _has_example(x)]
    assert without == []
