"""`gantry explain epilogue` as its users meet it: reports, JSON, refusals and bad options."""

import json
import unittest

from cli import Cli

TILE = ("explain", "epilogue", "--tile", "128x256x64", "--d", "bf16")


class ExplainEpilogue(Cli):
    def test_a_report(self):
        said = self.text(*TILE, "--c", "bf16")
        self.assertTrue(said.startswith("Epilogue TmaWarpSpecializedCooperative of a 128x256 tile: runs\n"), said)
        for part in ("epilogue tile  128x64", "ReuseSmemC     yes", "SM90_TMA_STORE", "PipelineTmaStore<4, 1>", "232448"):
            self.assertIn(part, said)

    def test_options_reach_the_policy(self):
        said = self.text(*TILE, "--policy", "cutlass", "--schedule", "TmaWarpSpecialized", "--c", "f32", "--c-layout", "col",
                         "--epi-tile", "64x32", "--stages-c", "3", "--stages-d", "1", "--fragment", "8", "--delay", "yes",
                         "--reuse", "no", "--acc", "f32", "--compute", "f32", "--round", "toward_zero", "--c-align", "4",
                         "--d-align", "8")  # fmt: skip
        for part in ("rounding       toward_zero", "StagesC        3", "StagesD        1", "FragmentSize   8", "DelayTmaStore  yes", "ColumnMajor", "CutlassCompatible"):
            self.assertIn(part, said)

    def test_c_has_the_element_of_d_where_the_expression_uses_it(self):
        used = json.loads(self.text(*TILE, "--epilogue", "d = acc + c", "--json"))
        self.assertTrue(used["policy"]["is_source_supported"])
        self.assertIn("[16b]", used["policy"]["smem_layout_atom_C"])
        given = json.loads(self.text(*TILE, "--c", "f32", "--epilogue", "d = acc + c", "--json"))
        self.assertIn("[32b]", given["policy"]["smem_layout_atom_C"])
        unused = json.loads(self.text(*TILE, "--epilogue", "d = relu(acc)", "--json"))
        self.assertFalse(unused["policy"]["is_source_supported"])

    def test_a_tile_of_layouts(self):
        said = self.text(*TILE, "--epi-tile", "(128,(32,2):(1,64))")
        for part in ("epilogue tile  128x(32,2):(1,64)", "boxes          2 of 128x32"):
            self.assertIn(part, said)
        self.assertIn("epilogue tile  128x64", self.text(*TILE, "--epi-tile", "(128,(32,2):(1,32))"))
        out, _ = self.gantry(*TILE, "--epi-tile", "(128,(32,2):(1,48))", status=1)
        self.assertIn("the nearest layout that works is (32,2):(1,64)", " ".join(out.decode().split()))
        _, said = self.gantry(*TILE, "--epi-tile", "(128,(32,2):(1,?))", status=2)
        self.assertIn("(64,(32,2):(1,64))", said.decode())

    def test_json_holds_the_policy(self):
        e = json.loads(self.text(*TILE, "--policy", "cutlass", "--schedule", "cooperative", "--json"))
        self.assertTrue(e["ok"])
        self.assertEqual(e["refused"], [])
        self.assertEqual(e["policy"]["dispatch_policy"], "Sm90TmaWarpSpecialized<4, 2, 16, false, true>")
        self.assertIn({"section": "Decisions", "name": "StagesD", "value": "2", "why": "one store is read while the next is written"}, e["decisions"])

    def test_a_refusal_gives_every_reason_and_a_status(self):
        out, _ = self.gantry(*TILE, "--schedule", "tma", "--c", "bf16", "--c-align", "1", "--d-align", "1", "--json", status=1)
        e = json.loads(out)
        self.assertFalse(e["ok"])
        self.assertEqual(len(e["refused"]), 2)
        self.assertNotIn("policy", e)
        out, _ = self.gantry(*TILE, "--schedule", "tma", "--d-align", "1", status=1)
        self.assertIn("the nearest alignment that works is 8", " ".join(out.decode().split()))

    def test_what_no_kernel_runs_is_said_with_its_values(self):
        for options in (("--schedule", "PtrArrayTmaWarpSpecialized"), ("--d", "s4"), ("--compute", "f64"), ("--fragment", "2")):
            given = dict(zip(TILE[2::2], TILE[3::2])) | dict([options])
            words = ("explain", "epilogue", *(word for pair in given.items() for word in pair), "--json")
            e = json.loads(self.gantry(*words, status=1)[0])
            self.assertFalse(e["ok"], options)
            self.assertEqual((len(e["no_kernel"]), e["refused"]), (1, []), options)
            self.assertIn("policy", e)

    def test_an_expression_is_part_of_the_question(self):
        said = self.text(*TILE, "--epilogue", "d = gelu(acc + row(bias))")
        self.assertIn("tile: runs", said)
        out, _ = self.gantry(*TILE, "--c", "void", "--epilogue", "d = acc + c", "--json", status=1)
        self.assertIn("the expression uses C, and C is void", json.loads(out)["refused"][0])
        self.assertIn("gleu", self.refused(*TILE, "--epilogue", "d = gleu(acc)", status=2))

    def test_void_d_with_an_auxiliary_output(self):
        said = self.text("explain", "epilogue", "--tile", "128x128x64", "--d", "void", "--aux", "f16")
        self.assertIn("the auxiliary f16 stands in", said)

    def test_bad_options_are_answered_with_sentences(self):
        for options, words in (
            (("--tile", "128y256"), '--tile takes extents such as 128x256x64, and not "128y256"'),
            (("--tile", "128"), "--tile takes extents"),
            (("--epi-tile", "64x32x8"), "--epi-tile takes extents such as 64x32"),
            (("--c", "bf17"), 'the nearest name is "bf16"'),
            (("--c-layout", "diagonal"), "--c-layout takes row, column"),
            (("--schedule", "fast"), "the nearest is auto"),
            (("--policy", "mine"), "--policy takes gantry or cutlass"),
            (("--stages-c", "many"), "--stages-c takes a number"),
            (("--reuse", "perhaps"), "--reuse takes yes, no or auto"),
        ):
            given = dict(zip(TILE[2::2], TILE[3::2]))
            given[options[0]] = options[1]
            said = self.refused("explain", "epilogue", *(word for pair in given.items() for word in pair), status=2)
            self.assertIn(words, said)


if __name__ == "__main__":
    unittest.main()
