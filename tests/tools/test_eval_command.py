"""gantry eval layout_algebra: what it keeps, what it computes, what it refuses. Its answers are in test_eval_golden."""

import json
import os
import subprocess
import unittest

from cli import Cli


class Fields(Cli):
    def test_inputs_keep_their_order_and_outputs_follow(self):
        out, _ = self.gantry("eval", "layout_algebra", stdin=b'{"b":"4:2","op":"composition","id":[1,{"x":null}],"a":"8:1"}\n')
        self.assertEqual(
            out.decode(), '{"b":"4:2","op":"composition","id":[1,{"x":null}],"a":"8:1","result":"4:2","image":[0,2,4,6]}\n'
        )

    def test_outputs_that_are_there_are_replaced_in_place(self):
        out, _ = self.gantry("eval", "layout_algebra", stdin=b'{"result":"wrong","op":"size","image":[7],"a":"(4,8)"}\n')
        self.assertEqual(out.decode(), '{"result":32,"op":"size","a":"(4,8)"}\n')

    def test_an_error_that_is_there_is_forgotten(self):
        self.assertEqual(
            self.eval({"op": "size", "a": "4", "error": "old", "position": 3}), {"op": "size", "a": "4", "result": 4}
        )

    def test_other_values_pass_through_unchanged(self):
        kept = {"note": 'quote " slash \\ line\n é \u2018', "big": 2**64 - 1, "real": 1.5, "deep": [[], {}, [[1], {"a": [True, None]}]]}
        answer = self.eval({"op": "size", "a": "4", **kept})
        self.assertEqual({k: answer[k] for k in kept}, kept)

    def test_an_integer_stands_for_its_text(self):
        self.assertEqual(self.eval({"op": "complement", "a": 4, "cotarget": "24"})["result"], "6:4")

    def test_an_image_is_given_up_to_256_elements(self):
        self.assertEqual(len(self.eval({"op": "coalesce", "a": "(16,16):(16,1)"})["image"]), 256)
        self.assertNotIn("image", self.eval({"op": "coalesce", "a": "(16,17):(17,1)"}))

    def test_a_basis_layout_has_no_image(self):
        self.assertEqual(
            self.eval({"op": "coalesce", "a": "(2,2):(1@0,1@1)"}),
            {"op": "coalesce", "a": "(2,2):(1@0,1@1)", "result": "(2,2):(1@0,1@1)"},
        )


class Stream(Cli):
    def test_blank_lines_stay(self):
        out, _ = self.gantry("eval", "layout_algebra", stdin=b'\n{"op":"size","a":"4"}\r\n  \n')
        self.assertEqual(out, b'\n{"op":"size","a":"4","result":4}\n\n')

    def test_the_last_line_needs_no_line_break(self):
        out, _ = self.gantry("eval", "layout_algebra", stdin=b'{"op":"size","a":"4"}')
        self.assertEqual(out, b'{"op":"size","a":"4","result":4}\n')

    def test_nothing_is_answered_with_nothing(self):
        self.assertEqual(self.gantry("eval", "layout_algebra")[0], b"")

    def test_an_answer_comes_before_the_next_question(self):
        with subprocess.Popen([os.environ["GANTRY"], "eval", "layout_algebra"], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as asked:
            for extent in (3, 5):
                asked.stdin.write(b'{"op":"size","a":"%d"}\n' % extent)
                asked.stdin.flush()
                self.assertEqual(json.loads(asked.stdout.readline())["result"], extent)
            asked.stdin.close()
            self.assertEqual(asked.wait(), 0)

    def test_a_closed_output_ends_it_quietly(self):
        with subprocess.Popen([os.environ["GANTRY"], "eval", "layout_algebra"], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as asked:
            asked.stdout.close()
            try:
                asked.stdin.write(b'{"op":"size","a":"4"}\n' * 100_000)
                asked.stdin.close()
            except BrokenPipeError:
                pass
            self.assertNotEqual(asked.wait(), 0)


class Refusals(Cli):
    """What has no answer: a sentence, and status 0, since the line could be read."""

    def refusal(self, **case):
        answer = self.eval(case)
        self.assertEqual(set(answer) - set(case), {"error"})
        return answer["error"]

    def test_the_rule_and_the_values_are_named(self):
        self.assertEqual(
            self.refusal(op="composition", a="(4,6):(6,1)", b="(3,2):(1,6)"),
            "composition: stride 6 of the right layout meets extent 4 of a left mode: one must divide the other",
        )
        self.assertIn("must be injective", self.refusal(op="complement", a="(4,4):(1,2)", cotarget=64))
        self.assertIn("a coordinate has rank 3", self.refusal(op="crd2idx", crd="(1,1,1)", shape="(4,8)", stride="(1,4)"))

    def test_swizzles_that_cannot_be(self):
        self.assertEqual(
            self.refusal(op="swizzle", bits=2147483648, base=4, shift=3, **{"in": [1]}),
            "a swizzle of 2147483648 bits was asked for, and there is room for 55: the bits of a swizzle lie between its base and bit 63",
        )
        self.assertEqual(
            self.refusal(op="swizzle", bits=0, base=60, shift=3, **{"in": [1]}),
            "base and shift of a swizzle reach bit 63: bits up to 62 can be swizzled",
        )
        for numbers in ((-1, 0, 3), (3, -1, 3), (3, 4, 2), (63, 0, 63), (3, 60, 3), (2**40, 0, 3), (0, 2**40, 3), (0, 0, -(2**63))):
            self.assertTrue(self.refusal(op="swizzle", **dict(zip(("bits", "base", "shift"), numbers)), **{"in": [1]}), numbers)


if __name__ == "__main__":
    unittest.main()
