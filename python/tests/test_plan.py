"""Plans, explanations, simulations, warm-up, threads, the command line."""

import dataclasses
import inspect
import json
import os
import re
import subprocess
import sys
import threading

import numpy as np
import pytest
from epilogues import BIAS_AND_SCALAR as TWO
from epilogues import BIASED as TEXT
from reference import array, close, matmul, stub_and_its_functions

import gantry
from gantry import _shim
from gantry._options import Options


def operands(rng, m=32, n=16, k=64):
    return array(rng, (m, k), np.float16), array(rng, (n, k), np.float16), array(rng, n, np.float32)


def test_a_plan_runs_with_other_arrays_of_its_kind(rng):
    a, b, bias = operands(rng)
    layer = gantry.plan(a, b, epilogue=TEXT, bias=bias)
    for _ in range(3):
        a, b, bias = operands(rng)
        close(layer(a, b, bias=bias), matmul(a, b) + bias)


def test_a_plan_refuses_arrays_of_another_kind(rng):
    a, b, bias = operands(rng)
    layer = gantry.plan(a, b, epilogue=TEXT, bias=bias)
    with pytest.raises(gantry.InvalidArgument, match=r"A has the shape \(8, 64\), and the plan \(32, 64\)") as refused:
        layer(a[:8], b, bias=bias)
    assert refused.value.operand == "A" and refused.value.rule == "plan"
    with pytest.raises(gantry.InvalidArgument, match="A has the strides"):
        layer(np.asfortranarray(a), b, bias=bias)
    with pytest.raises(gantry.InvalidArgument, match="other arguments"):
        layer(a, b)


def test_a_plan_takes_arguments_in_any_order(rng):
    a, b, bias = operands(rng)
    s = np.array(3, np.float32)
    layer = gantry.plan(a, b, epilogue=TWO, bias=bias, s=s, out_dtype="f32")
    close(layer(a, b, s=s, bias=bias), matmul(a, b) + bias + 3)


def test_every_address_of_a_launch_has_a_name(rng):
    a, b, bias = operands(rng)
    layer = gantry.plan(a, b, epilogue=TWO, bias=bias, s=np.array(3, np.float32), out_dtype="f32")
    assert len(layer.places) == len(layer._example) == len(set(layer.places))
    assert layer._example[layer.places.index("bias")] == bias.ctypes.data


def test_the_stride_of_a_single_batch_does_not_matter_to_a_plan(rng):
    _, b, bias = operands(rng)
    one, other = array(rng, (1, 32, 72), np.float16)[..., :64], array(rng, (2, 40, 72), np.float16)[:1, :32, :64]
    assert one.shape == other.shape and one.strides != other.strides
    layer = gantry.plan(one, b, epilogue=TEXT, bias=bias)
    close(layer(other, b, bias=bias), matmul(other, b) + bias)


def test_an_explanation_is_text_and_html(rng):
    a, b, bias = operands(rng)
    explanation = gantry.explain(a[:, ::-1], b, epilogue=TEXT, bias=bias)
    assert "32 x 16 x 64" in explanation.text and "A is copied, because A has the strides (64, -1)" in explanation.text
    page = explanation._repr_html_()
    assert (
        page.startswith("<table>")
        and "32 x 16 x 64" in page
        and page.count("<tr>") == len(explanation.text.splitlines())
    )


def test_an_explanation_escapes_what_html_would_read():
    text = "Epilogue: d = select(acc < 1, acc, 0)\nnothing < here"
    page = gantry.Explanation("d = acc < 1", text, ())._repr_html_()
    assert page.count("acc &lt; 1") == 2 and "nothing &lt; here" in page


def test_a_simulation_has_result_report_and_trace(rng, tmp_path):
    a, b, bias = operands(rng)
    run = gantry.simulate(a, b, seed=5, trace=True, epilogue=TEXT, bias=bias)
    close(run.result, matmul(a, b) + bias)
    assert run.report.clean and run.report.findings == [] and run.report.data["seed"] == 5
    run.save_trace(tmp_path / "trace.json")
    assert json.loads((tmp_path / "trace.json").read_text()) == run.trace
    events = run.trace["traceEvents"] if isinstance(run.trace, dict) else run.trace
    assert len(events) > 10
    untraced = gantry.simulate(a, b, epilogue=TEXT, bias=bias)
    assert untraced.trace is None
    with pytest.raises(gantry.InvalidArgument, match="trace=True"):
        untraced.save_trace(tmp_path / "none.json")


def test_seeds_choose_other_schedules_of_the_same_result(rng):
    a, b, bias = operands(rng)
    runs = [gantry.simulate(a, b, seed=seed, epilogue=TEXT, bias=bias) for seed in (1, 2)]
    assert (runs[0].result == runs[1].result).all()
    assert runs[0].report.data["seed"] != runs[1].report.data["seed"]


def test_warm_up_tells_how_far_it_is(rng):
    a, b, bias = operands(rng)
    seen = []
    layer = gantry.plan(a, b, epilogue=TEXT, bias=bias)
    gantry.warm_up(layer, [(32, 16, 64)], progress=lambda done, everything: seen.append((done, everything)))
    assert seen[-1] == (1, 1) and layer.kernels == 1


def test_warming_up_a_text_warms_up_what_calls_use(rng):
    a, b, _ = operands(rng)
    context = gantry.Context("simulated", most_kernels=1)
    gantry.warm_up("d = acc", [(32, 16, 64)], dtype="f16", context=context)
    assert gantry.plan(a, b, context=context).kernels == 1


def test_what_progress_raises_comes_out_of_warm_up(rng):
    a, b, bias = operands(rng)
    layer = gantry.plan(a, b, epilogue=TEXT, bias=bias)

    def stop(done, everything):
        raise KeyError("enough")

    with pytest.raises(KeyError, match="enough"):
        gantry.warm_up(layer, [(32, 16, 64)], progress=stop)


def test_threads_share_plans_and_contexts(rng):
    sizes = [(16 * (i % 3 + 1), 8 * (i % 4 + 1), 32) for i in range(12)]
    work = [operands(rng, *size) for size in sizes]
    results, errors = [None] * len(work), []

    def run(i):
        try:
            a, b, bias = work[i]
            results[i] = gantry.gemm(a, b, epilogue=TEXT, bias=bias)
            with pytest.raises(gantry.GantryError):  # errors are a thread's own
                gantry.gemm(a, b, epilogue=TEXT, bias=bias[:-1])
        except BaseException as error:  # noqa: BLE001: shown below
            errors.append(error)

    threads = [threading.Thread(target=run, args=(i,)) for i in range(len(work))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    for (a, b, bias), d in zip(work, results):
        close(d, matmul(a, b) + bias)


FORKED = """
import os, signal
import numpy as np, gantry
a, b = np.ones((32, 64), np.float16), np.ones((16, 64), np.float16)
def compiles(text):
    try:
        gantry.gemm(a, b, epilogue=text)
    except gantry.CompileFailed:
        return True
compiles("d = acc")  # the thread that did it is idle from now on, and a forked process has no threads but one
child = os.fork()
if child == 0:
    signal.alarm(60)
    os._exit(0 if compiles("d = relu(acc)") else 1)
print(os.waitpid(child, 0)[1])
"""


def test_a_forked_process_compiles_with_threads_of_its_own(tmp_path):
    """The compiler is one that fails at once: what matters is that it is called."""
    ran = python("-c", FORKED, GANTRY_CXX="false", GANTRY_CACHE_DIR=str(tmp_path))
    assert ran.stdout.strip() == "0", ran.stderr


SHIPPED = """
import sys
from pathlib import Path
import numpy as np, gantry
from gantry import _context
_context.KERNELS = Path(sys.argv[1])
print(float(gantry.gemm(np.ones((32, 64), np.float16), np.ones((16, 64), np.float16))[0, 0]))
"""


def test_kernels_that_came_with_the_package_need_no_compiler(rng, tmp_path):
    gantry.gemm(*operands(rng)[:2])  # compiled into the cache, which is what a wheel holds
    ran = python("-c", SHIPPED, os.environ["GANTRY_CACHE_DIR"], GANTRY_CXX="false", GANTRY_CACHE_DIR=str(tmp_path))
    assert ran.stdout.strip() == "64.0", ran.stderr


def test_options_may_be_arguments_under_another_name(rng):
    a, b, bias = operands(rng)
    layer = gantry.plan(a, b, epilogue="d = acc + row(tile)", arguments={"tile": bias})
    assert layer._example[layer.places.index("tile")] == bias.ctypes.data


def python(*words, **environment):
    return subprocess.run(
        [sys.executable, *words], capture_output=True, text=True, check=False, env={**os.environ, **environment}
    )


def test_the_doctor_says_what_works(tmp_path):
    """It finds packages by their modules: CuPy's distribution is called cupy-cuda12x."""
    (tmp_path / "cupy").mkdir()
    (tmp_path / "cupy" / "__init__.py").write_text("raise ImportError('no driver')")
    path = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
    ran = python("-m", "gantry", "doctor", PYTHONPATH=path)
    assert ran.returncode == 0, ran.stderr
    assert gantry.__version__ in ran.stdout and "simulated   works" in ran.stdout
    assert re.search(r"^cupy +(installed|[0-9])", ran.stdout, re.MULTILINE)  # a version where CuPy is installed as well
    heads = [line.split()[0] for line in ran.stdout.splitlines()]
    assert heads[:8] == ["gantry", "python", "gpu", "nvrtc", "nvcc", "c++", "cache", "simulated"]
    assert python("-m", "gantry", "nurse").returncode == 2


def test_the_doctor_says_what_is_wrong_with_the_cache(tmp_path):
    (tmp_path / "file").write_text("no folder")
    ran = python("-m", "gantry", "doctor", GANTRY_CACHE_DIR=str(tmp_path / "file"), GANTRY_CXX="false")
    (line,) = [line for line in ran.stdout.splitlines() if line.startswith("cache")]
    assert str(tmp_path) in line and ran.returncode == 1 and "of JAX cannot be built" in ran.stdout


@pytest.mark.parametrize("is_there", [False, True])
def test_what_is_built_lies_in_the_cache_that_was_named(monkeypatch, tmp_path, is_there):
    cache, compiler = tmp_path / "cache", tmp_path / "compiler"
    compiler.write_text('#!/bin/sh\nwhile [ "$1" != -o ]; do shift; done\n: > "$2"\n')
    compiler.chmod(0o700)
    if is_there:
        cache.mkdir(mode=0o755)
    monkeypatch.setenv("GANTRY_CACHE_DIR", str(cache))
    monkeypatch.setenv("GANTRY_CXX", str(compiler))
    assert cache in _shim.build("jax", "_jax_ffi.cpp", [], []).parents
    assert gantry.Context("simulated").notes == []  # kernels are kept there, too


def test_every_function_shows_the_options_of_gemm():
    wanted = inspect.signature(gantry.gemm).parameters
    fields = {field.name: field.default for field in dataclasses.fields(Options)}
    assert {name: wanted[name].default for name in fields if name != "functions"} == {
        name: value for name, value in fields.items() if name != "functions"
    }
    assert all(f"``{name}``" in gantry.gemm.__doc__ for name in wanted if name not in ("a", "b", "named"))
    for function in (gantry.plan, gantry.explain):
        assert inspect.signature(function).parameters == wanted
    own = inspect.signature(gantry.simulate).parameters
    assert {name for name in own if own[name] != wanted.get(name)} == {"seed", "trace"}
    assert set(wanted) - set(own) == {"stream"} and inspect.signature(gantry.plan).return_annotation == "Plan"


def test_the_stub_has_the_signatures_of_the_functions():
    stub, functions = stub_and_its_functions("_gemm.pyi")
    assert stub == functions


def test_an_option_that_a_function_has_not_is_refused(rng):
    with pytest.raises(gantry.InvalidArgument, match="no argument stream"):
        gantry.simulate(*operands(rng)[:2], stream=0)


def test_importing_imports_no_array_library():
    code = "import sys, gantry; print([x for x in ('numpy', 'torch', 'jax', 'cupy', 'ml_dtypes') if x in sys.modules])"
    assert python("-c", code).stdout.strip() == "[]"
