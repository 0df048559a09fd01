"""gantry tour: what it shows is what the commands it names print."""

import re
import unittest

from cli import Cli


class Tour(Cli):
    def test_each_layout_is_shown_as_the_layout_command_shows_it(self):
        said = self.text("tour")
        shown = re.findall(r'^\$ gantry layout "(.*)"\n', said, re.MULTILINE)
        self.assertGreater(len(shown), 5)
        for text in shown[:-1]:
            self.assertIn(f'$ gantry layout "{text}"\n{self.text("layout", text)}', said)
        self.assertIn(self.refused("layout", shown[-1]), said)

    def test_each_line_is_answered_as_the_eval_command_answers_it(self):
        said = self.text("tour")
        asked = re.findall(r"^\$ echo '(.*)' \| gantry eval layout_algebra\n(.*)$", said, re.MULTILINE)
        self.assertGreater(len(asked), 5)
        for line, answer in asked:
            self.assertEqual(self.gantry("eval", "layout_algebra", stdin=line.encode())[0].decode(), answer + "\n")

    def test_only_the_last_chapter_has_refusals(self):
        chapters = re.split(r"^\d+\. ", self.text("tour"), flags=re.MULTILINE)[1:]
        for chapter in chapters[:-1]:
            self.assertNotIn('"error"', chapter)
        self.assertEqual(chapters[-1].count('"error"'), 2)


if __name__ == "__main__":
    unittest.main()
