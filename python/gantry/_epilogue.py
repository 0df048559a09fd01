"""The text of an epilogue: elements of arguments that it leaves open are those of the arrays that are given."""

from __future__ import annotations

import re
from typing import Iterable

_SEEDS = ("u32", "s32", "u64", "s64")


def with_elements(text: str, elements: Iterable[tuple[str, str]]) -> str:
    """Writes ``:element`` after names that have none.

    >>> with_elements("d = gelu(acc + row(bias)); pre = acc", [("bias", "bf16"), ("pre", "f16")])
    'd = gelu(acc + row(bias:bf16)); pre:f16 = acc'
    >>> with_elements("d = acc + row(bias:f16)", [("bias", "bf16")])
    'd = acc + row(bias:f16)'
    >>> with_elements("d = dropout(acc, 0.1, seed); kept:u1 = keep(0.1, seed)", [("seed", "s64")])
    'd = dropout(acc, 0.1, seed:s64); kept:u1 = keep(0.1, seed:s64)'
    """
    for name, element in elements:
        if element == "f32":
            continue
        word = re.escape(name)
        text = re.sub(rf"\b((?:row|col|scalar|load)\s*\(\s*{word})\b(?!\s*:)", rf"\1:{element}", text)
        if element in _SEEDS:  # after a share, which is a number
            text = re.sub(rf"((?:\bkeep\s*\(|,)\s*[0-9.e+-]+\s*,\s*{word})\b(?!\s*:)", rf"\1:{element}", text)
        text = re.sub(rf"((?:^|;)\s*{word})\b(?=[^:;=]*=)", rf"\1:{element}", text)
    return text
