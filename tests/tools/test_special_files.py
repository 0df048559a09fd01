"""A pipe that nobody uses, a device without an end and a folder in place of a file end every command with a sentence."""

import os
import subprocess
import tempfile
import unittest
from pathlib import Path

RECORD = Path(__file__).parent / "bench_record.json"
READERS = {
    "--shapes": ("bench", "gemm", "--shapes"),
    "--epilogues": ("tune", "--m", "64", "--n", "64", "--k", "64", "--epilogues"),
    "--from": ("bench", "gemm", "--from"),
    "--problems": ("gemm", "--machine", "sim", "--problems"),
}
WRITERS = {
    "--json": ("bench", "gemm", "--from", str(RECORD), "--json"),
    "--plot": ("bench", "gemm", "--from", str(RECORD), "--plot"),
    "--html": ("explain", "tma", "--elem", "bf16", "--gmem", "(64,64):(64,_1)", "--smem", "(8,8):(8,1)", "--html"),
}


class SpecialFiles(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.pipe = folder.name + "/pipe"
        os.mkfifo(self.pipe)

    def said(self, commands, path):
        """What each command says on standard error. They run together, as some wait for a few seconds."""
        running = {
            option: subprocess.Popen(
                [os.environ["GANTRY"], *words, path], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
            )
            for option, words in commands.items()
        }
        for process in running.values():
            self.addCleanup(process.kill)
        return {option: process.communicate(timeout=60)[1].decode() for option, process in running.items()}

    def test_where_a_file_is_read(self):
        for path, problem in (
            (self.pipe, "nothing has come from it for 5 s"),
            ("/dev/zero", "it has more than 64 MiB"),
            (self.folder, "it is a folder"),
        ):
            for option, said in self.said(READERS, path).items():
                self.assertRegex(said, rf"could not be read.*: {problem}\n", option)

    def test_what_a_pipe_has_is_read(self):
        reader, writer = os.pipe()
        os.write(writer, RECORD.read_bytes())
        os.close(writer)
        done = subprocess.run(
            [os.environ["GANTRY"], "bench", "gemm", "--from", "/dev/stdin"], stdin=reader, capture_output=True, timeout=60
        )
        os.close(reader)
        self.assertIn(b"Test GPU <1>", done.stdout)

    def test_where_a_file_is_written(self):
        for path in (self.pipe, "/dev/full"):
            for option, said in self.said(WRITERS, path).items():
                self.assertIn(f"could not be written to {path}: ", said, option)


if __name__ == "__main__":
    unittest.main()
