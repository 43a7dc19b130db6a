#!/usr/bin/env python3
"""Sentences of Debian: what it says of its packages, and what its English manuals say in HTML.

Reads package lists and translations (`apt-helper cat-file` shows them) from two files, and folders of
unpacked packages. It writes into --out, one sentence a line:

    sentences.jsonl   package, document (null: the description), sentence; shuffled, none twice
    query.jsonl       likewise, of source packages and documents that sentences.jsonl does not have

Half of the queries come from descriptions. No two are of one source package, or of one document. The
first lines of sentences.jsonl are a random sample of all: a set may have as many rows as it wants.

Example:
    scripts/datasets/debian_sentences.py Packages Translation-en FOLDER... --out FOLDER
"""
import argparse
import collections
import html.parser
import json
import pathlib
import random
import re
import sys

import debian_text
import xbin

LEAST_WORDS, MOST_WORDS = 5, 60
LEAST_LETTERS = 0.75  # letters and spaces among the characters of a sentence
PROSE = {"p", "li", "dd", "blockquote"}
NO_PROSE = {"head", "nav", "pre", "script", "style", "table", "footer", "header", "aside", "math", "svg"}
BLOCKS = PROSE | NO_PROSE | {"div", "dl", "dt", "ol", "ul", "section", "h1", "h2", "h3", "h4", "h5", "h6"}
# A sentence of English has one of these.
ENGLISH = re.compile(r"\b(the|of|to|is|are|and|for|with|that|this|be|by|you|not|an)\b", re.I)


class Prose(html.parser.HTMLParser):
    """The paragraphs of a page: text of p, li, dd and blockquote, without what stands in them in blocks."""

    def __init__(self):
        super().__init__()
        self.language, self.paragraphs, self._text, self._skipped, self._prose = "en", [], [], [], False

    def handle_starttag(self, tag, attributes):
        if tag == "html":
            self.language = dict(attributes).get("lang") or "en"
        if tag in BLOCKS:
            self._end()
            self._prose = tag in PROSE
        if tag in NO_PROSE:
            self._skipped.append(tag)

    def handle_endtag(self, tag):
        if tag in BLOCKS:
            self._end()
            self._prose = False
        if tag in self._skipped:
            while self._skipped.pop() != tag:
                pass

    def handle_data(self, data):
        if self._prose and not self._skipped:
            self._text.append(data)

    def close(self):
        super().close()
        self._end()

    def _end(self):
        text = " ".join("".join(self._text).replace("\N{PILCROW SIGN}", " ").split())
        if text:
            self.paragraphs.append(text)
        self._text = []


def fits(sentence):
    words = sentence.split()
    plain = sum(1 for character in sentence if character.isalpha() or character == " ")
    return LEAST_WORDS <= len(words) <= MOST_WORDS and plain >= LEAST_LETTERS * len(sentence)


def of_descriptions(lists, translations):
    """{source package: its rows}"""
    units = collections.defaultdict(list)
    for fields, synopsis, sentences in debian_text.newest(lists, translations):
        name = fields["Package"][0]
        source = fields.get("Source", [name])[0].split()[0]
        units[source] += [{"package": name, "document": None, "sentence": text}
                          for text in (synopsis, *sentences) if fits(text)]
    return units


def of_pages(folder):
    """{name of a document: its rows}. The folder has the name of its package."""
    folder = pathlib.Path(folder)
    units = {}
    for path in sorted(folder.rglob("*.html")):
        if path.is_symlink() or not path.is_file() or "translations" in path.parts:
            continue
        page = Prose()
        page.feed(path.read_text(encoding="utf-8", errors="replace"))
        page.close()
        if not page.language.lower().startswith("en"):
            continue
        document = str(path.relative_to(folder))
        units[f"{folder.name}/{document}"] = [
            {"package": folder.name, "document": document, "sentence": text}
            for text in debian_text.sentences_of(page.paragraphs)
            if fits(text) and text[-1] in ".!?" and text[0].isupper() and ENGLISH.search(text)]
    return units


def key_of(row):
    return row["sentence"].casefold()


def choose_queries(units, count, choice):
    """Takes `count` units away and returns a sentence of each that no other unit has."""
    owners = collections.defaultdict(set)
    for name, rows in units.items():
        for row in rows:
            owners[key_of(row)].add(name)
    able = [name for name in sorted(units) if any(len(owners[key_of(row)]) == 1 for row in units[name])]
    if len(able) < count + 1:
        raise ValueError(f"{len(able)} packages or documents have a sentence of their own: "
                         f"{count} queries cannot be made")
    queries = []
    for name in choice.sample(able, count):
        rows = units.pop(name)
        queries.append(choice.choice([row for row in rows if len(owners[key_of(row)]) == 1]))
    return queries


def make(options):
    choice = random.Random(options.seed)
    described = of_descriptions(options.lists, options.translations)
    documents = {}
    for folder in sorted(options.folders):
        pages = of_pages(folder)
        print(f"{folder}: {sum(map(len, pages.values())):,} sentences of {len(pages):,} pages",
              file=sys.stderr)
        documents |= pages
    queries = [*choose_queries(described, options.queries // 2, choice),
               *choose_queries(documents, options.queries - options.queries // 2, choice)]
    choice.shuffle(queries)
    taken = {key_of(row) for row in queries}
    rows = {}
    for units in (described, documents):
        for name in sorted(units):
            for row in units[name]:
                if key_of(row) not in taken:
                    rows.setdefault(key_of(row), row)
    rows = list(rows.values())
    choice.shuffle(rows)
    out = pathlib.Path(options.out)
    out.mkdir(parents=True, exist_ok=True)
    for name, content in (("query.jsonl", queries), ("sentences.jsonl", rows)):
        xbin.write_texts(out / name, (json.dumps(row, ensure_ascii=False) + "\n" for row in content))
    described = sum(1 for row in rows if row["document"] is None)
    print(f"{len(rows):,} sentences, {described:,} of them of descriptions; {len(queries):,} queries",
          file=sys.stderr)


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("lists", help="package lists, as text")
    parser.add_argument("translations", help="long descriptions, as text")
    parser.add_argument("folders", nargs="+",
                        help="unpacked packages of documentation; a folder has its package's name")
    parser.add_argument("--out", required=True, help="folder to write into")
    parser.add_argument("--queries", type=int, default=2_000)
    parser.add_argument("--seed", type=int, default=1)
    try:
        make(parser.parse_args(arguments))
    except (OSError, ValueError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
