"""Each rule of headers.py objects to a tree that breaks it, and to nothing else."""

import tempfile
import unittest
from pathlib import Path

import headers


class Tree(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        self.include = self.root / "include"

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path


class Layering(Tree):
    def problems(self):
        return headers.layering_problems(self.include)

    def test_a_layer_may_include_itself_the_layers_before_it_and_config(self):
        self.write(
            "include/gantry/tensor/tensor.hpp",
            "#include <cstdint>\n#include <gantry/config.hpp>\n#include <gantry/layout.hpp>\n"
            "#include <gantry/numeric/f16.hpp>\n#include <gantry/tensor/pointer.hpp>\n",
        )
        self.assertEqual(self.problems(), [])

    def test_a_layer_may_not_include_a_later_one(self):
        self.write("include/gantry/layout/int.hpp", "#pragma once\n#  include <gantry/tensor/tensor.hpp>\n")
        (problem,) = self.problems()
        self.assertIn("gantry/layout/int.hpp:2: layout includes <gantry/tensor/tensor.hpp>", problem)

    def test_an_umbrella_header_belongs_to_its_layer(self):
        self.write("include/gantry/tma.hpp", "#include <gantry/tma/plan.hpp>\n#include <gantry/arch/tma.hpp>\n")
        self.write("include/gantry/layout/a.hpp", "#include <gantry/tma.hpp>\n")
        self.assertEqual([p.split(": ")[0] for p in self.problems()], ["gantry/layout/a.hpp:1", "gantry/tma.hpp:2"])

    def test_config_includes_nothing_of_gantry(self):
        self.write("include/gantry/config.hpp", "#include <gantry/layout/int.hpp>\n")
        self.assertIn("may include only nothing of Gantry", self.problems()[0])

    def test_a_header_outside_every_layer_is_refused(self):
        self.write("include/gantry/util/misc.hpp", "")
        self.assertIn("belongs to no layer", self.problems()[0])

    def test_a_header_is_named_from_the_root(self):
        self.write("include/gantry/layout/a.hpp", '#include "int.hpp"\n')
        self.assertIn('includes "int.hpp"', self.problems()[0])


class KeptOut(Tree):
    def test_an_indirect_include_is_found_and_others_are_left_alone(self):
        self.write("include/gantry/gemm/choice.hpp", "#include <vector>\n#include <gantry/gemm/options.hpp>\n")
        self.write("include/gantry/gemm/options.hpp", "#include <gantry/gemm/frame.hpp>\n#include <gantry/gone.hpp>\n")
        self.write("include/gantry/gemm/frame.hpp", "#include <gantry/gemm/options.hpp>\n")
        (problem,) = headers.kept_out_problems(self.include, {"gemm/choice.hpp": ("gemm/frame.hpp", "gemm/mainloop.hpp")})
        self.assertIn("includes <gantry/gemm/frame.hpp>, through gantry/gemm/options.hpp", problem)

    def test_so_is_a_header_of_the_standard_library(self):
        self.write("include/gantry/gemm/choice.hpp", "#include <gantry/gemm/options.hpp>\n")
        self.write("include/gantry/gemm/options.hpp", "#include <vector>\n#include <string>\n")
        (problem,) = headers.kept_out_problems(self.include, {"gemm/choice.hpp": ("string", "memory")})
        self.assertIn("includes <string>, through gantry/gemm/options.hpp", problem)


class MachineWords(Tree):
    def problems(self):
        return headers.machine_word_problems(self.root, ["include"])

    def test_asm_is_refused_outside_arch(self):
        self.write("include/gantry/pipeline/a.hpp", "inline void f() {\n  asm volatile(\"nop;\");\n}\n")
        self.assertEqual(len(self.problems()), 1)
        self.assertIn("include/gantry/pipeline/a.hpp:2: says asm", self.problems()[0])

    def test_arch_and_config_may_say_it(self):
        self.write("include/gantry/arch/a.hpp", "#if defined(__CUDA_ARCH__)\n#endif\n")
        self.write("include/gantry/config.hpp", "#if defined(__CUDA_ARCH__)\n#endif\n")
        self.assertEqual(self.problems(), [])

    def test_comments_and_literals_do_not_count(self):
        self.write(
            "include/gantry/layout/a.hpp",
            '// no asm here\n/* nor\n asm */ const char* s = "asm \\" asm"; char c = \'"\'; /* asm */\n'
            'const char* r = R"x(asm " )x"; int plasma, simple;\n',
        )
        self.assertEqual(self.problems(), [])

    def test_the_line_number_survives_a_long_comment(self):
        self.write("include/gantry/gemm/a.hpp", "/* one\n two */\n#ifdef __CUDA_ARCH__\n#endif\n")
        self.assertIn("a.hpp:3: says __CUDA_ARCH__", self.problems()[0])


class Examples(Tree):
    HEADER = (
        "// A leaf.\n//\n// Example:\n//     #include <gantry/layout/other.hpp>\n//     int a = 1;\n//     if (a) {\n"
        "//       a = 2;\n//     }\n//\n// More prose.\n#pragma once\n\n"
        "// Example at namespace scope:\n//     struct S { static constexpr int k = 1; };\n"
    )

    def test_an_example_ends_at_the_first_line_that_is_not_indented(self):
        first, second = headers.examples(self.HEADER)
        self.assertEqual(first.line, 4)
        self.assertEqual(first.code[1:], ("int a = 1;", "if (a) {", "  a = 2;", "}"))
        self.assertTrue(first.in_function)
        self.assertEqual(second.code, ("struct S { static constexpr int k = 1; };",))
        self.assertFalse(second.in_function)

    def test_a_header_without_an_example_is_refused_unless_no_user_includes_it(self):
        self.write("include/gantry/layout/a.hpp", "// No example.\n")
        self.write("include/gantry/layout/detail/b.hpp", "")
        self.write("include/gantry/layout.hpp", "")
        self.write("include/gantry/config.hpp", "")
        (problem,) = headers.example_problems(self.include)
        self.assertIn("gantry/layout/a.hpp: has no example", problem)

    def test_an_example_that_holds_nothing_is_refused(self):
        self.write("include/gantry/layout/a.hpp", "// Example:\n//   int too_little_indentation;\n")
        self.assertIn("gantry/layout/a.hpp:2: the example holds no code", headers.example_problems(self.include)[0])

    def test_the_unit_includes_the_header_first_and_keeps_lines_and_columns(self):
        path = self.write("include/gantry/layout/a.hpp", self.HEADER)
        unit = headers.compilation_unit(self.include, path).splitlines()
        self.assertEqual(unit[:2], ["#include <gantry/layout/a.hpp>", "#include <gantry/layout/other.hpp>"])
        at = unit.index(f'#line 4 "{path.as_posix()}"')
        self.assertEqual(unit[at + 1 : at + 3], ["", "       int a = 1;"])
        self.assertIn("void example() {", unit)
        self.assertEqual(sum(line == "void example() {" for line in unit), 1)


class Links(Tree):
    def test_a_link_to_a_missing_page_is_found_and_other_links_are_left_alone(self):
        self.write("docs/a.md", "# Top\n[up](../README.md#here), [web](https://example.org/x#y), [top](#top)\n[gone](b.md)\n")
        self.write("README.md", "## Here\n[a](docs/a.md) and [docs](docs)\n")
        self.assertEqual(headers.link_problems(self.root), ["docs/a.md:3: links to b.md, which is not there."])

    def test_pages_beside_the_examples_are_read_too(self):
        self.write("examples/bugs/README.md", "[gone](../../docs/reference/hazards/gone.md)\n")
        self.assertEqual(
            headers.link_problems(self.root),
            ["examples/bugs/README.md:1: links to ../../docs/reference/hazards/gone.md, which is not there."],
        )

    def test_an_anchor_names_a_heading_of_its_page(self):
        self.write("docs/a.md", "[b](b.md#why-256-and-not-more), [c](b.md#what), [here](#nowhere)\n")
        self.write("docs/b.md", "## Why `256`, and not more\n```\n# What\n```\n")
        self.assertEqual(
            headers.link_problems(self.root),
            [
                "docs/a.md:1: links to #what, which is no heading of b.md.",
                "docs/a.md:1: links to #nowhere, which is no heading of a.md.",
            ],
        )

    def test_a_page_that_a_source_names_is_there(self):
        self.write("docs/design/a.md", "# A\n")
        self.write("include/gantry/gemm/a.hpp", "// As docs/design/a.md says,\n// and docs/performance.md.\n")
        self.assertEqual(
            headers.link_problems(self.root),
            ["include/gantry/gemm/a.hpp:2: names docs/performance.md, which is not there."],
        )


if __name__ == "__main__":
    unittest.main()
