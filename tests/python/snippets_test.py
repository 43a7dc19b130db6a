"""Every snippet of README and docs. What stands before its fence says what becomes of it:

    <!-- run -->           it runs here; those of a page one after another, as a reader would
    <!-- needs: WHAT -->   it is skipped with that reason, and its commands and options have to exist
"""

import functools
import os
import pathlib
import re
import shlex
import subprocess
import sys

import numpy as np
import pytest

import farvec

ROOT = pathlib.Path(__file__).resolve().parents[2]
BIN = pathlib.Path(os.environ["FARVEC_BIN_DIR"])
sys.path.insert(0, str(ROOT / "scripts"))
import check_language  # noqa: E402  (found there)

PAGES = [ROOT / name for name in check_language.pages(ROOT)]
SNIPPET = re.compile(r"(?:^ *<!-- (?P<mark>[^\n]*) -->\n)?^(?P<indent> *)```(?P<language>sh|python)\n"
                     r"(?P<text>.*?)^ *```$", re.MULTILINE | re.DOTALL)
PYTHON = ROOT / "docs" / "use" / "python.md"
TOOLS = ("farvec", "farvec-memory-node", "farvec-compute-node")
TIMEOUT_S = 120


def snippets(page):
    return list(SNIPPET.finditer(page.read_text()))


def marked(mark):
    return [(page, found) for page in PAGES for found in snippets(page)
            if (found["mark"] or "").startswith(mark)]


def place(page, found):
    return f"{page.name}:{page.read_text()[:found.start()].count(chr(10)) + 2}"


def test_every_snippet_says_whether_it_runs():
    bare = [place(page, found) for page in PAGES for found in snippets(page)
            if not re.fullmatch(r"run|needs: .+", found["mark"] or "")]
    assert bare == []
    assert len(marked("run")) >= 10


@pytest.fixture()
def folder(tmp_path, monkeypatch):
    """What a reader has: the clone, the programs, and small data by the names that pages use."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "build" / "release").mkdir(parents=True)
    (tmp_path / "build" / "release" / "bin").symlink_to(BIN)
    for name in ("scripts", "examples", "rpc"):
        (tmp_path / name).symlink_to(ROOT / name)
    random = np.random.default_rng(3)
    for name, count in (("base", 600), ("more", 50), ("query", 20), ("log", 40)):
        rows = random.normal(size=(count, 24)).astype(np.float32)
        farvec.write_vectors(f"{name}.fbin", rows)
        farvec.write_vectors(f"{name}.u8bin", np.clip(rows * 40 + 128, 0, 255).astype(np.uint8))
    ids, distances = farvec.ground_truth("base.u8bin", "query.u8bin", k=100)
    farvec.write_ground_truth("gt100.ibin", ids, distances)
    return tmp_path


def run_shell(text):
    done = subprocess.run(["bash", "-euo", "pipefail", "-c", text], text=True, capture_output=True,
                          timeout=TIMEOUT_S, check=False,
                          env={**os.environ, "PATH": f"{BIN}:{os.environ['PATH']}"})
    assert done.returncode == 0, f"{text}\n{done.stdout}\n{done.stderr}"


@pytest.mark.parametrize("page", sorted({page for page, _ in marked("run")} - {PYTHON}), ids=lambda page: page.stem)
def test_the_snippets_of_a_page_run(page, folder):
    names, shell = {}, ""
    for found in snippets(page):
        if found["mark"] != "run":
            continue
        if found["language"] == "python":
            exec(compile(found["text"], place(page, found), "exec"), names)
        else:
            shell += found["text"]
    if shell:
        run_shell(shell)


def test_the_snippets_of_python_find_what_they_say(folder, capsys):
    test_the_snippets_of_a_page_run(PYTHON, folder)
    printed = capsys.readouterr().out.split("\n")
    assert printed[0].startswith("10000 ") and float(printed[1]) > 0.8
    assert printed[2] == "<farvec.Collection 'things': 9998 vectors of 64 x f32, cosine> True"
    assert printed[3].endswith(" 9998")


@functools.cache
def help_of(*command):
    done = subprocess.run([str(BIN / command[0]), *command[1:], "--help"], text=True,
                          capture_output=True, timeout=TIMEOUT_S, check=True)
    return done.stdout


def commands(text):
    """(tool, words) of every call of a program of ours."""
    tool = re.search(r"^bin=\S*/farvec$", text, re.MULTILINE) and "$bin"
    for line in re.sub(r"\\\n\s*", " ", text).splitlines():
        words = shlex.split(line, comments=True)
        for i, word in enumerate(words):
            name = "farvec" if word == tool else word.split("/")[-1]
            if name in TOOLS and "=" not in word and words[:i] != ["source"]:
                yield name, words[i + 1:]
                break


def check_command(tool, words):
    command = [tool]
    while words and re.fullmatch(r"[a-z][a-z-]*", words[0]) and re.search(
            rf"^  {words[0]}(\s|$)", help_of(*command), re.MULTILINE):
        command.append(words.pop(0))
    known = help_of(*command)
    for word in words:
        if word in ("|", "&", "&&", ">"):
            break
        option = word.split("=")[0]
        if option.startswith("--"):
            assert re.search(rf"(?<![\w-]){option}(?![\w-])", known), f"{' '.join(command)}: {option}"
    return len(command) > 1 or tool != "farvec"


NEEDS = marked("needs: ")


@pytest.mark.parametrize("page, found", NEEDS, ids=[place(*one) for one in NEEDS])
def test_what_a_snippet_asks_for_exists(page, found):
    if found["language"] == "python":
        compile(found["text"], place(page, found), "exec")
    else:
        for tool, words in commands(found["text"]):
            assert check_command(tool, words), f"{tool} {words}: no such command"
    pytest.skip(f"not run, it needs {found['mark'].removeprefix('needs: ')}")
