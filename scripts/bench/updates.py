#!/usr/bin/env python3
"""Seconds and bytes of rows whose attributes are updated, beside those of inserting them again.

Fills two collections with the same ROWS vectors and compacts both. In each of ROUNDS rounds one of
them updates a column of BATCH rows, and the other inserts these rows again with that value; the two
take turns. Searches with a condition are timed before, after, and right after a single update.

Example (with the Python package of the build):
    PYTHONPATH=build/release/python scripts/bench/updates.py --base base.i8bin --queries query.i8bin
"""
import argparse
import json
import pathlib
import statistics
import tempfile
import time

import numpy as np

import farvec

FILTER = "price < 100"
SECTIONS = 50


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--base", required=True)
    parser.add_argument("--queries", required=True)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--batch", type=int, default=2000)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--json", help="file for the JSON object")
    return parser.parse_args()


def milliseconds(work):
    begin = time.perf_counter()
    work()
    return (time.perf_counter() - begin) * 1e3


def spread(values):
    return [round(value, 3) for value in (min(values), statistics.median(values), max(values))]


def filled(folder, base, prices):
    kind = {"float32": "f32", "float16": "f16", "uint8": "u8", "int8": "i8"}[base.dtype.name]
    farvec.Collection.create(folder, base.shape[1], type=kind,
                             schema={"price": "i64", "section": "string"})
    collection = farvec.Collection(folder)
    sections = [f"s{row % SECTIONS}" for row in range(len(base))]
    collection.insert(np.arange(len(base), dtype=np.uint64), base,
                      attributes={"price": prices, "section": sections})
    collection.compact()
    return collection


def search_ms(collection, queries):
    return statistics.median(
        milliseconds(lambda: collection.search(queries, k=10, filter=FILTER)) / len(queries)
        for _ in range(5))


def measure(given, folder):
    base = np.ascontiguousarray(farvec.read_vectors(given.base)[:given.rows])
    queries = np.ascontiguousarray(farvec.read_vectors(given.queries)[:200])
    random = np.random.default_rng(1)
    prices = random.integers(0, 1000, len(base))
    updated, inserted = (filled(folder / name, base, prices) for name in ("updated", "inserted"))
    row = {"rows": len(base), "batch": given.batch, "search_ms": search_ms(updated, queries)}
    update, insert = [], []
    for _ in range(given.rounds):
        some = random.choice(len(base), given.batch, replace=False)
        values = random.integers(0, 1000, given.batch)
        sections = [f"s{at % SECTIONS}" for at in some]
        update.append(milliseconds(lambda: updated.update(some.astype(np.uint64), {"price": values})))
        insert.append(milliseconds(lambda: inserted.insert(
            some.astype(np.uint64), np.ascontiguousarray(base[some]),
            attributes={"price": values, "section": sections})))
    row |= {"update_ms": spread(update), "insert_ms": spread(insert),
            "search_ms_updated": search_ms(updated, queries),
            "search_ms_inserted": search_ms(inserted, queries)}
    single = []
    for at in range(21):
        updated.update([at], {"price": at})
        single.append(milliseconds(lambda: updated.search(queries[:1], k=10, filter=FILTER)))
    row["search_ms_right_after"] = spread(single)
    row["compact_ms_updated"] = round(milliseconds(updated.compact), 1)
    row["compact_ms_inserted"] = round(milliseconds(inserted.compact), 1)
    return row


def main():
    given = arguments()
    with tempfile.TemporaryDirectory() as folder:
        row = measure(given, pathlib.Path(folder))
    print(json.dumps(row))
    if given.json:
        pathlib.Path(given.json).write_text(json.dumps(row) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
