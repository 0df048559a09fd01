"""What layers are made of, without any framework: epilogues of forward and backward passes, shapes, and shardings.

A layer is y = act(x Wᵀ + b). Its backward pass is dz = dy · act'(z), dx = dz W, dW = dzᵀ x, db = Σ dz. Where another layer
follows, dz and db come out of that layer's dgrad GEMM: its accumulators are dy.
"""

from __future__ import annotations

from typing import NamedTuple

from ._errors import refusal


class Activation(NamedTuple):
    forward: str  #: function of the epilogue
    backward: str  #: function of the epilogue: of the gradient and of what is kept
    keeps_mask: bool  #: a bit for each element tells enough of the pre-activation


ACTIVATIONS = {
    "relu": Activation("relu", "d_relu", True),
    "gelu": Activation("gelu", "d_gelu", False),
    "gelu_tanh": Activation("gelu_tanh", "d_gelu_tanh", False),
    "silu": Activation("silu", "d_silu", False),
    "sigmoid": Activation("sigmoid", "d_sigmoid", False),
    "tanh": Activation("tanh", "d_tanh", False),
    "mish": Activation("mish", "d_mish", False),
    "hardswish": Activation("hardswish", "d_hardswish", False),
}


def activation(name: str) -> Activation | None:
    """By name; none for the empty one.

    >>> activation("silu").backward
    'd_silu'
    """
    if not name:
        return None
    if name not in ACTIVATIONS:
        raise refusal("activation", "", f"the activation is {name!r}: it is one of {', '.join(ACTIVATIONS)}, or none")
    return ACTIVATIONS[name]


def forward_text(has_bias: bool, act: str, keep: str = "") -> str:
    """The epilogue of a layer; with ``keep``, the element of D, it stores what the backward pass needs as ``kept``.

    >>> forward_text(True, "gelu")
    'd = gelu(acc + row(bias))'
    >>> forward_text(False, "relu", keep="bf16")
    'let z = acc; d = relu(z); kept:u1 = z > 0'
    >>> forward_text(True, "silu", keep="bf16")
    'let z = acc + row(bias); d = silu(z); kept:bf16 = z'
    """
    found = activation(act)
    pre = "acc + row(bias)" if has_bias else "acc"
    if found is None:
        return f"d = {pre}"
    if not keep:
        return f"d = {found.forward}({pre})"
    kept = "kept:u1 = z > 0" if found.keeps_mask else f"kept:{keep} = z"
    return f"let z = {pre}; d = {found.forward}(z); {kept}"


def dgrad_text(act: str, keep: str, has_bias: bool) -> str:
    """The epilogue of the second layer's dgrad GEMM: its accumulators are the gradient of the first layer's output, D that
    of the first layer's pre-activation, and ``dbias`` its sum over rows.

    >>> dgrad_text("relu", "bf16", False)
    'd = d_relu(acc, load(kept:u1))'
    >>> dgrad_text("gelu", "bf16", True)
    'let g = d_gelu(acc, load(kept:bf16)); d = g; dbias = reduce_row_add(g)'
    """
    found = activation(act)
    if found is None:
        text = "acc"
    else:
        text = f"{found.backward}(acc, load(kept:{'u1' if found.keeps_mask else keep}))"
    return f"let g = {text}; d = g; dbias = reduce_row_add(g)" if has_bias else f"d = {text}"


HALVES, INTERLEAVED = 0, 1
GATES = {"halves": HALVES, "interleaved": INTERLEAVED}


def gate_code(name: str) -> int:
    """
    >>> gate_code("interleaved")
    1
    """
    if name not in GATES:
        raise refusal("gate", "", f"the gate is {name!r}: its rows are {' or '.join(map(repr, GATES))}")
    return GATES[name]


def gated_text(act: str, keep: str = "") -> str:
    """The epilogue of the gate's GEMM, whose other factor, the output of the up projection, is loaded.

    >>> gated_text("silu")
    'd = silu(acc) * load(up)'
    >>> gated_text("silu", keep="bf16")
    'd = silu(acc) * load(up); gate:bf16 = acc'
    """
    found = activation(act)
    if found is None:
        raise refusal("activation", "", "a gate has an activation: silu gives SwiGLU, gelu GeGLU")
    text = f"d = {found.forward}(acc) * load(up)"
    return f"{text}; gate:{keep} = acc" if keep else text


def gated_dgrad_text(act: str, keep: str) -> str:
    """The epilogue of the dgrad GEMM behind a gate: D is the gradient of the gate's pre-activation, ``dup`` that of the up
    projection's output.

    >>> gated_dgrad_text("silu", "bf16")
    'let x = load(gate:bf16); d = d_silu(acc * load(up:bf16), x); dup:bf16 = acc * silu(x)'
    """
    found = activation(act)
    if found is None:
        raise refusal("activation", "", "a gate has an activation: silu gives SwiGLU, gelu GeGLU")
    return (
        f"let x = load(gate:{keep}); d = {found.backward}(acc * load(up:{keep}), x); "
        f"dup:{keep} = acc * {found.forward}(x)"
    )


def linear_shape(x: tuple, weight: tuple, bias: tuple | None) -> tuple:
    """The shape of a layer's output; sizes may be symbolic.

    >>> linear_shape((2, 8, 64), (16, 64), (16,))
    (2, 8, 16)
    """
    if len(weight) != 2:
        raise refusal("shape", "weight", f"weight has the shape {weight}: it is N x K", len(weight), 2)
    if len(x) < 1 or x[-1] != weight[1]:
        raise refusal(
            "shape", "x", f"x has the shape {x}, and weight is N x K with a K of {weight[1]}: both have one K"
        )
    if bias is not None and tuple(bias) != (weight[0],):
        raise refusal("shape", "bias", f"bias has the shape {bias}, and ({weight[0]},) is needed")
    return (*x[:-1], weight[0])


# ---- Shardings of y = act(x Wᵀ + b) over one dimension of a device mesh

REPLICATED, PARTIAL = "replicated", "partial"


class Sharding(NamedTuple):
    """A dimension that is sharded, ``REPLICATED``, or ``PARTIAL``: values are summed over the devices."""

    output: int | str
    x: int | str
    weight: int | str
    bias: int | str


def linear_shardings(rank: int, act: str, has_bias: bool) -> list[Sharding]:
    """Those that need no communication, for an ``x`` of so many dimensions.

    Shards of K give partial sums, which only a linear epilogue may be applied to: an activation of a part is not a part
    of the activation, and a bias would be added once for each device.

    >>> linear_shardings(2, "gelu", True)[1:]  # doctest: +NORMALIZE_WHITESPACE
    [Sharding(output=0, x=0, weight='replicated', bias='replicated'),
     Sharding(output=1, x='replicated', weight=0, bias=0)]
    >>> linear_shardings(2, "", False)[-1]
    Sharding(output='partial', x=1, weight=1, bias='replicated')
    """
    all_ = [Sharding(REPLICATED, REPLICATED, REPLICATED, REPLICATED)]
    all_ += [Sharding(i, i, REPLICATED, REPLICATED) for i in range(rank - 1)]  # rows: sequence and data parallel
    all_.append(Sharding(rank - 1, REPLICATED, 0, 0))  # columns of the output
    if not act and not has_bias:
        all_.append(Sharding(PARTIAL, rank - 1, 1, REPLICATED))  # K
    return all_


def product_shardings() -> list[tuple[int | str, int | str, int | str]]:
    """Of D = A B with A of M x K and B of K x N: (D, A, B)."""
    return [
        (REPLICATED, REPLICATED, REPLICATED),
        (0, 0, REPLICATED),
        (1, REPLICATED, 1),
        (PARTIAL, 1, 0),
    ]
