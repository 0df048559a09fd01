"""ptxas_record.py: what counts as growth, which kernels are recorded, and that a record can be read again."""

import contextlib
import io
import sys
import tempfile
import unittest
from dataclasses import replace
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "scripts"))

import ptxas_record  # noqa: E402
from ptxas_record import Resources  # noqa: E402

BEFORE = Resources(registers=168, stack=0, spill_stores=0, spill_loads=0, code=50816, warnings="-")


def compare(record, now):
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        held = ptxas_record.compare(record, "kernel", now)
    return held, printed.getvalue()


class Growth(unittest.TestCase):
    def test_the_same_kernel_holds_and_nothing_is_said(self):
        self.assertEqual(compare({"kernel": BEFORE}, BEFORE), (True, ""))

    def test_more_of_any_number_is_found_and_named_with_both_values(self):
        for field, word in (
            ("registers", "registers"),
            ("stack", "bytes of stack"),
            ("spill_stores", "bytes of spill stores"),
            ("spill_loads", "bytes of spill loads"),
            ("code", "bytes of code"),
        ):
            value = getattr(BEFORE, field)
            held, printed = compare({"kernel": BEFORE}, replace(BEFORE, **{field: value + 16}))
            self.assertFalse(held)
            self.assertIn(f"{value + 16} {word}, {value} before", printed)

    def test_more_of_one_is_found_beside_less_of_another(self):
        held, printed = compare({"kernel": BEFORE}, replace(BEFORE, registers=128, code=50944))
        self.assertFalse(held)
        self.assertNotIn("registers", printed)

    def test_less_holds_and_is_reported(self):
        held, printed = compare({"kernel": BEFORE}, replace(BEFORE, code=50688))
        self.assertTrue(held)
        self.assertIn("less than in the record", printed)

    def test_a_warning_that_appeared_is_found_and_one_that_was_there_is_not(self):
        warned = replace(BEFORE, warnings="C7510")
        self.assertEqual(compare({"kernel": warned}, warned), (True, ""))
        held, printed = compare({"kernel": warned}, replace(BEFORE, warnings="C7510,C7512"))
        self.assertFalse(held)
        self.assertIn("C7512", printed)
        self.assertNotIn("C7510", printed)

    def test_a_kernel_that_is_in_no_record_fails(self):
        self.assertFalse(compare({}, BEFORE)[0])

    def test_a_kernel_that_is_refused_fails_only_where_it_was_recorded(self):
        self.assertFalse(compare({"kernel": BEFORE}, None)[0])
        self.assertTrue(compare({}, None)[0])


class Records(unittest.TestCase):
    def test_what_is_written_is_read_again_with_its_compiler(self):
        record = {"table 1x2x3 plain": BEFORE, "candidate x": Resources(254, 8, 16, 24, 32, "C7510,C7512")}
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "record.txt"
            self.assertIsNone(ptxas_record.compiler_of(path))
            ptxas_record.write(path, record, "a compiler 13.0")
            self.assertEqual(ptxas_record.read(path), record)
            self.assertEqual(ptxas_record.compiler_of(path), "a compiler 13.0")
            names = [line.split(maxsplit=6)[-1] for line in path.read_text().splitlines() if not line.startswith("#")]
            self.assertEqual(names, sorted(record))


class Kernels(unittest.TestCase):
    def test_the_table_has_each_size_with_each_epilogue_once(self):
        sizes = ("8192x8192x8192", "4096x4096x4096", "16384x4096x4096", "8192x8192x256", "128x4096x4096")
        jobs = ("plain", "c", "bias_gelu", "bias_gelu_aux")
        rows = ptxas_record.table_rows()
        self.assertEqual(list(rows), [f"table {size} {job}" for size in sizes for job in jobs])
        self.assertEqual([flags for _, flags in rows.values()], [[f"-DGANTRY_AB_ROW={i}"] for i in range(20)])

    def test_bf16_is_recorded_with_the_tables_epilogues_and_other_elements_with_a_plain_d(self):
        stems = {
            "128x256x64_cooperative_2x1_bf16_bias_gelu_k64": "candidate 128x256x64 cooperative 2x1 bf16 bias_gelu k64",
            "128x256x64_cooperative_2x1_bf16_c_k64": "candidate 128x256x64 cooperative 2x1 bf16 c k64",
            "128x256x64_cooperative_2x1_bf16_erf_k64": None,
            "128x256x64_cooperative_2x1_bf16_bf16_f32_f32_c_k64": None,
            "128x128x128_pingpong3_2x1_e4m3_e5m2_bf16_promoted_plain_k64": "candidate 128x128x128 pingpong3 2x1 e4m3 e5m2 bf16 promoted plain",
        }
        with tempfile.TemporaryDirectory() as folder:
            for stem in stems:
                (Path(folder) / f"{stem}.cu").touch()
            self.assertEqual(set(ptxas_record.candidates(folder)), {name for name in stems.values() if name})

    def test_of_two_lengths_of_k_another_element_is_recorded_for_the_long_one(self):
        with tempfile.TemporaryDirectory() as folder:
            for k in (64, 8192):
                (Path(folder) / f"128x256x64_cooperative_2x1_f16_plain_k{k}.cu").touch()
            ((source, _),) = ptxas_record.candidates(folder).values()
            self.assertEqual(source.stem[-6:], "_k8192")


if __name__ == "__main__":
    unittest.main()
