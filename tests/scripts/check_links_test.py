"""scripts/check_links.py: what pages and sources point to is there."""
import subprocess
import unittest

from folder_case import ROOT, FolderCase

# In two parts, so that this file names no page that does not exist.
GONE = "docs/" + "gone.md"


class CheckLinks(FolderCase):
    SCRIPT = ROOT / "scripts" / "check_links.py"

    def setUp(self):
        super().setUp()
        self.write("README.md", "[a](docs/start/tour.md#how), [the folder](docs/start/), [b]( <docs/b.png> )\n")
        self.write("docs/start/tour.md", "[home](../../README.md) ![b](../b.png \"a title\")\n[![b](../b.png)](tour.md)\n")
        self.write("docs/b.png", "")

    def assert_found(self, *lines):
        result = self.run_script()
        self.assertEqual((result.stdout.splitlines(), result.returncode), ([*lines], 1 if lines else 0))

    def test_accepts_what_is_there(self):
        self.assert_found()

    def test_refuses_a_link_that_leads_nowhere(self):
        self.write("docs/start/tour.md", "# A\n\n[b](b.md) and [`c`](../b.png)\n\n![d](images/d.svg#e)\n")
        self.assert_found("docs/start/tour.md:3: the link b.md leads nowhere",
                          "docs/start/tour.md:5: the link images/d.svg#e leads nowhere")

    def test_a_link_is_relative_to_its_page(self):
        self.write("docs/start/tour.md", "[b](docs/b.png)\n")
        self.assert_found("docs/start/tour.md:1: the link docs/b.png leads nowhere")

    def test_other_sites_and_anchors_are_not_looked_up(self):
        self.write("a.md", "[a](https://a.org/b.md) [b](#b) [c](mailto:d@e.org)\n")
        self.assert_found()

    def test_code_of_a_page_has_no_links(self):
        link = "[b](b.md)"
        self.write("a.md", f"`{link}` ``{link} ` ``\n\n```sh\n{link}\n```\n<!--\n{link} -->\n~~~\n```\n{link}\n~~~\n")
        self.assert_found()
        self.write("a.md", f"`a` {link} `a`\n\n```\n```\n{link}\n\nA ` alone.\n\n{link} `\n")
        self.assert_found(*(f"a.md:{line}: the link b.md leads nowhere" for line in (1, 5, 9)))

    def test_refuses_a_page_that_a_source_names_and_that_is_not_there(self):
        self.write("cli/a.cc", f'// See docs/start/tour.md.\nauto b = "({GONE})";\n')
        self.write("docs/start/tour.md", f"```sh\ntrue   # {GONE}\n```\n")
        self.assert_found(f"cli/a.cc:2: there is no {GONE}", f"docs/start/tour.md:2: there is no {GONE}")

    def test_a_path_elsewhere_is_not_a_page_of_ours(self):
        self.write("a.py", f"# https://a.org/{GONE} build/{GONE} {GONE}5 docs/*.md\n")
        self.assert_found()

    def test_what_git_ignores_is_not_there(self):
        subprocess.run(["git", "init", "--quiet", self.root], check=True)
        self.write(".gitignore", "made/\n")
        self.write("made/a.md", "[b](nowhere.md)\n")
        self.write("a.md", "[a](made/a.md)\n")
        self.assert_found("a.md:1: the link made/a.md leads nowhere")

    def test_bytes_are_not_read_as_text(self):
        (self.root / "a.bin").write_bytes(b"\xff\xfe" + GONE.encode())
        self.assert_found()

    def test_the_project_itself_passes(self):
        result = self.run_script(ROOT)
        self.assertEqual((result.returncode, result.stdout), (0, ""))


if __name__ == "__main__":
    unittest.main()
