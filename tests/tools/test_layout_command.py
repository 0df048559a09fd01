"""gantry layout"""

import itertools
import json
import re
import unittest

from cli import Cli


def facts(said):
    return dict(re.findall(r"^  (\w+) +(.+)$", said, re.MULTILINE))


class Layout(Cli):
    def test_shows_what_there_is_to_know(self):
        said = self.text("layout", "((_2,_4),3):((_1,_2),_8)")
        self.assertTrue(said.startswith("((_2,_4),3):((_1,_2),_8)\n\n"))
        known = facts(said)
        self.assertEqual([known[k] for k in ("size", "cosize", "rank", "depth")], ["24", "24", "2", "2"])
        self.assertEqual(known["coalesced"], "(_8,3):(_1,_8)")
        self.assertTrue(said.endswith("  7 |   7  15  23\n"))

    def test_judges_injective_surjective_and_compact(self):
        for text, verdicts in {
            "(4,8):(8,1)": ("yes", "yes", "yes"),
            "(4,8):(9,1)": ("yes", "no", "no"),
            "(4,8):(0,1)": ("no", "yes", "no"),
            "(4,4):(1,2)": ("no", "yes", "no"),
            "(4,4):(2,4)": ("no", "no", "no"),
            "(4,8):(-1,4)": ("yes", "yes", "yes"),
            "(4,3):(1@0,1@1)": ("yes", "yes", "yes"),
            "(4,3):(1@0,2@1)": ("yes", "no", "no"),
            "(4,3):(1@0,1@0)": ("no", "yes", "no"),
            "Sw<3,0,3> o (8,8):(8,1)": ("yes", "yes", "yes"),
        }.items():
            known = facts(self.text("layout", text))
            said = tuple(known[k].split(",")[0] for k in ("injective", "surjective", "compact"))
            self.assertEqual(said, verdicts, text)

    def test_json_holds_the_same_and_the_image(self):
        known = json.loads(self.text("layout", "(2,(3,2)):(6,(2,1))", "--json"))
        image = [6 * i + 2 * j + k for k, j, i in itertools.product(range(2), range(3), range(2))]
        self.assertEqual(known["image"], image)
        self.assertEqual((known["layout"], known["size"], known["cosize"], known["compact"]), ("(2,(3,2)):(6,(2,1))", 12, 12, True))

    def test_json_of_a_coordinate_layout_holds_coordinates(self):
        self.assertEqual(json.loads(self.text("layout", "(2,1):(1@0,1@1)", "--json"))["image"], ["(0,0)", "(1,0)"])

    def test_python_notation(self):
        self.assertTrue(self.text("layout", "((_4),_2):((_1),_4)", "--python").startswith("((4,),2):((1,),4)\n"))

    def test_the_offset_of_a_coordinate(self):
        self.assertEqual(self.text("layout", "(4,(2,3)):(6,(3,1))", "--at", "(1,(1,2))"), "11\n")
        self.assertEqual(self.text("layout", "(4,(2,3)):(6,(3,1))", "--at", "(1,5)"), "11\n")
        self.assertEqual(self.text("layout", "(4,(2,3)):(6,(3,1))", "--at", "21"), "11\n")
        self.assertEqual(self.text("layout", "Sw<1,0,1> o (2,2):(2,1)", "--at", "(1,0)"), "3\n")
        self.assertEqual(json.loads(self.text("layout", "(4,8):(8,1)", "--at", "(1,2)", "--json"))["at"], 10)

    def test_a_slice_and_where_it_starts(self):
        self.assertEqual(self.text("layout", "(4,8):(8,1)", "--at", "(2,_)"), "(8):(1) from offset 16\n")
        self.assertEqual(
            json.loads(self.text("layout", "(4,8):(8,1)", "--at", "(2,_)", "--json"))["at"], {"layout": "(8):(1)", "offset": 16}
        )
        self.assertEqual(self.text("layout", "Sw<3,0,3> o (8,8):(8,1)", "--at", "(2,_)"), "Sw<3,0,3> o 16 o (8):(1)\n")

    def test_unknown_extents_have_no_table(self):
        said = self.text("layout", "(?,4):(_1,?)")
        self.assertEqual(facts(said)["size"], "not known")
        self.assertIn("not known at compile time", said)
        self.assertIsNone(json.loads(self.text("layout", "(?,4):(_1,?)", "--json"))["size"])

    def test_a_huge_layout_is_shown_in_part(self):
        said = self.text("layout", "(1048576,1048576)")
        self.assertEqual(facts(said)["size"], str(2**40))
        self.assertIn("(64 of 1048576 rows and 32 of 1048576 columns are shown)", said)


class Refusals(Cli):
    def test_a_bad_layout_is_shown_with_a_caret(self):
        self.assertEqual(
            self.refused("layout", "(4,8"),
            "gantry: the layout cannot be read\n(4,8\n    ^\nexpected ',' or ')', found the end at column 5\n",
        )

    def test_a_bad_coordinate_is_shown_with_a_caret(self):
        self.assertIn("gantry: the coordinate cannot be read\n(1,\n   ^\n", self.refused("layout", "(4,8)", "--at", "(1,"))

    def test_a_coordinate_that_does_not_fit_gets_the_rule(self):
        self.assertIn("a coordinate has rank 3 and the shape that it indexes rank 2: a coordinate has the profile of its shape, or is flatter", self.refused("layout", "(4,8)", "--at", "(1,1,1)"))

    def test_a_swizzle_that_splits_elements_gets_one_sentence(self):
        text = "Sw<3,4,3> o smem_ptr[6b] o (8,64):(64,1)"
        self.assertEqual(
            self.refused("layout", text),
            f"gantry: {text} has no offsets in elements: recast: 8 bits and 6 bits: one width must divide the other\n",
        )

    def test_every_kind_of_bad_layout_gets_a_sentence(self):
        for text in ("", " ", "(", ")", "(4,0)", "(4,8):(1)", "4:_", "(((((" * 20, "99999999999999999999", "Sw<9,9,9>", "Sw<9,9,8> o 4", "\xe9"):
            self.assertIn("at column", self.refused("layout", text), text)


if __name__ == "__main__":
    unittest.main()
