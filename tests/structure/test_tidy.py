"""Sources that clang-tidy reads in one text stay themselves there: their lines, their names, what they include."""

import sys
import tempfile
import unittest
from pathlib import Path
from types import SimpleNamespace

sys.path.insert(0, str(Path(__file__).parents[2] / "scripts"))
import tidy  # noqa: E402

WHOLE = """#include <string>
#include "near.hpp"
namespace gantry {
namespace {

int own() { return 1; }

}  // namespace
}  // namespace gantry
"""
HELPERS = """#include <string>
namespace {
int own() { return 2; }
}  // namespace
int used() { return own(); }
"""


class OneText(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)

    def text(self, *contents):
        sources = []
        for number, content in enumerate(contents):
            path = self.root / f"{number}.cpp"
            path.write_text(content)
            sources.append(SimpleNamespace(path=str(path)))
        return tidy.Text(sources).write(self.root)

    def test_a_finding_names_the_line_of_its_source(self):
        contents = (WHOLE, HELPERS, WHOLE)
        text = self.text(*contents)
        lines = Path(text.path).read_text().splitlines()
        at = [number for number, line in enumerate(lines, 1) if "own() {" in line]
        found = [text.traced(f"{text.path}:{number}:5: error: x") for number in at]
        self.assertEqual(found, [f"{self.root}/{place}:5: error: x" for place in ("0.cpp:6", "1.cpp:3", "2.cpp:6")])

    def test_a_header_is_included_once(self):
        # clang-tidy takes a second time for a mistake, and it is none of another source.
        written = Path(self.text(WHOLE, HELPERS).path).read_text()
        self.assertEqual(written.count("#include <string>"), 1)

    def test_an_include_that_a_condition_leaves_out_is_not_taken_for_one(self):
        written = Path(self.text("#if 0\n#include <string>\n#endif\n", HELPERS).path).read_text()
        self.assertEqual(written.count("#include <string>"), 2)

    def test_unnamed_namespaces_that_are_all_of_a_source_do_not_meet(self):
        self.assertNotEqual(tidy.own_names(WHOLE, 1), tidy.own_names(WHOLE, 2))
        self.assertEqual(tidy.own_names(WHOLE, 1).count("{"), tidy.own_names(WHOLE, 1).count("}"))

    def test_an_unnamed_namespace_whose_names_the_source_uses_stays_as_it_is(self):
        self.assertEqual(tidy.own_names(HELPERS, 1), HELPERS)

    def test_sources_whose_names_meet_are_read_apart(self):
        sources = self.text(HELPERS, WHOLE, HELPERS, HELPERS.replace("own", "other").replace("used", "too")).sources
        for source in sources:
            source.alike = lambda: "alike"
        read = [[Path(s.path).stem for s in part] for part in tidy.together(sources)]
        self.assertEqual(read, [["0", "1", "3"], ["2"]])
    def test_a_function_is_declared_by_one_source_of_a_text(self):
        declared = "int count();\n" + WHOLE
        self.assertEqual(tidy.meeting_names(declared) & tidy.meeting_names("int count() { return 0; }\n"), {"count"})


if __name__ == "__main__":
    unittest.main()
