#!/usr/bin/env python3
"""Checks the #include lines of every room against the table of docs/architecture.md, that no folders
include each other in a circle, that what is slow to compile is compiled once, that every unit test
stands at the path of what it tests, and that the files of a folder can be compiled together.

    scripts/check_layers.py [ROOT]

Prints `file:line: rule` for every forbidden include, `folder: rule` for every circle, `file: rule`
for every test that stands elsewhere and `file:line: rule` for every name that another file of its folder
has too; exit status 1 when there is one.
"""
import collections
import pathlib
import re
import sys

# What each room may include besides itself.
MAY_INCLUDE = {
    "base": set(),
    "changes": {"base", "layout"},
    "dataset": {"base"},
    "distance": {"base"},
    "layout": {"base"},
    "quantization": {"base", "distance", "layout"},
    "attributes": {"base", "layout"},
    "coroutines": {"base"},
    "disk": {"base", "coroutines"},
    "wal": {"base", "layout"},
    "device": {"base", "layout"},
    "transport": {"base", "disk"},
    "rpc": {"base"},
    "graph": {"base", "distance"},
    "cluster": {"base", "distance", "quantization", "graph"},
    "memory_node": {"base", "layout", "device", "transport", "rpc"},
    "ssd_baseline/slotted": {"base", "distance", "quantization", "layout", "graph", "cluster",
                             "coroutines", "disk"},
    "indexing": {"base", "dataset", "distance", "quantization", "layout", "graph", "cluster",
                 "ssd_baseline/slotted"},
    "search": {"base", "attributes", "dataset", "distance", "quantization", "layout", "coroutines",
               "disk", "transport", "graph", "cluster", "ssd_baseline/slotted"},
    "tiers": {"base", "layout", "coroutines", "disk", "device", "transport", "rpc", "search"},
    "ssd_baseline/paged": {"base", "changes", "dataset", "distance", "layout", "graph", "coroutines",
                           "disk", "wal", "ssd_baseline/slotted", "indexing", "search", "tiers"},
    "collection": {"base", "attributes", "changes", "dataset", "distance", "layout", "wal",
                   "coroutines", "graph", "cluster", "indexing", "rpc", "search", "tiers"},
    "client": {"base", "attributes", "changes", "dataset", "layout", "rpc", "search"},
    "client/c": {"base", "attributes", "changes", "dataset", "indexing", "layout", "rpc", "search",
                 "client"},
    "measure": {"base", "attributes", "changes", "dataset", "distance", "quantization", "layout",
                "disk", "wal", "device", "transport", "rpc", "graph", "ssd_baseline/slotted",
                "indexing", "search", "tiers", "ssd_baseline/paged", "collection", "client"},
    "compute_node": {"base", "attributes", "changes", "distance", "layout", "wal", "rpc", "graph",
                     "indexing", "search", "tiers", "ssd_baseline/paged", "collection"},
    "postgres/channel": set(),
    "postgres/engine": {"base", "attributes", "changes", "layout", "wal", "coroutines", "search",
                        "collection", "postgres/channel"},
    "postgres": {"client/c", "postgres/channel"},
    "python": {"base", "attributes", "changes", "dataset", "distance", "layout", "wal", "rpc", "graph",
               "cluster", "ssd_baseline/paged", "indexing", "search", "tiers", "collection", "client",
               "measure"},
}
# These may include every room, and no room may include them.
FREE = {"cli", "tests", "bench"}
ROOMS = set(MAY_INCLUDE) | FREE

# Libraries of inline functions that one file compiles for all: everybody else includes its header.
ONLY_IN = {"CLI": "base/command_line.cc", "yaml-cpp": "measure/runbook/runbook_file.cc"}

SOURCES = {".h", ".cc"}
# Headers that the build generates below a room's folder name.
GENERATED = re.compile(r"^rpc/.*\.pb\.h$")
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
CONSTANT = re.compile(r"^(?:inline |static )?(?:constexpr|const) [^(=]*?\b(k[A-Z]\w*)(?:\[|\{| = )")
TYPE = re.compile(r"^(?:class|struct|enum class) (\w+)\b[^;]*$")
FUNCTION = re.compile(r"^\w[\w:<>,&* ]*[ &*](\w+\([^;]*\)) \{$")


def room_of(path):
    """The room that a path from the root goes into, by its first two words or its first; or None."""
    words = path.split("/")
    rooms = ("/".join(words[:count]) for count in (2, 1))
    return next((room for room in rooms if room in ROOMS), None)


def source_files(root, room):
    folder = root / room
    # Programs of C among the tests are compiled as their users compile them, away from the root.
    suffixes = SOURCES | ({".c"} if room in MAY_INCLUDE else set())
    return sorted(path for path in folder.rglob("*") if path.suffix in suffixes)


def broken_rule_of_library(file, target):
    """The rule that including <target> from `file`, a path from the root, breaks, or None."""
    first = target.split("/")[0]
    if room_of(target):
        return f"<{target}> is the project's own: include it with quotes"
    only = ONLY_IN.get(first, file)
    return None if file == only else f'<{target}> is for {only} alone: include its header'


def broken_rule(root, file, quote, target):
    """The same for every include."""
    room = room_of(file)
    parts = target.split("/")
    included = room_of(target)
    if quote == "<":
        return broken_rule_of_library(file, target)
    if "/" not in target or included is None:
        return f'"{target}" is not a path from the root (write "room/file.h")'
    if "." in parts or ".." in parts:
        return f'"{target}" goes through "." or ".."'
    if pathlib.Path(target).suffix not in SOURCES:
        return f'"{target}" has a suffix whose own includes are not checked'
    if not (root / target).is_file() and not GENERATED.match(target):
        return f'"{target}" does not exist'
    if room == included or room in FREE or included in MAY_INCLUDE[room]:
        return None
    allowed = ", ".join(sorted(MAY_INCLUDE[room])) or "nothing"
    return f'{room} may not include {included} (it may include: {allowed})'


def check_file(root, path):
    file = path.relative_to(root).as_posix()
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        match = INCLUDE.match(line)
        rule = match and broken_rule(root, file, *match.groups())
        if rule:
            yield f"{file}:{number}: {rule}"


def includes_of(path):
    """(line, target) of every include with quotes."""
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        match = INCLUDE.match(line)
        if match and match.group(1) == '"':
            yield number, match.group(2)


def lies_in(folder, other):
    return f"{folder}/".startswith(f"{other}/")


def folder_steps(root):
    """{folder: {folder that it includes: the first include}}, but for those of which one lies in the
    other: a folder and what is in it are one thing in two parts."""
    steps = collections.defaultdict(dict)
    for room in sorted(ROOMS - {"tests"}):
        for path in source_files(root, room):
            file = path.relative_to(root)
            folder = file.parent.as_posix()
            for number, target in includes_of(path):
                other = pathlib.PurePosixPath(target).parent.as_posix()
                if not lies_in(folder, other) and not lies_in(other, folder):
                    steps[folder].setdefault(other, f'{file.as_posix()}:{number} includes "{target}"')
    return steps


def way_back(steps, start):
    """The fewest folders that lead from a folder to itself, with it; none when nothing does."""
    ways = collections.deque([[start]])
    seen = set()
    while ways:
        way = ways.popleft()
        for other in steps.get(way[-1], ()):
            if other == start:
                return way
            if other not in seen:
                seen.add(other)
                ways.append([*way, other])
    return []


def check_circles(root):
    """One message for folders that include each other, with an include for every step."""
    steps = folder_steps(root)
    told = set()
    for folder in sorted(steps):
        circle = [] if folder in told else way_back(steps, folder)
        if not circle:
            continue
        told.update(circle)
        includes = "; ".join(steps[one][other]
                             for one, other in zip(circle, [*circle[1:], circle[0]]))
        yield f"{folder}: folders in a circle, {' -> '.join([*circle, folder])}: {includes}"


def tests_a_file(root, path):
    """Whether tests/unit/<room>/<sub/path>/<name>_test.cc has a <name>.h or .cc at its path in the
    room, where <name> may go on after an underscore: a second test of the file says of what."""
    folder = root / path.parent
    words = path.stem.removesuffix("_test").split("_")
    names = ("_".join(words[:count]) for count in range(len(words), 0, -1))
    return any((folder / (name + suffix)).is_file() for name in names for suffix in SOURCES)


def check_unit_tests(root):
    """Only what ends in _test.cc is a test; the rest are fixtures."""
    unit = root / "tests" / "unit"
    for path in sorted(unit.rglob("*_test.cc")):
        below = path.relative_to(unit)
        room = room_of(below.as_posix())
        if room is None:
            yield f"{path.relative_to(root)}: {below.parts[0]} is not a room"
        elif not below.is_relative_to(f"{room}/scenarios") and not tests_a_file(root, below):
            yield (f"{path.relative_to(root)}: there is no {below.parent}/"
                   f"{below.stem.removesuffix('_test')}.h or .cc that it could test; a test of "
                   f"several files stands in tests/unit/{room}/scenarios/")


def names_of(path):
    """(line, name) of every constant, type and function that a source file defines at its left margin;
    a function that takes one line is named with its parameters."""
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        match = CONSTANT.match(line) or TYPE.match(line) or FUNCTION.match(line)
        if match:
            yield number, match.group(1)


def check_names(root):
    """The sanitizers' builds compile the files of a folder as one, also where the release build does
    not: a name that two of them have in unnamed namespaces stops only those builds. Kernels have an
    instruction set each, and are compiled alone."""
    for room in sorted(MAY_INCLUDE):
        first = {}
        for path in source_files(root, room):
            together = path.suffix == ".cc" and path.parent.name != "kernels"
            for number, name in names_of(path) if together else ():
                file = path.relative_to(root).as_posix()
                other = first.setdefault((path.parent, name), file)
                if other != file:
                    yield (f"{file}:{number}: {other} has a {name} too, and the files of a folder are "
                           f"compiled together: give it another name")


def check_tree(root):
    errors = []
    for room in sorted(ROOMS):
        for path in source_files(root, room):
            errors.extend(check_file(root, path))
    checks = (check_circles, check_unit_tests, check_names)
    return errors + [error for check in checks for error in check(root)]


def main(arguments):
    root = pathlib.Path(arguments[0]) if arguments else pathlib.Path(__file__).parent.parent
    if not (root / "base").is_dir():
        print(f"error: {root} has no base/ folder: it is not the project's root", file=sys.stderr)
        return 2
    errors = check_tree(root.resolve())
    print("\n".join(errors), end="\n" if errors else "", file=sys.stderr)
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
