#!/usr/bin/env python3
"""A set of vectors under change: rows come and go while it is searched, and nothing is lost.

    examples/python/collection.py [FOLDER]     (default: a temporary one)

Every round inserts some rows under ids of our own, deletes some, and asks for the nearest of what
is there, beside numpy over the same rows. Run it again with a FOLDER: it goes on where it was, also
after a kill, since a change is durable when its call returns. docs/use/collections.md has the rest.
"""
import pathlib
import sys
import tempfile

import numpy as np

import farvec

DIMENSION, ROUNDS, INSERTS, DELETES, K = 32, 5, 400, 150, 5
FIRST_ID = 10**12


def rows_of(ids):
    """The same row for the same id, so that another run knows it too."""
    return np.stack([np.random.default_rng(int(i)).normal(size=DIMENSION) for i in ids]).astype(np.float32)


def nearest(rows, ids, queries):
    distances = ((queries[:, None, :] - rows[None, :, :]) ** 2).sum(axis=2)
    return ids[np.argsort(distances, axis=1)[:, :K]]


def change(things, kept, fresh):
    """Inserts `fresh`, deletes the oldest; the ids that are there then."""
    things.insert(fresh, rows_of(fresh))
    kept = np.concatenate([kept, fresh])
    gone, kept = kept[:DELETES], kept[DELETES:]
    things.delete(gone)
    return kept


def main():
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(sys.argv[1] if sys.argv[1:] else f"{temporary}/things")
        if not folder.exists():
            farvec.Collection.create(folder, dimension=DIMENSION, metric="l2")
        queries = rows_of(range(20))
        with farvec.Collection(folder) as things:
            # Rows are deleted oldest first, so what is there has the last ids.
            rounds = len(things) // (INSERTS - DELETES)
            kept = np.arange(rounds * DELETES, rounds * INSERTS, dtype=np.uint64) + FIRST_ID
            for step in range(rounds, rounds + ROUNDS):
                fresh = np.arange(step * INSERTS, (step + 1) * INSERTS, dtype=np.uint64) + FIRST_ID
                kept = change(things, kept, fresh)
                found = things.search(queries, k=K, list=100).ids
                recall = np.mean([np.isin(one, other).mean()
                                  for one, other in zip(found, nearest(rows_of(kept), kept, queries))])
                print(f"round {step}: {len(things)} rows, recall@{K} {recall:.3f}")
            things.flush()


if __name__ == "__main__":
    main()
