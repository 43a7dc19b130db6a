#!/usr/bin/env python3
"""Checks that pages are in plain English, as far as a script can tell.

No sentence begins with Of, By, As or "The same of", or is above 30 words; no paragraph is above 90;
"so many" does not stand for a number, nor "behind the last" for after it. Inline code is one word, a
link is its text. A list item is a paragraph. A cell of a table may be long, its sentences may not.
Headings, code blocks, comments and images are skipped.

Prints `file:line: rule: first words` for every break of a rule; exit status 1 when there is one.
"""
import argparse
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
MAX_SENTENCE_WORDS = 30
MAX_PARAGRAPH_WORDS = 90

# What is checked when no file is named: pages that have been rewritten. The list only grows, until it
# is every page (`--all`).
CHECKED = [
    "CHANGES.md",
    "CONTRIBUTING.md",
    "README.md",
    "docs/buffers.md",
    "docs/choosing.md",
    "docs/cli.md",
    "docs/clients.md",
    "docs/clustering.md",
    "docs/collections.md",
    "docs/concepts.md",
    "docs/datasets.md",
    "docs/devices.md",
    "docs/distance.md",
    "docs/launch.md",
    "docs/many-nodes.md",
    "docs/measuring.md",
    "docs/memory-node.md",
    "docs/monitoring.md",
    "docs/packages.md",
    "docs/publishing.md",
    "docs/python.md",
    "docs/quantization.md",
    "docs/quickstart.md",
    "docs/roadmap.md",
    "docs/runbooks.md",
    "docs/security.md",
    "docs/serving-collections.md",
    "docs/ssd.md",
    "docs/tour.md",
    "docs/tried.md",
    "docs/ssd-search.md",
    "docs/advise.md",
    "docs/compute-node.md",
    "docs/paged-hnsw.md",
    "docs/clusters.md",
    "docs/memory.md",
    "docs/rdma.md",
]
# Folders below docs/ that are records, not pages.
RECORDS = {"decisions", "results", "study"}

BEGINNING = re.compile(r"(Of|By|As|The same of)\b")
PHRASES = {
    "so many": re.compile(r"\bso many\b", re.IGNORECASE),
    "behind, for after": re.compile(r"\bbehind the (last|first|next|previous|others?|rest|end)\b",
                                    re.IGNORECASE),
}

FENCE = re.compile(r"\s*(`{3,}|~{3,})")
HEADING = re.compile(r"#{1,6} ")
ITEM = re.compile(r"^\s*([-*+]|\d+[.)])\s+")
TABLE_RULE = re.compile(r"[\s|:-]+$")
COMMENT = re.compile(r"^\s*<!--.*?-->", re.DOTALL | re.MULTILINE)
CODE = re.compile(r"(`+)(.+?)\1", re.DOTALL)
IMAGE = re.compile(r"!\[[^\]]*\]\([^)]*\)")
LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")
TAG = re.compile(r"</?[a-zA-Z][^>]*>")
SENTENCE_END = re.compile(r"(?<!\be\.g)(?<!\bi\.e)(?<!\bvs)(?<!\bcf)[.!?][)\"'*_]*(?=\s)")
# Characters that end words, sentences or cells, and what stands for them inside of code.
HIDE = str.maketrans(" .!?[]<>|", "".join(chr(0xE000 + number) for number in range(9)))
SHOW = {hidden: shown for shown, hidden in HIDE.items()}


def keep_lines(match):
    """Nothing, on as many lines as the match has."""
    return "\n" * match.group().count("\n")


def plain(text):
    """A page without its marks. Every line stays on its line."""
    text = CODE.sub(lambda match: match.group().translate(HIDE).replace("\n", chr(0xE000)) +
                    keep_lines(match), text)
    text = LINK.sub(r"\1", IMAGE.sub("", text))
    return TAG.sub("", text).replace("**", "")


def without_blocks(text):
    """The lines of a page, those of comments, code blocks and headings empty."""
    fence = None
    for line in COMMENT.sub(keep_lines, text).split("\n"):
        mark = FENCE.match(line)
        if mark and fence is None:
            fence = mark.group(1)
        elif mark and mark.group(1).startswith(fence):
            fence, line = None, ""
        yield "" if fence or HEADING.match(line) else line


def blocks_of_page(text):
    """(line, text, whether it is a paragraph) of every paragraph, list item and cell of a table."""
    lines = []

    def ended():
        block = "\n".join(lines)
        lines.clear()
        return [(number - block.count("\n") - 1, block, True)] if block.strip() else []

    number = 0
    for number, line in enumerate("\n".join(without_blocks(text)).split("\n"), start=1):
        line = re.sub(r"^\s*>\s?", "", line)
        table = line.lstrip().startswith("|")
        if table or not line.strip() or ITEM.match(line):
            yield from ended()
        if table and not TABLE_RULE.match(line):
            for cell in re.split(r"(?<!\\)\|", plain(line).strip().strip("|")):
                yield number, cell, False
        elif not table and line.strip():
            lines.append(ITEM.sub("", line, count=1))
    number += 1
    yield from ended()


# By a file's suffix, what of it is prose.
BLOCKS = {".md": blocks_of_page}


def words_of(text):
    return [word for word in text.split() if re.search(r"\w", word)]


def sentences_of(text):
    """(offset, sentence)"""
    start = 0
    for end in [match.end() for match in SENTENCE_END.finditer(text)] + [len(text)]:
        if words_of(text[start:end]):
            yield start + len(text[start:end]) - len(text[start:end].lstrip()), text[start:end].strip()
        start = end


def broken_rules(sentence):
    words = words_of(sentence)
    beginning = BEGINNING.match(sentence.lstrip("(\"'*_"))
    if beginning:
        yield f'begins with "{beginning.group()}"'
    yield from (f'"{name}"' for name, phrase in PHRASES.items() if phrase.search(sentence))
    if len(words) > MAX_SENTENCE_WORDS:
        yield f"a sentence of {len(words)} words (at most {MAX_SENTENCE_WORDS})"


def check_text(text, suffix):
    """(line, rule, first words) of every break of a rule."""
    for line, block, is_paragraph in BLOCKS[suffix](text):
        block = plain(block)
        words = len(words_of(block))
        if is_paragraph and words > MAX_PARAGRAPH_WORDS:
            yield line, f"a paragraph of {words} words (at most {MAX_PARAGRAPH_WORDS})", block
        for offset, sentence in sentences_of(block):
            for rule in broken_rules(sentence):
                yield line + block.count("\n", 0, offset), rule, sentence


def check_file(path, name):
    for line, rule, text in check_text(path.read_text(encoding="utf-8"), path.suffix):
        yield f"{name}:{line}: {rule}: {' '.join(text.split()[:8]).translate(SHOW)}"


def pages(root):
    """Every page of the project, by its path from the root."""
    docs = (path.relative_to(root) for path in sorted((root / "docs").rglob("*.md")))
    return ["README.md", "CONTRIBUTING.md", "CHANGES.md",
            *(path.as_posix() for path in docs if path.parts[1] not in RECORDS)]


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", metavar="FILE", help="default: the pages of CHECKED")
    parser.add_argument("--all", action="store_true", help="every page, also those not yet in CHECKED")
    asked = parser.parse_args(arguments)
    names = asked.files or (pages(ROOT) if asked.all else CHECKED)
    errors = []
    for name in names:
        path = pathlib.Path(name) if asked.files else ROOT / name
        if path.suffix not in BLOCKS or not path.is_file():
            print(f"error: {path} is not a file ending in {' or '.join(BLOCKS)}", file=sys.stderr)
            return 2
        errors.extend(check_file(path, name))
    print("\n".join(errors), end="\n" if errors else "")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
