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

    def code(self, text, suffix=".cc"):
        """(line, rule) of what is wrong with the comments of a file."""
        return [found[:2] for found in check_language.check_text(text, suffix)]

    def test_comments_are_what_is_checked_of_code(self):
        self.assertEqual(self.code('auto a = "// of b";\nauto c = R"x(\n// of d)x";\nchar e = \'"\';\n'
                                   "int f = 1'000;  // By g\n"), [(5, 'begins with "By"')])
        self.assertEqual(self.code("// NOLINT(By)\nBy b;\n//\n"), [])

    def test_refuses_how_a_comment_begins(self):
        self.assertEqual(self.code("int a;  ///< of b\nint c;  // as\n        // By d\n/* by e */\n"
                                   "/// It is\n/// by f. By g.\n"), [
            (1, 'begins with "of"'), (2, 'begins with "as"'), (4, 'begins with "by"'),
            (6, 'begins with "By"')])
        self.assertEqual(self.code("int a;  ///< one per b\n                ///< of c\n"),
                         [(2, 'begins with "of"')])
        self.assertEqual(self.code("int a;  ///< one per b\n        ///< of c\n"), [])

    def test_refuses_phrases_of_comments(self):
        self.assertEqual(self.code("// It has so many.\n// It stands behind\n// it.\n"),
                         [(1, '"so many"'), (2, '"behind, for after"')])
        self.assertEqual(self.code("// It stands behind a lock, behind the pointer.\n"), [])
        self.assertEqual(self.code("// Whoever calls, nobody waits.\n"), [(1, '"a person, for code"')])

    def test_refuses_phrases_of_strings(self):
        self.assertEqual(self.code('add("--a", "Of all the rows");\nadd("--b",\n    "It ends. "  // so\n'
                                   '    "By now it "\n    "is so many.");\n'), [
            (1, 'begins with "Of"'), (3, 'begins with "By"'), (3, '"so many"')])
        self.assertEqual(self.code('throw Error("a row behind the last of {}");\nf("nobody reads it");\n'),
                         [(1, '"behind, for after"'), (2, '"a person, for code"')])
        self.assertEqual(self.code('auto a = R"(It is\nso many.)";\nauto b = "It is.\\nBy it.";\n'),
                         [(1, '"so many"'), (3, 'begins with "By"')])

    def test_literals_that_follow_each_other_are_one_string(self):
        self.assertEqual(self.code('f("It is. By now", "it is there");\n'), [(1, 'begins with "By"')])
        self.assertEqual(self.code('f("stands behind", "it is there");\n'), [])
        self.assertEqual(self.code('f("stands behind "\n  "it now");\n'), [(1, '"behind, for after"')])

    def test_names_and_parts_of_sentences_pass(self):
        self.assertEqual(self.code('f("Of", "By it", "of all pages", "as the rows need");\n'), [])
        self.assertEqual(self.code('f("nothing is left behind.");\n'), [])

    def test_counts_who(self):
        self.assertEqual(self.code("// The log says who came.\n"), [])
        self.assertEqual([line for line, _ in self.code("// It says who.\n\n// And who not.\n")], [1, 3])
        self.assertEqual([line for line, _ in self.code('// Who is it.\n\nf("stop those who read it");\n')],
                         [1, 3])

    def test_a_header_begins_with_a_verb(self):
        rule = [(1, "a header's first sentence without a verb")]
        for text in ("A queue of reads.", "A queue that is long.", "How queues are made.",
                     "Reads of a disk.", "Short reads and writes.", "What a queue holds.",
                     "A file that stays where it is."):
            self.assertEqual([found for found in self.code(f"// {text}\n", ".h") if "verb" in found[1]],
                             rule, text)
        for text in ("A queue holds reads.", "Reads a disk.", "A queue that waits\n// is long. It.",
                     "What a queue holds is a read.", "Two queues share one ring."):
            self.assertEqual(self.code(f"// {text}\n", ".h"), [], text)
        self.assertEqual(self.code("// A queue.\n"), [])
        self.assertEqual(self.code("\n/// A queue.\n", ".h"), [])

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

    def test_every_room_that_is_checked_has_code(self):
        for room in check_language.ROOMS_CHECKED:
            self.assertNotEqual(check_language.code(ROOT, [room]), [], room)

    def test_the_project_itself_passes(self):
        result = run_script()
        self.assertEqual((result.returncode, result.stdout), (0, ""))


if __name__ == "__main__":
    unittest.main()
