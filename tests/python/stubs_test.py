"""The stubs say what the module has, with types, and everything public is documented."""

import ast
import inspect
import pathlib

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
