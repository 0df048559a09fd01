"""What the operands of a GEMM are: its sizes, and the batches that each kind of operand has. Plain arithmetic.

Without groups, all share the batches of A and B. With groups along M, the rows of all groups lie in one A and one D,
and each group has a B, and row vectors and reductions of its own. With groups along K, the rows of K of all groups lie
in one A and one B, and each group has a D.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from math import prod
from typing import Mapping

from ._arrays import View
from ._errors import refusal
from ._layouts import broadcast

#: Operands that are neither matrices nor arguments of the epilogue: no name of an argument has a space.
OFFSETS, COUNTS, SCALES_A, SCALES_B = "group offsets", "group counts", "scales of A", "scales of B"
GATHER, SCATTER, SCATTER_ADD = "gather index", "scatter index", "scatter_add index"
SCATTER_ORDERED = "scatter_ordered index"

#: As gantry.h counts.
NO_GROUPS, ALONG_M, ALONG_K = 0, 1, 2
NO_SCALE, ROW_BLOCK, BLOCK = 0, 1, 2
NO_SCATTER, STORE, ADD, ORDERED = 0, 1, 2, 3
SCALED_BLOCK = 128

#: Indices by which rows of D are scattered, and how. The option of one is the first word of its name.
SCATTERS = {SCATTER: STORE, SCATTER_ADD: ADD, SCATTER_ORDERED: ORDERED}
INDICES = (GATHER, *SCATTERS)
EXTRAS = (OFFSETS, COUNTS, SCALES_A, SCALES_B, *INDICES)


def option_of(index: str) -> str:
    """
    >>> option_of(SCATTER_ADD)
    'scatter_add'
    """
    return index.split()[0]


Lead = tuple[int, ...]


@dataclass(frozen=True)
class Form:
    m: int
    n: int
    k: int
    columns: int  #: of D: half of N where the epilogue is gated
    groups: int  #: NO_GROUPS, ALONG_M or ALONG_K
    lead: Lead  #: the batches, or the groups
    a_rows: int  #: of A: M where no index gathers them
    d_rows: int  #: of D: M where no index scatters them

    @property
    def batch(self) -> int:
        return prod(self.lead)

    @property
    def of_a(self) -> Lead:
        return () if self.groups else self.lead

    @property
    def of_b(self) -> Lead:
        return () if self.groups == ALONG_K else self.lead

    @property
    def of_d(self) -> Lead:
        """Of what has M rows: C, D, auxiliary tensors, column vectors and what is reduced to them."""
        return () if self.groups == ALONG_M else self.lead

    def __str__(self) -> str:
        lead = f"{self.batch} groups, " if self.groups else "".join(f"{size} x " for size in self.lead)
        return f"{lead}{self.m} x {self.n} x {self.k}"


def is_gated(text: str) -> bool:
    """
    >>> is_gated("d = silu(gate(acc)) * up(acc)"), is_gated("d = acc * load(gate)  # not gate(acc)")
    (True, False)
    """
    return re.search(r"\b(gate|up)\s*\(\s*acc\s*\)", re.sub(r"#.*", "", text)) is not None


def _matrix_shapes(views: Mapping[str, View], trans_b: bool) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Of A, and of B as N x K."""
    for name in ("A", "B"):
        shape = views[name].shape
        if len(shape) < 2:
            raise refusal(
                "rank", name, f"{name} has the shape {shape}: a matrix has two dimensions or more", len(shape), 2
            )
    a, b = views["A"].shape, views["B"].shape
    n, k = (b[-2], b[-1]) if trans_b else (b[-1], b[-2])
    if a[-1] != k:
        written = "N x K" if trans_b else "K x N"
        raise refusal(
            "shape",
            "B",
            f"A is {a[-2]} x {a[-1]} and B, as {written}, has a K of {k}: both have one K"
            + ("; for a B of K x N say trans_b=False" if trans_b and a[-1] == n else ""),
            k,
            a[-1],
        )
    return a, (*b[:-2], n, k)


def _groups(views: Mapping[str, View], along: str) -> tuple[int, int]:
    """The grouping, and how many groups there are."""
    if along not in ("m", "k"):
        raise refusal("groups", "", f"groups_along is {along!r}: it is 'm' or 'k'")
    if OFFSETS in views and COUNTS in views:
        raise refusal("groups", COUNTS, "groups and group_counts were both given: one of them is needed")
    name = OFFSETS if OFFSETS in views else COUNTS
    if name not in views:
        if along == "k":
            raise refusal("groups", OFFSETS, "groups_along='k' needs groups=, the offsets of the groups")
        return NO_GROUPS, 0
    shape = views[name].shape
    if name == COUNTS and along == "k":
        raise refusal("groups", COUNTS, "groups along K have offsets, groups=, and no group_counts")
    if len(shape) != 1 or (name == OFFSETS and shape[0] < 1):
        raise refusal("shape", name, f"{name} have the shape {shape}: one dimension is needed; offsets are one or more")
    return (ALONG_K if along == "k" else ALONG_M), shape[0] - (1 if name == OFFSETS else 0)


def _rows(views: Mapping[str, View], a: tuple[int, ...]) -> int:
    """M: the rows of A, or as many as an index names."""
    if GATHER not in views:
        return a[-2]
    shape = views[GATHER].shape
    if len(shape) < 1:
        raise refusal("shape", GATHER, "gather has no dimension: it is an index, of M rows of A")
    return shape[-1]


def scatter_of(views: Mapping[str, View]) -> str | None:
    """The operand that scatters rows of D."""
    found = [name for name in SCATTERS if name in views]
    if len(found) > 1:
        given = " and ".join(map(option_of, found[:2]))
        raise refusal("scatter", found[0], f"{given} were both given: one of them is needed")
    return found[0] if found else None


def _rows_of_d(views: Mapping[str, View], m: int) -> int:
    scatter = scatter_of(views)
    if scatter is None:
        return m
    if "D" not in views or len(views["D"].shape) < 2:
        raise refusal("scatter", "D", f"{option_of(scatter)} writes to some rows of D and leaves the others: give out=")
    return views["D"].shape[-2]


def form_of(views: Mapping[str, View], trans_b: bool, text: str, along: str) -> Form:
    """The sizes of a call."""
    a, b = _matrix_shapes(views, trans_b)
    groups, count = _groups(views, along)
    m, n, k = _rows(views, a), b[-2], a[-1]
    columns = n // 2 if is_gated(text) else n
    if not groups:
        return Form(m, n, k, columns, NO_GROUPS, broadcast("B", a[:-2], b[:-2]), a[-2], _rows_of_d(views, m))
    for name, shape, rank in (("A", a, 2), ("B", b, 3 if groups == ALONG_M else 2)):
        if len(shape) != rank and not (name == "B" and len(shape) == 2):
            raise refusal(
                "rank",
                name,
                f"{name} has {len(shape)} dimensions, and in groups along {along.upper()} it has {rank}",
                len(shape),
                rank,
            )
    if COUNTS in views and count and m % count:
        nearest = -(-m // count) * count
        raise refusal("shape", "A", f"A has {m} rows for {count} groups of one capacity: a multiple is needed", m, nearest)
    return Form(m, n, k, columns, groups, (count,), a[-2], _rows_of_d(views, m))


def scale_mode(name: str, shape: tuple[int, ...], rows: int, k: int) -> int:
    """Which blocks a factor is for, by the shape of the factors.

    >>> scale_mode("scales of A", (256, 4), 256, 512), scale_mode("scales of B", (3, 4), 384, 512)
    (1, 2)
    """
    blocks, row_blocks = -(-k // SCALED_BLOCK), -(-rows // SCALED_BLOCK)
    if shape[-2:] == (rows, blocks):
        return ROW_BLOCK
    if shape[-2:] == (row_blocks, blocks):
        return BLOCK
    raise refusal(
        "shape",
        name,
        f"{name} have the shape {shape}: ({rows}, {blocks}), one for each row and {SCALED_BLOCK} of K, or "
        f"({row_blocks}, {blocks}), one for {SCALED_BLOCK} rows and {SCALED_BLOCK} of K, is needed",
    )
