"""Lines of prose are as wide as the terminal, or as COLUMNS says; a pipe gets 110 columns."""

import os
import tempfile
import unittest
import unittest.mock

from cli import Cli

COMMANDS = (
    ("--help",),
    *((*command, "--help") for command in (
        ("gemm",), ("bench",), ("bench", "gemm"), ("tune",), ("doctor",), ("layout",), ("eval",), ("explain",), ("explain", "tma"),
        ("explain", "im2col"), ("explain", "epilogue"), ("explain", "fusion"), ("tour",))),
    ("doctor",),
    ("explain", "tma", "--elem", "bf16", "--gmem", "(4096,8192):(8192,_1)", "--smem", "Sw<3,4,3> o (128,64):(64,1)", "--cluster", "2x1"),
    ("explain", "im2col", "--activation", "8x56x56x64", "--elem", "f16", "--filter", "3x3", "--pad", "1x1"),
    ("explain", "epilogue", "--tile", "128x256x64", "--d", "bf16"),
    ("explain", "fusion", "let z = alpha * acc + beta * c + row(bias:bf16); d = gelu(z); aux:bf16 = z; top = reduce_row_max(abs(z))"),
    ("explain", "fusion", "--functions"),
)


def too_long(lines, columns):
    """Lines beyond the columns that could have been broken: a word is not, nor is what stands in quotes."""
    return [line for line in lines if len(line) > columns and " " in line.strip() and '"' not in line]


class Width(Cli):
    def setUp(self):
        old = os.environ.pop("COLUMNS", None)
        self.addCleanup(lambda: os.environ.pop("COLUMNS", None) if old is None else os.environ.update(COLUMNS=old))
        # A path is a word, however long the folder is that this was built in.
        short = tempfile.TemporaryDirectory(dir="/tmp")
        self.addCleanup(short.cleanup)
        patch = unittest.mock.patch.dict(os.environ, {"GANTRY_CACHE_DIR": short.name})
        patch.start()
        self.addCleanup(patch.stop)

    def words(self, text):
        return text.replace("\\\n", " ").split()

    def test_a_terminal_gets_lines_that_fit_it(self):
        for columns in (60, 80, 100):
            for command in COMMANDS:
                self.assertEqual(too_long(self.on_terminal(columns, *command), columns), [], (columns, command))

    def test_a_pipe_gets_110_columns(self):
        for command in COMMANDS:
            self.assertEqual(too_long(self.text(*command).split("\n"), 110), [], command)

    def test_columns_goes_before_the_pipe(self):
        for command in COMMANDS:
            wide = self.text(*command)
            os.environ["COLUMNS"] = "60"
            narrow = self.text(*command)
            del os.environ["COLUMNS"]
            self.assertEqual(too_long(narrow.split("\n"), 60), [], command)
            self.assertEqual(self.words(wide), self.words(narrow), command)

    def test_columns_that_is_no_width_is_left_alone(self):
        plain = self.text("gemm", "--help")
        for text in ("", "0", "-1", "many", "99999999999999999999999"):
            os.environ["COLUMNS"] = text
            self.assertEqual(self.text("gemm", "--help"), plain, text)

    def test_refusals_fit_the_terminal_or_columns(self):
        size = ("gemm", "--m", "64", "--n", "64", "--k", "64")
        for arguments in ((*size, "--tile", "128x10x64"), (*size, "--d", "b1"), (*size, "--tile", "320x100"), ("gem",)):
            whole = self.refused(*arguments, status=2)
            self.assertGreater(len(whole.split("\n")[0]), 50)
            self.assertEqual(too_long(self.on_terminal(50, *arguments, status=2), 50), [], arguments)
            os.environ["COLUMNS"] = "50"
            narrow = self.refused(*arguments, status=2)
            del os.environ["COLUMNS"]
            self.assertLessEqual(max(len(line) for line in narrow.split("\n")), 50, arguments)
            self.assertEqual(self.words(whole), self.words(narrow), arguments)

    def test_a_mark_stays_below_what_it_marks(self):
        arguments = ("gemm", "--m", "8", "--n", "8", "--k", "8", "--epilogue", "d = gelu(acc + row(bias)) * gleu(acc) + row(other)")
        whole = self.refused(*arguments, status=2)
        os.environ["COLUMNS"] = "40"
        self.assertIn("\n".join(whole.split("\n")[1:3]), self.refused(*arguments, status=2))

    def test_an_example_is_a_command_at_any_width(self):
        os.environ["COLUMNS"] = "60"
        said = self.text("explain", "tma", "--help")
        self.assertIn(" \\\n         ", said)
        self.assertIn('--smem "Sw<3,4,3> o (128,64):(64,1)"', said)
        os.environ["COLUMNS"] = "60"
        self.assertLessEqual(max(len(line) for line in self.text("tune", "--help").split("\n")), 60)


if __name__ == "__main__":
    unittest.main()
