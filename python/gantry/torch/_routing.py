"""Which tokens the rows of experts come from: sorted on the device, without a copy to the host."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from .._errors import refusal


class Routing(NamedTuple):
    """Which token each sorted row comes from, and where the rows of each expert begin. Made by :func:`route`.

    >>> import torch, gantry.torch
    >>> routing = gantry.torch.route(torch.tensor([[1], [0], [1]]), 2)
    >>> routing.offsets.tolist(), routing.gather(torch.tensor([[10.0], [20.0], [30.0]])).flatten().tolist()
    ([0, 1, 3], [20.0, 10.0, 30.0])
    """

    order: Tensor  #: for each sorted row, its place among tokens x choices
    offsets: Tensor
    choices: int  #: experts of one token
    rows: Tensor  #: for each sorted row, its token: the index that a GEMM gathers and scatters by, int32

    @property
    def tokens(self) -> int:
        return self.order.shape[0] // self.choices

    def gather(self, x: Tensor) -> Tensor:
        """The rows of all experts, sorted: each token's row once for each of its choices."""
        return x.index_select(0, self.rows)

    def sorted_weights(self, weights: Tensor) -> Tensor:
        """Of tokens x choices, one for each sorted row."""
        if weights.numel() != self.order.shape[0]:
            raise refusal(
                "shape",
                "weights",
                f"weights have the shape {tuple(weights.shape)}: ({self.tokens}, {self.choices}) is needed",
            )
        return weights.flatten().index_select(0, self.order)

    def scatter(self, y: Tensor, weights: Tensor | None = None) -> Tensor:
        """Sums, for each token, the rows that its experts gave; ``weights`` is tokens x choices."""
        if weights is not None:
            y = y * self.sorted_weights(weights).unsqueeze(-1).to(y.dtype)
        return y.new_zeros((self.tokens, y.shape[1])).index_add(0, self.rows, y)


def route(choices: Tensor, experts: int) -> Routing:
    """Sorts tokens by expert, without a copy to the host: ``choices`` is tokens, or tokens x choices, of experts' numbers.

    >>> import torch, gantry.torch
    >>> routing = gantry.torch.route(torch.tensor([2, 0, 2]), experts=3)
    >>> routing.offsets.tolist(), routing.order.tolist()
    ([0, 1, 1, 3], [1, 0, 2])
    """
    if choices.dim() not in (1, 2) or choices.is_floating_point():
        raise refusal(
            "shape",
            "choices",
            f"choices are {choices.dtype} of the shape {tuple(choices.shape)}: integers of tokens, or of tokens x choices",
        )
    flat, order = torch.sort(choices.flatten(), stable=True)
    bounds = torch.arange(experts + 1, device=choices.device, dtype=flat.dtype)
    offsets = torch.searchsorted(flat, bounds).to(torch.int32)
    count = choices.shape[1] if choices.dim() == 2 else 1
    return Routing(order, offsets, count, (order // count).to(torch.int32))
