#!/usr/bin/env python3
"""Counts the files that a way through the code passes, and how often it climbs.

    scripts/count_ways.py [--root TREE] [--include FOLDER]... WAY

The way is every function that a function may call, as far as libclang resolves the calls; where it
cannot (virtual functions, tables of functions, templates), WAYS names what is called. A file is
passed when one of its functions is on the way; a header and its source are one file, and base/ is
left out. Files are put in the order in which they are first entered. The way climbs where the next
file stands on a higher floor than the one before: above more files that include each other.

--root counts another tree, like one of `git archive`. --include names the folder of generated
headers. Prints both numbers, of files and of sources alone, and with --files the files. It needs the
Python package `clang` (14.0) and LLVM's libclang.
"""
import argparse
import os
import pathlib
import re
import sys

import clang.cindex

LIBCLANG = "/usr/lib/llvm-14/lib/libclang.so.1"
RESOURCES = "/usr/lib/llvm-14/lib/clang/14.0.6"
MOST_CANDIDATES = 6  # sources that are read in search of a function

# What is called where a call has no target: name of the call, or `+` and name of the caller.
LOG = {f"Log::{name}": [f"wal/segment_log.cc:SegmentLog::{name}"]
       for name in ("append", "wait", "wait_for_room", "end", "failure", "flush", "cut", "durable",
                    "begin")}
CODES = "indexing/chosen_codes.cc:"
MAKERS = {f"+indexing::{chooser}": [f"{CODES}{maker}::make", f"{CODES}{base}::search",
                                    f"{CODES}{base}::more_bits"]
          for chooser, maker, base in (
              ("split_codes", "SplitCodeMaker", "VertexCodeMaker"),
              ("choose_codes", "VertexCodeMaker", "VertexCodeMaker"),
              ("choose_edge_codes", "EdgeCodeMaker", "EdgeCodeMaker"))}
TABLES = {"*SegmentMaker::from_memtable": ["collection/build/graph_segments.cc:::adopt_memtable"]}
# A way ends at errors and at what the case does not need.
ERRORS = {"Error", "SystemError", "StatusError", "Refusal", "WorkInterrupted", "SegmentPublisher"}
OTHER_KINDS = ("build_cluster_segment", "write_slotted", "page_recipe", "open_cluster_rows",
               "open_page_rows", "Segment::load", "SegmentRecords::load")
# Rows of floats by l2 with new ids, in a collection without segments: nothing waits or is refused.
NOT_PLAIN = ("help_linking", "said_of_log", "wait_for_room", "begin_segment", "Contents::rotate",
             "Segment::find", "RowIds::find", "refused", "reason", "is_available", "conversions",
             "table_for", "require_done", "SegmentLog::failure")
INSERT = ["collection/write/collection.cc:Collection::insert",
          "collection/collection.cc:Collection::insert"]
# The first function of every way (the first of these that is there), and what ends it.
WAYS = {
    "insert": (INSERT, NOT_PLAIN),
    "insert-all": (INSERT, ()),
    "build": (["collection/write/background_jobs.cc:Background::build",
               "collection/background.cc:Collection::build"], OTHER_KINDS),
    "write-slotted": (["indexing/slotted_recipe.cc:indexing::write_slotted"], ()),
}

KIND = clang.cindex.CursorKind
FUNCTIONS = {KIND.FUNCTION_DECL, KIND.CXX_METHOD, KIND.CONSTRUCTOR, KIND.DESTRUCTOR,
             KIND.FUNCTION_TEMPLATE, KIND.CONVERSION_FUNCTION}
SCOPES = {KIND.NAMESPACE, KIND.CLASS_DECL, KIND.STRUCT_DECL, KIND.CLASS_TEMPLATE, KIND.LINKAGE_SPEC,
          KIND.UNEXPOSED_DECL, KIND.CLASS_TEMPLATE_PARTIAL_SPECIALIZATION}
REFERENCES = {KIND.CALL_EXPR, KIND.DECL_REF_EXPR, KIND.MEMBER_REF_EXPR}


def unit_of(file):
    return file.rsplit(".", 1)[0]


def name_of(declaration):
    return f"{declaration.semantic_parent.spelling}::{declaration.spelling}"


class Program:
    """The functions of a tree, read when they are first asked for."""

    def __init__(self, root, includes):
        self.root = root
        self.index = clang.cindex.Index.create()
        self.arguments = ["-x", "c++", "-std=c++20", "-w", "-ferror-limit=0", "-resource-dir",
                          RESOURCES, "-DFMT_SHARED", "-DSPDLOG_COMPILED_LIB",
                          "-DSPDLOG_FMT_EXTERNAL",
                          *(f"-I{folder}" for folder in (root, *includes))]
        self.functions = {}  # (name, file, calls) by USR
        self.read = set()
        self.missing = set()
        self.sources = {str(path.relative_to(root)): path.read_text(errors="replace")
                        for path in sorted(root.rglob("*"))
                        if path.suffix in {".h", ".cc"} and path.relative_to(root).parts[0] not in
                        {"build", "tests", "bench", "shared"}}

    def file_of(self, cursor):
        if cursor.location.file is None:
            return None
        path = os.path.relpath(os.path.realpath(cursor.location.file.name), self.root)
        return path if path in self.sources else None

    def parse(self, file):
        if file in self.read or file not in self.sources:
            return
        self.read.add(file)
        self.visit(self.index.parse(str(self.root / file), args=self.arguments).cursor)

    def visit(self, scope):
        for cursor in scope.get_children():
            file = self.file_of(cursor)
            if file is None:
                continue
            if cursor.kind in FUNCTIONS and cursor.is_definition():
                calls = []
                self.find_calls(cursor, calls)
                self.functions.setdefault(cursor.get_usr(), (name_of(cursor), file, calls))
            elif cursor.kind in SCOPES:
                self.visit(cursor)

    def find_calls(self, cursor, calls):
        """(USR, name, file) of everything that is called, arguments first."""
        children = list(cursor.get_children())
        target = cursor.referenced if cursor.kind in REFERENCES else None
        if cursor.kind == KIND.CALL_EXPR and (target is None or target.kind != KIND.CONSTRUCTOR):
            children = children[1:] + children[:1]
        for child in children:
            self.find_calls(child, calls)
        if target is None:
            return
        if target.kind == KIND.FIELD_DECL and re.search(r"function<|\(\*\)",
                                                        target.type.get_canonical().spelling):
            calls.append(("", f"*{name_of(target)}", self.file_of(target)))
        elif target.kind in FUNCTIONS:
            template = clang.cindex.conf.lib.clang_getSpecializedCursorTemplate(target)
            if template and template.kind.is_declaration():
                target = template
            file = self.file_of(target)
            if file is not None:
                calls.append((target.get_usr(), name_of(target), file))

    def defines(self, usr, name, header):
        """Whether the function's definition is found; reads the sources that may have it."""
        scope, function = name.split("::", 1)
        if usr in self.functions:
            return True
        if not usr or usr in self.missing or not function or function.startswith("operator"):
            return False
        word = re.escape(name if scope[:1].isupper() else function)
        begin = re.compile(rf"^[^/\n]*\b{word}\s*(<[^>]*>)?\(", re.MULTILINE)
        room = header.split("/")[0] + "/"
        own = unit_of(header) + ".cc"
        candidates = [header] if header.endswith(".cc") else sorted(
            (file for file, text in self.sources.items()
             if file.startswith(room) and file.endswith(".cc") and begin.search(text) and
             (f'"{header}"' in text or file == own)),
            key=lambda file: (file != own, os.path.dirname(file) != os.path.dirname(header), file))
        for file in candidates[:MOST_CANDIDATES]:
            self.parse(file)
            if usr in self.functions:
                return True
        self.missing.add(usr)
        return False

    def named(self, place):
        """The functions at "file:name", in the file or its header; none where there is no such."""
        file, name = place.split(":", 1)
        self.parse(file)
        return [usr for usr, (known, where, _) in self.functions.items()
                if known == name and unit_of(where) == unit_of(file)]

    def way(self, begin, ends):
        """The files of every function that may be called from `begin`, in the order of entry."""
        files, seen = [], set()
        targets = {**LOG, **MAKERS, **TABLES}

        def go(usr):
            if usr in seen:
                return
            seen.add(usr)
            name, file, calls = self.functions[usr]
            files.append(file)
            for callee, called, header in [*calls, ("", f"+{name}", "")]:
                if called.split("::")[0] in ERRORS or called.endswith(("check_failed", *ends)):
                    continue
                if called in targets:
                    for place in targets[called]:
                        for usr_of_place in self.named(place):
                            go(usr_of_place)
                elif self.defines(callee, called, header or ""):
                    go(callee)

        for usr in begin:
            go(usr)
        return files

    def floors(self):
        """The floor of every unit: one above the highest that it includes. Units in a circle, which
        a header and its source make, share a floor."""
        includes = {}
        for file, text in self.sources.items():
            found = re.findall(r'^#include "([^"]+)"', text, re.MULTILINE)
            includes.setdefault(unit_of(file), set()).update(
                unit_of(other) for other in found if unit_of(other) != unit_of(file))
        numbers, lowest, path, floor = {}, {}, [], {}

        def visit(unit):
            numbers[unit] = lowest[unit] = len(numbers)
            path.append(unit)
            for other in sorted(includes[unit] & includes.keys()):
                if other not in numbers:
                    visit(other)
                if other not in floor:
                    lowest[unit] = min(lowest[unit], lowest[other])
            if lowest[unit] == numbers[unit]:
                circle = path[path.index(unit):]
                del path[path.index(unit):]
                below = [floor[other] for one in circle for other in includes[one] if other in floor]
                floor.update(dict.fromkeys(circle, 1 + max(below, default=0)))

        for unit in sorted(includes):
            if unit not in numbers:
                visit(unit)
        return floor


def climbs(units, floors):
    return sum(floors[after] > floors[before] for before, after in zip(units, units[1:]))


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("way", choices=WAYS)
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).parents[1])
    parser.add_argument("--include", action="append", default=[], help="folder of generated headers")
    parser.add_argument("--files", action="store_true", help="also print the files")
    asked = parser.parse_args(arguments)
    clang.cindex.Config.set_library_file(LIBCLANG)
    sys.setrecursionlimit(100_000)
    program = Program(asked.root.resolve(), asked.include)
    places, ends = WAYS[asked.way]
    begin = next(filter(None, map(program.named, places)), [])
    if not begin:
        print(f"error: none of {', '.join(places)} is there", file=sys.stderr)
        return 2
    program.way(begin, ends)  # reads the sources, so that the next way finds every definition
    files = [file for file in program.way(begin, ends) if not file.startswith("base/")]
    floors = program.floors()
    units = list(dict.fromkeys(map(unit_of, files)))
    sources = list(dict.fromkeys(unit_of(file) for file in files if file.endswith(".cc")))
    print(f"{asked.way}: {len(units)} files, {climbs(units, floors)} climbs; "
          f"sources alone: {len(sources)} and {climbs(sources, floors)}")
    if asked.files:
        print("\n".join(f"{floors[unit]:3} {unit}" for unit in units))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
