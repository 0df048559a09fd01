"""What explain and simulate give."""

from __future__ import annotations

import html
import json
import os
from typing import Any

from ._errors import refusal
from ._plan import Copy


class Explanation:
    """What a GEMM does: ``text`` in sentences, ``copies`` of operands with their reasons. A notebook shows it as
    HTML.

    >>> import numpy as np, gantry
    >>> explanation = gantry.explain(np.ones((32, 64), np.float16), np.ones((16, 64), np.float16))
    >>> "32 x 16 x 64" in explanation.text, explanation.copies
    (True, ())
    """

    def __init__(self, title: str, text: str, copies: tuple[Copy, ...]):
        self.title, self.text, self.copies = title, text, copies

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        rows = []
        for line in self.text.splitlines():
            head, colon, rest = line.partition(": ")
            is_heading = colon and " " not in head and not line.startswith(" ")
            cells = (head, rest) if is_heading else ("", line)
            rows.append(
                "<tr><th style='text-align:left;vertical-align:top'>{}</th><td style='text-align:left'>{}</td></tr>".format(
                    *map(html.escape, cells)
                )
            )
        return f"<table><caption>{html.escape(self.title)}</caption>{''.join(rows)}</table>"


class Report:
    """What the checker of the simulated SM saw of a run. ``clean``: every thread returned, and there is no finding.

    >>> import numpy as np, gantry
    >>> report = gantry.simulate(np.ones((32, 64), np.float16), np.ones((16, 64), np.float16), seed=7).report
    >>> report.clean, report.findings, report.data["seed"]
    (True, [], 7)
    """

    def __init__(self, text: str, data: dict[str, Any]):
        self.text, self.data = text, data

    @property
    def findings(self) -> list[dict[str, Any]]:
        return self.data["findings"]

    @property
    def clean(self) -> bool:
        return bool(self.data["completed"]) and not self.findings

    def __repr__(self) -> str:
        return self.text


class Simulation:
    """``result`` is what :func:`gemm` returns, ``report`` the checker's, ``trace`` the run as Chrome's trace events.

    >>> import numpy as np, gantry
    >>> gantry.simulate(np.ones((32, 64), np.float16), np.ones((16, 64), np.float16))
    <gantry.Simulation, clean>
    """

    def __init__(self, result: Any, report: Report, trace: dict[str, Any] | None):
        self.result, self.report, self.trace = result, report, trace

    def save_trace(self, path: str | os.PathLike) -> None:
        """Writes a file that chrome://tracing and Perfetto open."""
        if self.trace is None:
            raise refusal("trace", "", "this run recorded no trace: simulate with trace=True")
        with open(path, "w", encoding="utf-8") as file:
            json.dump(self.trace, file)

    def __repr__(self) -> str:
        return f"<gantry.Simulation, {'clean' if self.report.clean else f'{len(self.report.findings)} findings'}>"
