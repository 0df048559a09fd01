"""The programs of the guide and of the README run as they stand there."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def programs(page):
    return re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(), re.DOTALL)


@pytest.mark.parametrize("page", ["docs/guide/python.md", "README.md"])
def test_the_programs_of_a_page_run_one_after_another(page, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    found, names = programs(page), {}
    assert found
    expected = []
    for program in found:
        exec(compile(program, page, "exec"), names)  # noqa: S102: our own
        expected += re.findall(r"^ *print\(.*\)  # (?!the whole)(.+)$", program, re.MULTILINE)
    printed = capsys.readouterr().out
    for line in expected:
        assert line in printed
