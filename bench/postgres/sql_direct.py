"""The engine asked through its channel, without PostgreSQL: what a search of an index costs by itself."""
import os
import pathlib

from sql_contenders import Farvec
from sql_setup import ROOT, Answers, compile_program, run_client, say

FIRST_ROWS = 10  # that a scan takes at first, whatever the statement's LIMIT is (postgres/index/scan.c)


def engine_segment(parent):
    """The segment of the engine that a server, whose process is `parent`, has started."""
    for folder in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            words = (folder / "cmdline").read_bytes().split(b"\0")
            worker = (folder / "stat").read_text().rsplit(")", 1)[1].split()[1]
            above = pathlib.Path(f"/proc/{worker}/stat").read_text().rsplit(")", 1)[1].split()[1]
        except (OSError, IndexError):
            continue
        if b"--segment" in words and above == parent:
            return words[words.index(b"--segment") + 1].decode()
    raise SystemExit("error: the server's engine does not run")


def as_scans_ask(length):
    """(rows, list) of the first search of a scan with this search_list (postgres/index/engine_search.c)."""
    rows = max(FIRST_ROWS, length - length // 3)
    return rows, max(length, rows + rows // 2)


def distances_of(values, metric):
    """The engine's distances as Workload.distances() has them."""
    return values - 1 if metric == "cosine" else values


class FarvecDirect(Farvec):
    """Searches the index of the kind `farvec`, where that is compared too, with its lists."""

    def __init__(self, kind, options, workload, server, client):
        super().__init__(kind, options, workload, server, client)
        self.other = None
        channel = ROOT / "postgres" / "channel"
        self.program = compile_program(pathlib.Path(client.program).parent, "engine_calls", f"-I{ROOT}",
                                       *sorted(channel.glob("*.c")), "-lm")

    @staticmethod
    def join(contenders):
        """The two kinds share one index."""
        at = {contender.kind: contender for contender in contenders}
        if "farvec-direct" in at and "farvec" in at:
            at["farvec-direct"].other = at["farvec"]
            at["farvec-direct"].table = at["farvec"].table

    def load(self):
        if self.other is None:
            super().load()

    def build(self):
        if self.other is None:
            super().build()
        elif self.other.seconds is None:
            raise SystemExit("error: --kinds has farvec-direct before farvec, whose index it searches")
        else:
            self.seconds, self.bytes = self.other.seconds, self.other.bytes

    def choose(self):
        if self.other is None:
            super().choose()
        else:
            self.choices = dict(self.other.choices)

    def place(self):
        """Numbers of the database and of the index's file."""
        said, _ = self.server.ask(
            "SELECT d.oid, c.relfilenode FROM pg_database d, pg_class c WHERE d.datname = current_database() "
            f"AND c.relname = '{self.table}_v'")
        return said.split("|")

    def find(self, half, choice, passes=1, clients=1):
        """Answers whose `ids` are distances. One client asks, whatever `clients` is."""
        import numpy as np
        which = self.workload.halves()[half]
        k, length = as_scans_ask(choice.list)
        k = max(k, self.options.k)
        parent = (self.server.folder / "postmaster.pid").read_text().split()[0]
        said = run_client([self.program, engine_segment(parent), *self.place(), self.options.query_file,
                           which.start, len(which), passes, k, length], os.environ)
        calls = len(which) * passes
        return Answers(float(np.frombuffer(said, np.float64, 1)[0]) / 1e6,
                       np.frombuffer(said, np.float64, calls, 8),
                       np.frombuffer(said, np.float64, calls * k, 8 + 8 * calls).reshape(-1, k))

    def recall_of(self, half, answers):
        """By distance, as Workload.recall()."""
        from vectors import TOLERANCE
        k, hits = self.options.k, 0
        for row, query in zip(answers.ids, self.workload.halves()[half]):
            limit = self.workload.distances(query, self.workload.neighbours[query, :k]).max()
            found = distances_of(row[:k], self.options.metric)
            hits += int((found <= limit + max(10 * TOLERANCE, 1e-5) * abs(limit)).sum())
        return hits / (k * len(answers.ids))

    def measure_many(self, target, choice, clients, alone):
        say(f"farvec-direct has one client, and not {clients}")
