"""Lines that nobody should send. Each gets an answer that is JSON, says where and what, and leaves the others alone."""

import json
import random
import unittest

from cli import Cli

GOOD = b'{"op":"size","a":"(4,8)"}'


class Hostile(Cli):
    def answers(self, *lines):
        """Answers to hostile lines; good lines around each of them must be answered as ever."""
        mixed = [line for hostile in lines for line in (GOOD, hostile)] + [GOOD]
        answers = self.eval_bytes(mixed, status=1)
        for answer in answers[::2]:
            self.assertEqual(answer, {"op": "size", "a": "(4,8)", "result": 32})
        return answers[1::2]

    def answer(self, line):
        return self.answers(line)[0]

    def test_what_is_not_json_is_answered_with_its_place(self):
        answer = self.answer(b'{"op":"size","a":!}')
        self.assertEqual(answer["position"], 18)
        self.assertTrue(answer["error"].startswith("the line is not JSON: "), answer)
        for line in (b"{", b"}", b'{"op"', b'{"op":}', b'{"op":"size",}', b"nul", b'"', b'{"op":"size"} {}', b"\x00", b"\x1f" * 100, b"'"):
            self.assertEqual(set(self.answer(line)), {"error", "position"}, line)

    def test_what_is_json_and_no_object_is_refused(self):
        for line in (b"[]", b"[[{}]]", b"5", b'"size"', b"null", b"true", b"1.5", b"[" * 100_000 + b"]" * 100_000):
            self.assertEqual(self.answer(line)["error"], "the line must hold a JSON object, {...}", line[:20])

    def test_missing_fields_are_named(self):
        self.assertIn('"op" is missing', self.answer(b"{}")["error"])
        self.assertIn('"a" is missing', self.answer(b'{"op":"size"}')["error"])
        self.assertIn('"b" is missing', self.answer(b'{"op":"composition","a":"4"}')["error"])
        self.assertIn('"in" is missing', self.answer(b'{"op":"swizzle","bits":1,"base":1,"shift":1}')["error"])

    def test_an_unknown_operation_is_answered_with_those_there_are(self):
        said = self.answer(b'{"op":"compose","a":"4","b":"2"}')["error"]
        self.assertIn('"compose" is not known', said)
        self.assertIn(" composition ", said)

    def test_values_of_the_wrong_type_are_refused_by_name(self):
        for value in (b"null", b"true", b"1.5", b"[]", b"[1,2]", b"{}", b'{"a":[{}]}', b"18446744073709551615"):
            self.assertIn('"a" must be', self.answer(b'{"op":"size","a":' + value + b"}")["error"], value)
        self.assertIn('"op" must be a string', self.answer(b'{"op":5}')["error"])
        for values in (b"5", b'["a"]', b"[1.5]", b"[1,[2]]", b"[18446744073709551615]", b"[null]"):
            line = b'{"op":"swizzle","bits":1,"base":1,"shift":1,"in":' + values + b"}"
            self.assertIn('"in" must be an array of integers', self.answer(line)["error"], values)

    def test_texts_that_are_no_layouts_are_answered_with_the_place_in_the_text(self):
        answer = self.answer(b'{"op":"size","a":"(4,8"}')
        self.assertEqual(answer["position"], 5)
        self.assertEqual(answer["error"], "the field \"a\" cannot be read: expected ',' or ')', found the end at column 5")
        for text, position in {"": 1, "(4,x)": 4, "4:1:1": 4, "(4,0)": 4, "9" * 30: 1, "(" * 100_000: 33, "4\\u0000": 2, "\\u00e9": 1}.items():
            line = b'{"op":"size","a":"' + text.encode() + b'"}'
            self.assertEqual(self.answer(line)["position"], position, text[:20])

    def test_numbers_beyond_all_bounds(self):
        self.assertIn("overflow", self.answer(b'{"op":"complement","a":"4","cotarget":1e999}')["error"])
        self.assertIn('"cotarget"', self.answer(b'{"op":"complement","a":"4","cotarget":99999999999999999999}')["error"])
        self.assertIn('"idx"', self.answer(b'{"op":"idx2crd","idx":-9223372036854775808,"shape":"(4,4)"}')["error"])

    def test_copies_with_offsets_and_modes_beyond_all_bounds(self):
        copy = {
            "copy_op": "SM90_TMA_LOAD_MULTICAST", "elem": "double", "elem_bits": 64, "gmem": "(32,(32,4),2):(32,(_1,1024),4098)",
            "cta_tiler": "(_16,(_16,_2))", "num_multicast": 4, "kind": "partition", "smem_stage": "(_16,(_16,_2)):(_16,(_1,_256))",
            "tile_coord": "(1,_,0)", "rest_index": 1, "pipe_index": 1, "cta_layout": "_4:_1",
        }
        far = dict(copy, smem_full="(_16,(_16,_2),_2):(_16,(_1,_256),_4611686018427387904)")
        masks = {"kind": "mcast_mask", "cta_layout": "(2,2):(1,2)"}
        lines = [far, *(dict(masks, modes=[mode]) for mode in (4294967296, -1, 2))]
        answers = self.eval_bytes([json.dumps(line).encode() for line in lines], kind="tma_partition")
        self.assertEqual(answers[0]["error"], "an integer result does not fit in 64 bits")
        for line, answer in zip(lines[1:], answers[1:]):
            self.assertEqual(answer["error"], f'the field "modes" has {line["modes"][0]}: the modes of "cta_layout" are 0 to 1')

    def test_bytes_that_are_no_utf8(self):
        for line in (b"\xff", b'{"op":"\xff"}', b'{"op":"size","a":"\xc3"}', b'{"\xed\xa0\x80":1}', b'{"op":"\\ud800"}'):
            self.assertIn("the line is not JSON", self.answer(line)["error"], line)

    def test_a_field_that_stands_twice(self):
        self.assertIn('"a" stands twice', self.answer(b'{"op":"size","a":"4","a":"5"}')["error"])

    def test_very_many_fields(self):
        line = json.dumps({f"f{i}": i for i in range(100_000)}).encode()
        self.assertIn("more than 256 fields", self.answer(line)["error"])

    def test_depth_in_a_field_that_is_not_read(self):
        deep = b"[" * 200_000 + b"]" * 200_000
        out, _ = self.gantry("eval", "layout_algebra", stdin=b'{"op":"size","a":"4","x":' + deep + b"}\n")
        self.assertEqual(out, b'{"op":"size","a":"4","x":' + deep + b',"result":4}\n')

    def test_lines_changed_at_random(self):
        rng = random.Random(1)
        seeds = [
            b'{"op":"composition","a":"(4,(2,3)):(6,(3,1))","b":"(2,3):(2,4)"}',
            b'{"op":"zipped_divide","a":"((4,),8):((1,),4)","tiler":"(2,_)"}',
            b'{"op":"swizzle","bits":3,"base":4,"shift":-3,"in":[1,2,300]}',
            b'{"op":"complement","a":"(2,2):(1,6)","cotarget":48}',
        ]
        lines = []
        for _ in range(5000):
            line = bytearray(rng.choice(seeds))
            for _ in range(rng.randint(1, 3)):
                at = rng.randrange(len(line))
                line[at : at + rng.randint(0, 2)] = rng.choice([b"", b"9", b"-", b"(", b")", b",", b":", b'"', b"_", b"0", bytes([rng.randrange(256)])])
            lines.append(bytes(line).replace(b"\n", b" "))
        for line, answer in zip(lines, self.answers(*lines)):
            self.assertTrue(set(answer) & {"error", "result", "out"}, (line, answer))


if __name__ == "__main__":
    unittest.main()
