"""What libgantry's shared library is called and shows: the C interface, contexts, devices, status and report, and no more.

Run with GANTRY_LIBRARY (the shared library), GANTRY_HEADER (gantry.h), GANTRY_C_PAGE (docs/reference/c.md), GANTRY_NM and GANTRY_SONAME.
"""
import os
import re
import subprocess
import unittest

# What headers declare with GANTRY_API.
CLASSES = ("gantry::Context", "gantry::GemmFunction", "gantry::runtime::Device", "gantry::runtime::DeviceBuffer",
           "gantry::runtime::DeviceTimer", "gantry::Report")
FUNCTIONS = ("gantry::to_text(gantry::StatusCode)",)


def exported():
    nm = [os.environ["GANTRY_NM"], "-D", "-C", "--defined-only", os.environ["GANTRY_LIBRARY"]]
    lines = subprocess.run(nm, check=True, capture_output=True, text=True).stdout.splitlines()
    # "address type name"; ABI tags are no part of a name.
    return [re.sub(r"\[abi:\w+\]", "", line.split(" ", 2)[2]) for line in lines]


class Exports(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.names = exported()

    def test_the_library_has_the_name_that_programs_ask_for(self):
        with open(os.environ["GANTRY_HEADER"], encoding="utf-8") as file:
            version = dict(re.findall(r"#define GANTRY_VERSION_(MAJOR|MINOR) (\d+)", file.read()))
        interface = version["MAJOR"] if version["MAJOR"] != "0" else "0." + version["MINOR"]
        self.assertEqual(os.environ["GANTRY_SONAME"], "libgantry.so." + interface)
        with open(os.environ["GANTRY_LIBRARY"], "rb") as file:
            data = file.read()
        self.assertIn(b"\0" + os.environ["GANTRY_SONAME"].encode() + b"\0", data)

    def test_every_function_of_the_c_header_is_there(self):
        with open(os.environ["GANTRY_HEADER"], encoding="utf-8") as file:
            text = file.read()
        declared = re.findall(r"GANTRY_C_API [^;(]*?(gantry_\w+)\(", text)
        self.assertGreater(len(declared), 20)
        self.assertEqual([name for name in declared if name not in self.names], [])
        self.assertEqual([name for name in self.names if name.startswith("gantry_") and name not in declared], [])

    def test_every_name_that_callers_need_is_on_the_page(self):
        with open(os.environ["GANTRY_HEADER"], encoding="utf-8") as file:
            text = file.read()
        with open(os.environ["GANTRY_C_PAGE"], encoding="utf-8") as file:
            page = file.read()
        functions = re.findall(r"GANTRY_C_API [^;(]*?(gantry_\w+)\(", text)
        statuses = re.findall(r"(GANTRY_\w+) = (\d+)", text[text.index("typedef int32_t gantry_status"):text.index("};")])
        self.assertGreater(len(statuses), 9)
        self.assertEqual([name for name in functions if f"`{name}`" not in page], [])
        self.assertEqual([name for name, number in statuses if f"| `{name}` | {number} |" not in page], [])
        self.assertEqual(sorted(set(re.findall(r"`(gantry_\w+)`", page)) - set(functions)), ["gantry_status"])

    def test_members_of_report_can_be_called(self):
        for member in ("text() const", "json() const", "has("):
            self.assertTrue(any(name.startswith("gantry::Report::" + member) for name in self.names), member)

    def test_no_template_of_the_standard_library_is_shown(self):
        nm = [os.environ["GANTRY_NM"], "-D", "--defined-only", os.environ["GANTRY_LIBRARY"]]
        lines = subprocess.run(nm, check=True, capture_output=True, text=True).stdout.splitlines()
        names = [line.split()[-1] for line in lines]
        self.assertEqual([name for name in names if not re.match(r"gantry_|_ZT?[VIS]?N?K?6gantry|_ZNK?6gantry", name)], [])

    def test_nothing_of_the_inside_is_shown(self):
        def is_ours(name):
            # Functions of std's templates are named after what they return.
            called = re.sub(r"<.*>", "", name.split("(", 1)[0]).split(" ")[-1]
            return called.startswith("gantry::") and name not in FUNCTIONS

        def is_public(name):
            owner = name.split("(", 1)[0].rsplit("::", 1)[0]
            return owner in CLASSES

        self.assertEqual([name for name in self.names if is_ours(name) and not is_public(name)], [])


if __name__ == "__main__":
    unittest.main()
