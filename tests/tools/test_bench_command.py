"""gantry bench gemm: the table and the plot from a record, what is refused, what ends a run, and the answer where there is
no GPU."""

import json
import os
import signal
import subprocess
import tempfile
import unittest
import xml.etree.ElementTree as ElementTree
from pathlib import Path

from cli import Cli

RECORD = Path(__file__).parent / "bench_record.json"
SVG = "{http://www.w3.org/2000/svg}"


class Bench(Cli):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def recorded(self, *more, change=None):
        """What is printed of the record, of which the wrong second result is left out unless it is asked for."""
        record = json.loads(RECORD.read_text())
        record["results"] = record["results"][:1]
        if change:
            change(record)
        path = self.folder / "record.json"
        path.write_text(json.dumps(record))
        return self.text("bench", "gemm", "--from", str(path), *more)

    def test_the_table_has_times_rates_and_ratios(self):
        lines = self.recorded().splitlines()
        self.assertIn("Test GPU <1>, driver CUDA 13.0, cuBLASLt 13.0.2; bf16 inputs, uniform in [-1, 1)", lines[0])
        self.assertEqual(lines[5], "d = acc  (against cuBLASLt with the same epilogue)")
        words = lines[6].split()
        # M N K, burst 4.0 us, 2e9 / 4e-6 = 500 TFLOP/s, 5/4; cold 8.0, 6/8; sustained 5.0, 400 TFLOP/s, 5.5/5, clock, power
        expected = "1000 1000 1000 4.0 500.0 1.250 8.0 0.750 5.0 400.0 1.100 1500 650".split()
        self.assertEqual(words[: len(expected)], expected)
        self.assertTrue(lines[6].endswith("128x256x64 cooperative 2x1 bf16"))

    def test_what_was_not_measured_is_a_dash_and_what_was_wrong_is_said(self):
        out, err = self.gantry("bench", "gemm", "--from", str(RECORD), status=1)
        line = out.decode().splitlines()[7]
        self.assertEqual(line.split()[6:13], ["-"] * 7)
        self.assertTrue(line.endswith("WRONG"))
        self.assertEqual(err, b"")

    def test_a_record_that_is_written_is_read_back_the_same(self):
        copy = self.folder / "copy.json"
        first = self.recorded("--json", str(copy))
        self.assertEqual(self.text("bench", "gemm", "--from", str(copy)), first)

    def test_the_plot_has_every_point_under_both_roofs(self):
        path = self.folder / "plot.svg"
        self.recorded("--plot", str(path))
        root = ElementTree.parse(path).getroot()
        roofs = [line for line in root.iter(f"{SVG}line") if line.get("class") == "roof"]
        self.assertEqual(len(roofs), 2)
        points = {p.find(f"{SVG}title").text: p for p in [*root.iter(f"{SVG}circle"), *root.iter(f"{SVG}rect")] if len(p)}
        self.assertEqual(
            sorted(points),
            [
                "1000 x 1000 x 1000: d = acc, cuBLASLt, burst: 400.0 TFLOP/s",
                "1000 x 1000 x 1000: d = acc, cuBLASLt, sustained: 363.6 TFLOP/s",
                "1000 x 1000 x 1000: d = acc, ours, burst: 500.0 TFLOP/s",
                "1000 x 1000 x 1000: d = acc, ours, sustained: 400.0 TFLOP/s",
            ],
        )
        flat = roofs[1]
        self.assertEqual(flat.get("y1"), flat.get("y2"))
        burst = points["1000 x 1000 x 1000: d = acc, ours, burst: 500.0 TFLOP/s"]
        theirs = points["1000 x 1000 x 1000: d = acc, cuBLASLt, burst: 400.0 TFLOP/s"]
        self.assertGreater(float(burst.get("cy")), float(flat.get("y1")))  # below the roof
        self.assertLess(float(burst.get("cy")), float(theirs.get("cy")))  # faster is higher
        # 1000 TFLOP/s over 5 TB/s: the roofs meet at 200 FLOP/byte, and the GEMM has 333.
        self.assertGreater(float(burst.get("cx")), float(flat.get("x1")))
        texts = " ".join(t.text for t in root.iter(f"{SVG}text"))
        self.assertIn("memory: 5.00 TB/s", texts)
        self.assertIn("1000 TFLOP/s", texts)

    def test_an_empty_record_is_drawn_too(self):
        path = self.folder / "plot.svg"
        self.recorded("--plot", str(path), change=lambda record: record.update(results=[]))
        ElementTree.parse(path)

    def test_a_file_that_is_no_record_is_refused(self):
        for text, said in (
            ("{", "it is not JSON"),
            ("[]", "it is not a record of gantry bench, version 1"),
            ('{"gantry_bench": 2}', "it is not a record of gantry bench, version 1"),
            ('{"gantry_bench": 1}', "it is not a record of gantry bench: "),
        ):
            path = self.folder / "wrong.json"
            path.write_text(text)
            self.assertIn(f"the record {path} cannot be used: {said}", self.refused("bench", "gemm", "--from", str(path)))
        self.assertIn("could not be read", self.refused("bench", "gemm", "--from", str(self.folder / "none")))

    def test_shapes_that_cannot_be_read_are_named_by_their_line(self):
        path = self.folder / "shapes.txt"
        path.write_text("# sizes\n128 256 64  # fine\n128 256\n1 2 3 4\n0 1 1\n8 8 2147483648\n")
        said = self.refused("bench", "gemm", "--shapes", str(path), status=2)
        for number, content in ((3, "128 256"), (4, "1 2 3 4"), (5, "0 1 1"), (6, "8 8 2147483648")):
            self.assertIn(
                f'{path}: line {number}: a size is three numbers from 1 to 2147483392, M N K, and here is "{content}"', said
            )
        self.assertIn("the shapes could not be read from /no/file", self.refused("bench", "gemm", "--shapes", "/no/file", status=2))

    def test_a_file_of_something_else_is_told_by_its_first_lines(self):
        path = self.folder / "notes.txt"
        path.write_text("".join(f"note {i}\n" for i in range(100)))
        for option in ("--shapes", "--epilogues"):
            said = self.refused("bench", "gemm", option, str(path), status=2)
            self.assertIn("note 0", said)
            self.assertNotIn("note 50", said)
            self.assertIn("\n... and 92 more\n", said)

    def test_who_does_not_run_is_said_and_so_is_how_ours_was_launched(self):
        def alone(record):
            result = record["results"][0]
            result["opponent"] = "nobody: cuBLASLt does not run this GEMM: it has no GEMM for these element types"
            result["theirs"] = {name: 0 for name in result["theirs"]}
            result.update(batch=3, dependent=True)

        lines = self.recorded(change=alone).splitlines()
        self.assertTrue(lines[5].startswith("d = acc, batch of 3  (against nobody: cuBLASLt does not run this GEMM"))
        self.assertEqual([lines[6].split()[i] for i in (5, 7, 10)], ["-"] * 3)
        self.assertTrue(lines[6].endswith("128x256x64 cooperative 2x1 bf16, dependent"))

    def test_epilogues_of_a_file_are_all_read_before_anything_is_measured(self):
        path = self.folder / "epilogues.txt"
        path.write_text("  # three\r\nd = acc  # plain\r\nd = gleu(acc)\r\nd = gleu(acc)\r\n")
        said = self.refused("bench", "gemm", "--epilogues", str(path), status=2)
        self.assertEqual(
            said,
            "gantry: --epilogue:\nd = gleu(acc)\n    ^\nthere is no function gleu; did you mean gelu?\n"
            "Run 'gantry bench gemm --help' for the options.\n",
        )
        path.write_text("\n# none\n")
        self.assertIn(f"there is no epilogue in {path}", self.refused("bench", "gemm", "--epilogues", str(path), status=2))
        self.assertIn("could not be read from /no/file", self.refused("bench", "gemm", "--epilogues", "/no/file", status=2))

    def test_a_size_is_whole_and_given_once(self):
        said = self.refused("bench", "gemm", "--m", "64", "--n", "64", status=2)
        self.assertIn("--m, --n and --k are one size together, each of them 1 or more", said)
        path = self.folder / "shapes.txt"
        path.write_text("128 256 64\n")
        said = self.refused("bench", "gemm", "--m", "64", "--n", "64", "--k", "64", "--shapes", str(path), status=2)
        self.assertIn("--shapes gives the sizes", said)

    def test_where_nothing_can_be_written_nothing_is_measured(self):
        (self.folder / "file").write_text("")
        for option in ("--json", "--plot"):
            for path, said in (
                (self.folder, f"{self.folder} is a folder"),
                (self.folder / "none" / "x", f"there is no folder {self.folder / 'none'}"),
                (self.folder / "file" / "x", f"there is no folder {self.folder / 'file'}"),
            ):
                self.assertIn(f"{option}: {said}", self.refused("bench", "gemm", option, str(path), status=2))

    def test_control_characters_of_files_do_not_reach_the_terminal(self):
        def hostile(record):
            record["device"] = "GPU \x1b]0;title\x07"
            record["results"][0]["epilogue"] = "d = acc\r\x1b[31m"

        out = self.recorded(change=hostile)
        self.assertIn("GPU \\x1b]0;title\\x07, driver", out)
        self.assertIn("d = acc\\x0d\\x1b[31m  (against", out)
        path = self.folder / "epilogues.txt"
        path.write_bytes(b"d = \x1b[31macc\n")
        said = self.refused("bench", "gemm", "--epilogues", str(path), status=2)
        self.assertNotIn("\x1b", said)

    def test_the_time_limit_is_a_time(self):
        said = self.refused("bench", "gemm", "--time-limit", "-1", status=2)
        self.assertIn("--time-limit takes seconds from 0 to 86400, and not -1", said)

    def test_the_load_lasts_for_a_time_that_ends(self):
        for text in ("-1", "nan", "inf"):
            said = self.refused("bench", "gemm", "--sustained", text, status=2)
            self.assertIn(f"--sustained takes seconds from 0 to 86400, and not {text}\n", said)

    @unittest.skipIf(os.path.exists("/dev/nvidia0"), "there is a GPU")
    def test_without_a_gpu_says_so(self):
        said = self.refused("bench", "gemm", status=77)
        self.assertRegex(said, r"^gantry: there is no GPU.*--from RECORD shows what was measured elsewhere\n$")


@unittest.skipUnless("GANTRY_FAKE_DRIVER" in os.environ, "there is no GPU that pretends")
class OnAGpuThatPretends(unittest.TestCase):
    """With NVRTC and without nvcc. Kernels compute nothing, so that every result is wrong."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.environment = {
            **os.environ,
            "LD_LIBRARY_PATH": os.environ["GANTRY_FAKE_DRIVER"],
            "GANTRY_NVRTC": os.environ["GANTRY_FAKE_COMPILER"],
            "GANTRY_NVCC": "/no/nvcc",
            "GANTRY_CACHE_DIR": folder.name,
        }

    def bench(self, *more):
        command = [os.environ["GANTRY"], "bench", "gemm", "--m", "64", "--n", "64", "--k", "64", "--sustained", "0", *more]
        running = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=self.environment, text=True
        )
        self.addCleanup(running.kill)
        return running

    def test_a_row_is_measured_without_nvcc(self):
        running = self.bench()
        out, err = running.communicate(timeout=120)
        self.assertEqual(running.returncode, 1, err)
        heading, row = out.splitlines()[-2:]
        self.assertRegex(heading, r"\(against nobody: the calls of cuBLASLt are compiled by nvcc, and .*/no/nvcc")
        self.assertEqual(row.split()[:3], ["64", "64", "64"])

    def test_the_time_limit_ends_a_compilation(self):
        self.environment["GANTRY_FAKE_ENDLESS"] = "1"
        running = self.bench("--time-limit", "1")
        _, err = running.communicate(timeout=120)
        self.assertIn("gantry: the time limit of 1 s was reached; 0 of 1 GEMMs were measured\n", err)
        self.assertEqual(running.returncode, 0)

    def test_an_interrupt_ends_a_compilation(self):
        self.environment["GANTRY_FAKE_ENDLESS"] = "1"
        running = self.bench()
        self.assertEqual(running.stderr.readline(), "compiling for ever\n")
        running.send_signal(signal.SIGINT)
        _, err = running.communicate(timeout=120)
        self.assertEqual(err, "gantry: interrupted; 0 of 1 GEMMs were measured\n")
        self.assertEqual(running.returncode, 130)


if __name__ == "__main__":
    unittest.main()
