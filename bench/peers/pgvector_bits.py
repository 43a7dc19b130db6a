"""pgvector's rows of a comparison of bits: floats, half floats, and bits that are ranked again in SQL.

All indexes are of one table in a private PostgreSQL (bench/hnsw/server.py), whose vectors lie in its rows.
"""
import os
import pathlib
import re
import statistics
import sys
import time

import numpy as np

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "hnsw"))

import measure  # noqa: E402
import server  # noqa: E402
import table  # noqa: E402
from bit_adapters import MOST_EFFORT, SHARES  # noqa: E402
from contenders import CHOOSING_MS, Point  # noqa: E402
from worker import PeerError  # noqa: E402

LEAST_VERSION = (0, 7)  # bit and halfvec
MEMORY_MIB = 2048  # a build may take so much, and so may the server's buffer: everything fits
SECONDS = 2  # a pass takes so long: pgbench counts whole seconds
BLOCK = 10_000
# What is built, and by which operator it is searched.
KINDS = {"vector": ("v", "vector"), "halfvec": ("(v::halfvec({d}))", "halfvec"),
         "bit-hamming": ("b", "<~>"), "bit-jaccard": ("b", "<%>")}
LABELS = {"vector": "pgvector {version} (vector, m=16, ef_construction={list})",
          "halfvec": "pgvector {version} (halfvec, m=16, ef_construction={list})",
          "bit-hamming": "pgvector {version} (bit, hamming, m=16, ef_construction={list}), ranked again",
          "bit-jaccard": "pgvector {version} (bit, jaccard, m=16, ef_construction={list}), ranked again"}
M = 16


def check_version(text):
    """Answers the version of the extension. Throws PeerError where it has no bits."""
    if not text:
        raise PeerError("PostgreSQL has no extension `vector`: install pgvector 0.7 or newer")
    if tuple(int(part) for part in re.findall(r"\d+", text)[:2]) < LEAST_VERSION:
        raise PeerError(f"pgvector {text} has neither bits nor half floats: it takes 0.7 or newer")
    return text


def copy_bytes(first_id, rows, bits):
    """Rows as PostgreSQL's binary COPY has them: (id int, v vector, b bit)."""
    dimension, bit_bytes = rows.shape[1], bits.shape[1]
    layout = np.dtype([("fields", ">i2"), ("id_bytes", ">i4"), ("id", ">i4"), ("v_bytes", ">i4"),
                       ("dimension", ">i2"), ("unused", ">i2"), ("v", ">f4", (dimension,)),
                       ("b_bytes", ">i4"), ("bits", ">i4"), ("b", "u1", (bit_bytes,))])
    tuples = np.zeros(len(rows), layout)
    tuples["fields"], tuples["id_bytes"], tuples["dimension"] = 3, 4, dimension
    tuples["id"] = np.arange(first_id, first_id + len(rows))
    tuples["v_bytes"], tuples["v"] = 4 + 4 * dimension, rows
    tuples["b_bytes"], tuples["bits"], tuples["b"] = 4 + bit_bytes, dimension, bits
    return table.COPY_HEAD + tuples.tobytes() + table.COPY_END


class Statements:
    """SQL of one kind of index over items (id, v, b)."""

    def __init__(self, kind, metric, dimension):
        self.kind, self.dimension = kind, dimension
        # Rows of length one: an inner product is cheaper, and the order is the same.
        self.operators, self.operator = table.OPERATORS["ip" if metric == "cosine" else metric]
        self.name = "items_" + kind.replace("-", "_")

    @property
    def is_bits(self):
        return self.kind.startswith("bit")

    def create(self, build_list):
        column, what = KINDS[self.kind]
        operators = {"bit-hamming": "bit_hamming_ops", "bit-jaccard": "bit_jaccard_ops"}.get(
            self.kind, f"{what}_{self.operators}_ops")
        return (f"CREATE INDEX {self.name} ON items USING hnsw ({column.format(d=self.dimension)} "
                f"{operators}) WITH (m = {M}, ef_construction = {build_list})")

    def nearest(self, query, k, count):
        """`query` names a column of the query; `count` candidates of bits are ranked again."""
        if self.is_bits:
            return (f"SELECT id FROM (SELECT id, v FROM items ORDER BY b {KINDS[self.kind][1]} "
                    f"{query('b')} LIMIT {count}) c ORDER BY v {self.operator} {query('v')} LIMIT {k}")
        asked = query("v")
        column = "v"
        if self.kind == "halfvec":
            column = KINDS[self.kind][0].format(d=self.dimension)
            asked = f"{asked}::halfvec({self.dimension})"
        return f"SELECT id FROM items ORDER BY {column} {self.operator} {asked} LIMIT {k}"


class Database:
    """The table, loaded once; each kind of index is built when it is asked for."""

    def __init__(self, install, folder, workload, bits, build_list):
        self.server = server.Server(install, folder)
        self.workload, self.build_list = workload, build_list
        self.version = None
        try:
            self._load(*bits)
        except server.ServerError as error:
            self.server.stop()
            raise PeerError(str(error)) from error
        except PeerError:
            self.server.stop()
            raise

    def _load(self, base_bits, query_bits):
        self.server.create()
        self.server.start({"shared_buffers": f"{MEMORY_MIB}MB"})
        available, _ = self.server.ask(
            "SELECT default_version FROM pg_available_extensions WHERE name = 'vector'")
        check_version(available)
        self.server.ask("CREATE EXTENSION vector")
        self.version = check_version(self.server.ask(
            "SELECT extversion FROM pg_extension WHERE extname = 'vector'")[0])
        dimension = self.workload.dimension
        for name, rows, bits in (("items", self.workload.base, base_bits),
                                 ("queries", self.workload.queries, query_bits)):
            self.server.ask(f"CREATE TABLE {name} (id int, v vector({dimension}) STORAGE plain, "
                            f"b bit({dimension}))")
            for start in range(0, len(rows), BLOCK):
                part = slice(start, start + BLOCK)
                self.server.ask(f"COPY {name} FROM STDIN (FORMAT binary)",
                                rows=copy_bytes(start, rows[part], bits[part]))
        self.server.ask("ALTER TABLE queries ADD PRIMARY KEY (id)", "VACUUM ANALYZE items",
                        "VACUUM ANALYZE queries", "CHECKPOINT")

    def build(self, statements):
        """(seconds, bytes) of an index, by one process for every processor."""
        workers = len(os.sched_getaffinity(0)) - 1
        self.server.ask(f"ALTER TABLE items SET (parallel_workers = {workers})")
        start = time.perf_counter()
        self.server.ask(f"SET maintenance_work_mem = '{MEMORY_MIB}MB'",
                        f"SET max_parallel_maintenance_workers = {workers}",
                        statements.create(self.build_list))
        seconds = time.perf_counter() - start
        self.server.ask("CHECKPOINT")
        return seconds, self.bytes_of(f"pg_relation_size('{statements.name}')")

    def bytes_of(self, size):
        return int(self.server.ask(f"SELECT {size}")[0])

    def stop(self):
        self.server.stop()


class PgvectorContender:
    """One kind of index; server and client share the core."""

    layout = tier = None

    def __init__(self, kind, database, k):
        self.key = f"pgvector-{kind}"
        self.database, self.k = database, k
        self.statements = Statements(kind, database.workload.metric, database.workload.dimension)
        self.label = LABELS[kind].format(version=database.version, list=database.build_list)
        try:
            self.build_seconds, self.index_bytes = database.build(self.statements)
            self.second_bytes = database.bytes_of("pg_table_size('items')")
        except server.ServerError as error:
            raise PeerError(str(error)) from error
        self.dram_bytes = self.index_bytes
        self.checked, self.recalls = False, {}

    @staticmethod
    def settings(effort):
        return {"hnsw.ef_search": effort, "enable_seqscan": "off"}

    def statement(self, query, effort, again):
        return self.statements.nearest(query, self.k, max(self.k, round(effort * again)))

    def ask(self, *words, **options):
        try:
            return self.database.server.ask(*words, **options)[0]
        except server.ServerError as error:
            raise PeerError(str(error)) from error

    def check_plan(self):
        """A plan without the index would be measured as if it had it."""
        if self.checked:
            return
        plan = self.ask("EXPLAIN " + self.statement(
            lambda column: f"(SELECT {column} FROM queries WHERE id = 0)", 40, 1.0),
                        settings=self.settings(40))
        if not re.search(rf"Index Scan using {self.statements.name}\b", plan):
            raise PeerError("PostgreSQL does not use the index: " + " ".join(plan.split()))
        self.checked = True

    def recall(self, half, effort, again):
        if (half, effort, again) not in self.recalls:
            self.check_plan()
            self.recalls[half, effort, again] = self.find(half, effort, again)
        return self.recalls[half, effort, again]

    def find(self, half, effort, again):
        """Searches for every query of a half once; answers the recall."""
        which = self.database.workload.halves()[half]
        text = self.ask(
            f"SELECT q.id, r.id FROM queries q CROSS JOIN LATERAL "
            f"({self.statement(lambda column: f'q.{column}', effort, again)}) r "
            f"WHERE q.id >= {which.start} AND q.id < {which.stop}", settings=self.settings(effort))
        found, filled = np.full((len(which), self.k), -1, np.int64), np.zeros(len(which), int)
        for line in text.splitlines():
            query, row = map(int, line.split("|"))
            found[query - which.start, filled[query - which.start]] = row
            filled[query - which.start] += 1
        return self.database.workload.recall(found, which, self.k)

    def clients(self, half, effort, again, limit):
        which = self.database.workload.halves()[half]
        script = (f"\\set q random({which.start}, {which.stop - 1})\n" +
                  self.statement(lambda column: f"(SELECT {column} FROM queries WHERE id = :q)",
                                 effort, again) + ";\n")
        try:
            return self.database.server.clients(script, 1, limit, self.settings(effort))
        except server.ServerError as error:
            raise PeerError(str(error)) from error

    def choose(self, target):
        """Answers the fastest of the least ef of each share that is ranked again."""
        found = []
        for again in SHARES if self.statements.is_bits else SHARES[:1]:
            effort = measure.least_ef(lambda ef, again=again: self.recall(0, ef, again), target, self.k)
            if effort is not None:
                found.append({"effort": effort, "again": again})
        if len(found) < 2:
            return found[0] if found else None
        limit = ("--transactions", 2 * CHOOSING_MS)
        return max(found, key=lambda parameters: self.clients(0, **parameters, limit=limit)[1])

    def most(self):
        return {"effort": MOST_EFFORT, "again": SHARES[0]}

    def measure(self, parameters):
        latencies, rate = self.clients(1, **parameters, limit=("--time", SECONDS))
        if not latencies:
            raise PeerError(f"no query ended in {SECONDS} s")
        return Point(self.recall(1, **parameters), rate, parameters,
                     statistics.quantiles(latencies, n=100)[-1] if len(latencies) > 1 else latencies[0])

    def close(self):
        """The database is stopped by who started it."""
