"""The stubs say what the module has, with types, and everything public is documented."""

import ast
import inspect
import os
import pathlib
import subprocess
import sys

import pytest

import farvec
from farvec import _farvec

STUB = pathlib.Path(_farvec.__file__).parent / "_farvec.pyi"


def definitions(tree):
    """(qualified name, node) of every function."""
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            yield node.name, node
        if isinstance(node, ast.ClassDef):
            for inner in node.body:
                if isinstance(inner, ast.FunctionDef):
                    yield f"{node.name}.{inner.name}", inner


def test_every_name_is_in_the_stub():
    tree = ast.parse(STUB.read_text())
    named = {node.name for node in tree.body if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
    compiled = {name for name in farvec.__all__
                if getattr(farvec, name).__module__ == "farvec._farvec"}
    assert compiled and compiled <= named


def test_every_argument_and_answer_has_a_type():
    for name, function in definitions(ast.parse(STUB.read_text())):
        assert function.returns is not None, name
        arguments = function.args
        for argument in arguments.args[name.count("."):] + arguments.kwonlyargs:
            if argument.arg != "self":
                assert argument.annotation is not None, f"{name}: {argument.arg}"


USED_RIGHTLY = """
import numpy as np
import farvec

rows = np.zeros((10, 4), np.float32)
built: dict[str, object] = farvec.build_graph(rows, "x", metric="l2", degree=8)
with farvec.open("x", tier="dram", slots="auto") as index:
    ids, distances, counts = index.search(rows, k=3, list=10)
    reads: int = index.search(rows).counts.reads
    near, those = farvec.faiss_like(index, list=50).search(rows, 3)
share: float = farvec.recall(ids, farvec.ground_truth(rows, rows, k=3)[0])
version: str = farvec.__version__
swept = farvec.sweep("x", rows, farvec.ground_truth(rows, rows, k=3), k=3, list=[10, 20], slots=["auto", 4])
worst: float = min(row["recall"] for row in swept)
advice: dict[str, object] = farvec.advise("x.fbin", "q.fbin", "rdma", degree=(16, 32))

async def search(index: farvec.Index) -> farvec.Result:
    return await index.search_async(rows, k=3)

with farvec.Collection("s") as things:
    done: int = things.insert(np.arange(3, dtype=np.uint64), rows[:3]).done
"""
USED_WRONGLY = """
import farvec

farvec.open("x").search([[1.0]], k="three")
farvec.open("x", slot=3)
farvec.Collection("s").insert()
"""


def checked(tmp_path, *arguments):
    """What a type checker says. nanobind leaves out the arguments of os.PathLike and NDArray."""
    return subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--disable-error-code", "type-arg", "--cache-dir",
         tmp_path / "cache", "--config-file", pathlib.Path(__file__).with_name("mypy.ini"), *arguments], text=True, capture_output=True, check=False, cwd=tmp_path,
        env=dict(os.environ, MYPYPATH=str(STUB.parents[1])))


def test_a_type_checker_agrees(tmp_path):
    package = checked(tmp_path, "-p", "farvec")
    assert package.returncode == 0, package.stdout + package.stderr
    (tmp_path / "right.py").write_text(USED_RIGHTLY)
    right = checked(tmp_path, "right.py")
    assert right.returncode == 0, right.stdout + right.stderr
    (tmp_path / "wrong.py").write_text(USED_WRONGLY)
    wrong = checked(tmp_path, "wrong.py").stdout
    assert {line.split(":")[1] for line in wrong.splitlines() if ": error:" in line} == {"4", "5", "6"}, wrong


@pytest.mark.parametrize("name", farvec.__all__)
def test_everything_public_is_documented(name):
    thing = getattr(farvec, name)
    assert thing.__doc__, name
    for method, value in inspect.getmembers(thing) if inspect.isclass(thing) else ():
        if not method.startswith("_") and issubclass(thing, farvec.Error) is False:
            assert value.__doc__, f"{name}.{method}"


def test_the_version_is_the_projects():
    text = (pathlib.Path(__file__).parents[2] / "CMakeLists.txt").read_text()
    assert f"project(farvec VERSION {farvec.__version__} " in text
