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


def required_activation(name: str | None) -> Activation:
    """Of two layers: without one between them they are one.

    >>> required_activation("gelu").backward
    'd_gelu'
    """
    found = activation(name or "")
    if found is None:
        raise refusal("activation", "", "an MLP has an activation between its layers")
    return found


NAMES = ("", *ACTIVATIONS)
_CODES = {name: code for code, name in enumerate(NAMES)}


def activation_code(name: str | None) -> int:
    """The number that an operator takes for an activation: DTensor keys its rules by numbers, and not by texts.

    >>> activation_code("gelu"), activation_code(None)
    (2, 0)
    """
    code = _CODES.get(name or "")
    if code is None:
        activation(name or "")  # says what there is
    return code


def activation_name(code: int) -> str:
    """
    >>> activation_name(activation_code("mish"))
    'mish'
    """
    if not 0 <= code < len(NAMES):
        raise refusal("activation", "", f"the activation is {code}: they count from 0 to {len(NAMES) - 1}", code)
    return NAMES[code]


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


def sum_text(has_bias: bool, has_scales: bool) -> str:
    """The epilogue of experts whose rows are added to those of their tokens, each times a factor.

    >>> sum_text(True, True)
    'd = col(scales) * (acc + row(bias))'
    >>> sum_text(False, True), sum_text(True, False)
    ('d = col(scales) * acc', 'd = acc + row(bias)')
    """
    pre = "acc + row(bias)" if has_bias else "acc"
    if not has_scales:
        return f"d = {pre}"
    return f"d = col(scales) * ({pre})" if has_bias else f"d = col(scales) * {pre}"


def sum_grad_text(has_scales: bool, wants_scales: bool) -> str:
    """The epilogue of their dgrad GEMM, whose A has the rows of the tokens' gradients, gathered. D is the gradient of the
    experts' input, ``dscales`` that of the factors but for the bias: ⟨g, W x⟩ = ⟨g W, x⟩, and g W are the accumulators.

    >>> sum_grad_text(True, True)
    'd = col(scales) * acc; dscales = reduce_col_add(acc * load(x))'
    """
    text = sum_text(False, has_scales)
    return f"{text}; dscales = reduce_col_add(acc * load(x))" if wants_scales else text


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


def gate_name(code: int) -> str:
    """
    >>> gate_name(INTERLEAVED)
    'interleaved'
    """
    return "interleaved" if code == INTERLEAVED else "halves"


def _gate_activation(act: str) -> Activation:
    found = activation(act)
    if found is None:
        raise refusal("activation", "", "a gate has an activation: silu gives SwiGLU, gelu GeGLU")
    return found


def gated_text(act: str, keep: str = "") -> str:
    """The epilogue of a gated layer; with ``keep``, the element of D, it stores both pre-activations as well.

    >>> gated_text("silu")
    'd = silu(gate(acc)) * up(acc)'
    >>> gated_text("gelu", keep="bf16")
    'd = gelu(gate(acc)) * up(acc); gates:bf16 = gate(acc); ups:bf16 = up(acc)'
    """
    text = f"d = {_gate_activation(act).forward}(gate(acc)) * up(acc)"
    return f"{text}; gates:{keep} = gate(acc); ups:{keep} = up(acc)" if keep else text


def gated_dgrad_text(act: str, keep: str) -> str:
    """The epilogue of the dgrad GEMM behind a gate: D is the gradient of the gate's pre-activation, ``dup`` that of the up
    projection's output.

    >>> gated_dgrad_text("silu", "bf16")
    'let x = load(gates:bf16); d = d_silu(acc * load(ups:bf16), x); dup:bf16 = acc * silu(x)'
    """
    found = _gate_activation(act)
    return (
        f"let x = load(gates:{keep}); d = {found.backward}(acc * load(ups:{keep}), x); "
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
