"""pgvector's table of vectors and its HNSW index, in a Server."""
import dataclasses
import re
import time

import numpy as np

OPERATORS = {"l2": ("l2", "<->"), "ip": ("ip", "<#>"), "cosine": ("cosine", "<=>")}
COPY_HEAD = b"PGCOPY\n\xff\r\n\0" + bytes(8)
COPY_END = b"\xff\xff"
BLOCK = 20_000  # rows of one COPY
ATTEMPTS = 3  # to measure, each twice as long
ELEMENTS = {"vector": ">f4", "halfvec": ">f2"}
# The counters that a search of the index and of its table moves.
COUNTERS = """SELECT idx_blks_hit, idx_blks_read FROM pg_statio_user_indexes
WHERE indexrelname = 'items_v'"""


def copy_bytes(first_id, rows, kind):
    """Rows as PostgreSQL's binary COPY has them: (id int, v of the kind)."""
    element = np.dtype(ELEMENTS[kind])
    dimension = rows.shape[1]
    layout = np.dtype([("fields", ">i2"), ("id_bytes", ">i4"), ("id", ">i4"), ("v_bytes", ">i4"),
                       ("dimension", ">i2"), ("unused", ">i2"), ("v", element, (dimension,))])
    tuples = np.zeros(len(rows), layout)
    tuples["fields"], tuples["id_bytes"], tuples["dimension"] = 2, 4, dimension
    tuples["id"] = np.arange(first_id, first_id + len(rows))
    tuples["v_bytes"] = 4 + dimension * element.itemsize
    tuples["v"] = rows
    return COPY_HEAD + tuples.tobytes() + COPY_END


@dataclasses.dataclass(frozen=True)
class Index:
    """What is built over what."""

    kind: str  # vector or halfvec
    metric: str
    m: int
    ef_construction: int

    @property
    def operator(self):
        return OPERATORS[self.metric][1]

    def create_statement(self):
        return (f"CREATE INDEX items_v ON items USING hnsw (v {self.kind}_"
                f"{OPERATORS[self.metric][0]}_ops) WITH (m = {self.m}, "
                f"ef_construction = {self.ef_construction})")


class Table:
    def __init__(self, server, index):
        self.server, self.index = server, index

    def load(self, name, rows, first_id=0, storage=""):
        """A table (id, v) of the rows."""
        kind = f"{self.index.kind}({rows.shape[1]})"
        self.server.ask(f"CREATE TABLE {name} (id int PRIMARY KEY, v {kind} {storage})")
        for start in range(0, len(rows), BLOCK):
            block = np.asarray(rows[start:start + BLOCK], np.float32)
            self.server.ask(f"COPY {name} FROM STDIN (FORMAT binary)",
                            rows=copy_bytes(first_id + start, block, self.index.kind))
        self.server.ask(f"VACUUM ANALYZE {name}", "CHECKPOINT")

    def build(self, memory_mib, workers):
        """Seconds, and what PostgreSQL remarked, as that the graph left the memory."""
        self.server.ask(f"ALTER TABLE items SET (parallel_workers = {workers})")
        start = time.perf_counter()
        _, notes = self.server.ask(f"SET maintenance_work_mem = '{memory_mib}MB'",
                                   f"SET max_parallel_maintenance_workers = {workers}",
                                   self.index.create_statement())
        seconds = time.perf_counter() - start
        self.server.ask("CHECKPOINT")
        return seconds, notes

    def bytes_of(self, size):
        return int(self.server.ask(f"SELECT {size}")[0])

    def nearest(self, query, k):
        return f"SELECT id FROM items ORDER BY v {self.index.operator} {query} LIMIT {k}"

    def settings(self, ef_search):
        return {"hnsw.ef_search": ef_search, "enable_seqscan": "off"}

    def check_plan(self, k):
        plan, _ = self.server.ask("EXPLAIN " + self.nearest("(SELECT v FROM queries WHERE id = 0)",
                                                            k), settings=self.settings(40))
        if not re.search(r"Index Scan using items_v\b", plan):
            raise ValueError("PostgreSQL does not use the index: " + " ".join(plan.split()))

    def search(self, which, k, ef_search):
        """Ids per query of a range, -1 where there are fewer than k."""
        text, _ = self.server.ask(
            f"SELECT q.id, r.id FROM queries q CROSS JOIN LATERAL ({self.nearest('q.v', k)}) r "
            f"WHERE q.id >= {which.start} AND q.id < {which.stop}",
            settings=self.settings(ef_search))
        found, filled = np.full((len(which), k), -1, np.int64), np.zeros(len(which), int)
        for line in text.splitlines():
            query, row = line.split("|")
            place = int(query) - which.start
            found[place, filled[place]] = int(row)
            filled[place] += 1
        return found

    def counters(self):
        """(hits, reads) of the index's pages since the server started."""
        text, _ = self.server.ask("SELECT pg_stat_force_next_flush()", COUNTERS)
        hits, reads = text.splitlines()[-1].split("|")
        return int(hits), int(reads)

    def run_queries(self, which, k, ef_search, connections, seconds):
        """Single queries of the range at random: (latencies us, queries per second). Takes longer
        when no query ends in time."""
        script = (f"\\set q random({which.start}, {which.stop - 1})\n" +
                  self.nearest("(SELECT v FROM queries WHERE id = :q)", k) + ";\n")
        for attempt in range(ATTEMPTS):
            latencies, rate = self.server.clients(script, connections,
                                                  ("--time", seconds << attempt),
                                                  self.settings(ef_search))
            if latencies:
                return latencies, rate
        raise ValueError(f"no query with ef_search {ef_search} ended in "
                         f"{seconds << attempt} s")

    def insert_singly(self, first, count, connections):
        """Rows a second, each committed by itself, out of the table `further`."""
        self.server.ask("DROP SEQUENCE IF EXISTS next_further",
                        f"CREATE SEQUENCE next_further MINVALUE 0 START {first}")
        script = "INSERT INTO items SELECT * FROM further WHERE id = " \
            "(SELECT nextval('next_further')::int);\n"
        return self.server.clients(script, connections,
                                   ("--transactions", count // connections))[1]

    def insert_together(self, first, count):
        """Rows a second in one transaction."""
        start = time.perf_counter()
        self.server.ask("INSERT INTO items SELECT * FROM further "
                        f"WHERE id >= {first} AND id < {first + count}")
        return count / (time.perf_counter() - start)
