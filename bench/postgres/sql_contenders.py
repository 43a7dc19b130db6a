"""The indexes that are compared in SQL: what is created, what is asked, how a list is chosen.

A kind is a method (pgvector's HNSW or IVFFlat, farvec in the engine, farvec on a node, the engine without
PostgreSQL) and a form of the vectors (floats, half floats, bits that the whole vectors rank again).
"""
import dataclasses
import math
import os
import pathlib
import subprocess
import tempfile
import time

from sql_setup import MEMORY_MIB, OPERATORS, TIMEOUT_S, load_rows, say

SHARES = (1.0, 0.5)  # of a list of bits that the whole vectors rank again


@dataclasses.dataclass(frozen=True)
class Choice:
    """How far a search looks: `list` is of the index, `candidates` those that are ranked again."""

    list: int
    candidates: int = 0  # 0: none are

    def __str__(self):
        return f"{self.list}, {self.candidates} again" if self.candidates else str(self.list)


class Form:
    """Vectors as they are."""

    ranks_again = False

    def __init__(self, options, workload):
        self.dimension = int(workload.dimension)
        self.classes, self.operator = OPERATORS[options.metric]

    def column(self):
        return f"v vector_{self.classes}_ops"

    def ordered(self, asked):
        return f"v {self.operator} {asked}::vector"

    def statement(self, table, asked, k, candidates, where=""):
        del candidates
        return f"SELECT id FROM {table}{where} ORDER BY {self.ordered(asked)} LIMIT {k}"


class HalfForm(Form):
    """An index on the vectors as half floats; the table has floats."""

    def column(self):
        return f"(v::halfvec({self.dimension})) halfvec_{self.classes}_ops"

    def ordered(self, asked):
        half = f"::halfvec({self.dimension})"
        return f"v{half} {self.operator} {asked}::vector{half}"


class BitForm(Form):
    """An index on bits, whose candidates the whole vectors rank again. Where no number is negative, all
    signs are alike: then the mean of the rows is taken away first."""

    ranks_again = True

    def __init__(self, options, workload):
        super().__init__(options, workload)
        self.less = ""
        if workload.base_file[:10_000].min() >= 0:
            mean = workload.base_file.mean(axis=0, dtype="f8")
            self.less = " - '[" + ",".join(f"{value:.6g}" for value in mean) + "]'::vector"

    def bits(self, what):
        return f"binary_quantize({what}{self.less})::bit({self.dimension})"

    def column(self):
        return f"({self.bits('v')}) bit_hamming_ops"

    def statement(self, table, asked, k, candidates, where=""):
        return (f"SELECT id FROM (SELECT id, v FROM {table}{where} ORDER BY {self.bits('v')} <~> "
                f"{self.bits(asked + '::vector')} LIMIT {candidates}) c ORDER BY {self.ordered(asked)} LIMIT {k}")


class Contender:
    """One index over a table of its own: pgvector's HNSW."""

    access, setting, least, scans = "hnsw", "hnsw.ef_search", None, {}
    form_of = Form

    def __init__(self, kind, options, workload, server, client):
        self.kind, self.options, self.workload = kind, options, workload
        self.server, self.client = server, client
        self.table = "items_" + kind.replace("-", "_")
        self.form = self.form_of(options, workload)
        self.seconds = self.bytes = None
        self.choices, self.times, self.recalls = {}, {}, {}
        self.many = {}  # by recall wanted and number of clients: (rate, p99, calls that differ) of passes

    # --- the index

    def load(self):
        load_rows(self.server, self.table, self.workload.base)

    def build(self):
        workers = os.cpu_count() - 1
        self.server.ask(f"ALTER TABLE {self.table} SET (parallel_workers = {workers})")
        began = time.perf_counter()
        _, notes = self.server.ask(f"SET maintenance_work_mem = '{self.build_mib()}MB'",
                                   f"SET max_parallel_maintenance_workers = {workers}", self.create_statement())
        self.seconds = time.perf_counter() - began
        if notes:
            say(f"{self.kind}: {notes}")
        self.server.ask("CHECKPOINT")
        self.bytes = self.index_bytes()

    def build_mib(self):
        """Room for the graph. pgvector's parallel build takes all that it may, even for few rows."""
        row = 4 * self.workload.dimension + 80 * self.options.m + 300
        return min(MEMORY_MIB, 64 + (self.workload.rows * row >> 20))

    def create_statement(self):
        return (f"CREATE INDEX {self.table}_v ON {self.table} USING {self.access} ({self.columns()}) "
                f"WITH ({self.parameters()})")

    def columns(self):
        return self.form.column()

    def parameters(self):
        return f"m = {self.options.m}, ef_construction = {self.options.ef_construction}"

    def index_bytes(self):
        return int(self.server.ask(f"SELECT pg_relation_size('{self.table}_v')")[0])

    # --- searches

    def statement(self, choice, where=""):
        return self.form.statement(self.table, "$1", self.options.k, choice.candidates, where)

    def settings(self, choice):
        return {self.setting: choice.list, "enable_seqscan": "off", "jit": "off", **self.scans}

    def check_plan(self, where=""):
        """A plan without the index would be measured as if it had it."""
        first = self.choice(self.options.k, SHARES[0])
        plan, _ = self.server.ask("EXPLAIN (GENERIC_PLAN) " + self.statement(first, where),
                                  settings={**self.settings(first), "enable_sort": "off"})
        if f"{self.table}_v" not in plan:
            raise SystemExit(f"error: PostgreSQL does not use {self.kind}'s index: {plan}")

    def choice(self, length, share):
        if not self.form.ranks_again:
            return Choice(length)
        return Choice(length, max(self.options.k, round(share * length)))

    def find(self, half, choice, passes=1, clients=1):
        """Answers of a half of the queries."""
        which = self.workload.halves()[half]
        return self.client.ask(self.statement(choice), self.options.query_file, which, passes,
                               self.settings(choice), clients)

    def recall_of(self, half, answers):
        return self.workload.recall(answers.ids, self.workload.halves()[half], self.options.k)

    def choose(self):
        """The least list that reaches each recall on the first half; of those of bits, the fastest."""
        import measure
        known = {}

        def recall_of(choice):
            if choice not in known:
                answers = self.find(0, choice)
                known[choice] = self.recall_of(0, answers), answers.times.mean()
            return known[choice][0]

        for target in self.options.recalls:
            found = []
            for share in SHARES if self.form.ranks_again else SHARES[:1]:
                least = measure.least_ef(lambda length, share=share: recall_of(self.choice(length, share)),
                                         target, self.least or self.options.k)
                if least is not None:
                    found.append(self.choice(least, share))
            self.choices[target] = min(found, key=lambda choice: known[choice][1], default=None)

    def measure(self):
        for target, choice in self.choices.items():
            if choice is None:
                continue
            answers = self.find(1, choice)
            self.recalls[target] = self.recall_of(1, answers)
            self.times.setdefault(target, []).append(answers.times)
            for clients in self.options.clients:
                if clients > 1:
                    self.measure_many(target, choice, clients, answers.ids)

    def measure_many(self, target, choice, clients, alone):
        """With at least 20 calls for each client. `alone` is what one client was answered."""
        passes = math.ceil(20 * clients / len(alone))
        answers = self.find(1, choice, passes, clients)
        others = (answers.ids.reshape(passes, *alone.shape) != alone).any(axis=2).sum()
        self.many.setdefault((target, clients), []).append(
            (len(answers.times) / answers.seconds, sorted(answers.times)[int(0.99 * len(answers.times))],
             int(others)))

    def close(self):
        """The server is stopped by who started it."""


class Halves(Contender):
    form_of = HalfForm


class Bits(Contender):
    form_of = BitForm


class IvfFlat(Contender):
    """Lists by pgvector's advice: a thousandth of the rows up to a million of them, else the root."""

    access, setting, least = "ivfflat", "ivfflat.probes", 1

    def parameters(self):
        rows = self.workload.rows
        return f"lists = {max(1, rows // 1000 if rows <= 1_000_000 else math.isqrt(rows))}"


class Farvec(Contender):
    access, setting = "farvec", "farvec.search_list"

    def index_bytes(self):
        index = f"{self.table}_v"
        return int(self.server.ask(f"SELECT (farvec_stats('{index}')->'store'->>'bytes')::bigint + "
                                   f"pg_relation_size('{index}')")[0])


class FarvecHalves(Farvec):
    form_of = HalfForm


class FarvecBits(Farvec):
    form_of = BitForm


class FarvecOnNode(Farvec):
    """On a compute node of this machine, whose collection is in a folder."""

    def __init__(self, *words):
        super().__init__(*words)
        self.folder = tempfile.TemporaryDirectory(prefix="farvec-node-")
        top = pathlib.Path(self.folder.name)
        top.chmod(0o755)
        self.address = f"unix:{top}/node.socket"
        programs = pathlib.Path(self.options.bin)
        subprocess.run([programs / "farvec", "collection", "create", "--collection", top / "set",
                        "--metric", self.options.metric, "--type", "f32", "--dimension",
                        str(self.workload.dimension), "--degree", str(2 * self.options.m), "--list",
                        str(self.options.ef_construction)], check=True, stdout=subprocess.DEVNULL,
                       timeout=TIMEOUT_S)
        self.node = subprocess.Popen(
            [programs / "farvec-compute-node", "--collection", top / "set", "--listen", self.address,
             "--threads", "1"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        end = time.monotonic() + 60
        while not (top / "node.socket").exists():
            if time.monotonic() > end or self.node.poll() is not None:
                raise SystemExit("error: the compute node does not start")
            time.sleep(0.05)
        (top / "node.socket").chmod(0o777)

    def parameters(self):
        return f"{super().parameters()}, node = '{self.address}'"

    def index_bytes(self):
        """A node does not say how many bytes its collection has; its folder does."""
        every = pathlib.Path(self.folder.name).rglob("*")
        files = sum(path.stat().st_size for path in every if path.is_file())
        return files + int(self.server.ask(f"SELECT pg_relation_size('{self.table}_v')")[0])

    def close(self):
        self.node.terminate()
        self.node.wait(timeout=60)
        self.folder.cleanup()


KINDS = {"pgvector": Contender, "farvec": Farvec, "pgvector-halfvec": Halves, "farvec-halfvec": FarvecHalves,
         "pgvector-bits": Bits, "farvec-bits": FarvecBits, "pgvector-ivfflat": IvfFlat,
         "farvec-node": FarvecOnNode}
