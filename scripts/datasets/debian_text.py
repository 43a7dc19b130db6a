#!/usr/bin/env python3
"""What Debian says of its packages as vectors with attributes, and sentences with filters as queries.

Reads package lists and translations (`apt-helper cat-file` shows them) from two files, and a sentence
model. It writes into --out:

    base.fbin       a vector of 384 floats, of length one, for each package's description
    base.jsonl      its attributes: package, section, kilobytes, maintainer, tags
    schema.txt      their schema
    query.fbin      vectors of sentences that were taken out of some of these descriptions
    query.jsonl     for each: the package, the sentence, and a filter of one or two of its tags

Packages are in the order of their names, all of them or a random sample. Compare by cosine. Files have
their names when they are complete.

Example:
    scripts/datasets/debian_text.py Packages Translation-en --model FOLDER --out FOLDER
"""
import argparse
import json
import pathlib
import random
import re
import sys
import time

import xbin

SCHEMA = "package: string not null, section: string not null, kilobytes: i64, maintainer: string, tags: set"
LEAST_SENTENCES, LEAST_WORDS, LEAST_TAGS = 4, 6, 2
USUAL_QUERIES = 2_000


def stanzas(path):
    """A dict of fields for each paragraph; the lines of a field stay apart."""
    fields, name = {}, None
    with open(path, encoding="utf-8", errors="replace") as lines:
        for line in lines:
            line = line.rstrip("\n")
            if not line:
                if fields:
                    yield fields
                fields, name = {}, None
            elif line[0] in " \t":
                if name:
                    fields[name].append(line[1:])
            else:
                name, _, rest = line.partition(":")
                fields[name] = [rest.strip()]
    if fields:
        yield fields


def descriptions(path):
    """{checksum of a description: (synopsis, its paragraphs)}"""
    texts = {}
    for fields in stanzas(path):
        text = fields.get("Description-en")
        if not text or "Description-md5" not in fields:
            continue
        paragraphs, lines = [], []
        for line in [*text[1:], "."]:
            if line.strip() == ".":
                if lines:
                    paragraphs.append(" ".join(lines))
                lines = []
            else:
                lines.append(line.strip())
        texts[fields["Description-md5"][0]] = (text[0], paragraphs)
    return texts


def sentences_of(paragraphs):
    return [part.strip() for text in paragraphs for part in re.split(r"(?<=[.!?])\s+(?=[A-Z0-9])", text)
            if part.strip()]


def attributes_of(fields):
    tags = " ".join(fields.get("Tag", [])).replace(",", " ").split()
    size = fields.get("Installed-Size", [""])[0]
    return {"package": fields["Package"][0], "section": fields.get("Section", ["unknown"])[0],
            "kilobytes": int(size) if size.isdigit() else None,
            "maintainer": fields.get("Maintainer", [None])[0], "tags": sorted(set(tags))}


def quoted(tag):
    return "'" + tag.replace("'", "''") + "'"


def filter_of(tags, choice):
    """One of the tags, or two."""
    chosen = sorted(choice.sample(tags, choice.choice((1, 2))))
    if len(chosen) == 1:
        return f"tags contains any ({quoted(chosen[0])})"
    return f"tags contains all ({', '.join(map(quoted, chosen))})"


def newest(lists, translations):
    """(fields, synopsis, sentences) of the newest version of each package that says something, in the
    order of the names."""
    texts = descriptions(translations)
    packages = {}
    for fields in stanzas(lists):
        if "Package" not in fields:
            continue
        short = fields.get("Description", [""])[0]
        synopsis, paragraphs = texts.get(fields.get("Description-md5", [""])[0], (short, []))
        if synopsis:
            packages[fields["Package"][0]] = (fields, synopsis, sentences_of(paragraphs))
    return [packages[name] for name in sorted(packages)]


def read_packages(lists, translations):
    """{name: (attributes, synopsis, sentences)} in the order of the names."""
    return {fields["Package"][0]: (attributes_of(fields), synopsis, sentences)
            for fields, synopsis, sentences in newest(lists, translations)}


def choose_queries(packages, count, choice):
    """Takes a sentence out of each of `count` packages; returns what query.jsonl has. None: as many as
    usual, or half of the packages that have enough sentences and tags."""
    able = [name for name, (attributes, _, sentences) in packages.items()
            if len(sentences) >= LEAST_SENTENCES and len(attributes["tags"]) >= LEAST_TAGS
            and any(len(sentence.split()) >= LEAST_WORDS for sentence in sentences)]
    if count is None:
        count = min(USUAL_QUERIES, len(able) // 2)
    if len(able) < max(1, count):
        raise ValueError(f"{len(able)} packages have {LEAST_SENTENCES} sentences and {LEAST_TAGS} tags: "
                         f"{max(1, count)} queries cannot be made")
    queries = []
    for name in choice.sample(able, count):
        attributes, _, sentences = packages[name]
        long = [place for place, text in enumerate(sentences) if len(text.split()) >= LEAST_WORDS]
        sentence = sentences.pop(choice.choice(long))
        queries.append({"package": name, "sentence": sentence,
                        "filter": filter_of(attributes["tags"], choice)})
    return queries


def progress(what):
    said = [time.monotonic()]

    def told(done, of):
        if done == of or time.monotonic() - said[0] > 30:
            said[0] = time.monotonic()
            print(f"{what}: {done:,} of {of:,} texts", file=sys.stderr)

    return told


def sample(packages, count, choice):
    if count > len(packages):
        raise ValueError(f"there are {len(packages):,} packages, and not {count:,}")
    return {name: packages[name] for name in sorted(choice.sample(sorted(packages), count))}


def make(options):
    import sentence_model  # wants packages that reading the lists does not

    packages = read_packages(options.lists, options.translations)
    if not packages:
        raise ValueError(f"{options.lists}: no packages in it")
    choice = random.Random(options.seed)
    if options.packages:
        packages = sample(packages, options.packages, choice)
    queries = choose_queries(packages, options.queries, choice)
    model = sentence_model.SentenceModel(options.model)
    out = pathlib.Path(options.out)
    out.mkdir(parents=True, exist_ok=True)
    asked = model.embed([query["sentence"] for query in queries], progress("queries"))
    xbin.write_rows(out / "query.fbin", asked.shape, [asked])
    xbin.write_text(out / "query.jsonl", "".join(json.dumps(query) + "\n" for query in queries))
    texts = [" ".join([synopsis + ".", *sentences]) for _, synopsis, sentences in packages.values()]
    xbin.write_text(out / "base.jsonl", "".join(json.dumps(attributes) + "\n"
                                                for attributes, _, _ in packages.values()))
    xbin.write_text(out / "schema.txt", SCHEMA + "\n")
    base = model.embed(texts, progress("packages"))
    xbin.write_rows(out / "base.fbin", base.shape, [base])
    tags = {tag for attributes, _, _ in packages.values() for tag in attributes["tags"]}
    tagged = sum(1 for attributes, _, _ in packages.values() if attributes["tags"])
    print(f"{len(base):,} packages, {tagged:,} with some of {len(tags):,} tags", file=sys.stderr)


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("lists", help="package lists, as text")
    parser.add_argument("translations", help="long descriptions, as text")
    parser.add_argument("--model", required=True, help="folder of all-MiniLM-L6-v2")
    parser.add_argument("--out", required=True, help="folder to write into")
    parser.add_argument("--queries", type=int,
                        help=f"[{USUAL_QUERIES:,}, or half of the packages with sentences and tags]")
    parser.add_argument("--packages", type=int, default=0, help="how many, chosen at random; 0: all")
    parser.add_argument("--seed", type=int, default=1)
    try:
        make(parser.parse_args(arguments))
    except (OSError, ValueError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
