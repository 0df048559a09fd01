"""`gantry eval layout_algebra` agrees with CuTe's observed answers.

Where the C++ of CuTe differs from pycute, its answer (cpp_result) is wanted; where it rejects the operands, a reason or
pycute's answer. Reads tests/data, and the whole golden data where the checkout has it beside itself.
"""

import json
import unittest
from pathlib import Path

from cli import Cli

ROOT = Path(__file__).resolve().parents[2]
FILES = [p for p in (ROOT / "tests/data/layout_algebra.jsonl", ROOT.parent / "shared/golden/layout_algebra.jsonl") if p.exists()]

OUTPUTS = ("result", "image", "out", "size", "cpp", "cpp_result", "cpp_error", "in_domain")


def one_notation(text):
    return text.replace(" ", "").replace(",)", ")") if isinstance(text, str) else text


def agrees(golden, answer):
    if golden.get("cpp") == "differs":
        return one_notation(answer.get("result")) == one_notation(golden["cpp_result"])
    if golden.get("cpp") == "rejects" and "error" in answer:
        return True
    return all(answer.get(field) == golden.get(field) for field in ("result", "image", "out", "size"))


class Golden(Cli):
    def test_there_are_cases(self):
        self.assertTrue(FILES)

    def test_every_case_agrees(self):
        for path in FILES:
            with self.subTest(path.name):
                golden = [json.loads(line) for line in path.read_text().splitlines()]
                asked = [{k: v for k, v in case.items() if k not in OUTPUTS} for case in golden]
                wrong = [(g, a) for g, a in zip(golden, self.eval(*asked)) if not agrees(g, a)]
                self.assertEqual(wrong, [])

    def test_outputs_in_the_line_do_not_matter(self):
        path = FILES[0]
        golden = [json.loads(line) for line in path.read_text().splitlines()]
        for case in golden:
            case.update({k: "wrong" for k in ("result", "image", "out") if k in case})
        plain = [json.loads(line) for line in path.read_text().splitlines()]
        self.assertEqual(self.eval(*golden), self.eval(*plain))


if __name__ == "__main__":
    unittest.main()
