"""gantry cache: what is listed, verified, bounded and cleared, and what is refused."""

import json
import os
import tempfile
import unittest
from pathlib import Path

from cli import Cli


class Cache(Cli):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.cache = self.folder / "cache"
        old = os.environ.get("GANTRY_CACHE_DIR")
        os.environ["GANTRY_CACHE_DIR"] = str(self.cache)
        self.addCleanup(
            lambda: os.environ.pop("GANTRY_CACHE_DIR") if old is None else os.environ.update({"GANTRY_CACHE_DIR": old})
        )

    def test_an_empty_one_is_made_private_and_is_empty(self):
        self.assertEqual(self.text("cache", "list"), f"{self.cache}: 0 entries, 0 KiB of at most 1.0 GiB\n")
        self.assertEqual(self.cache.stat().st_mode & 0o777, 0o700)
        self.assertEqual(self.text("cache", "verify"), "0 of 0 entries intact\n")
        self.assertEqual(self.text("cache", "clear"), f"0 entries removed from {self.cache}, 0 KiB\n")

    def test_what_is_no_entry_is_said_and_cleared_and_other_files_stay(self):
        self.text("cache", "list")
        name = "ab" * 32 + "-" + "cd" * 8 + ".kernel"
        (self.cache / name).write_bytes(b"x" * 5000)
        os.mkfifo(self.cache / ("e" + name))
        (self.cache / "letter.txt").write_text("dear")
        out, _ = self.gantry("cache", "verify", status=1)
        self.assertEqual(
            sorted(out.decode().splitlines()),
            ["0 of 2 entries intact", f"{name}: it was altered or cut off", f"e{name}: e{name} is a named pipe"],
        )
        listed = json.loads(self.text("cache", "list", "--json"))
        self.assertEqual(sorted(entry["rule"] for entry in listed["entries"]), ["entry_damaged", "file_not_plain"])
        self.assertIn("2 entries removed", self.text("cache", "clear"))
        self.assertEqual(sorted(p.name for p in self.cache.iterdir()), ["CACHEDIR.TAG", "letter.txt"])

    def test_control_characters_in_a_name_do_not_reach_the_terminal(self):
        self.text("cache", "list")
        (self.cache / "\x1b[31m.kernel").write_text("")
        self.assertIn("\\x1b[31m.kernel", self.text("cache", "list"))

    def test_the_limit_is_kept(self):
        for text, said in (("512M", "512.0 MiB"), ("3G", "3.0 GiB"), ("4096", "4 KiB"), ("0", "0 KiB"),
                           ("1.0 GiB", "1.0 GiB"), ("1.5G", "1.5 GiB"), ("2.5 MiB", "2.5 MiB"), ("12KiB", "12 KiB")):
            self.assertEqual(self.text("cache", "limit", text), f"{self.cache} keeps at most {said}\n")
            self.assertEqual(self.text("cache", "limit"), f"{self.cache} keeps at most {said}\n")

    def test_a_limit_that_is_no_size_is_refused(self):
        for text in ("many", "-1", "1.5.2G", "1.5", "1,5G", "2GB", "G iB", "1.G", ".5G", "iB", "M", "99999999999999999999", "9999999999G"):
            said = self.refused("cache", "limit", text, status=2)
            if not text.startswith("-"):
                self.assertIn("a limit is a number of bytes, or one with K, M or G (KiB, MiB, GiB), up to 1073741824G, and not", said)

    def test_a_cache_that_is_not_ours_is_not_touched(self):
        (self.folder / "elsewhere").mkdir()
        self.cache.symlink_to(self.folder / "elsewhere")
        for command in (["list"], ["verify"], ["clear"], ["limit", "1G"]):
            self.assertIn("it is a symbolic link", self.refused("cache", *command))
        self.assertEqual(list((self.folder / "elsewhere").iterdir()), [])


if __name__ == "__main__":
    unittest.main()
