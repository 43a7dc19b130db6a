"""The snippets of docs/python.md, one after another as a reader runs them."""

import pathlib
import re

PAGE = pathlib.Path(__file__).parents[2] / "docs" / "python.md"


def test_the_snippets_run(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    snippets = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    assert len(snippets) == 2
    names = {}
    for snippet in snippets:
        exec(compile(snippet, str(PAGE), "exec"), names)
    printed = capsys.readouterr().out.split("\n")
    assert printed[0].startswith("10000 ") and float(printed[1]) > 0.8
    assert printed[2].endswith(" 9990")
