"""Strides and texts: plain arithmetic, against NumPy's own."""

import numpy as np
import pytest

import gantry
from gantry._epilogue import with_elements
from gantry._layouts import Slot, broadcast, collapsed

F16 = gantry.element("f16")


def test_batches_collapse_to_one_stride_exactly_where_reshape_needs_no_copy(rng):
    for _ in range(300):
        shape = tuple(int(x) for x in rng.integers(1, 4, 3))
        x = np.zeros(tuple(2 * s for s in shape) + (5,), np.int8)
        x = x[tuple(slice(None, s * int(step), int(step)) for s, step in zip(shape, rng.integers(1, 3, 3)))]
        x = x.transpose(*rng.permutation(3), 3)
        lead = x.shape[:3]
        flat = x.view()
        try:
            flat.shape = (-1, 5)
            expected = flat.strides[0]
        except AttributeError:
            expected = None
        got = collapsed(lead, lead, x.strides[:3])
        if np.prod(lead) > 1:
            assert got == expected
        else:
            assert got == 0


def test_broadcast_is_numpys(rng):
    for _ in range(200):
        one, two = (tuple(int(x) for x in rng.integers(1, 3, rng.integers(0, 4))) for _ in range(2))
        try:
            expected = np.broadcast_shapes(one, two)
        except ValueError:
            with pytest.raises(gantry.InvalidArgument):
                broadcast("B", one, two)
        else:
            assert broadcast("B", one, two) == expected


def test_a_layout_reads_the_elements_that_numpy_reads(rng):
    """The stride and batch stride of a layout, walked by hand, give the matrix."""
    seen = 0
    for _ in range(300):
        memory = rng.integers(0, 100, 4000).astype(np.int16)
        shape = tuple(int(x) for x in rng.integers(1, 6, 3))
        steps = [(64, 8, 1), (64, 1, 8), (0, 8, 1), (5, 25, 1), (64, 16, 2), (1, 64, 9)][rng.integers(6)]
        x = np.lib.stride_tricks.as_strided(memory, shape, [2 * s for s in steps])
        slot = Slot("A", F16, (shape[0],), shape[1], shape[2], may_transpose=True)
        layout = slot.layout_of(x.shape, tuple(s // 2 for s in x.strides))
        if layout is None:
            continue
        seen += 1
        batch, line, unit = np.indices(shape)
        if layout.transposed:
            line, unit = unit, line
        assert (memory[batch * layout.batch_stride + line * layout.stride + unit] == x).all()
    assert seen > 100


def test_copies_have_lines_of_whole_16_bytes():
    for name, length in (("f16", 5), ("s8", 33), ("f32", 1), ("u1", 9), ("e4m3", 16)):
        slot = Slot("A", gantry.element(name), (), 3, length)
        stored = max(slot.element.bits, 8) // 8
        assert slot.fresh_units() * stored % 16 == 0 and slot.fresh_units() >= slot.units


@pytest.mark.parametrize(
    "text, expected",
    [
        ("d = acc + row(x)", "d = acc + row(x:bf16)"),
        ("d = acc + row(x = 0)", "d = acc + row(x:bf16 = 0)"),
        ("d = acc + row( x )", "d = acc + row( x:bf16 )"),
        ("d = acc * load(x col)", "d = acc * load(x:bf16 col)"),
        ("d = row(x) + row(x)", "d = row(x:bf16) + row(x:bf16)"),
        ("d = acc + row(x:f16)", "d = acc + row(x:f16)"),
        ("d = acc; x = acc", "d = acc; x:bf16 = acc"),
        ("d = acc;\nx col optional = acc", "d = acc;\nx:bf16 col optional = acc"),
        ("d = acc; x:f16 = acc", "d = acc; x:f16 = acc"),
        ("d = acc + row(xx); y = x", "d = acc + row(xx); y = x"),
    ],
)
def test_elements_are_written_where_the_text_leaves_them_open(text, expected):
    assert with_elements(text, [("x", "bf16")]) == expected
