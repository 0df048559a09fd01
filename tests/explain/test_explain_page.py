"""The page of `gantry explain ... --html` in Chromium: what it draws, what the pointer says, light and dark, wide and narrow."""

import json
import re
import shutil
import struct
import subprocess
import tempfile
import unittest
import zlib
from pathlib import Path

from cli import Cli

BROWSER = next((found for name in ("chromium", "chromium-browser", "google-chrome") if (found := shutil.which(name))), None)
FLAGS = ("--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking",
         "--disable-component-update", "--disable-sync", "--hide-scrollbars")
LIGHT, DARK = "--blink-settings=preferredColorScheme=1", "--blink-settings=preferredColorScheme=0"

SLABS = ("--elem", "f16", "--gmem", "(1000,4096):(4096,1)", "--smem", "Sw<3,4,3> o (128,(64,4)):(64,(1,8192))",
         "--tile", "128x256", "--cluster", "4", "--at", "7x1")
ROWS = ("--elem", "bf16", "--gmem", "(4096,8192):(8192,_1)", "--smem", "Sw<3,4,3> o (128,64):(64,1)", "--tile", "128x64")
SOLID = ("--op", "store", "--elem", "f32", "--gmem", "(512,512,16):(512,_1,262144)", "--smem", "(16,(8,2),4):(8,(1,512),128)", "--at", "1x2x3")
PREFETCH = ("--op", "prefetch", *ROWS)
LAYER = ("--activation", "2x10x14x64", "--elem", "f16", "--filter", "2x3", "--pad", "0x1", "--tile", "48x64", "--cluster", "3", "--at", "2")
REFUSED = ("--elem", "bf16", "--gmem", "(4096,8192):(8192,_1)", "--smem", "(512,64):(64,1)")


def decode_png(data):
    """Width, height and the rows of an 8-bit PNG, each a bytes object of `channels` bytes per pixel."""
    at, header, compressed = 8, None, b""
    while at < len(data):
        length, kind = struct.unpack(">I4s", data[at : at + 8])
        body = data[at + 8 : at + 8 + length]
        header = struct.unpack(">IIBBBBB", body) if kind == b"IHDR" else header
        compressed += body if kind == b"IDAT" else b""
        at += 12 + length
    width, height, depth, colour = header[:4]
    channels = {2: 3, 6: 4}[colour]
    assert depth == 8
    raw, stride, rows, above = zlib.decompress(compressed), width * channels, [], bytes(width * channels)
    for y in range(height):
        mode, line = raw[y * (stride + 1)], bytearray(raw[y * (stride + 1) + 1 : (y + 1) * (stride + 1)])
        for i in range(stride):
            left = line[i - channels] if i >= channels else 0
            up, corner = above[i], above[i - channels] if i >= channels else 0
            if mode == 1:
                line[i] = (line[i] + left) & 255
            elif mode == 2:
                line[i] = (line[i] + up) & 255
            elif mode == 3:
                line[i] = (line[i] + (left + up) // 2) & 255
            elif mode == 4:
                guess = left + up - corner
                best = min((abs(guess - left), 0, left), (abs(guess - up), 1, up), (abs(guess - corner), 2, corner))[2]
                line[i] = (line[i] + best) & 255
        above = bytes(line)
        rows.append(above)
    return width, height, channels, rows


@unittest.skipUnless(BROWSER, "the page is not looked at: there is no Chromium here; Debian's package 'chromium' has one")
class Page(Cli):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def page(self, *options, status=0, script="", kind="tma"):
        """The page for options, with a script of the test's at its end."""
        path = self.folder / "page.html"
        self.gantry("explain", kind, *options, "--html", str(path), status=status)
        if script:
            path.write_text(path.read_text(encoding="utf-8").replace("</body>", f"<script>{script}</script></body>"), encoding="utf-8")
        return path

    def browse(self, path, *flags):
        profile = tempfile.mkdtemp(dir=self.folder)
        done = subprocess.run([BROWSER, *FLAGS, f"--user-data-dir={profile}", *flags, f"file://{path}"], capture_output=True, timeout=120)
        self.assertEqual(done.returncode, 0, done.stderr.decode(errors="replace"))
        return done.stdout.decode("utf-8")

    def dom(self, *options, **more):
        return self.browse(self.page(*options, **more), "--dump-dom")

    def self_check(self, *options, **more):
        return json.loads(re.search(r'id="self-check"[^>]*>([^<]*)<', self.dom(*options, **more)).group(1).replace("&amp;", "&"))

    def answer(self, *options, script, **more):
        """What a script leaves in the text of an element named 'answer'."""
        wrapped = f"const answer = document.createElement('pre'); answer.id = 'answer'; {script}; document.body.append(answer);"
        return re.search(r'<pre id="answer">(.*?)</pre>', self.dom(*options, script=wrapped, **more), re.DOTALL).group(1)

    def screenshot(self, path, width, height, scheme):
        file = self.folder / "shot.png"
        self.browse(path, scheme, f"--window-size={width},{height}", f"--screenshot={file}")
        return decode_png(file.read_bytes())

    def test_every_chunk_and_box_is_drawn_where_the_tensor_map_puts_it(self):
        for options, cells, boxes in ((ROWS, 1024, 1), (SLABS, 4096, 16), (SOLID, 256, 2)):
            self.assertEqual(self.self_check(*options), {"cells": cells, "boxes": boxes, "rows": boxes, "problems": []}, options)

    def test_a_prefetch_has_no_shared_picture(self):
        self.assertEqual(self.self_check(*PREFETCH), {"cells": 0, "boxes": 1, "rows": 1, "problems": []})

    def test_the_pixels_of_an_im2col_tile_are_where_the_hardware_walks(self):
        # 6 taps by 3 CTAs; 16 pixels of 128 bytes in each part.
        self.assertEqual(self.self_check(*LAYER, kind="im2col"), {"cells": 384, "boxes": 18, "rows": 18, "problems": []})
        self.assertEqual(self.self_check(*LAYER[:-4], "--op", "prefetch", kind="im2col"), {"cells": 0, "boxes": 6, "rows": 6, "problems": []})
        solid = ("--activation", "2x6x7x9x48", "--elem", "bf16", "--filter", "3", "--stride", "2x1x2", "--pad", "1", "--tile", "96x32")
        self.assertEqual(self.self_check(*solid, kind="im2col"), {"cells": 96 * 4, "boxes": 54, "rows": 54, "problems": []})

    def test_another_tap_shows_other_pixels(self):
        first, chunk, fifth, shown, later = self.answer(*LAYER, kind="im2col", script="""
            const said = [document.querySelectorAll('#tensor rect.box').length];
            const hover = () => {
              const at = canvas.getBoundingClientRect();
              canvas.dispatchEvent(new PointerEvent('pointermove', {clientX: at.left + CELL.left + 1.5 * CELL.width, clientY: at.top + CELL.top + 1.5 * CELL.height}));
              return document.getElementById('here').textContent;
            };
            said.push(hover());
            boxRects[4 * 3].dispatchEvent(new Event('click'));
            said.push(document.getElementById('issued-text').textContent, document.getElementById('tensor-hint').textContent, hover());
            answer.textContent = said.join('|')""").split("|")
        # Tile 2 starts at output pixel 96, and its second pixel is 97: W 97 % 14 - 1, H 97 // 14.
        self.assertEqual(first, "48")
        self.assertIn("shared +0x0090 (144), banks 4–7 ↔ (C, W, H…, N) = (0, 12, 6, 0)", chunk)
        self.assertIn(f"byte +{((6 * 14 + 12) * 64) * 2} of the tensor", chunk)
        self.assertEqual(fifth, "15 of 18")
        self.assertIn("under tap (1, 1)", shown)
        self.assertIn("(0, 13, 7, 0)", later)

    def test_a_refused_plan_shows_its_reasons(self):
        refused = self.dom(*LAYER, "--stride", "9", kind="im2col", status=1)
        self.assertIn("Does not run", refused)
        self.assertIn("convolution_stride", refused)
        dom = self.dom(*REFUSED, status=1)
        self.assertIn("Does not run: 1 reason", dom)
        self.assertIn("box_extent_out_of_range", dom)
        display = "answer.textContent = getComputedStyle(document.getElementById('pictures')).display"
        self.assertEqual(self.answer(*REFUSED, script=display, status=1), "none")

    def test_the_pointer_and_the_controls(self):
        # The second chunk of the second line of memory: the swizzle put the first column of row 1 there.
        chunk, rows, element, pictures, issued, themes = self.answer(*SLABS, script="""
            const seen = new Set(), said = [], at = canvas.getBoundingClientRect();
            canvas.dispatchEvent(new PointerEvent('pointermove', {clientX: at.left + CELL.left + 1.5 * CELL.width, clientY: at.top + CELL.top + 1.5 * CELL.height}));
            said.push(document.getElementById('here').textContent, document.querySelectorAll('tr.here').length);
            hoverElement([256 + 64, 896 + 1], [...instructions.keys()]);
            said.push(document.getElementById('here').textContent);
            leave();
            for (const name of ['row', 'bank', 'instruction']) for (const order of ['memory', 'tile']) {
              document.querySelector(`input[value=${name}]`).click();
              document.querySelector(`input[value=${order}]`).click();
              seen.add(canvas.toDataURL());
            }
            setIssued(5);
            seen.add(canvas.toDataURL());
            said.push(seen.size, `${document.getElementById('issued-text').textContent}, ${document.querySelectorAll('.box.waiting').length} waiting`);
            const themes = [1, 2].map(() => (document.getElementById('theme').click(), document.documentElement.dataset.theme));
            answer.textContent = [...said, themes].join('|')""").split("|")
        self.assertIn("shared +0x0090 (144), banks 4–7 ↔ global (897, 256)", chunk)
        self.assertIn(f"global byte +{(897 * 4096 + 256) * 2}", chunk)
        self.assertEqual(rows, "1")
        # Slab 1 starts at 16384; row 1 is 128 bytes further, and its first chunk is in the second place.
        self.assertIn(f"({16384 + 128 + 16})", element)
        self.assertIn("global (897, 320)", element)
        self.assertEqual(pictures, "7")
        self.assertEqual(issued, "5 of 16, 11 waiting")
        self.assertEqual(themes, "light,dark")

    def test_screenshots_are_full_of_colour_light_and_dark_wide_and_narrow(self):
        path = self.page(*ROWS)
        for scheme, bright in ((LIGHT, True), (DARK, False)):
            for width in (1000, 500):
                shown_width, height, channels, rows = self.screenshot(path, width, 700, scheme)
                self.assertEqual((shown_width, height), (width, 700))
                corner = rows[height - 1][: channels][:3]
                self.assertEqual(sum(corner) > 3 * 128, bright, corner)
                colours = {row[i : i + 3] for row in rows[::3] for i in range(0, len(row), 3 * channels)}
                self.assertGreater(len(colours), 60)

    def test_nothing_is_wider_than_the_window(self):
        for width in (1000, 500):
            path = self.page(*SLABS, script="const w = document.createElement('pre'); w.id = 'answer'; w.textContent = document.documentElement.scrollWidth - innerWidth; document.body.append(w)")
            dom = self.browse(path, f"--window-size={width},900", "--dump-dom")
            self.assertIn('<pre id="answer">0</pre>', dom)


if __name__ == "__main__":
    unittest.main()
