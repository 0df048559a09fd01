"""Options of groups of gantry gemm, bench and tune: each combination that is none is refused, with what works in its place."""

import tempfile
import unittest

from cli import Cli

N_AND_K = ("--n", "72", "--k", "40")
M_AND_N = ("--m", "72", "--n", "40")


class GroupOptions(Cli):
    def refusals(self, *arguments):
        """The sentences of `gantry gemm ARGUMENTS`, which must be refused as options."""
        lines = self.refused("gemm", "--machine", "sim", *arguments, status=2).splitlines()
        self.assertEqual(lines.pop(), "Run 'gantry gemm --help' for the options.")
        lines[0] = lines[0].removeprefix("gantry: ")
        return lines

    def in_file(self, text, run):
        with tempfile.NamedTemporaryFile("wb", suffix=".txt") as file:
            file.write(text)
            file.flush()
            return run(file.name)

    def test_options_that_contradict_each_other_are_refused_with_what_works(self):
        for arguments in (
            ("--groups", "8,9", "--groups-k", "8,9", *M_AND_N, "--k", "40"),
            ("--groups", "8,9", "--m", "18", *N_AND_K),
            ("--groups", "8,9", "--batch", "2", *N_AND_K),
            ("--groups", "8,9", "--offsets", "0,8,17", "--m", "17", *N_AND_K),
            ("--groups", "8,9", "--split", "reduce_add", "--d", "f32", *N_AND_K),
            ("--groups", "8,9", "--major-a", "m", *N_AND_K),
            ("--groups", "8,9", "--layout-d", "column", *N_AND_K),
            ("--groups-k", "8,9", "--k", "18", *M_AND_N),
            ("--groups-k", "8,9", "--capacity", "16", *M_AND_N),
            ("--groups-k", "8,9", "--major-b", "k", *M_AND_N),
            ("--groups-k", "8,9", "--gather-rows", "4", *M_AND_N),
            ("--groups-k", "8,9", "--scatter", "store", *M_AND_N),
        ):
            with self.subTest(arguments):
                for sentence in self.refusals(*arguments):
                    self.assertRegex(sentence, r"\bworks?$")

    def test_what_is_said_to_work_instead_works(self):
        """8-bit floats and gathered rows are no matter of the contiguous mode where groups are along K."""
        for arguments, sentences in (
            (("--a", "e4m3"), 1),
            (("--a", "e4m3", "--b", "e5m2", "--major-a", "k"), 1),
            (("--gather-rows", "4"), 1),
        ):
            said = self.refusals("--groups-k", "8,9", *M_AND_N, *arguments)
            self.assertEqual(len(said), sentences, said)
            self.assertNotIn("Major", "".join(said))

    def test_a_file_of_gemms_gives_all_sizes(self):
        def refused(*arguments):
            return self.in_file(b"8 8 8\n", lambda path: self.refusals("--problems", path, *arguments))

        for arguments in (("--m", "8"), ("--groups", "8"), ("--offsets", "0,8"), ("--batch", "2")):
            (sentence,) = refused(*arguments)
            self.assertIn("were both given", sentence)
            self.assertRegex(sentence, "without .* this works$")
        for arguments in (("--gather-rows", "8"), ("--scatter", "store"), ("--a", "e4m3", "--scale-a", "block")):
            self.assertIn("pointer array" if "--scale-a" not in arguments else "grouped", refused(*arguments)[-1])

    def test_bench_and_tune_refuse_as_gemm_does(self):
        for command in (("bench", "gemm"), ("tune",)):
            for arguments, part in (
                (("--groups", "8,9", "--n", "72"), "--n and --k of 1 or more"),
                (("--groups-k", "8,9", "--m", "72"), "--m and --n of 1 or more"),
                (("--offsets", "0,8,17"), "beside --m, --n and --k of 1 or more"),
                (("--groups", "8,x", *N_AND_K), "--groups takes sizes of groups such as 128,0,77"),
                (("--groups", "8,9", "--groups-k", "8,9", *M_AND_N, "--k", "40"), "groups are along M or along K"),
                (("--problems", "/nonexistent/gemms"), "there is no such file"),
            ):
                self.assertIn(part, self.refused(*command, *arguments, status=2))
            shapes = self.in_file(
                b"8 8 8\n", lambda path: self.refused(*command, "--groups", "8,9", *N_AND_K, "--shapes", path, status=2)
            )
            self.assertIn("--shapes gives the sizes", shapes)

    def test_hostile_sizes_are_refused_in_sentences(self):
        long = ",".join(["1"] * 50_000)
        for text in ("nan,8", "8,", ",8", "8,,9", "8 9", "-1", "1e3", "0x10", "9" * 40, "2147483392,1", "٣"):
            (sentence,) = self.refusals("--groups", text, *N_AND_K)
            self.assertIn("--groups takes sizes of groups", sentence)
            self.assertTrue(sentence.isascii() and sentence.isprintable(), sentence)
        self.assertIn("--groups takes", self.refusals("--groups", long + ",x", *N_AND_K)[0])
        self.assertIn("control character 0x1b", self.refused("gemm", "--groups", "8,\x1b[2J", *N_AND_K, status=2))
        for text in ("nan,8", "0,", "2147483648,0", "0;8"):
            (sentence,) = self.refusals("--offsets", text, "--m", "8", *N_AND_K)
            self.assertIn("two 32-bit numbers or more", sentence)

    def test_hostile_files_are_refused_in_sentences(self):
        for content in (
            b"", b"\0\0\0", b"nan 8 8\n", b"8 8\n", b"8 8 8 8\n", b"-1 8 8\n", b"8 8 99999999999999999999\n", b"8 8 8\r\n\x1b[2J\n",
            b"8 8 2147483393\n", b"\xff\xfe8 8 8\n", b"8" * 1000 + b" 8 8\n", b"8 x 8\n" * 100_000,
        ):  # fmt: skip
            said = self.in_file(content, lambda path: self.refusals("--problems", path))
            self.assertLessEqual(len(said), 9)
            for sentence in said:
                self.assertTrue(sentence.startswith("--problems") and sentence.isascii() and sentence.isprintable(), said)
                self.assertLess(len(sentence), 400)

    def test_fifty_thousand_groups_are_computed(self):
        sizes = ",".join(["0"] * 49_999 + ["3"])
        said = self.text("gemm", "--machine", "sim", "--groups", sizes, "--n", "8", "--k", "8", "--checker", "off")
        self.assertIn("50000 groups along M of 0 to 3 rows", said)
        self.assertIn("correct: 24 elements", said)

    def test_groups_are_counted_in_words(self):
        self.assertIn("1 group along M of 1 row,", self.text("gemm", "--machine", "sim", "--groups", "1", *N_AND_K))


class ScheduleNames(Cli):
    def refused_schedule(self, name, *arguments):
        said = self.refused("gemm", "--machine", "sim", "--m", "8", "--n", "8", "--k", "8", "--schedule", name, *arguments, status=2)
        return said.splitlines()[0]

    def test_names_that_are_nearly_one_of_cutlass_are_refused_with_it(self):
        for wrong, nearest in (
            ("KernelTmaWarpSpecialisedPingpong", "KernelTmaWarpSpecializedPingpong"),
            ("KernelPtrArrayTmaWarpSpecializedPingPongFP8", "KernelPtrArrayTmaWarpSpecializedPingpongFP8FastAccum"),
            ("TmaWarpSpecializedCooperative", "KernelTmaWarpSpecializedCooperative"),
        ):
            sentence = self.refused_schedule(wrong)
            self.assertIn(f'there is no kernel schedule "{wrong}"', sentence)
            self.assertTrue(sentence.endswith(f"the nearest is {nearest}"), sentence)
        for wrong in ("pingpongg", "coop", "x" * 1000, "NaN"):
            sentence = self.refused_schedule(wrong)
            self.assertIn("--schedule takes", sentence)
            self.assertTrue(sentence.isascii() and sentence.isprintable(), sentence)

    def test_schedules_of_pointer_arrays_are_for_pointer_arrays(self):
        self.assertTrue(
            self.refused_schedule("KernelPtrArrayTmaWarpSpecializedPingpong").endswith("KernelTmaWarpSpecializedPingpong works")
        )
        with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
            file.write("8 8 8\n")
            file.flush()
            said = self.refused(
                "gemm", "--machine", "sim", "--problems", file.name, "--schedule", "KernelTmaWarpSpecializedCooperative", status=2
            )
            self.assertIn("KernelPtrArrayTmaWarpSpecializedCooperative works", said)

    def test_a_name_of_cutlass_is_the_schedule(self):
        said = self.text(
            "gemm", "--machine", "sim", "--m", "100", "--n", "72", "--k", "40", "--schedule", "KernelTmaWarpSpecializedPingpong"
        )
        self.assertIn("pingpong", said)
        self.assertIn("correct: 7200 elements", said)

    def test_epilogue_schedules_are_refused_with_the_nearest(self):
        said = self.refused(
            "explain", "epilogue", "--tile", "128x128x64", "--d", "bf16", "--schedule", "PtrArayTmaWarpSpecializedCooperative", status=2
        )
        self.assertIn("the nearest is PtrArrayTmaWarpSpecializedCooperative", said)


if __name__ == "__main__":
    unittest.main()
