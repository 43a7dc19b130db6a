#!/usr/bin/env python3
"""Filtered searches of farvec and of other libraries, by how many rows match.

The rows, columns and conditions are those of scripts/bench/filters.py: `part` says nothing of the
vector, `region` is the nearest of 100 rows. Every library has all rows in memory of this process, and
is asked one query a call, from Python, on one processor. The first half of the queries chooses the least
effort (list, or clusters to probe) with a recall of 0.95 for each condition, and the second half gives
the rates: the median of PASSES passes, in which the libraries take turns. What a library needs of a
condition beforehand (a bitmap of rows) is made before the clock starts; farvec, LanceDB and
milvus-lite get the text of the condition.

Example (in an environment with faiss-cpu, hnswlib, lancedb and milvus-lite; farvec from the build):
    PYTHONPATH=build/release/python bench/peers/filtered.py --base base.u8bin --queries query.u8bin \\
        --rows 200000 --peers faiss-ivf faiss-hnsw hnswlib lancedb --json filtered.jsonl
"""
import json
import os
import pathlib
import statistics
import sys
import tempfile
import time

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "scripts" / "bench"))

import filters  # noqa: E402

K, WANTED = filters.K, filters.WANTED
LISTS = (10, 20, 40, 80, 160, 320, 640, 1280)
PROBES = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512)


class Peer:
    """`prepared` makes of a condition what search() takes; `efforts` ascend."""
    efforts = LISTS

    def __init__(self, base, part, region, folder):
        self.rows = len(base)
        self.build(base.astype(np.float32), part, region, folder)

    def prepared(self, text, members):
        del members
        return text


class Farvec(Peer):
    efforts = filters.LISTS

    def build(self, base, part, region, folder):
        pass  # by main(), which has the rows in their own type

    def search(self, query, condition, effort):
        return self.collection.search(query, k=K, filter=condition, list=effort).ids


class FaissHnsw(Peer):
    factory = "HNSW32,Flat"

    def build(self, base, part, region, folder):
        import faiss
        self.faiss = faiss
        faiss.omp_set_num_threads(os.cpu_count())
        self.index = faiss.index_factory(base.shape[1], self.factory)
        if not self.index.is_trained:
            self.index.train(base)
        self.index.add(base)
        faiss.omp_set_num_threads(1)

    def prepared(self, text, members):
        mask = np.zeros(self.rows, bool)
        mask[members] = True
        bits = np.packbits(mask, bitorder="little")
        # The selector borrows the bytes.
        return self.faiss.IDSelectorBitmap(self.rows, self.faiss.swig_ptr(bits)), bits

    def parameters(self, selector, effort):
        return self.faiss.SearchParametersHNSW(sel=selector, efSearch=effort)

    def search(self, query, condition, effort):
        params = self.parameters(condition[0], effort)
        return self.index.search(query[None].astype(np.float32), K, params=params)[1][0]


class FaissIvf(FaissHnsw):
    efforts = PROBES

    @property
    def factory(self):
        return f"IVF{int(4 * self.rows ** 0.5)},Flat"

    def parameters(self, selector, effort):
        return self.faiss.SearchParametersIVF(sel=selector, nprobe=effort)


class FaissFlat(FaissHnsw):
    """Compares every row that matches."""
    efforts = (1,)
    factory = "Flat"

    def parameters(self, selector, effort):
        return self.faiss.SearchParameters(sel=selector)


class Hnswlib(Peer):
    """Its Python interface asks a Python function about each row."""

    def build(self, base, part, region, folder):
        import hnswlib
        self.index = hnswlib.Index(space="l2", dim=base.shape[1])
        self.index.init_index(max_elements=len(base), M=16, ef_construction=200, random_seed=1)
        self.index.add_items(base, num_threads=os.cpu_count())

    def prepared(self, text, members):
        return set(members.tolist()).__contains__

    def search(self, query, condition, effort):
        self.index.set_ef(effort)
        try:
            return self.index.knn_query(query[None].astype(np.float32), k=K, num_threads=1,
                                        filter=condition)[0][0]
        except RuntimeError:  # it has found fewer than k
            return np.empty(0, np.int64)


class LanceDb(Peer):
    """IVF over float rows; the condition is applied before the search."""
    efforts = PROBES

    def build(self, base, part, region, folder):
        import lancedb
        import pyarrow
        from lancedb.index import BTree, IvfFlat
        table = pyarrow.table({
            "id": np.arange(len(base)), "part": part, "region": region,
            "vector": pyarrow.FixedSizeListArray.from_arrays(base.ravel(), base.shape[1])})
        self.table = lancedb.connect(folder).create_table("rows", table)
        self.table.create_index("vector", config=IvfFlat(
            distance_type="l2", num_partitions=int(4 * len(base) ** 0.5)))
        for column in "part", "region":
            self.table.create_index(column, config=BTree())

    def search(self, query, condition, effort):
        asked = self.table.search(query.astype(np.float32)).where(condition, prefilter=True)
        found = asked.nprobes(effort).limit(K).select(["id", "_distance"]).to_arrow()
        return found["id"].to_numpy()


class MilvusLite(Peer):
    efforts = LISTS

    def build(self, base, part, region, folder):
        from pymilvus import DataType, MilvusClient
        self.client = MilvusClient(folder + "/milvus.db")
        schema = self.client.create_schema()
        schema.add_field("id", DataType.INT64, is_primary=True)
        schema.add_field("vector", DataType.FLOAT_VECTOR, dim=base.shape[1])
        for column in "part", "region":
            schema.add_field(column, DataType.INT64)
        index = self.client.prepare_index_params()
        index.add_index("vector", index_type="HNSW", metric_type="L2",
                        params={"M": 16, "efConstruction": 200})
        self.client.create_collection("rows", schema=schema, index_params=index)
        for some in np.array_split(np.arange(len(base)), max(1, len(base) // 5_000)):
            self.client.insert("rows", [{"id": int(i), "vector": base[i], "part": int(part[i]),
                                         "region": int(region[i])} for i in some])
        self.client.load_collection("rows")

    def prepared(self, text, members):
        return text.replace("=", "==")

    def search(self, query, condition, effort):
        found = self.client.search("rows", [query.astype(np.float32)], limit=K, filter=condition,
                                   search_params={"params": {"ef": effort}})
        return np.array([hit["id"] for hit in found[0]], np.int64)


PEERS = {"faiss-flat": FaissFlat, "faiss-hnsw": FaissHnsw, "faiss-ivf": FaissIvf, "hnswlib": Hnswlib,
         "lancedb": LanceDb, "milvus-lite": MilvusLite}


def arguments():
    parser = filters.parser_of(__doc__, 200)
    parser.add_argument("--peers", nargs="+", choices=PEERS, default=list(PEERS))
    parser.add_argument("--most-seconds", type=float, default=60,
                        help="for one pass of one library; a higher effort is not tried after it")
    return parser.parse_args()


def one_pass(peer, queries, asked, effort):
    """The ids of each query, and the seconds that they took."""
    began = time.perf_counter()
    found = [peer.search(query, condition, effort) for query, condition in zip(queries, asked)]
    return found, time.perf_counter() - began


def recall_of(found, base, queries, bounds):
    hits = wanted = 0
    for ids, query, (bound, there) in zip(found, queries, bounds):
        ids = np.asarray(ids)
        ids = ids[(ids >= 0) & (ids < len(base))].astype(np.int64)
        hits += int((filters.squares(query[None], base[ids])[0] <= bound * (1 + 1e-6) + 1e-3).sum())
        wanted += there
    return hits / wanted


def chosen_effort(peer, base, queries, asked, bounds, most_seconds):
    """The least effort with the wanted recall; none where the time does not allow it."""
    for effort in peer.efforts:
        found, seconds = one_pass(peer, queries, asked, effort)
        if recall_of(found, base, queries, bounds) >= WANTED:
            return effort
        if seconds > most_seconds:
            return None
    return None


def compared(peers, base, queries, asked, given):
    """A row for each library: its effort, recall and rate."""
    half = len(queries) // 2
    bounds = filters.exact(base, queries, asked)
    rows, told = {}, {}
    for name, peer in peers.items():
        # Conditions that are the same for several queries are prepared once.
        made = {text: peer.prepared(text, members) for text, members in dict(asked).items()}
        told[name] = [made[text] for text, _ in asked]
        effort = chosen_effort(peer, base, queries[:half], told[name][:half], bounds[:half],
                               given.most_seconds)
        rows[name] = {"effort": effort, "rates": []}
    for _ in range(given.passes):
        for name, peer in peers.items():
            row = rows[name]
            if row["effort"] is None:
                continue
            found, seconds = one_pass(peer, queries[half:], told[name][half:], row["effort"])
            row["rates"].append((len(queries) - half) / seconds)
            row["recall"] = recall_of(found, base, queries[half:], bounds[half:])
    return rows


def shown(rows):
    cells = []
    for name, row in rows.items():
        if row["effort"] is None:
            cells.append(f"{name}: no {WANTED}")
            continue
        cells.append(f"{name} {statistics.median(row['rates']):.0f}/s ({row['recall']:.3f}, "
                     f"{row['effort']})")
    return "; ".join(cells)


def main():
    import farvec
    given = arguments()
    base = farvec.read_vectors(given.base)[:given.rows]
    queries = farvec.read_vectors(given.queries)[:given.asked]
    given.tier, given.code_bits, given.clusters = "dram", None, None
    lines = []
    with tempfile.TemporaryDirectory() as folder:
        collection, part, region, centres = filters.made(folder + "/set", base, given)
        peers = {"farvec": Farvec(base, part, region, folder)}
        peers["farvec"].collection = collection
        for name in given.peers:
            print(f"building {name}", file=sys.stderr, flush=True)
            path = pathlib.Path(folder) / name
            path.mkdir()
            peers[name] = PEERS[name](base, part, region, str(path))
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})  # threads of libraries, too
        for name, asked in filters.conditions(len(base), queries, centres, part, region):
            rows = compared(peers, base, queries, asked, given)
            print(f"{name}: {shown(rows)}", flush=True)
            lines += [{"condition": name, "peer": peer, "rows": len(base), **row}
                      for peer, row in rows.items()]
        collection.close()
    filters.write_lines(given.json, lines)


if __name__ == "__main__":
    main()
