#!/usr/bin/env python3
"""Checks that what pages and sources point to is there.

    scripts/check_links.py [ROOT]

A relative link or picture of a page (.md) has to lead to a file or folder, and a page that any file
names by its path from the root (docs/, then the rest) has to exist. Code blocks and inline code of a
page have no links, but they may name pages. tests/python/site_test.py checks anchors.

Prints `file:line: what is not there` for each one; exit status 1 when there is one.
"""
import pathlib
import posixpath
import re
import subprocess
import sys
import urllib.parse

NAMED = re.compile(r"(?<![\w/.-])docs/(?:[\w-][\w.-]*/)*[\w-][\w.-]*\.md(?![\w/-])")
LINK = re.compile(r"\]\(\s*<?([^)\s>]+)[^)]*\)")
# Another site's address, an anchor of the same page, or an absolute path on a site.
ELSEWHERE = re.compile(r"[a-z][a-z0-9+.-]*:|#|/", re.IGNORECASE)
# Blocks of code, comments and inline code: each may show what a link looks like.
HIDDEN = re.compile(r"^ *(?P<fence>`{3,}|~{3,})[^\n]*\n.*?^ *(?P=fence)[`~]* *$"
                    r"|<!--.*?-->"
                    r"|(?<!`)(?P<ticks>`+)(?!`)(?:(?!\n\s*\n).)+?(?<!`)(?P=ticks)(?!`)",
                    re.MULTILINE | re.DOTALL)
# Not looked into where git does not say which files are the project's.
NOT_OURS = {"build", "__pycache__"}


def files(root):
    """The project's files by their paths from the root: what git has or would add."""
    listed = subprocess.run(["git", "-C", root, "ls-files", "-z", "--cached", "--others",
                             "--exclude-standard"], capture_output=True, text=True, check=False)
    if listed.returncode == 0:
        names = sorted(set(listed.stdout.split("\0")) - {""})
    else:
        paths = sorted(path.relative_to(root) for path in root.rglob("*"))
        names = [path.as_posix() for path in paths
                 if not NOT_OURS & set(path.parts) and not path.parts[0].startswith(".")]
    return [name for name in names if (root / name).is_file()]


def line_of(text, place):
    return text.count("\n", 0, place) + 1


def outside_code(text):
    """A page with spaces for its code. Every line stays on its line."""
    return HIDDEN.sub(lambda match: re.sub(r"[^\n]", " ", match.group()), text)


def dead_links(there, name, text):
    """(line, what is not there) of every relative link of a page that leads nowhere."""
    for match in LINK.finditer(outside_code(text)):
        if ELSEWHERE.match(match.group(1)):
            continue
        target = urllib.parse.unquote(re.split(r"[#?]", match.group(1))[0])
        if posixpath.normpath(posixpath.join(posixpath.dirname(name), target)) not in there:
            yield line_of(text, match.start()), f"the link {match.group(1)} leads nowhere"


def dead_names(there, text):
    """(line, what is not there) of every page that is named and does not exist."""
    for match in NAMED.finditer(text):
        if match.group() not in there:
            yield line_of(text, match.start()), f"there is no {match.group()}"


def check(root):
    names = files(root)
    # Files and folders of the project alone: what else lies here is not in another's clone.
    there = {"."}.union(names, *(map(str, pathlib.PurePosixPath(name).parents) for name in names))
    for name in names:
        try:
            text = (root / name).read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
        found = list(dead_names(there, text))
        if name.endswith(".md"):
            found += dead_links(there, name, text)
        yield from (f"{name}:{line}: {what}" for line, what in sorted(found))


def main(arguments):
    if arguments and arguments[0] in {"-h", "--help"}:
        print(__doc__.strip())
        return 0
    errors = list(check(pathlib.Path(arguments[0] if arguments else pathlib.Path(__file__).parents[1])))
    print("\n".join(errors), end="\n" if errors else "")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
