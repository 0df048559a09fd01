"""check_refusal.py accepts a short refusal in the expected words, and nothing else."""

import unittest

import check_refusal

CASE = "// EXPECT: the tile  has 3 modes\n// EXPECT-REGEX: rank \\d+\nint main() {}\n"


def problems(output, case=CASE, status=1):
    return list(check_refusal.problems(case, status, output))


class Refusals(unittest.TestCase):
    def test_the_expected_words_are_found_across_folded_lines(self):
        self.assertEqual(problems("error: the tile has\n      3 modes, rank 4"), [])

    def test_a_case_that_compiles_fails(self):
        self.assertEqual(problems("the tile has 3 modes, rank 4", status=0), ["the compiler accepted it."])

    def test_each_missing_phrase_is_named(self):
        self.assertEqual(
            problems("error: something else"),
            [
                "the compiler refused it without saying: the tile  has 3 modes",
                "the compiler refused it without saying: rank \\d+",
            ],
        )

    def test_text_is_taken_literally(self):
        self.assertEqual(len(problems("abc", "// EXPECT: a.c\n")), 1)
        self.assertEqual(problems("x a.c y", "// EXPECT: a.c\n"), [])

    def test_a_placeholder_fails_where_a_case_wants_values(self):
        said = "the tile has 3 modes, rank 4 {actual}"
        self.assertEqual(problems(said), [])
        self.assertEqual(problems(said, CASE + "// NO_PLACEHOLDERS\n"), ["the refusal says {actual} where a value should stand."])

    def test_a_long_refusal_fails(self):
        said = "the tile has 3 modes, rank 4\n"
        self.assertEqual(problems(said * 40), [])
        self.assertIn("takes 41 lines and may take 40", problems(said * 41)[0])
        self.assertIn("takes 6 lines and may take 5", problems(said * 6, CASE + "// MAX_LINES: 5\n")[0])

    def test_a_refusal_of_few_but_endless_lines_fails(self):
        said = "the tile has 3 modes, rank 4 "
        self.assertEqual(problems(said + "x" * 7000), [])
        self.assertIn("takes 9029 characters and may take 8000", problems(said + "x" * 9000)[0])

    def test_a_case_without_expectations_fails(self):
        self.assertIn("expects no words", problems("error", "int main() {}\n")[0])


if __name__ == "__main__":
    unittest.main()
