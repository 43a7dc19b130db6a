import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "scripts"))
import check_language  # noqa: E402  (found there)

SCRIPT = ROOT / "scripts" / "check_language.py"


def run_script(*arguments):
    return subprocess.run([sys.executable, SCRIPT, *arguments], text=True, timeout=60,
                          capture_output=True, check=False)


class CheckLanguage(unittest.TestCase):
    def found(self, text):
        """(line, rule, first words) of what is wrong with a page."""
        return [(line, rule, words.translate(check_language.SHOW))
                for line, rule, words in check_language.check_text(text, ".md")]

    def rules(self, text):
        return [rule for _, rule, _ in self.found(text)]

    def words(self, count):
        return " ".join(["word"] * count)

    def test_accepts_plain_sentences(self):
        self.assertEqual(self.found("# Of what\n\nA read is one-sided. It has one end.\n"), [])

    def test_refuses_how_a_sentence_begins(self):
        text = "One is.\n\nIt is. Of two `a. b` one is.\nBy now it is.\n\n- As it is.\n- **The same of** it.\n"
        self.assertEqual(self.found(text), [
            (3, 'begins with "Of"', "Of two `a. b` one is."),
            (4, 'begins with "By"', "By now it is."),
            (6, 'begins with "As"', "As it is."),
            (7, 'begins with "The same of"', "The same of it.")])
        self.assertEqual(self.found("Often, bytes of it. Assume it. `By` is a word.\n"), [])

    def test_refuses_phrases(self):
        self.assertEqual(self.rules("It waits for so many\n"), ['"so many"'])
        self.assertEqual(self.rules("It stands behind the last record."), ['"behind, for after"'])
        self.assertEqual(self.rules("It is a node behind a network, and behind the lock."), [])

    def test_counts_the_words_of_a_sentence(self):
        self.assertEqual(self.rules(self.words(30) + ". " + self.words(30)), [])
        self.assertEqual(self.rules(self.words(31)), ["a sentence of 31 words (at most 30)"])

    def test_counts_the_words_of_a_paragraph(self):
        self.assertEqual(self.rules((self.words(30) + ".\n") * 3), [])
        long = (self.words(23) + ". ") * 4
        self.assertEqual(self.rules(long), ["a paragraph of 92 words (at most 90)"])
        self.assertEqual(self.rules("- " + self.words(30) + "\n- " + self.words(30)), [])

    def test_code_is_one_word_and_a_link_its_text(self):
        self.assertEqual(self.rules(self.words(28) + " `a b. c` [d](e f.md)"), [])
        self.assertEqual(self.rules(self.words(29) + " `a b` [d e](f.md)"),
                         ["a sentence of 32 words (at most 30)"])

    def test_a_cell_is_not_a_paragraph_but_has_sentences(self):
        row = f"| a | {self.words(29)}. {self.words(29)}. {self.words(29)}. {self.words(29)}. |\n"
        self.assertEqual(self.rules("| a | b |\n|---|---|\n" + row), [])
        self.assertEqual(self.found(f"| a | b |\n|---|---|\n| `c|d` | By e. {self.words(31)} |\n"), [
            (3, 'begins with "By"', "By e."),
            (3, "a sentence of 31 words (at most 30)", self.words(31))])

    def test_skips_code_comments_images(self):
        skipped = f"By now {self.words(40)}"
        self.assertEqual(self.found(
            f"<!-- {skipped}\n -->\n```sh\n{skipped}\n```\n~~~\n```\n{skipped}\n~~~\n![{skipped}](a.png)\n"
            f"[![{skipped}](b.png)](c.md)\n"), [])
        self.assertEqual([line for line, _, _ in self.found("```\n```\n<!-- a\nb -->\nBy now.\n")], [5])

    def test_prints_file_line_rule_and_first_words(self):
        with tempfile.TemporaryDirectory() as folder:
            page = pathlib.Path(folder, "page.md")
            page.write_text("It is.\n\nBy `a b` one two three four five six seven.\n")
            result = run_script(page)
            self.assertEqual(result.returncode, 1)
            self.assertEqual(result.stdout, f'{page}:3: begins with "By": By `a b` one two three four five six\n')
            page.write_text("It is.\n")
            self.assertEqual((run_script(page).returncode, run_script(page).stdout), (0, ""))
            self.assertEqual(run_script(page.with_suffix(".txt")).returncode, 2)

    def test_help_says_what_is_checked(self):
        result = run_script("--help")
        self.assertEqual(result.returncode, 0)
        self.assertIn("No sentence begins with", result.stdout)

    def test_records_are_not_pages(self):
        pages = check_language.pages(ROOT)
        self.assertIn("docs/format.md", pages)
        self.assertEqual([page for page in pages if page.startswith("docs/results/")], [])
        self.assertEqual([page for page in check_language.CHECKED if page not in pages], [])

    def test_the_project_itself_passes(self):
        result = run_script()
        self.assertEqual((result.returncode, result.stdout), (0, ""))


if __name__ == "__main__":
    unittest.main()
