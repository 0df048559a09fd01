"""check_ptxas.py against reports that nvcc 13.0 printed for kernels which spill, index registers or serialise wgmma."""

import contextlib
import io
import sys
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "scripts"))

import check_ptxas  # noqa: E402

CLEAN = """\
ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function '_Z5cleanPf' for 'sm_90a'
ptxas info    : Function properties for _Z5cleanPf
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 8 registers, used 0 barriers
"""


def report(name):
    return (HERE / "reports" / f"{name}.txt").read_text()


def judge(text, **options):
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        status = check_ptxas.judge(text, **options)
    return status, printed.getvalue()


class Reports(unittest.TestCase):
    def test_a_clean_kernel_passes_and_its_registers_are_shown(self):
        status, printed = judge(CLEAN)
        self.assertEqual(status, 0)
        self.assertIn("8 registers, 0 bytes stack, 0/0 bytes", printed)

    def test_a_spill_is_found_beside_a_clean_kernel(self):
        functions = check_ptxas.parse(report("spill"))
        self.assertEqual(list(functions["_Z5cleanPf"].problems()), [])
        spills = functions["_Z6spillsPf"]
        self.assertEqual((spills.stack, spills.spill_stores, spills.spill_loads), (1160, 1756, 2772))
        self.assertEqual(spills.registers, 64)
        self.assertEqual(judge(report("spill"))[0], 1)

    def test_a_stack_frame_is_found(self):
        status, printed = judge(report("stack_frame"))
        self.assertEqual(status, 1)
        self.assertIn("keeps 128 bytes on the stack", printed)

    def test_a_stack_frame_is_found_without_the_warning_line(self):
        quiet_ptxas = "\n".join(line for line in report("stack_frame").splitlines() if "warning" not in line)
        self.assertEqual(judge(quiet_ptxas)[0], 1)

    def test_a_frame_belongs_to_the_function_that_has_it(self):
        functions = check_ptxas.parse(report("device_function"))
        self.assertEqual(functions["_Z5callsPfi"].stack, 64)
        self.assertEqual(functions["_Z4pickPKfi"].stack, 0)
        self.assertFalse(functions["_Z4pickPKfi"].entry)

    def test_serialised_wgmma_is_found_with_its_reason(self):
        for name, code, reason in (
            ("wgmma_c7510", "C7510", "wgmma pipeline crossing function boundary at a function call"),
            ("wgmma_c7511", "C7511", "insufficient register resources for the wgmma pipeline"),
        ):
            (function,) = check_ptxas.parse(report(name)).values()
            self.assertEqual(function.serialised, [(code, reason)])
            self.assertEqual(judge(report(name))[0], 1)

    def test_quiet_prints_findings_and_nothing_else(self):
        self.assertEqual(judge(CLEAN, quiet=True), (0, ""))
        status, printed = judge(report("stack_frame"), quiet=True)
        self.assertEqual(status, 1)
        self.assertEqual(printed.count("\n"), 1)

    def test_a_report_without_a_kernel_proves_nothing(self):
        status, printed = judge("ptxas info    : 0 bytes gmem\n")
        self.assertEqual(status, 2)
        self.assertIn("names no kernel", printed)

    def test_a_compiler_that_fails_keeps_its_status(self):
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            status = check_ptxas.main(["--", sys.executable, "-c", "print('broken'); raise SystemExit(3)"])
        self.assertEqual((status, printed.getvalue()), (3, "broken\n"))


if __name__ == "__main__":
    unittest.main()
