"""gantry explain fusion"""

import unittest
from pathlib import Path

from cli import Cli

TEXT = "let z = alpha * acc + beta * c + row(bias:bf16); d = gelu(z); aux:bf16 col = z; top = reduce_max(abs(z))"


class ExplainFusion(Cli):
    def explain(self, text):
        return self.text("explain", "fusion", text)

    def test_begins_with_the_text_in_its_canonical_form(self):
        first = self.explain(TEXT).splitlines()[0]
        self.assertEqual(
            first,
            "let t0 = alpha * acc + beta * c + row(bias:bf16); d = gelu(t0); aux:bf16 col = t0; top = reduce_max(abs(t0))",
        )
        self.assertEqual(self.explain(first), self.explain(TEXT))

    def test_a_name_that_no_operation_has_is_answered_with_those_there_are(self):
        said = self.refused("explain", "fusion", "LinCombPerRowBiasEltAc")
        self.assertIn(
            'gantry: there is no operation "LinCombPerRowBiasEltAc"; did you mean LinCombPerRowBiasEltAct? '
            "There are ScaledAcc, ",
            said,
        )
        said = self.refused("explain", "fusion", "Softmax")
        self.assertIn('gantry: there is no operation "Softmax"; there are ScaledAcc, ', said)

    def test_an_element_type_that_no_epilogue_has_there_is_refused(self):
        self.assertEqual(
            self.refused("explain", "fusion", "s:e4m3 = reduce_col_add(acc)"),
            "gantry: argument 0 ('s') is a reduction with results of e4m3: a reduction gives f32, bf16, f16 or s32; the nearest "
            "type that works is f16\n",
        )
        self.assertIn("the nearest type that works is f32", self.refused("explain", "fusion", "d = acc + row(v:cf32)"))
        self.assertIn("row vector, [n]", self.explain("d = acc + row(v:s4)"))

    def test_says_that_a_gated_fusion_gives_half_of_the_columns(self):
        said = self.explain("d = silu(gate(acc)) * up(acc)")
        self.assertIn("   0  gate(acc)\n   1  silu(0)\n   2  up(acc)\n   3  multiply(1, 2)  -> D\n", said)
        self.assertIn("gated\n  A B^T has N columns, and D and everything above N / 2\n", said)
        self.assertNotIn("gated", self.explain(TEXT))

    def test_says_what_dropout_takes_and_what_is_rotated(self):
        said = self.explain("d = dropout(rotary_adjacent(acc, row(cos), row(sin)), 0.25, seed); bits:u1 = keep(0.25, seed)")
        self.assertTrue(
            said.startswith(
                "d = dropout(acc * row(cos) + rotate(acc, 2) * row(sin), 0.25, seed:u32); bits:u1 = keep(0.25, seed:u32)\n"
            )
        )
        self.assertIn("  keep(0.25, seed)\n", said)
        self.assertIn("  rotate(1, 2 columns)\n", said)
        self.assertRegex(said, r"seed +u32 +seed of dropout +must be given")

    def test_says_which_columns_are_combined_and_what_is_stored_by_blocks(self):
        said = self.explain("scales col = block_scale(acc:e4m3, 128); d = quantize(acc, rcp(scales)); tops = across_max(acc)")
        self.assertIn("  across_amax(0, 128 columns)\n", said)
        self.assertIn("  across_max(0, all columns)\n", said)
        self.assertRegex(said, r"scales +f32 +output, \[m, ceil\(n / 128\)\] column-major +must be given")
        self.assertRegex(said, r"tops +f32 +output, \[m, 1\] row-major +must be given")
        self.assertIn("  top_k(0, all columns, 2)\n", self.explain("d = top_k_softmax(acc, 2)"))
        self.assertIn("top_k(", self.explain("LinCombTopKSoftmaxCol"))

    def test_lists_every_value_once_and_what_goes_to_d(self):
        said = self.explain(TEXT)
        self.assertIn("   8  add(6, 7)\n   9  gelu(8)  -> D\n  10  store(8) into aux\n", said)
        self.assertIn("  12  reduce_max(11) into top\n", said)

    def test_says_how_arguments_are_given(self):
        lines = self.explain(TEXT).splitlines()
        words = {line.split()[0]: " ".join(line.split()[1:]) for line in lines[lines.index("arguments") + 1 : lines.index("memory") - 1]}
        self.assertEqual(
            words,
            {
                "alpha": "f32 scalar 1 if left out",
                "beta": "f32 scalar 0 if left out",
                "bias": "bf16 row vector, [n] must be given",
                "aux": "bf16 output, [m, n] column-major must be given",
                "top": "f32 reduction, one number must be given",
            },
        )

    def test_says_what_is_loaded_and_stored(self):
        said = self.explain(TEXT)
        self.assertIn("  loaded  C (not if beta is 0), alpha, beta, bias\n  stored  D, aux, top\n", said)
        self.assertIn("  loaded  C\n", self.explain("d = acc + c"))
        self.assertIn("  loaded  nothing\n  stored  D\n", self.explain("d = acc"))

    def test_knows_the_operations_by_name(self):
        self.assertTrue(self.explain("LinearCombination").startswith("d = alpha * acc + beta * c\n"))
        self.assertIn("dbias", self.explain("LinCombDeEltActDePerRowBias"))

    def test_points_at_what_is_wrong(self):
        self.assertEqual(
            self.refused("explain", "fusion", "d = gleu(acc)"),
            "gantry: the fusion cannot be read\nd = gleu(acc)\n    ^\nthere is no function gleu; did you mean gelu?\n",
        )

    def test_lists_the_functions_with_their_errors(self):
        said = self.text("explain", "fusion", "--functions")
        flat = " ".join(said.split())  # rows that are wider than the output are broken
        self.assertIn(" relu(x) max(x, 0) exact ", flat)
        self.assertRegex(flat, r" tanh\(x\) [^()]*\(?[^()]*\)? ?2\^-11 ")
        self.assertIn(" gelu(x) x · Φ(x) = x / 2 · (1 + erf(x / √2)) 1.5 · 2^-20, x ± 2^-23 |x| ", flat)

    def test_the_table_of_functions_in_the_documentation_is_the_one_that_it_prints(self):
        page = (Path(__file__).resolve().parents[2] / "docs" / "reference" / "fusion.md").read_text(encoding="utf-8")
        self.assertIn("\n\n" + self.text("explain", "fusion", "--functions", "--markdown") + "\n", page)

    def test_needs_a_text(self):
        self.assertIn("the text of a fusion is required", self.refused("explain", "fusion", status=2))


if __name__ == "__main__":
    unittest.main()
