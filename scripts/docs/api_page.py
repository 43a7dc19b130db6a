"""The page of the Python package's functions and classes, from the stubs that its build writes."""
import ast
import inspect
import re

INTRODUCTION = "# Python: every function\n\nAs `help()` has it. What it is for: [Python](python.md).\n"
NOT_BUILT = ("\nThis page is made from the stubs of a built package: build with `-DFARVEC_PYTHON=ON` "
             "(`scripts/test.sh` does) and make the site again.\n")


def signature(node):
    """How it is called, one argument a line where it is long."""
    arguments = re.sub(r"\b(numpy\.typing|os|numpy)\.", "", ast.unparse(node.args)).removeprefix("self, ")
    returns = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    line = f"{node.name}({arguments}){returns}"
    if len(line) <= 90:
        return line
    parts = re.split(r", (?=[*\w]+(?::|$|,))", arguments)
    return f"{node.name}(\n    " + ",\n    ".join(parts) + f"\n){returns}"


def text_of(docstring):
    """In the style of the docstrings: sections with a colon, names in double backquotes."""
    lines = inspect.cleandoc(docstring or "").splitlines()
    out, listed = [], False
    for line in lines:
        if re.fullmatch(r"(Args|Returns|Raises|Yields|Attributes):", line):
            out += ["", f"**{line[:-1]}**", ""]
            listed = line != "Returns:"
        elif listed and (entry := re.match(r"    (\*{0,2}\w[\w, ]*): (.*)", line)):
            out.append(f"- `{entry.group(1)}`: {entry.group(2)}")
        elif line.strip():
            out.append(("  " if listed else "") + line.strip())
        else:
            out.append("")
    return "\n".join(out).replace("``", "`")


def entry(node, level, owner=""):
    name = f"{owner}{node.name}"
    if isinstance(node, ast.ClassDef):
        public = [one for one in node.body if isinstance(one, (ast.FunctionDef, ast.AsyncFunctionDef))
                  and not one.name.startswith("_") and ast.get_docstring(one)]
        below = "".join(entry(one, level + 1, f"{node.name}.") for one in public)
        return f"\n{'#' * level} {name}\n\n{text_of(ast.get_docstring(node))}\n{below}"
    code = f"```python\n{owner}{signature(node)}\n```\n"
    return f"\n{'#' * level} {name}\n\n{code}\n{text_of(ast.get_docstring(node))}\n"


def api_page(stubs):
    """Markdown; `stubs` is the file that the build writes."""
    if not stubs.is_file():
        return INTRODUCTION + NOT_BUILT
    nodes = [node for node in ast.parse(stubs.read_text()).body
             if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and not node.name.startswith("_")
             and ast.get_docstring(node)]
    return INTRODUCTION + "".join(entry(node, 2) for node in nodes)
