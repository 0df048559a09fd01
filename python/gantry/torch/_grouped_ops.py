"""Operators of experts: rows that are sorted by expert, and one GEMM for the rows of all.

``offsets`` ascends, has one number more than there are experts, and lies where the rows do: expert e has the rows from
offsets[e] to offsets[e + 1]. Nobody reads it before the kernel runs. A group that reaches beyond the rows is empty.
``gather`` is an index: row i is row gather[i] of x. ``scatter`` is one, too: row i is added to row scatter[i] of the result,
times scales[i]. Indices are int32 and name rows that are there.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any, Iterator

import torch
from torch import Tensor
from torch.nn import functional as F

from .. import _rules
from .._gemm import gemm
from ._ops import ELEMENTS, define, multiplies
from ._reference import FUNCTIONS, mask_bytes, packed, sum_dtype


def _groups(offsets: Tensor, rows: int) -> Iterator[tuple[int, slice]]:
    for e, (start, end) in enumerate(pairwise(offsets.tolist())):
        if 0 <= start <= end <= rows:
            yield e, slice(start, end)


# ---- By torch's own operators


def gathered(x: Tensor, index: Tensor | None) -> Tensor:
    return x if index is None else x.index_select(0, index)


def scaled(x: Tensor, scales: Tensor | None) -> Tensor:
    return x if scales is None else x * scales.unsqueeze(-1).to(x.dtype)


def _pre_reference(x, weight, offsets, bias):
    z = x.new_zeros((x.shape[0], weight.shape[1]))
    for e, rows in _groups(offsets, x.shape[0]):
        z[rows] = F.linear(x[rows], weight[e], None if bias is None else bias[e].to(x.dtype))  # rounds once
    return z


def _activated(z: Tensor, name: str, offsets: Tensor) -> Tensor:
    """Rows without a group stay zero, also where the activation of zero is not."""
    out = torch.zeros_like(z)
    for _, rows in _groups(offsets, z.shape[0]):
        out[rows] = FUNCTIONS[name](z[rows])
    return out


def _reference(x, weight, offsets, bias, gather, activation, padded):
    z = _pre_reference(gathered(x, gather), weight, offsets, bias)
    return _activated(z, _rules.activation_name(activation), offsets)


def _kept_reference(x, weight, offsets, bias, gather, activation, padded):
    z, name = _pre_reference(gathered(x, gather), weight, offsets, bias), _rules.activation_name(activation)
    return _activated(z, name, offsets), packed(z > 0) if _rules.ACTIVATIONS[name].keeps_mask else z


def _sums(y: Tensor, index: Tensor, rows: int) -> Tensor:
    """Rows added to those that an index names."""
    out = y.new_zeros((rows, y.shape[1]), dtype=sum_dtype(y))
    return out.index_add_(0, index, y.to(out.dtype)).to(y.dtype)


def _sum_reference(x, weight, offsets, bias, gather, scatter, scales, rows):
    return _sums(scaled(_pre_reference(gathered(x, gather), weight, offsets, bias), scales), scatter, rows)


def _sum_grad_reference(g, weight, offsets, x, gather, scatter, scales, rows, padded):
    d = _pre_reference(gathered(g, scatter), weight.mT, offsets, None)
    dscales = _fake_dscales(g, x) if x is None else (d * x).sum(-1, dtype=sum_dtype(d))
    d = scaled(d, scales)
    return d if gather is None else _sums(d, gather, rows), dscales


def _input_grad_reference(g, weight, offsets, padded):
    return _pre_reference(g, weight.mT, offsets, None)


def _weight_grad_reference(g, x, offsets):
    out = g.new_zeros((offsets.shape[0] - 1, g.shape[1], x.shape[1]))
    for e, rows in _groups(offsets, x.shape[0]):
        out[e] = g[rows].mT @ x[rows]
    return out


def _place_of_rows(x: Tensor, offsets: Tensor) -> Tensor:
    """For each row one more than its group: 0 before the first one, and one more than the last one's behind it."""
    rows = torch.arange(x.shape[0], device=x.device, dtype=offsets.dtype)
    return torch.bucketize(rows, offsets, right=True)


def _bias_grad(g, offsets):
    """Sums the rows of each group, with what is before the first and behind the last one put aside."""
    sums = g.new_zeros((offsets.shape[0] + 1, g.shape[1]), dtype=sum_dtype(g))
    sums.index_add_(0, _place_of_rows(g, offsets), g.to(sums.dtype))
    return sums[1:-1].clone()


def _bias_dot(g, bias, offsets):
    """The sum of each row times the bias of its group; 0 for a row without one."""
    every = F.pad(bias, (0, 0, 1, 1)).index_select(0, _place_of_rows(g, offsets))
    return (g.to(sum_dtype(g)) * every).sum(-1, dtype=sum_dtype(g))


# ---- One GEMM each


def _room(x: Tensor, rows: int, columns: int, padded: bool) -> dict[str, Tensor]:
    """Where rows may be without a group, D is zero before the kernel writes those that have one."""
    return {"out": x.new_zeros((rows, columns))} if padded else {}


def _fits(x: Tensor, weight: Tensor, columns: int, *indices: Tensor | None) -> bool:
    """Whether there is a GEMM for it. Auxiliary tensors have rows of whole 16 bytes, and nothing is gathered from nothing:
    for the others torch's operators serve."""
    if any(i is not None and min(i.shape[0], x.shape[0]) == 0 for i in indices):
        return False
    return multiplies(x, weight) and columns * x.element_size() % 16 == 0


def _named(**given: Tensor | None) -> dict[str, Tensor]:
    return {name: x for name, x in given.items() if x is not None}


def _scattered(index: Tensor) -> dict[str, Tensor]:
    """In no order, but where torch is asked for the same bits on every run."""
    ordered = torch.are_deterministic_algorithms_enabled()
    return {"scatter_ordered" if ordered else "scatter_add": index}


def _rows(x: Tensor, gather: Tensor | None) -> Any:
    return (x if gather is None else gather).shape[0]


def _grouped(x, weight, offsets, bias, gather, activation, padded):
    if not _fits(x, weight, weight.shape[1], gather):
        return _reference(x, weight, offsets, bias, gather, activation, padded)
    text = _rules.forward_text(bias is not None, _rules.activation_name(activation))
    room = _room(x, _rows(x, gather), weight.shape[1], padded)
    return gemm(x, weight, groups=offsets, epilogue=text, **_named(bias=bias, gather=gather), **room)


def _grouped_kept(x, weight, offsets, bias, gather, activation, padded):
    if not _fits(x, weight, weight.shape[1], gather):
        return _kept_reference(x, weight, offsets, bias, gather, activation, padded)
    text = _rules.forward_text(bias is not None, _rules.activation_name(activation), keep=ELEMENTS[x.dtype])
    room = _room(x, _rows(x, gather), weight.shape[1], padded)
    if padded:
        room["kept"] = torch.zeros_like(_fake_kept(x, weight, offsets, bias, gather, activation, padded)[1])
    return tuple(gemm(x, weight, groups=offsets, epilogue=text, **_named(bias=bias, gather=gather), **room))


def _grouped_sum(x, weight, offsets, bias, gather, scatter, scales, rows):
    if not _fits(x, weight, weight.shape[1], gather, scatter):
        return _sum_reference(x, weight, offsets, bias, gather, scatter, scales, rows)
    out = x.new_zeros((rows, weight.shape[1]), dtype=torch.float32)
    text = _rules.sum_text(bias is not None, scales is not None)
    given = _named(bias=bias, scales=scales, gather=gather)
    return gemm(x, weight, groups=offsets, out=out, epilogue=text, **_scattered(scatter), **given).to(x.dtype)


def _grouped_sum_grad(g, weight, offsets, x, gather, scatter, scales, rows, padded):
    if not _fits(g, weight, weight.shape[2], gather, scatter):
        return _sum_grad_reference(g, weight, offsets, x, gather, scatter, scales, rows, padded)
    given = _named(scales=scales, x=x)
    if x is not None and padded:
        given["dscales"] = torch.zeros_like(_fake_dscales(g, x))
    if gather is not None:
        given |= _scattered(gather)
        given["out"] = g.new_zeros((rows, weight.shape[2]), dtype=torch.float32)
    text = _rules.sum_grad_text(scales is not None, x is not None)
    room = {} if gather is not None else _room(g, scatter.shape[0], weight.shape[2], padded)
    got = gemm(g, weight, trans_b=False, groups=offsets, gather=scatter, epilogue=text, **given, **room)
    d, dscales = (got, _fake_dscales(g, x)) if x is None else got
    return d.to(g.dtype), dscales


def _grouped_input_grad(g, weight, offsets, padded):
    if not _fits(g, weight, weight.shape[2]):
        return _input_grad_reference(g, weight, offsets, padded)
    return gemm(g, weight, trans_b=False, groups=offsets, **_room(g, g.shape[0], weight.shape[2], padded))


def _grouped_weight_grad(g, x, offsets):
    if not _fits(g, x, x.shape[1]):
        return _weight_grad_reference(g, x, offsets)
    return gemm(g.mT, x, trans_b=False, groups=offsets, groups_along="k")


def _fake(x, weight, offsets, bias, gather, activation, padded):
    return x.new_empty((_rows(x, gather), weight.shape[1]))


def _fake_kept(x, weight, offsets, bias, gather, activation, padded):
    out = _fake(x, weight, offsets, bias, gather, activation, padded)
    masks = _rules.ACTIVATIONS[_rules.activation_name(activation)].keeps_mask
    return out, (
        out.new_empty((out.shape[0], mask_bytes(out.shape[1])), dtype=torch.uint8) if masks else torch.empty_like(out)
    )


def _fake_dscales(g: Tensor, x: Tensor | None) -> Tensor:
    """One for each row of x; none where they are not asked for."""
    return g.new_empty((0 if x is None else x.shape[0],), dtype=sum_dtype(g))


_OPERANDS = "Tensor x, Tensor weight, Tensor offsets, Tensor? bias, Tensor? gather"
define(f"grouped({_OPERANDS}, int activation, bool padded) -> Tensor", _grouped, _reference, _fake)
define(
    f"grouped_kept({_OPERANDS}, int activation, bool padded) -> (Tensor, Tensor)",
    _grouped_kept,
    _kept_reference,
    _fake_kept,
)
define(
    f"grouped_sum({_OPERANDS}, Tensor scatter, Tensor? scales, SymInt rows) -> Tensor",
    _grouped_sum,
    _sum_reference,
    lambda x, weight, offsets, bias, gather, scatter, scales, rows: x.new_empty((rows, weight.shape[1])),
)
define(
    "grouped_sum_grad(Tensor g, Tensor weight, Tensor offsets, Tensor? x, Tensor? gather, Tensor scatter, Tensor? scales, "
    "SymInt rows, bool padded) -> (Tensor, Tensor)",
    _grouped_sum_grad,
    _sum_grad_reference,
    lambda g, weight, offsets, x, gather, scatter, scales, rows, padded: (
        g.new_empty((rows, weight.shape[2])),
        _fake_dscales(g, x),
    ),
)
define(
    "grouped_input_grad(Tensor g, Tensor weight, Tensor offsets, bool padded) -> Tensor",
    _grouped_input_grad,
    _input_grad_reference,
    lambda g, weight, offsets, padded: g.new_empty((g.shape[0], weight.shape[2])),
)
define(
    "grouped_weight_grad(Tensor g, Tensor x, Tensor offsets) -> Tensor",
    _grouped_weight_grad,
    _weight_grad_reference,
    lambda g, x, offsets: g.new_empty((offsets.shape[0] - 1, g.shape[1], x.shape[1])),
)
define(
    "grouped_bias_grad(Tensor g, Tensor offsets) -> Tensor",
    _bias_grad,
    _bias_grad,
    lambda g, offsets: g.new_empty((offsets.shape[0] - 1, g.shape[1]), dtype=sum_dtype(g)),
)
define(
    "grouped_bias_dot(Tensor g, Tensor bias, Tensor offsets) -> Tensor",
    _bias_dot,
    _bias_dot,
    lambda g, bias, offsets: g.new_empty((g.shape[0],), dtype=sum_dtype(g)),
)
