#!/usr/bin/env python3
"""Which texts are nearest to a text, over embeddings: an index that far memory could hold.

    examples/python/text_search.py                         # made-up embeddings, seconds
    examples/python/text_search.py --data FOLDER           # FOLDER/base.*, query.*, gt100.ibin
    examples/python/text_search.py --tier emulated:rdma    # what far memory would make of it

A data set of sentence embeddings goes here as it is (int8, float16, float32). For texts of your
own, write what an embedding model makes of them with farvec.write_vectors(), row i for text i:
ids are row numbers. The package is farvec (docs/use/python.md).
"""
import argparse
import pathlib
import tempfile
import time

import numpy as np

import farvec

K = 10


def made_up(topics=200, texts=6_000, dimension=100):
    """Embeddings as models make them: texts of a topic lie together; int8, as they are often kept."""
    random = np.random.default_rng(5)
    centres = random.normal(size=(topics, dimension))
    rows = centres[random.integers(topics, size=texts + 100)] + random.normal(size=(texts + 100, dimension)) / 2
    rows = np.clip(rows * 30, -127, 127).astype(np.int8)
    base, queries = rows[:texts], rows[texts:]
    return base, queries, farvec.ground_truth(base, queries, k=K)[0]


def read(folder):
    """Views of the files: nothing is copied."""
    base, queries = (farvec.read_vectors(next(folder.glob(f"{name}.*"))) for name in ("base", "query"))
    truth = farvec.read_ground_truth(folder / "gt100.ibin")
    return base, queries, truth[0]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=pathlib.Path, help="folder of a data set [made up]")
    parser.add_argument("--tier", default="dram", help="as farvec search --tier takes it")
    parser.add_argument("--index", type=pathlib.Path, help="folder for the index, kept [a temporary one]")
    options = parser.parse_args()
    base, queries, truth = read(options.data) if options.data else made_up()
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.index or pathlib.Path(temporary) / "texts.index"
        if not folder.exists():
            built = farvec.build_graph(base, folder, metric="l2", degree=32)
            print(f"built in {built['seconds']:.1f} s")
        with farvec.open(folder, tier=options.tier) as index:
            for size in (10, 20, 40, 80, 160):
                start = time.perf_counter()
                ids, distances, counts = index.search(queries, k=K, list=size)
                rate = len(queries) / (time.perf_counter() - start)
                print(f"list {size:3}: recall@{K} {farvec.recall(ids, truth[:, :K]):.4f}, "
                      f"{counts.reads / len(queries):.1f} reads a query, {rate:,.0f} queries a second")
        print(f"nearest to text 0: {', '.join(map(str, ids[0]))}")


if __name__ == "__main__":
    main()
