"""`gantry explain` as its users meet it: reports, JSON, pages, refusals and bad options."""

import json
import tempfile
import unittest
from pathlib import Path

from cli import Cli

ROWS = {
    "--op": "load",
    "--elem": "bf16",
    "--gmem": "(4096,8192):(8192,_1)",
    "--smem": "Sw<3,4,3> o (128,64):(64,1)",
    "--tile": "128x64",
    "--cluster": "2x1",
}
LAYER = {"--activation": "8x56x56x64", "--elem": "f16", "--filter": "3x3", "--pad": "1"}


def options(base, **changes):
    chosen = dict(base)
    for name, value in changes.items():
        chosen["--" + name.replace("_", "-")] = value
    return [word for name, value in chosen.items() if value is not None for word in (name, value)]


class ExplainTma(Cli):
    def tma(self, *flags, **changes):
        return self.text("explain", "tma", *options(ROWS, **changes), *flags)

    def tma_json(self, status=0, **changes):
        out, _ = self.gantry("explain", "tma", *options(ROWS, **changes), "--json", status=status)
        return json.loads(out)

    def test_a_report(self):
        said = self.tma()
        self.assertTrue(said.startswith("TMA multicast load of bf16: runs\n"), said)
        for part in ("2 CTAs share the tile", "(_64,_128):(_1@1,_1@0)", "CU_TENSOR_MAP_SWIZZLE_128B", "16384 bytes by 1 instruction of 8192 in each of 2 CTAs", "(0, 64)", "+8192", "0b11"):
            self.assertIn(part, said)

    def test_json_holds_everything(self):
        e = self.tma_json(at="3x5")
        self.assertTrue(e["ok"])
        self.assertEqual(e["op"], "load_multicast")
        self.assertEqual(e["ctas"], 2)
        self.assertEqual(e["refused"], [])
        self.assertEqual(e["descriptor"]["dims"], [8192, 4096])
        self.assertEqual(e["descriptor"]["strides"], [16384])
        self.assertEqual(e["descriptor"]["box"], [64, 64])
        self.assertEqual([i["coordinates"] for i in e["instructions"]], [[320, 384], [320, 448]])
        self.assertEqual([i["shared_offset"] for i in e["instructions"]], [0, 8192])
        self.assertEqual([i["cta_mask"] for i in e["instructions"]], [3, 3])
        self.assertEqual(e["reads"]["column"]["worst"], 1)
        self.assertEqual([a["name"] for a in e["advice"]], ["shared_alignment"])
        self.assertEqual(e["steps"][0], {"name": "cta_v_map", "what": "tile index -> global coordinate", "value": "(_128,_64):(_1@0,_1@1)"})

    def test_chunks_follow_the_swizzle(self):
        chunks = self.tma_json(at="3x5")["shared"]["chunks"]
        self.assertEqual(len(chunks["row"]), 1024)
        for i in range(1024):
            row, column = i // 8, i % 8 ^ i // 8 % 8
            self.assertEqual((chunks["row"][i], chunks["column"][i]), (row, column))
            self.assertEqual(chunks["global"][i], [384 + row, 320 + 8 * column])
            self.assertEqual(chunks["global_byte"][i], ((384 + row) * 8192 + 320 + 8 * column) * 2)
            self.assertEqual(chunks["instruction"][i], 0 if row < 64 else 1)

    def test_a_rejected_plan_exits_1_with_every_reason(self):
        changes = {"gmem": "(100,4100):(4100,1)", "smem": "Sw<3,4,3> o (512,128):(128,1)", "tile": "512x128", "cluster": None}
        out, _ = self.gantry("explain", "tma", *options(ROWS, **changes), status=1)
        said = " ".join(out.decode().split())
        self.assertIn("does not run", said)
        for rule, nearest in {"stride_not_multiple": 4104, "inner_box_bytes_exceed_swizzle_span": 64, "box_extent_out_of_range": 256}.items():
            self.assertIn(rule, said)
            self.assertIn(f"the nearest value that works is {nearest}", said)
        e = self.tma_json(status=1, **changes)
        self.assertFalse(e["ok"])
        self.assertEqual(len(e["refused"]), 3)
        self.assertNotIn("instructions", e)

    def test_a_store_is_no_multicast(self):
        out, _ = self.gantry("explain", "tma", *options(ROWS, op="store"), status=1)
        self.assertIn("multicast_needs_operation", out.decode())

    def test_bad_options_exit_2_with_a_sentence_for_each(self):
        said = self.refused("explain", "tma", *options(ROWS, op="lod", elem="bf61", tile="128x", cluster="99"), status=2)
        for part in ('--op takes the name of an operation, and "lod" is none', 'the nearest name is "bf16"', "--tile takes extents such as 128x64", "--cluster 99 has more than 16 CTAs"):
            self.assertIn(part, said)

    def test_a_layout_that_cannot_be_read_is_shown_with_a_caret(self):
        said = self.refused("explain", "tma", *options(ROWS, gmem="(4096,8192):(8192,_1"), status=2)
        self.assertIn("(4096,8192):(8192,_1\n                    ^\n", said)

    def test_missing_options_are_named(self):
        self.assertIn("--elem is required", self.refused("explain", "tma", *options(ROWS, elem=None), status=2))
        self.assertIn("gantry explain takes a command: tma, ", self.refused("explain", status=2))

    def test_a_page_is_one_file_that_needs_no_other(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "page.html"
            self.tma("--html", str(path))
            page = path.read_text(encoding="utf-8")
        self.assertTrue(page.startswith("<!doctype html>"))
        for word in ("http://", "https://", "src=", "@import", "url(//"):
            self.assertNotIn(word, page.replace("http://www.w3.org/2000/svg", ""))
        data = page.split('id="explanation">')[1].split("</script>")[0]
        self.assertEqual(json.loads(data), self.tma_json())
        for mark in ("/*STYLE*/", "/*SCRIPT*/", "/*EXPLANATION*/"):
            self.assertNotIn(mark, page)

    def test_a_page_that_cannot_be_written_is_said(self):
        out, err = self.gantry("explain", "tma", *options(ROWS), "--html", "/nowhere/page.html", status=1)
        self.assertIn(b"could not be written to /nowhere/page.html", err)
        self.assertIn("--html takes the name of a file", self.refused("explain", "tma", *options(ROWS), "--html", "", status=2))

    def test_a_tensor_that_is_not_known_yet_has_a_structure(self):
        e = self.tma_json(gmem="(?,?):(?,_1)")
        self.assertTrue(e["ok"])
        self.assertFalse(e["bound"])
        self.assertIsNone(e["descriptor"]["dims"])
        self.assertEqual(e["descriptor"]["box"], [64, 64])


class ExplainIm2col(Cli):
    def test_a_report(self):
        said = self.text("explain", "im2col", *options(LAYER))
        for part in ("TMA im2col load of f16: runs", "25088 x 576", "W from -1 to 54 by 1", "(0, -1, -1, 0)", "pixels filled"):
            self.assertIn(part, said)

    def test_json(self):
        e = json.loads(self.text("explain", "im2col", *options(LAYER, layout="NHWC", tile="128x32", at="195"), "--json"))
        self.assertEqual(e["descriptor"]["lower_corner"], [-1, -1])
        self.assertEqual(e["descriptor"]["upper_corner"], [-1, -1])
        self.assertEqual(e["descriptor"]["swizzle"], "64B")
        self.assertEqual(e["instruction_count"], 18)
        self.assertEqual(e["instructions"][2]["offsets"], [1, 0])
        self.assertEqual(e["pixel_tiles"], 196)

    def test_ctas_share_a_tile(self):
        e = json.loads(self.text("explain", "im2col", *options(LAYER, cluster="2x1"), "--json"))
        self.assertEqual((e["op"], e["ctas"], e["tile_pixels"]), ("load_im2col_multicast", 2, 128))
        self.assertEqual(e["descriptor"]["pixels_per_column"], 64)
        self.assertEqual([i["shared_offset"] for i in e["instructions"][:4]], [0, 8192, 0, 8192])
        self.assertEqual([i["cta_mask"] for i in e["instructions"][:2]], [3, 3])
        # Output pixel 64 of rows of 56: the second row, 8 from its start.
        self.assertEqual(e["instructions"][1]["coordinates"], [0, 7, 0, 0])
        said = self.text("explain", "im2col", *options(LAYER, cluster="2x1"))
        self.assertIn("2 CTAs share the tile", said)
        self.assertIn("9 instructions of 8192 bytes in each of 2 CTAs", said)

    def test_stores_and_prefetches(self):
        store = options(LAYER, filter=None, pad=None, op="store")
        e = json.loads(self.text("explain", "im2col", *store, "--json"))
        self.assertEqual(e["op"], "store_im2col")
        self.assertIn(".im2col_no_offs", e["ptx"])
        self.assertIsNone(e["instructions"][0]["offsets"])
        out, _ = self.gantry("explain", "im2col", *options(LAYER, op="store"), status=1)
        for rule in ("store_taps", "store_padding"):
            self.assertIn(rule, out.decode())
        self.assertIn("im2col prefetch of f16: runs", self.text("explain", "im2col", *options(LAYER, op="prefetch")))
        self.assertIn("ask 'gantry explain tma'", self.refused("explain", "im2col", *options(LAYER, op="reduce_add"), status=2))

    def test_a_page(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "page.html"
            self.text("explain", "im2col", *options(LAYER), "--html", str(path))
            data = path.read_text(encoding="utf-8").split('id="explanation">')[1].split("</script>")[0]
        self.assertEqual(json.loads(data), json.loads(self.text("explain", "im2col", *options(LAYER), "--json")))

    def test_a_rejected_convolution_exits_1_with_every_reason(self):
        out, _ = self.gantry("explain", "im2col", *options(LAYER, stride="9", pad="200", tile="2000x64"), status=1)
        for rule in ("convolution_stride", "lower_padding", "upper_padding", "pixels_out_of_range"):
            self.assertIn(rule, out.decode())

    def test_bad_options_exit_2_with_a_sentence_for_each(self):
        said = self.refused("explain", "im2col", *options(LAYER, layout="NCHW", swizzle="96", at="x"), status=2)
        for part in ("--layout takes NWC, NHWC or NDHWC", "--swizzle takes none, 32, 64 or 128", "--at takes the number of a tile"):
            self.assertIn(part, said)


if __name__ == "__main__":
    unittest.main()
