"""Wrong use ends with status 2 and a sentence; help and version end with 0."""

import os
import resource
import subprocess
import unittest

from cli import Cli


class Usage(Cli):
    def test_help_names_every_command(self):
        for command in ("gemm", "bench", "tune", "doctor", "layout", "eval", "explain", "tour"):
            self.assertIn(command, self.text("--help"))
            self.assertIn(f"gantry {command}", self.text(command, "--help"))

    def test_version(self):
        self.assertEqual(self.text("--version"), f"gantry {os.environ['GANTRY_VERSION']}\n")

    def test_no_command_is_refused(self):
        self.assertTrue(self.refused(status=2).startswith("gantry: gantry takes a command: gemm, bench, tune, "))
        self.assertTrue(self.refused("explain", status=2).startswith("gantry: gantry explain takes a command: tma, "))

    def test_an_unknown_command_is_named(self):
        self.assertIn('"frobnicate" is no command of gantry, which has gemm, ', self.refused("frobnicate", status=2))
        self.assertIn('"" is no command of gantry', self.refused("", status=2))
        self.assertNotIn("the nearest", self.refused("frobnicate", status=2))
        for words, nearest in ((("gem",), "gemm"), (("bnech",), "bench"), (("explain", "tmb"), "tma"), (("explain", "epilog"), "epilogue")):
            said = self.refused(*words, status=2)
            name = " ".join(("gantry", *words[:-1]))
            self.assertIn(f'"{words[-1]}" is no command of {name}, which has ', said)
            self.assertIn(f"; the nearest is {nearest}\n", said)

    def test_an_unknown_option_is_refused(self):
        self.assertIn('"--colour" is no option here', self.refused("layout", "4", "--colour", status=2))
        self.assertIn('"--colour" is no option here', self.refused("--colour", status=2))
        self.assertIn('"x" is no option here\n', self.refused("doctor", "x", "y", status=2))
        self.assertIn('"--q" is no option here\n', self.refused("gemm", "--q", status=2))
        for wrong, nearest in (("--mm", "--m"), ("--epi", "--epilogue"), ("--tlie", "--tile"), ("--stage=3", "--stages")):
            self.assertIn(f'"{wrong}" is no option here; the nearest is {nearest}\n', self.refused("gemm", wrong, status=2))
        self.assertIn('"--verson" is no option here; the nearest is --version\n', self.refused("--verson", status=2))

    def test_memory_that_has_run_out_is_said(self):
        def run(*arguments):
            limit = lambda: resource.setrlimit(resource.RLIMIT_AS, (1 << 28, 1 << 28))
            return subprocess.run([os.environ["GANTRY"], *arguments], capture_output=True, preexec_fn=limit, timeout=60)

        if run("--version").returncode != 0:
            self.skipTest("a sanitizer takes more room than that")
        done = run("gemm", "--machine", "sim", "--m", "8192", "--n", "8192", "--k", "64")
        self.assertEqual((done.returncode, done.stderr), (1, b"gantry: the host's memory has run out\n"))

    def test_an_option_has_one_value(self):
        self.assertIn("gantry: --at is given without its value\n", self.refused("layout", "4", "--at", status=2))
        self.assertIn("gantry: --m is given more than once\n", self.refused("gemm", "--m", "1", "--m", "2", status=2))

    def test_a_flag_has_no_value(self):
        for arguments in (("doctor", "--json=1"), ("layout", "4", "--python=no"), ("explain", "fusion", "--functions=x")):
            flag = arguments[-1].split("=")[0]
            self.assertIn(f"gantry: {flag} takes no value: it is given or left out\n", self.refused(*arguments, status=2))

    def test_control_characters_do_not_reach_the_terminal(self):
        for arguments in (
            ("gemm", "--m", "8", "--n", "8", "--k", "8", "--a", "\x1b[31m"), ("gemm", "\x1b[31m"), ("eval", "\x1b[31m"),
            ("bench", "gemm", "--shapes", "/no/\x1b[31m"), ("bench", "gemm", "--epilogues", "/no/\xc2\x9b31m"),
            ("explain", "tma", "--elem", "\x1b[31m", "--gmem", "4", "--smem", "4"), ("\x1b[31m",),
        ):
            said = self.refused(*arguments, status=2)
            self.assertFalse(any(ord(c) < 32 and c != "\n" or 127 <= ord(c) < 160 for c in said), (arguments, said))
        said = self.refused("bench", "gemm", "--from", "/no/\x1b[31m", status=2)
        self.assertIn("has the control character 0x1b at column 5", said)

    def test_what_is_no_number_is_quoted_and_the_help_is_that_of_the_command(self):
        said = self.refused("gemm", "--m", "many", "--n", "64", "--k", "64", status=2)
        self.assertEqual(
            said, "gantry: --m takes a whole number, and not \"many\"\nRun 'gantry gemm --help' for the options.\n"
        )
        self.assertIn('"--bogus" is no option here', self.refused("bench", "gemm", "--bogus", status=2))

    def test_a_missing_operand_is_named(self):
        self.assertIn("LAYOUT is required", self.refused("layout", status=2))
        self.assertIn("KIND is required", self.refused("eval", status=2))

    def test_an_unknown_kind_is_answered_with_those_there_are(self):
        said = self.refused("eval", "layout_algebr", status=2)
        self.assertIn("'layout_algebr' is not known", said)
        self.assertIn("layout_algebra ", said)

    def test_an_argument_with_a_control_character_is_refused_and_not_echoed(self):
        for text, column, byte in (("d = acc\r", 8, "0d"), ("\x1b[31m", 1, "1b"), ("d\x7f", 2, "7f")):
            for command in (["gemm", "--epilogue", text], ["layout", text], [text]):
                said = self.refused(*command, status=2)
                self.assertIn(f"has the control character 0x{byte} at column {column}, which no option takes", said)
                self.assertEqual([c for c in said if ord(c) < 32 and c != "\n"], [])


if __name__ == "__main__":
    unittest.main()
