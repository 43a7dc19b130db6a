"""Where the study measures: its data sets, indexes and programs, and how long each may take."""
import contextlib
import dataclasses
import json
import os
import pathlib
import shlex
import signal
import statistics
import subprocess
import time

from graph_and_cluster import choose, parameter
from sweeps import Sweeps, read_rows

from . import StudyError
from .variants import DRAM, SSD, slots_of

BUILD_S, MEASURE_S = 4 * 3600, 1800  # the longest that a build and a measurement may take
# Vectors for each cluster, as docs/results/012 has them.
PER_CLUSTER = {"sift1m": 62.5, "text300k": 50}
LOWEST = {"graph": 9, "cluster": 0}


class TimeUp(Exception):
    """The run's --minutes are over."""


@dataclasses.dataclass(frozen=True)
class Effort:
    """How much is measured: --quick, --full."""
    name: str
    sets: tuple
    rows: int            # of each set; 0: all
    queries: int         # 0: all
    degrees: tuple
    replicas: tuple
    rounds: int
    passes: int          # of searches of all queries
    timed_passes: int    # of pass_ms each, tier by tier in turn
    pass_ms: int
    peers: tuple         # other libraries in memory, as bench/peers names them

    def timed(self, kind, tiers):
        """(passes, milliseconds of each) of searches on the tiers.

        Short ones where a search is short: what else a machine does comes and goes within tens of
        milliseconds.
        """
        parts = 5 if kind == "graph" and SSD not in tiers else 1
        return parts * self.timed_passes, self.pass_ms // parts


QUICK = Effort("quick", ("sift1m", "text300k"), 50_000, 1000, (16, 32, 96), (1, 2, 8), 1, 3, 3, 40,
               ("hnswlib", "faiss-hnsw"))
FULL = Effort("full", ("sift1m", "text300k"), 0, 0, (16, 32, 48, 64, 96), (1, 2, 4, 8), 3, 3, 9, 100,
              ("hnswlib", "faiss-hnsw", "scann", "svs", "symphonyqg", "pyglass", "vsag"))


@dataclasses.dataclass(frozen=True)
class DataSet:
    name: str
    base: pathlib.Path
    queries: pathlib.Path
    truth: pathlib.Path
    rows: int
    dimension: int

    @property
    def label(self):
        """As pages name it: a part says how many rows it has."""
        return self.name if self.truth.name == "gt100.ibin" else f"{self.name}/{self.rows // 1000}k"

    @property
    def clusters(self):
        return max(1, round(self.rows / PER_CLUSTER.get(self.name, 60)))


class StoredSweeps(Sweeps):
    """Sweeps whose rows are kept by the study's store."""

    def __init__(self, lab, data):
        super().__init__(lab.farvec, data.queries, data.truth, lab.cpu)
        self.lab, self.data, self.round = lab, data, 0

    def rows(self, index, half, options, threads=1):
        what = {"measure": "sweep", "index": self.lab.name_of(index), "half": list(half),
                "options": list(map(str, options)), "threads": threads, "round": self.round}
        return self.lab.store.get(what, lambda: self._measure(index, half, options, threads))

    def _measure(self, index, half, options, threads):
        with self.lab.watched(f"sweep of {index}", MEASURE_S) as (seconds, log):
            self.timeout_s, self.stderr = seconds, log
            return super().rows(index, half, options, threads)


class Lab:
    """Programs in `options.bin`, sets in `options.data`, everything made in `options.work`."""

    def __init__(self, options, effort, store):
        self.bin, self.data_folder, self.work = options.bin, options.data, options.work
        self.farvec, self.cpu = options.bin / "farvec", options.cpu
        self.effort, self.store = effort, store
        self.end = time.monotonic() + 60 * options.minutes if options.minutes else None

    def name_of(self, path):
        """What stands for a path below --work in keys: the folder may move."""
        return str(pathlib.Path(path).relative_to(self.work))

    @contextlib.contextmanager
    def watched(self, what, most_s):
        """(seconds that it may take, file for its errors); what fails is told with its last words."""
        left = self.end - time.monotonic() if self.end else most_s
        if left <= 0:
            raise TimeUp
        log = self.work / "last.log"
        try:
            with log.open("w") as errors:
                yield min(left, most_s), errors
        except subprocess.TimeoutExpired as error:
            if left < most_s:
                raise TimeUp from error
            raise StudyError(f"{what} took more than {most_s} s") from error
        except (subprocess.CalledProcessError, OSError, RuntimeError) as error:
            lines = log.read_text(errors="replace").strip().splitlines()[-3:]
            raise StudyError("\n  ".join([f"{what}: {failure(error)}", *lines])) from error

    def run(self, command, what, most_s=MEASURE_S):
        """The program to its end; with it ends what it started. Returns what it printed."""
        with self.watched(what, most_s) as (seconds, log):
            process = subprocess.Popen(list(map(str, command)), stdout=subprocess.PIPE, stderr=log,
                                       text=True, start_new_session=True)
            try:
                printed, _ = process.communicate(timeout=seconds)
            except BaseException:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
                raise
            if process.returncode != 0:
                raise subprocess.CalledProcessError(process.returncode, command)
            return printed

    def json_rows(self, name, command):
        """Rows of a program that writes --json FILE; measured once."""
        def measure():
            out = self.work / "rows.part"
            out.unlink(missing_ok=True)
            self.run([*command, "--json", out], name)
            return read_rows(out)
        return self.store.get({"measure": name, "command": self.words(command)}, measure)

    def words(self, command):
        """A command without the places of --work and --bin."""
        return [str(word).replace(str(self.work), "WORK").replace(str(self.bin), "BIN")
                for word in command]

    def made(self, folder, commands, what):
        """`folder`, made by the commands unless they have made it before, at this commit."""
        stamp = folder / "study.json"
        made_by = {"commands": [self.words(command) for command in commands],
                   "commit": self.store.commit}
        if not stamp.exists() or json.loads(stamp.read_text()) != made_by:
            folder.mkdir(parents=True, exist_ok=True)
            stamp.unlink(missing_ok=True)
            for command in commands:
                self.run(command, what, BUILD_S)
            stamp.write_text(json.dumps(made_by))
        return folder

    def sets(self):
        return [self.data(name) for name in self.effort.sets]

    def data(self, name):
        """The set, or its first rows and queries with truth of their own."""
        source = self.data_folder / name
        base, queries = (next(iter(sorted(source.glob(f"{stem}.*"))), None)
                         for stem in ("base", "query"))
        if base is None or queries is None:
            raise StudyError(f"no set {name} (base.*, query.*) in {self.data_folder}: say where with "
                             "--data, or which with --sets")
        rows, dimension = shape(base)
        wanted = min(rows, self.effort.rows or rows)
        if wanted == rows and not self.effort.queries and (source / "gt100.ibin").exists():
            return DataSet(name, base, queries, source / "gt100.ibin", rows, dimension)
        return self._subset(DataSet(name, base, queries, None, wanted, dimension))

    def whole(self, name):
        """The set as it is, whatever the effort: for programs that take rows of it themselves."""
        effort, self.effort = self.effort, dataclasses.replace(self.effort, rows=0, queries=0)
        try:
            return self.data(name)
        finally:
            self.effort = effort

    @staticmethod
    def clock():
        return time.monotonic()

    def _subset(self, data):
        queries = min(shape(data.queries)[0], self.effort.queries or shape(data.queries)[0])
        folder = self.work / "data" / f"{data.name}-{data.rows}"
        base, query, truth = folder / data.base.name, folder / data.queries.name, folder / "gt.ibin"
        sample = [self.farvec, "dataset", "sample", "--quiet", "--first"]
        self.made(folder, [
            [*sample, data.rows, data.base, base], [*sample, queries, data.queries, query],
            [self.farvec, "dataset", "groundtruth", "--data", base, "--queries", query, "--metric",
             "l2", "--k", min(100, data.rows), "--quiet", "--out", truth]], f"a part of {data.name}")
        return dataclasses.replace(data, base=base, queries=query, truth=truth)

    def graph(self, data, degree, layout="csr", options=()):
        """A graph's folder; layouts other than csr are converted, so that their edges are the same."""
        folder = self.work / "indexes" / f"{data.name}-{data.rows}" / f"graph-{degree}"
        csr = self.made(folder / "csr", [
            [self.farvec, "build", "graph", "--data", data.base, "--metric", "l2", "--degree", degree,
             "--list", max(75, 2 * degree), "--alpha", 1.15, "--passes", 2, "--code-bits", 4,
             "--out", folder / "csr" / "index", "--overwrite", "--quiet"]], f"graph of degree {degree}")
        if layout == "csr":
            return csr / "index"
        name = "-".join([layout, *(str(word).strip("-") for word in options)])
        return self.made(folder / name, [
            [self.farvec, "convert", "--index", csr / "index", "--out", folder / name / "index",
             "--layout", layout, *options, "--overwrite", "--quiet"]], f"layout {layout}") / "index"

    def clusters(self, data, replicas, series):
        """The folder of clusters in a layout; all layouts of the same options are of one build."""
        name = "-".join([f"r{replicas}", *(str(word).strip("-") for word in series.options)])
        number = ("--clusters", data.clusters) if series.counted else ()
        folder = self.work / "indexes" / f"{data.name}-{data.rows}" / f"clusters-{name}"
        return self.made(folder, [
            [self.farvec, "build", "cluster", "--data", data.base, "--metric", "l2", *number,
             "--replicas", replicas, "--layout", "all", *series.options, "--out", folder,
             "--overwrite", "--quiet"]], f"clusters, R = {replicas}") / series.layout

    def chosen(self, data, kind, index, recall):
        """The least list or number of clusters with the recall on the first half of the queries."""
        number = choose(StoredSweeps(self, data), kind, index, recall)
        if number is None:
            raise StudyError(f"{index} does not reach recall {recall}")
        return number

    def on_tiers(self, data, kind, index, options, tiers, slots=None):
        """{tier: row}: medians of the rounds, searched on the second half of the queries."""
        sweeps, by_slots = StoredSweeps(self, data), {}
        for tier in tiers:
            by_slots.setdefault(slots or slots_of(kind, tier), []).append(tier)
        rows = {}
        for sweeps.round in range(self.effort.rounds):
            for some, names in by_slots.items():
                # Beside each other tier also DRAM, whose rate in the same passes is their bound.
                names = names if DRAM in names or DRAM not in tiers else [*names, DRAM]
                passes, pass_ms = self.effort.timed(kind, names)
                measured = sweeps.rows(index, sweeps.second_half, [
                    *options, "--slots", some, "--tier", ",".join(names), "--passes", passes,
                    "--pass-ms", pass_ms])
                bounds = [row["qps_passes"] for row in measured if row["tier"] == DRAM]
                for row in measured:
                    if row["tier"] in by_slots[some]:
                        pairs = [pair for bound in bounds if row["tier"] != DRAM
                                 for pair in zip(row["qps_passes"], bound)]
                        rows.setdefault(row["tier"], []).append({**row, "pairs": pairs})
        return {tier: median_row(some) for tier, some in rows.items()}

    def at_recall(self, data, kind, index, tiers, recall=0.9):
        """{tier: row} with the list or the number of clusters that reaches the recall."""
        number = self.chosen(data, kind, index, recall)
        return self.on_tiers(data, kind, index, parameter(kind, number), tiers)


def failure(error):
    """Of a program that ended with an error: its command, as a shell takes it."""
    if isinstance(error, subprocess.CalledProcessError):
        return f"exit status {error.returncode} of {shlex.join(map(str, error.cmd))}"
    return str(error)


def median_row(rows):
    """The first row with the medians of what time has a part in."""
    timed = ("qps", "mean_us", "p50_us", "p99_us", "processor_us", "compute_bound_qps",
             "compute_bound_share")
    pairs = [pair for row in rows for pair in row["pairs"]]
    first = {name: value for name, value in rows[0].items() if name != "pairs"}
    return {**first, **{name: statistics.median(row[name] for row in rows)
                          for name in timed if name in first},
            **({"quiet_share": quiet_share(pairs)} if pairs else {})}


def quiet_share(pairs):
    """The median share of a rate in its bound, of the fastest quarter of (rate, bound).

    What else a machine does can only slow a pass down. Pairs of passes of which both were fast,
    whichever way round, say most of the machine alone.
    """
    fastest = sorted(pairs, key=lambda pair: pair[0] * pair[1])[-max(1, len(pairs) // 4):]
    return statistics.median(rate / bound for rate, bound in fastest)


def shape(path):
    """(rows, dimension) by the header of a vector file."""
    with path.open("rb") as file:
        head = file.read(8)
    return int.from_bytes(head[:4], "little"), int.from_bytes(head[4:8], "little")
