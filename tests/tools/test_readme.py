"""What the first page and the guide show is what happens: programs are examples that CI runs, commands are understood."""

import os
import re
import shlex
import subprocess
import unittest
from pathlib import Path

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()


def outline(text):
    """The title, the names of the sections in their order, and what is said of the result: what tuning leaves alone."""
    lines = text.splitlines()
    names = [line.split()[0] for line in lines[1:] if line and not line.startswith(" ")]
    said = [line for line in lines if line.startswith(("plan ", "result "))]
    return [lines[0], *names, *said]


class Readme(unittest.TestCase):
    def test_its_program_is_the_example(self):
        shown = re.search(r"```c\+\+\n(.*?)```", README, re.DOTALL).group(1)
        example = (ROOT / "examples" / "gemm_activation.cpp").read_text()
        self.assertIn(shown, example)
        self.assertIn("int main()", shown)
        self.assertLess(len(shown.splitlines()), 40)

    def test_its_figures_are_those_of_the_measurements(self):
        page = (ROOT / "docs" / "measurements" / "default-choice.md").read_text()
        measured = page.split("\n## Through the command line")[1].split("\n## ")[0]
        rows = re.findall(r"^\| (\d+ \d+ \d+) \| ([0-9.]+ \|.*) \|$", README, re.MULTILINE)
        self.assertEqual(len(rows), 5)
        for size, ratios in rows:
            row = re.search(rf"^\| {size} \| (.*) \|$", measured, re.MULTILINE).group(1)
            self.assertEqual(ratios.split(" | "), [cell.split(" / ")[0] for cell in row.split(" | ")], size)

    def test_make_run_prints_what_it_shows(self):
        makefile = (ROOT / "Makefile").read_text()
        command = re.search(r"^\t@\$\(BUILD\)/bin/gantry (gemm .*)$", makefile, re.MULTILINE).group(1)
        shown = re.search(r"```\n\$ make run\n(.*?)```", README, re.DOTALL).group(1)
        done = subprocess.run(
            [os.environ["GANTRY"], *shlex.split(command), "--machine", "sim"], capture_output=True, timeout=120
        )
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        self.assertEqual(outline(shown), outline(done.stdout.decode()))


class Guide(unittest.TestCase):
    PAGES = sorted((ROOT / "docs" / "guide").glob("*.md"))

    def test_its_programs_are_examples(self):
        examples = [path.read_text() for path in (ROOT / "examples").glob("*.cpp")]
        shown = [
            (page.name, code)
            for page in self.PAGES
            for code in re.findall(r"```c\+\+\n(.*?)```", page.read_text(), re.DOTALL)
        ]
        self.assertGreaterEqual(len(shown), 4)
        for name, code in shown:
            self.assertTrue(any(code in example for example in examples), f"{name} shows what is in no example:\n{code}")

    def test_its_commands_are_understood(self):
        commands = []
        for page in self.PAGES:
            text = page.read_text().replace("\\\n", " ")
            commands += [(page.name, line) for line in re.findall(r"^\$ gantry (.*)$", text, re.MULTILINE)]
        self.assertGreaterEqual(len(commands), 6)
        for name, line in commands:
            arguments = shlex.split(line.split(" | ")[0])
            done = subprocess.run([os.environ["GANTRY"], *arguments], capture_output=True, timeout=120)
            self.assertIn(done.returncode, (0, 1, 77), f"{name}: gantry {line}\n{done.stderr.decode()}")


if __name__ == "__main__":
    unittest.main()
