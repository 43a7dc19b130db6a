#!/usr/bin/env python3
"""Reads, bytes and time of searches of one tenant, with and without the rows of a tenant together.

Fills two collections with the same ROWS vectors, whose owners come in any order. In one of them the
owner is a column like others, in the other it is the tenant's key. Both are compacted. Then each
tier is asked for the nearest rows of one tenant after the other.

Example (with the Python package of the build):
    PYTHONPATH=build/release/python scripts/bench/tenants.py --base base.u8bin --queries query.u8bin \\
        --tiers dram,emulated:rdma,ssd
"""
import argparse
import json
import pathlib
import statistics
import tempfile
import time

import numpy as np

import farvec

COLUMNS = {"any column": "owner: string not null", "tenant": "owner: string tenant"}


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--base", required=True)
    parser.add_argument("--queries", required=True)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--tenants", type=int, default=1000)
    parser.add_argument("--list", type=int, default=64)
    parser.add_argument("--searches", type=int, default=500)
    parser.add_argument("--kind", default="graph")
    parser.add_argument("--layout", default="")
    parser.add_argument("--tiers", default="dram,emulated:rdma,ssd")
    parser.add_argument("--folder", help="where the collections are made and stay; else they go")
    return parser.parse_args()


def owners_of(given):
    """As many rows for each tenant, in any order."""
    return np.random.default_rng(1).permutation(np.arange(given.rows) % given.tenants)


def fill(path, base, column, given):
    kind = {"float32": "f32", "float16": "f16", "uint8": "u8", "int8": "i8"}[base.dtype.name]
    farvec.Collection.create(path, base.shape[1], type=kind, schema=column, kind=given.kind,
                             layout=given.layout, memtable_rows=1 << 17)
    tier = "ssd" if given.layout == "slotted" else ""
    begin = time.perf_counter()
    with farvec.Collection(path, tier=tier, durability="none", build_threads=2) as collection:
        names = [f"owner-{owner:06}" for owner in owners_of(given)]
        collection.insert(np.arange(len(base), dtype=np.uint64), base, attributes={"owner": names},
                          deadline=3600)
        collection.compact()
    return round(time.perf_counter() - begin, 1)


def search(collection, queries, given):
    """Searches of one tenant each; counts are means, times are quartiles."""
    random = np.random.default_rng(2)
    reads, size, times, compared = [], [], [], []
    for number in range(given.searches):
        where = f"owner = 'owner-{random.integers(given.tenants):06}'"
        options = {"k": 10, "list": given.list, "filter": where}
        if given.kind == "cluster":
            options = {"k": 10, "probe": 32, "filter": where}
        query = queries[number % len(queries)]
        begin = time.perf_counter()
        found = collection.search(query, **options)
        times.append((time.perf_counter() - begin) * 1e3)
        reads.append(found.counts.reads)
        size.append(found.counts.bytes)
        compared.append(found.counts.distances)
    return {"reads": round(statistics.mean(reads), 2), "bytes": round(statistics.mean(size)),
            "distances": round(statistics.mean(compared), 1),
            "ms": [round(value, 3) for value in statistics.quantiles(times, n=4)]}


def measure(given, folder):
    base = np.ascontiguousarray(farvec.read_vectors(given.base)[:given.rows])
    queries = np.ascontiguousarray(farvec.read_vectors(given.queries))
    for name, column in COLUMNS.items():
        path = folder / name.replace(" ", "-")
        seconds = None if path.exists() else fill(path, base, column, given)
        records = sum(file.stat().st_size for file in path.glob("segments/*/records*"))
        for tier in given.tiers.split(","):
            with farvec.Collection(path, tier=tier) as collection:
                row = {"owner": name, "layout": given.layout or given.kind, "rows": given.rows, "tier": tier,
                       "list": given.list, "fill_s": seconds, "record_bytes": records}
                print(json.dumps(row | search(collection, queries, given)), flush=True)


def main():
    given = arguments()
    if given.folder:
        return measure(given, pathlib.Path(given.folder))
    with tempfile.TemporaryDirectory() as folder:
        return measure(given, pathlib.Path(folder))


if __name__ == "__main__":
    main()
