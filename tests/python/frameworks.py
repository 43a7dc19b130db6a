"""What the tests of both stores share."""

import pathlib
import re

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs" / "use" / "frameworks.md"
ODD_TEXTS = ["it's", "''", "'", "' or true or lang = '", "\\", "\\'", "a\nb\r\t", "ü 漢字 🦆", "%_*?",
             '"double"', "--", " ", "x" * 5000, "\x01\x7f\u2028", "e\u0301"]


def snippets_of(need):
    """The snippets of the page that need a package."""
    found = re.findall(rf"^<!-- needs: {need}\b[^\n]* -->\n```python\n(.*?)^```$", PAGE.read_text(),
                       re.MULTILINE | re.DOTALL)
    assert found
    return found
