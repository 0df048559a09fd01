"""gantry doctor says what is there, what is missing, and what follows, whatever the machine has."""

import json
import os
import tempfile
import time
import unittest
from pathlib import Path

from cli import Cli


class Doctor(Cli):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.set("GANTRY_CACHE_DIR", str(self.folder / "cache"))
        self.set("GANTRY_TUNING", str(self.folder / "tuning"))

    def set(self, name, value):
        old = os.environ.get(name)
        os.environ[name] = value
        self.addCleanup(lambda: os.environ.pop(name) if old is None else os.environ.update({name: old}))

    def diagnose(self):
        return json.loads(self.text("doctor", "--json"))

    def test_every_line_is_a_sentence(self):
        said = self.diagnose()
        for name, line in [*said["machine"].items(), *said["works"].items()]:
            self.assertTrue(line["text"].endswith("."), name)
        for name in ("GPU", "nvcc", "C++", "cuBLASLt", "headers", "cache", "tuning", "simulator"):
            self.assertIn(name, said["machine"])

    def test_the_text_says_the_same(self):
        text = self.text("doctor")
        for line in self.diagnose()["machine"].values():
            self.assertIn(line["text"], text)

    def test_the_simulated_machine_always_works(self):
        self.assertTrue(self.diagnose()["works"]["gantry gemm --machine sim"]["ok"])
        self.set("GANTRY_CXX", "/no/g++")
        line = self.diagnose()["works"]["gantry gemm --machine sim"]
        why = "GANTRY_CXX names /no/g++, which is no program that can be run"
        self.assertEqual(line, {"ok": True, "text": f"yes: every epilogue, with the built-in kernels only: {why}."})

    def test_without_a_compiler_says_what_will_not_work(self):
        self.set("GANTRY_NVCC", "/no/nvcc")
        self.set("GANTRY_NVRTC", "/no/libnvrtc.so")
        said = self.diagnose()
        self.assertEqual(
            said["machine"]["nvcc"],
            {"ok": False, "text": "GANTRY_NVCC names /no/nvcc, which is no program that can be run."},
        )
        for name in ("kernels compiled at run time", "gantry gemm --machine gpu", "gantry bench gemm", "gantry tune"):
            self.assertFalse(said["works"][name]["ok"])
            self.assertTrue(said["works"][name]["text"].startswith("no: "))

    def test_a_cache_that_cannot_be_written_is_said(self):
        (self.folder / "file").write_text("")
        self.set("GANTRY_CACHE_DIR", str(self.folder / "file" / "cache"))
        cache = self.diagnose()["machine"]["cache"]
        self.assertFalse(cache["ok"])
        self.assertIn("cannot be used", cache["text"])

    def test_the_tuning_file_is_counted(self):
        line = "128 128 128 1 | bf16 K bf16 K void bf16 | plain | d = acc | GPU | 128x128x64 cooperative 1x1 bf16"
        (self.folder / "tuning").write_text(f"# gantry tuning 2\n{line}\n")
        self.assertTrue(self.diagnose()["machine"]["tuning"]["text"].endswith("tuning: 1 GEMM."))
        (self.folder / "tuning").write_text(f"# gantry tuning 2\n{line}\nnonsense\n")
        tuning = self.diagnose()["machine"]["tuning"]
        self.assertFalse(tuning["ok"])
        self.assertIn("tuning: 1 GEMM; it cannot be read in full: line 3 has ", tuning["text"])
        (self.folder / "tuning").write_text("nonsense\r\n" * 50)
        self.assertIn("it cannot be read in full: 50 lines; the first: line 1 has ", self.diagnose()["machine"]["tuning"]["text"])
        self.set("GANTRY_TUNING", str(self.folder))
        self.assertIn("it cannot be read in full: it is no plain file", self.diagnose()["machine"]["tuning"]["text"])
        pipe = self.folder / "pipe"
        os.mkfifo(pipe)
        self.set("GANTRY_TUNING", str(pipe))
        begun = time.monotonic()
        self.assertIn("it cannot be read in full: it is no plain file", self.diagnose()["machine"]["tuning"]["text"])
        self.assertLess(time.monotonic() - begun, 4)

    def test_control_characters_of_the_environment_do_not_reach_the_terminal(self):
        for name in ("GANTRY_NVCC", "GANTRY_CACHE_DIR", "GANTRY_TUNING", "GANTRY_NVRTC", "GANTRY_CXX"):
            self.set(name, str(self.folder / "\x1b]0;title\x07"))
        self.assertNotIn("\x1b", self.text("doctor"))

    def test_it_never_fails(self):
        self.set("HOME", "")
        self.set("XDG_CACHE_HOME", "")
        self.set("GANTRY_CACHE_DIR", "")
        self.set("TMPDIR", "/no/folder")
        self.assertIn("HOME is not set", self.diagnose()["machine"]["cache"]["text"])
        os.environ["GANTRY_TUNING"] = os.fsdecode(os.fsencode(str(self.folder)) + b"/\xff")
        self.assertIn("\N{REPLACEMENT CHARACTER}", self.diagnose()["machine"]["tuning"]["text"])


if __name__ == "__main__":
    unittest.main()
