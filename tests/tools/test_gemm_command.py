"""gantry gemm on the simulated SM: verified GEMMs, any epilogue, and refusals in sentences."""

import json
import os
import tempfile
import unittest
import unittest.mock

from cli import Cli, without_progress

SIZE = ("--m", "100", "--n", "72", "--k", "40")


def cases(*each):
    """All of them where GANTRY_LONG_TESTS is set, else the first: each compiles a kernel, and tests of kernels have them all."""
    return each if "GANTRY_LONG_TESTS" in os.environ else each[:1]


class Gemm(Cli):
    @classmethod
    def setUpClass(cls):
        """Kernels that these tests compile are kept in a cache of their own."""
        cache = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cache.cleanup)
        change = unittest.mock.patch.dict(os.environ, {"GANTRY_CACHE_DIR": cache.name})
        change.start()
        cls.addClassCleanup(change.stop)

    def gemm(self, *arguments):
        return self.text("gemm", "--machine", "sim", *SIZE, *arguments)

    def answer(self, *arguments):
        return json.loads(self.gemm("--json", *arguments))

    def test_leads_with_result_and_time_and_then_says_why(self):
        said = self.gemm("--epilogue", "d = gelu(acc + row(bias))")
        self.assertTrue(said.startswith("100 x 72 x 40, bf16 to bf16: d = gelu(acc + row(bias))\n\n"))
        parts = ("machine   the simulated SM\n", "\nresult    correct: 7200 elements are within their error bounds", "\ntime      ",
                 "\nchecker   no finding in ", "\n\nchoice    The model chooses ", "\nplan      D = A B^T, 100 x 72 x 40 (M x N x K)",
                 "\ngpu       An H200 would run ")
        at = [said.find(part) for part in parts]
        self.assertNotIn(-1, at, said)
        self.assertEqual(at, sorted(at), said)

    def test_every_kernel_that_is_built_in_is_right(self):
        for more in (("--schedule", "cooperative"), ("--schedule", "pingpong")):
            answer = self.answer("--epilogue", "d = acc + row(bias)", *more)
            self.assertTrue(answer["ok"] and answer["clean"], more)
            self.assertEqual(answer["verified"]["wrong"], 0)
            self.assertEqual(answer["verified"]["elements"], 7200)

    def test_any_epilogue_runs_without_a_compiler(self):
        answer = self.answer(
            "--epilogue", "aux:bf16 = alpha * acc + beta * c + row(bias) + col(shift); d = relu(aux); top = reduce_max(d)",
            "--set", "beta=0.5", "--seed", "3",
        )
        self.assertTrue(answer["ok"])
        self.assertEqual(answer["verified"]["elements"], 2 * 7200 + 1)

    def test_a_vector_may_be_set_to_one_number(self):
        epilogue = ("--epilogue", "d = acc + row(bias) * col(shift:bf16)")
        filled, set_ = self.answer(*epilogue), self.answer(*epilogue, "--set", "bias=2", "--set", "shift=-0.5")
        self.assertEqual((set_["clean"], set_["verified"]["wrong"]), (True, 0))
        self.assertEqual(set_["verified"]["elements"], filled["verified"]["elements"])
        lines = "70 72 40\n65 136 200\n"
        answer = self.array(lines, *epilogue, "--set", "bias=2")
        self.assertEqual((answer["clean"], answer["verified"]["wrong"]), (True, 0))
        said = self.refused("gemm", "--machine", "sim", *SIZE, "--epilogue", "d = acc; y = acc", "--set", "y=2")
        self.assertIn("y, an output tensor, was given a number: tensors and reductions are given by their address", said)

    def test_outputs_are_rounded_as_asked(self):
        for name in ("toward_zero", "nearest_away"):
            answer = self.answer("--epilogue", "d = acc / 3; y:e4m3 = acc / 7", "--round", name)
            self.assertEqual((answer["clean"], answer["verified"]["wrong"]), (True, 0))
            self.assertEqual(answer["epilogue"], f"round {name}; d = acc / 3; y:e4m3 = acc / 7")
        said = self.refused("gemm", "--machine", "sim", *SIZE, "--round", "up", status=2)
        self.assertIn('--round takes one of nearest_even, nearest_away, toward_zero, and not "up"', said)

    def test_vectors_of_packed_elements_are_read_packed(self):
        for element in ("u1", "s2", "u2", "s4", "u4", "e2m1", "e2m3", "e3m2"):
            answer = self.answer("--batch", "2", "--epilogue", f"d = acc + row(r:{element}) * col(c1:{element})")
            self.assertEqual((answer["clean"], answer["verified"]["wrong"]), (True, 0), element)

    def test_an_element_type_that_an_argument_cannot_have_is_refused(self):
        said = self.refused("gemm", "--machine", "sim", *SIZE, "--epilogue", "d = acc + row(v:cf64)", status=2)
        self.assertIn("--epilogue: argument 0 ('v') has elements of cf64: the values of this epilogue are real", said)

    def test_a_row_that_tiles_may_not_hold_lies_in_those_of_a_cluster(self):
        for n in cases("192", "256"):
            answer = json.loads(self.text("gemm", "--machine", "sim", "--json", "--m", "64", "--n", n, "--k", "128", "--a", "e4m3", "--b",
                                          "e4m3", "--promote", "--epilogue", "d = softmax(acc)"))
            self.assertTrue(answer["ok"] and answer["clean"], answer)
            self.assertEqual(answer["verified"]["elements"], 64 * int(n))

    def grouped(self, *arguments):
        return json.loads(self.text("gemm", "--machine", "sim", "--json", "--tile", "64x64", "--cluster", "1x1", *arguments))

    def test_groups_of_rows_are_verified_group_by_group(self):
        epilogue = "let z = acc + row(bias) + col(shift); d = relu(z); s = reduce_row_add(z); t = reduce_col_add(z); top = reduce_max(z)"
        answer = self.grouped("--groups", "70,0,1,65", "--n", "72", "--k", "40", "--epilogue", epilogue)
        self.assertTrue(answer["ok"] and answer["clean"], answer)
        self.assertEqual((answer["m"], answer["batch"]), (136, 4))
        self.assertEqual(answer["verified"]["elements"], 136 * 72 + 3 * 72 + 136 + 1)
        self.assertEqual(answer["groups"], {"kind": "groups-m", "sizes": [70, 0, 1, 65]})
        self.assertIn("4 groups along M", answer["choice"])

    def test_groups_of_few_rows_have_swapped_operands_where_that_is_asked_or_chosen(self):
        epilogue = ("--epilogue", "d = acc + row(bias) + col(shift)")
        for asked in (("--swap", "--tile", "16x64", "--cluster", "1x1"), ()):
            answer = json.loads(self.text("gemm", "--machine", "sim", "--json", "--groups", "3,0,9,1", "--n", "136", "--k", "72",
                                          *epilogue, *asked))
            self.assertTrue(answer["ok"] and answer["clean"], answer)
            self.assertEqual(answer["verified"]["elements"], 13 * 136)
            self.assertIn("groups-m swapped", answer["choice"])
        said = self.refused("gemm", "--machine", "sim", "--groups-k", "64,0,192", "--m", "64", "--n", "96", "--swap", status=2)
        self.assertIn("groups along K or a pointer array are to have swapped operands", said)

    def test_rows_of_groups_may_end_anywhere(self):
        answer = self.grouped("--groups", "100,30,5", "--n", "77", "--k", "64")
        self.assertTrue(answer["ok"] and answer["clean"], answer)
        self.assertEqual(answer["verified"]["elements"], 135 * 77)

    def test_groups_of_rows_may_have_a_capacity(self):
        answer = self.grouped("--groups", "70,0,1", "--capacity", "72", "--n", "72", "--k", "40")
        self.assertTrue(answer["ok"] and answer["clean"], answer)
        self.assertEqual(answer["verified"]["elements"], 71 * 72)

    def test_offsets_that_are_wrong_have_a_defined_result_and_are_named(self):
        arguments = ("--offsets=-5,20,60,40,55,101,90", "--m", "100", "--n", "72", "--k", "40")
        answer = self.grouped(*arguments)  # only [20, 60) is a group
        self.assertTrue(answer["ok"] and answer["clean"], answer)
        self.assertEqual((answer["batch"], answer["verified"]["elements"]), (6, 40 * 72))
        said = self.refused("gemm", "--machine", "sim", "--tile", "64x64", "--cluster", "1x1", *arguments, "--check", "device")
        for sentence in (
            "group 0 has offsets -5 and 20: offsets are not negative; it counts as empty",
            "group 2 begins at row 60 and ends before row 40: offsets ascend; it counts as empty",
            "group 3 begins at row 40, and group 1 ends before row 60",
            "group 4 ends before row 101, and there are 100 rows",
            "group 5 begins at row 101 and ends before row 90",
        ):
            self.assertIn(sentence, said)
        right = self.grouped("--offsets", "3,70,100", "--m", "100", "--n", "72", "--k", "40", "--check", "device")
        self.assertEqual(right["verified"]["elements"], 97 * 72)

    def test_scaled_groups_are_verified(self):
        answer = self.grouped("--groups", "70,0,1,65", "--n", "144", "--k", "272", "--a", "e4m3", "--b", "e4m3",
                              "--scale-a", "block", "--scale-b", "block", "--epilogue", "d = relu(acc + row(bias))")
        self.assertTrue(answer["ok"] and answer["clean"], answer)

    def test_gated_groups_are_verified(self):
        for gate in cases("interleaved", "halves"):
            answer = self.grouped("--groups", "70,0,1,65", "--n", "96", "--k", "136", "--gate", gate,
                                  "--epilogue", "d = silu(gate(acc) + row(bias)) * up(acc)")
            self.assertTrue(answer["ok"] and answer["clean"], answer)
            self.assertIn("Gate: D has 48 columns", answer["plan"])
        said = self.refused("gemm", "--machine", "sim", "--groups-k", "64,0,192", "--m", "64", "--n", "96",
                            "--epilogue", "d = gate(acc) * up(acc)")
        self.assertIn("the epilogue is gated, and the GEMM is to have groups along K", said)

    def test_gathered_rows_are_verified(self):
        size = ("--n", "72", "--k", "136")
        for arguments in cases(
            ("--groups", "70,0,1,65", "--gather-rows", "50", "--epilogue", "d = acc + row(bias) + col(shift)", *size),
            ("--m", "100", "--gather-rows", "30", *size),
            ("--m", "70", "--gather-rows", "200", "--batch", "3", *size),
            ("--groups", "70,0,65", "--gather-rows", "50", "--n", "256", "--k", "512", "--a", "e4m3",
             "--scale-a", "block", "--scale-b", "block"),
        ):
            answer = self.grouped(*arguments)
            self.assertTrue(answer["ok"] and answer["clean"], answer)
            self.assertRegex(answer["plan"], "Rows of A are gathered by an index on the device: [24] warps of each CTA copy")
        said = self.refused("gemm", "--machine", "sim", *SIZE, "--gather-rows", "5", "--a", "tf32", status=2)
        self.assertIn("rows of A are gathered, and A has elements of tf32", said)

    def test_scattered_rows_are_verified(self):
        for arguments in cases(
            ("--groups", "70,0,1,65", "--gather-rows", "50", "--scatter", "ordered", "--d", "f32", "--epilogue", "d = col(w) * acc"),
            ("--groups", "70,0,1,65", "--gather-rows", "50", "--scatter", "add", "--d", "f32", "--epilogue", "d = col(w) * acc"),
            ("--m", "100", "--scatter", "store", "--scatter-rows", "130"),
            ("--m", "70", "--scatter", "add", "--d", "f32", "--batch", "2"),
        ):
            answer = self.grouped(*arguments, "--n", "72", "--k", "136")
            self.assertTrue(answer["ok"] and answer["clean"], answer)
            self.assertIn("Rows of D are scattered", answer["plan"])
        said = self.refused("gemm", "--machine", "sim", *SIZE, "--scatter", "add", status=2)
        self.assertIn("rows are added to D, which has elements of bf16: rows are added in f32", said)
        said = self.refused("gemm", "--machine", "sim", *SIZE, "--scatter", "store", "--scatter-rows", "5", status=2)
        self.assertIn("each goes to a row of its own", said)

    def test_groups_of_k_have_a_d_each(self):
        answer = self.grouped("--groups-k", "64,0,100", "--m", "72", "--n", "64", "--epilogue", "d = acc + c")
        self.assertTrue(answer["ok"] and answer["clean"], answer)
        self.assertEqual(answer["verified"]["elements"], 3 * 72 * 64)

    def test_groups_that_cannot_be_are_refused(self):
        size = ("--n", "72", "--k", "40")
        for arguments, words in (
            (("--groups", "64,x", *size), "--groups takes sizes of groups such as 128,0,77"),
            (("--groups", "64,-1", *size), "--groups takes sizes of groups such as 128,0,77"),
            (("--groups", "64", "--groups-k", "64", "--n", "72"), "groups are along M or along K"),
            (("--groups", "64,8", "--batch", "2", *size), "each group is a GEMM of its own"),
            (("--groups", "64,8", "--m", "73", *size), "the groups have as many rows as they say"),
            (("--groups", "64,8", "--capacity", "40", *size), "a group fits into its capacity"),
            (("--groups", "64,8", "--layout-d", "column", *size), "groups are along M, and M is the contiguous mode of D"),
            (("--capacity", "40", "--m", "8", *size), "--capacity was given without --groups"),
            (("--offsets", "0", "--m", "8", *size), "--offsets takes two 32-bit numbers or more such as 0,128,205"),
            (("--offsets", "0,8", "--groups", "8", *size), "--offsets and sizes of groups were both given"),
            (("--offsets", "0,8", *size), "--m is required"),
            (("--m", "8", "--k", "40"), "--n is required"),
            (size, "--m is required"),
        ):
            self.assertIn(words, self.refused("gemm", "--machine", "sim", *arguments, status=2), arguments)

    def array(self, lines, *arguments):
        with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
            file.write(lines)
            file.flush()
            return self.grouped("--problems", file.name, *arguments)

    def test_a_pointer_array_is_verified_gemm_by_gemm(self):
        lines = "70 72 40   # one\n\n0 64 64\n8 0 8\n# none\n1 8 0\n65 136 200\n"
        epilogue = "let z = acc + beta * c + row(bias) + col(shift); d = relu(z); copy:f32 = z; bits:u1 = z > 0; top = reduce_max(z)"
        answer = self.array(lines, "--epilogue", epilogue, "--set", "beta=2")
        self.assertTrue(answer["ok"] and answer["clean"], answer)
        self.assertEqual(answer["batch"], 5)
        self.assertEqual(answer["verified"]["elements"], 3 * (70 * 72 + 8 + 65 * 136) + 3)
        self.assertIn("a pointer array of 5 GEMMs", answer["plan"])

    def test_files_of_gemms_that_cannot_be_are_refused(self):
        for lines, words in (
            ("64 64\n", "line 1: a line has three numbers, M, N and K, such as 128 768 256, and here are 2: \"64 64\""),
            ("64 64 64\n\n1 x 3\n", "line 3: N is a number from 0 to 2147483392, and not \"x\""),
            ("64 64 -1\n", "line 1: K is a number from 0 to 2147483392, and not \"-1\""),
            ("# nothing\n", "there is no GEMM in"),
            ("8 8 8\n64 12 64\n", "line 2: D has rows of 12 elements of bf16, which is 24 bytes: TMA writes whole 16 bytes"),
        ):
            with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
                file.write(lines)
                file.flush()
                said = self.refused("gemm", "--machine", "sim", "--problems", file.name, status=2)
                self.assertIn(words, said, lines)
                said = self.refused("gemm", "--machine", "sim", "--problems", file.name, "--m", "8", status=2)
                self.assertIn("--problems and a size were both given", said)
        self.assertIn("could not be read", self.refused("gemm", "--machine", "sim", "--problems", "/nowhere", status=2))

    def test_batches_and_other_inputs(self):
        for inputs in ("uniform", "zeros"):
            answer = self.answer("--batch", "2", "--inputs", inputs)
            self.assertTrue(answer["ok"])
            self.assertEqual(answer["verified"]["elements"], 14400)
        self.assertEqual(answer["verified"]["largest_error"], 0)  # of zeros

    def test_special_values_come_out_where_they_should(self):
        for more in cases(("--a", "e4m3"), (), ("--a", "f16")):
            epilogue = "aux:bf16 = acc + beta * c + row(bias); d = gelu(aux); top = reduce_row_max(acc)"
            answer = self.answer("--epilogue", epilogue, "--inputs", "special", *more)
            self.assertTrue(answer["ok"], answer["verified"])

    def test_the_plan_tells_the_kernel_that_runs_from_the_one_that_a_gpu_would_run(self):
        answer = self.answer("--epilogue", "d = gelu(acc + row(bias))")
        self.assertIn("it has buffers of C and of auxiliary tensors, used or not", answer["plan"])
        self.assertRegex(answer["gpu"], r"^An H200 would run \S+ \S+ \S+ bf16(?: swapped)?, in about [0-9.e-]+ ms, compiled for this epilogue")
        self.assertRegex(answer["gpu"], r"\d buffers of D per warpgroup\.\n$")  # none of C
        with_c = self.answer("--epilogue", "d = gelu(acc + c)")["gpu"]
        self.assertRegex(with_c, r"(, and \d of C|, which reuse those of C)\.\n$")
        asked = self.answer("--epilogue", "d = gelu(acc + c)", "--tile", "128x128", "--cluster", "2x1", "--schedule", "cooperative")
        self.assertIn("128x128x64 cooperative 2x1 bf16", asked["gpu"])

    def test_without_the_checker_says_so(self):
        self.assertIn("checker   off: races and missing fences were not checked", self.gemm("--checker", "off"))

    def test_nothing_to_compute_is_no_error(self):
        said = self.text("gemm", "--machine", "sim", "--m", "0", "--n", "72", "--k", "40")
        self.assertIn("There is nothing to compute", said.replace("\n          ", " "))

    def test_progress_goes_to_standard_error_when_asked_for(self):
        _, err = self.gantry("gemm", "--machine", "sim", *SIZE, "--progress")
        self.assertEqual(without_progress(err).decode(), "filling the operands ...\nsimulating ...\ncomparing with the reference ...\n")

    def test_a_narrow_terminal_gets_narrow_lines(self):
        lines = self.on_terminal(70, "gemm", "--machine", "sim", *SIZE, "--epilogue", "d = gelu(acc + row(bias))")
        self.assertLessEqual(max(map(len, lines)), 70)
        self.assertTrue(any(line.startswith("          ") for line in lines))

    def test_an_epilogue_that_cannot_be_read_is_shown_with_a_caret(self):
        said = self.refused("gemm", *SIZE, "--epilogue", "d = gleu(acc)", status=2)
        self.assertIn("d = gleu(acc)\n    ^\nthere is no function gleu; did you mean gelu?", said)

    def test_every_wrong_option_is_named(self):
        said = self.refused(
            "gemm", *SIZE, "--a", "bf61", "--tile", "128", "--cluster", "2x1x1x1", "--schedule", "fast", "--set", "alpha",
            "--major-a", "n", "--inputs", "large", "--machine", "tpu", status=2,
        )
        for part in (
            '--a: "bf61" is not an element type; the nearest name is "bf16"',
            '--tile takes extents such as 128x192 or 128x192x64, and not "128"',
            '--cluster takes extents such as 2x1 or 1x1x2, and not "2x1x1x1"',
            '--schedule takes one of auto, cooperative, pingpong, and not "fast"',
            '--set takes the name of a scalar or a vector and a number such as alpha=2, and not "alpha"',
            '--major-a takes one of k, m, and not "n"',
            '--machine takes one of auto, sim, gpu, and not "tpu"',
            '--inputs takes one of eighths, uniform, zeros, special, and not "large"',
        ):
            self.assertIn(part, said)

    def test_a_number_is_what_was_written_or_refused(self):
        for option, text, said in (
            ("--m", "99999999999999999999",
             "--m is 99999999999999999999: it takes a number from 0 to 2147483392; the nearest that works is 2147483392"),
            ("--m", "-1", "--m is -1: it takes a number from 0 to 2147483392; the nearest that works is 0"),
            ("--m", "-99999999999999999999",
             "--m is -99999999999999999999: it takes a number from 0 to 2147483392; the nearest that works is 0"),
            ("--m", "1.5", '--m takes a whole number, and not "1.5"'),
            ("--seed", "-1", '--seed takes a whole number, 0 or more, and not "-1"'),
            ("--stages", "99999999999",
             "--stages is 99999999999: it takes a number from 0 to 32; the nearest that works is 32"),
            ("--stages", "-1", "--stages is -1: it takes a number from 0 to 32; the nearest that works is 0"),
            ("--warpgroups", "99999999999", "--warpgroups is 99999999999: it takes a number from 0 to 3; the nearest that works is 3"),
        ):
            self.assertIn(f"gantry: {said}\n", self.refused("gemm", "--n", "64", "--k", "64", option, text, status=2))

    def test_a_size_beyond_coordinates_is_refused_by_the_rule_of_sizes(self):
        sizes = {"--m": "64", "--n": "64", "--k": "64", "--batch": "1"}
        for option, name in (("--m", "M"), ("--n", "N"), ("--k", "K"), ("--batch", "batch")):
            for value in ("2147483393", "4294967296", "9223372036854775807"):
                said = self.refused("gemm", *sum(({**sizes, option: value}).items(), ()), status=2)
                self.assertRegex(said, f"^gantry: {name} is {value}: .*2147483392\n")
                self.assertNotIn("it takes a number", said)

    def test_an_empty_text_or_extent_is_not_taken_for_the_default(self):
        said = self.refused("gemm", *SIZE, "--a", "", status=2)
        self.assertIn("gantry: --a has an empty value: leave it out for the default\n", said)
        self.assertIn('and not "0x0"', self.refused("gemm", *SIZE, "--tile", "0x0", status=2))

    def test_the_nearest_values_that_are_offered_are_taken(self):
        for option, wrong, nearest in (
            ("--stages", "33", "24"), ("--warpgroups", "99999999999", "3"), ("--warpgroups", "4", "3"),
            ("--schedule", "pingpongg", "pingpong"), ("--schedule", "KernelPingpong", "pingpong"), ("--split", "nonne", "none"),
            ("--d", "cf64", "cf32"),
        ):
            tile = ("--tile", "64x8") if option == "--stages" else ()
            sized = ("gemm", *SIZE, "--machine", "sim", *tile, "--json")
            with self.subTest(option=option, wrong=wrong):
                out, err = self.gantry(*sized, option, wrong, status=1 if wrong in ("33", "cf64") else 2)  # 1: by the design
                self.assertEqual(out, b"")
                self.assertRegex(err.decode(), f"the nearest (value |type )?(that works )?is {nearest}\n")
                self.gantry(*sized, option, nearest)

    def test_options_that_no_kernel_has_are_refused_with_the_nearest(self):
        said = self.refused("gemm", *SIZE, "--tile", "96x128", status=2)
        self.assertIn("the tile has 96 rows", said)

    def test_what_is_not_built_in_is_compiled_once_and_kept(self):
        asked = ("--a", "tf32", "--layout-d", "column", "--tile", "64x64", "--stages", "3", "--batch", "2")
        first, second = self.answer(*asked), self.answer(*asked)
        for answer, origin in ((first, r"compiled in [0-9.]+ s and kept in the cache"), (second, "found in the cache")):
            self.assertTrue(answer["ok"] and answer["clean"])
            self.assertEqual(answer["verified"]["elements"], 2 * 7200)
            self.assertRegex(answer["choice"], rf"\n64x64x32 \S+ \S+ tf32 tf32 f32 s3 .* for the simulated SM was {origin}\.$")
            self.assertNotIn("gpu", answer)  # it is the kernel that a GPU would run

    def test_an_epilogue_that_no_built_in_kernel_takes_gets_a_kernel_of_its_own(self):
        answer = self.answer("--epilogue", "aux:f16 = acc; d = relu(acc)")
        self.assertTrue(answer["ok"])
        self.assertRegex(answer["choice"], r"for the simulated SM was compiled in [0-9.]+ s and kept in the cache\.$")

    def test_operands_have_scales(self):
        for scales in (("--scale-a", "block", "--scale-b", "block"),
                       *cases(("--scale-a", "row", "--scale-b", "tensor", "--set", "scale_b=0.25"))):
            said = self.text("gemm", "--machine", "sim", "--m", "72", "--n", "144", "--k", "656", "--a", "e4m3", *scales)
            self.assertIn("result    correct: 10368 elements are within their error bounds", said)
        said = self.refused("gemm", "--machine", "sim", *SIZE, "--scale-a", "block", status=2)
        self.assertIn("scales of blocks are for 8-bit floats", said)
        said = self.refused("gemm", "--machine", "sim", *SIZE, "--a", "e4m3", "--scale-b", "blok", status=2)
        self.assertIn("--scale-b takes one of none, tensor, row, row_block, block", said)

    def test_a_gated_epilogue_gives_half_of_the_columns(self):
        asked = ("--n", "96", "--epilogue", "g:f32 = gate(acc) + row(b1); d = silu(g) * up(acc)", "--tile", "64x32", "--stages", "3")
        for gate, rows in cases(((), "the first half of the rows of B"), (("--gate", "interleaved"), "every second row of B")):
            answer = json.loads(self.text("gemm", "--machine", "sim", "--json", "--m", "70", "--k", "40", *asked, *gate))
            self.assertTrue(answer["ok"] and answer["clean"], answer["verified"])
            self.assertEqual(answer["verified"]["elements"], 2 * 70 * 48)
            self.assertIn(f"D has 48 columns, and the gate has {rows}", answer["plan"])

    def test_a_gated_epilogue_that_cannot_be_is_refused(self):
        gated = ("--epilogue", "d = silu(gate(acc)) * up(acc)")
        for wrong, why in (
            (("--n", "72", *gated), "N is 72, and the epilogue is gated: "),
            (("--n", "64", *gated, "--gate", "thirds"), "--gate takes one of halves, interleaved"),
            (("--n", "64", *gated, "--scale-b", "row"), "row(name) in the epilogue scales each"),
        ):
            self.assertIn(why, self.refused("gemm", "--machine", "sim", "--m", "64", "--k", "64", *wrong, status=2))

    def test_what_is_not_built_in_needs_a_compiler(self):
        with unittest.mock.patch.dict(os.environ, {"GANTRY_CXX": "/no/g++"}):
            said = self.refused("gemm", "--machine", "sim", *SIZE, "--a", "s8")
            self.assertTrue(self.answer()["ok"])  # bf16 is built in
        self.assertIn("asked for: A s8, B s8, D s32; built in, ", said)
        self.assertIn("and it cannot be compiled: GANTRY_CXX names /no/g++, which is no program that can be run\n", said)

    def test_what_cannot_run_is_refused_before_operands_are_filled(self):
        for wrong, why in (
            (("--m", "1", "--n", "8", "--k", "100000000", "--set", "alpha=2"), "there is no argument alpha"),
            (("--m", "1", "--n", "2147483392", "--k", "2147483392"), "the operands take"),
        ):
            said = self.refused("gemm", "--machine", "sim", "--progress", *wrong)
            self.assertIn(why, said)
            self.assertNotIn("filling the operands", said)

    def test_sizes_that_tma_cannot_address_run(self):
        odd = ("--m", "67", "--n", "65", "--k", "33", "--tile", "64x64", "--cluster", "1x1", "--stages", "3")
        answer = json.loads(self.text("gemm", "--machine", "sim", "--json", *odd))
        self.assertTrue(answer["ok"] and answer["clean"], answer["verified"])
        self.assertEqual(answer["verified"]["elements"], 67 * 65)
        self.assertIn("Packing: TMA cannot address A and B, so they are copied into the workspace first", answer["plan"])
        self.assertIn("TMA cannot address D; threads read and write it.", answer["plan"])

    def test_operands_that_tma_cannot_address_need_no_kernel_of_their_own(self):
        with unittest.mock.patch.dict(os.environ, {"GANTRY_CXX": "/no/g++"}):
            answer = json.loads(self.text("gemm", "--machine", "sim", "--json", "--m", "67", "--n", "64", "--k", "33"))
        self.assertTrue(answer["ok"] and answer["clean"])
        self.assertIn("Packing: ", answer["plan"])

    def test_an_epilogue_may_give_reductions_alone(self):
        epilogue = ("--epilogue", "s = reduce_row_add(acc); top = reduce_max(acc)", "--tile", "64x64", "--stages", "3")
        answer = self.answer(*epilogue)
        self.assertTrue(answer["ok"] and answer["clean"])
        self.assertEqual(answer["verified"]["elements"], 72 + 1)

    def test_sizes_beyond_all_memory_are_refused(self):
        for sizes in (("2147483392", "2147483392", "64"), ("0", "2147483392", "2147483392")):
            said = self.refused("gemm", "--machine", "sim", *sum(zip(("--m", "--n", "--k"), sizes), ()))
            self.assertRegex(
                said, r"^gantry: the operands take [0-9.e+]+ GB, and this machine has [0-9.]+ GB of memory; up to [0-9.]+ work\n$"
            )

    def test_a_scalar_has_one_value(self):
        said = self.refused("gemm", *SIZE, "--epilogue", "d = alpha * acc", "--set", "alpha=2", "--set", "alpha=3", status=2)
        self.assertIn('--set gives "alpha" more than once: an argument has one value', said)

    def test_a_scalar_that_the_epilogue_does_not_have_is_named(self):
        said = self.refused("gemm", "--machine", "sim", *SIZE, "--epilogue", "d = alpha * acc", "--set", "alhpa=2")
        self.assertIn("there is no argument alhpa: ", said)
        self.assertIn("did you mean alpha?", said)

    @unittest.skipIf(os.path.exists("/dev/nvidia0"), "there is a GPU")
    def test_without_a_gpu_says_which_machine_ran_and_why(self):
        self.assertIn("machine   the simulated SM, since there is no GPU", self.text("gemm", *SIZE))
        said = self.refused("gemm", *SIZE, "--machine", "gpu", status=77)
        self.assertRegex(said, r"^gantry: there is no GPU.*; --machine sim runs the GEMM without one\n$")

    def test_tuning_asks_first_whether_it_may_keep_what_it_finds(self):
        said = self.refused("tune", *SIZE, "--file", "/dev/null/tuning", status=2)
        self.assertIn("there is no folder /dev/null", said)

    def test_tuning_that_is_refused_leaves_no_folder_behind(self):
        with tempfile.TemporaryDirectory() as folder:
            status = 2 if os.path.exists("/dev/nvidia0") else 77
            wrong = ("--m", "8", "--n", "1", "--k", "8") if status == 2 else SIZE
            self.refused("tune", *wrong, "--file", f"{folder}/new/newer/tuning", status=status)
            self.assertEqual(os.listdir(folder), [])

    def test_tuning_writes_over_nothing_that_is_no_tuning(self):
        with tempfile.NamedTemporaryFile("w", suffix=".md") as file:
            file.write("# Notes\n\nof mine\n")
            file.flush()
            said = self.refused("tune", *SIZE, "--file", file.name, status=2)
        self.assertIn(f"{file.name} holds lines that are no tuning entries and would be lost: line 3 has 1 field between bars", said)

    def test_tuning_reads_all_sizes_before_it_begins(self):
        self.assertIn("--m, --n and --k are required, or --shapes", self.refused("tune", status=2))
        with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
            file.write("# layers\n64 64 64\n64 64\n")
            file.flush()
            said = self.refused("tune", "--shapes", file.name, "--dry-run", status=2)
            self.assertIn(f"{file.name}: line 3: a size is three numbers", said)
            said = self.refused("tune", *SIZE, "--shapes", file.name, "--dry-run", status=2)
            self.assertIn("--shapes gives the sizes, so --m, --n and --k cannot be given too", said)

    @unittest.skipIf(os.path.exists("/dev/nvidia0"), "there is a GPU")
    def test_tuning_needs_a_gpu(self):
        self.assertRegex(self.refused("tune", *SIZE, status=77), r"^gantry: there is no GPU.*; tuning needs a GPU\n$")


if __name__ == "__main__":
    unittest.main()
