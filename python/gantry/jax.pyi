# Written by scripts/python_stubs.py from the signatures of gantry.jax.
from pathlib import Path
from typing import Any, Callable, Mapping

from ._options import Options

ACTIVATIONS: dict[str, Callable[[Any], Any]]

def build_handlers() -> Path: ...
def gemm(
    a: Any,
    b: Any,
    *,
    trans_a: bool = False,
    c: Any = None,
    epilogue: str = "d = acc",
    trans_b: bool = True,
    copy: bool = True,
    dtype: Any = None,
    out_dtype: Any = None,
    functions: Mapping[str, tuple[str, str]] | None = None,
    gate: str = "halves",
    groups: Any = None,
    group_counts: Any = None,
    groups_along: str = "m",
    expected_rows: Sequence[int] = (),
    gather: Any = None,
    block_scales: tuple[Any, Any] | None = None,
    promote: bool = False,
    tile: tuple[int, int] = (0, 0),
    cluster: tuple[int, int] = (0, 0),
    stages: int = 0,
    arguments: Mapping[str, Any] | None = None,
    **named: Any,
) -> Any: ...
def product_gradients(
    a: Any,
    b: Any,
    g: Any,
    trans_a: bool,
    options: Options,
) -> tuple[Any, Any]: ...
def linear(
    x: Any,
    weight: Any,
    bias: Any = None,
    activation: str | None = None,
    *,
    dtype: str | None = None,
) -> Any: ...
