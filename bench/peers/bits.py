#!/usr/bin/env python3
"""Indexes of fewer bits than their data, farvec's and others', at equal recall: one thread, passes in turn.

Example:
    bench/peers/bits.py --data data/text768 --metric cosine --out build/bits-text768
    bench/peers/bits.py --data data/sift1m --metric l2 --rows 50000 --out build/bits-sift

farvec's rows are of graphs of f32, f16, i8 and bits, and of f32 with codes of one bit (RaBitQ). Beside
them are faiss' binary indexes, usearch's b1 and f16, f32 HNSWs, and pgvector's `vector`, `halfvec` and
`bit`. Bits are by sign, or by mean where no number is negative, the same for everyone; all rank their
candidates again by the rows of floats. Each system's list (and which share of it is ranked again) is the
least that reaches --recall on the first half of the queries; figures are of the second half. One that does
not reach it with a list of 1,000 is shown with the recall that it has there.

Libraries come from PyPI into build/peers-venv and build/pgvector-venv (PostgreSQL and pgvector), on
first use. One that cannot be installed, built or run has a line with its reason, and the rest goes on.
Everything is built anew, on all processors. Rates are of one thread on one core, p99 of queries that are
sent one by one. `farvec ... copy on disk` has the second copy on the disk of the build folder (O_DIRECT).
"""
import argparse
import json
import os
import pathlib
import resource
import shutil
import signal
import statistics
import subprocess
import sys
import time

import run as harness
from worker import PeerError, reason_of

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
WORK = ROOT / "build" / "peers-bits"
MOST_LIST = 1000  # pgvector takes no more; so does nobody
# farvec's kinds of graphs; WAY stands for how numbers become bits.
OURS = {
    "f32": [],
    "f32, RaBitQ codes of 1 bit": ["--code-bits", "1"],
    "f16": ["--store", "f16"],
    "i8": ["--store", "i8"],
    "b1 hamming": ["--store", "b1", "--by", "WAY"],
    "b1 jaccard": ["--store", "b1", "--by", "WAY", "--bits-metric", "jaccard"],
    "b1 hamming, packed": ["--store", "b1", "--by", "WAY", "--layout", "packed"],
}
ON_DISK = ("b1 hamming", "b1 hamming, packed")  # also measured with the second copy on a disk
BUILT_OFTEN = ("f32", *ON_DISK)  # whose builds the verdicts divide
PEERS = ("hnswlib", "usearch", "usearch-f16", "usearch-b1", "usearch-b1-32", "usearch-b1-jaccard",
         "faiss-bits", "faiss-bits-32", "faiss-bits-flat")
F32_HNSW = ("hnswlib", "usearch")
PGVECTOR = ("vector", "halfvec", "bit-hamming", "bit-jaccard")
PASS_MS, CHOOSING_MS, ALONE_MS = 500, 100, 300
COARSE = (10, 20, 40, 80, 160, 320, 640, MOST_LIST)  # lists, between which the ladder is climbed
LINE_NS = 50  # spares each sweep the measurement of memory, which only its bounds want


def parse_arguments(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--data", required=True, help="folder with base.* and query.* (and gt100.ibin of all rows)")
    add("--metric", choices=("l2", "ip", "cosine"), required=True)
    add("--rows", type=int, help="the first rows of base.* [all]")
    add("--queries", type=int, default=2000, help="the first queries (%(default)s)")
    add("--recall", type=float, default=0.95)
    add("--k", type=int, default=10)
    add("--passes", type=int, default=5)
    add("--builds", type=int, default=3, help="of f32 and the two of b1 hamming, in turn (%(default)s)")
    add("--build-list", type=int, default=100, help="of a graph's build, for everyone: farvec's usual one")
    add("--ours", nargs="*", default=list(OURS), help=", ".join(OURS))
    add("--peers", nargs="*", default=list(PEERS), help=", ".join(PEERS))
    add("--pgvector", nargs="*", default=list(PGVECTOR), help=", ".join(PGVECTOR))
    add("--postgres", help="an installation with pgvector of 0.7 or newer: a folder with bin/")
    add("--core", type=int, default=os.cpu_count() - 1)
    add("--farvec", default=str(ROOT / "build/release/bin/farvec"))
    add("--out", help="write OUT.json and OUT.md")
    options = parser.parse_args(arguments)
    for chosen, known, what in ((options.ours, OURS, "--ours"), (options.peers, PEERS, "--peers"),
                                (options.pgvector, PGVECTOR, "--pgvector")):
        unknown = [name for name in chosen if name not in known]
        if unknown:
            parser.error(f"{what} has no {', '.join(unknown)}; there are {', '.join(known)}")
    for name in ("queries", "k", "passes", "builds", "build_list"):
        if getattr(options, name) < 1:
            parser.error(f"--{name.replace('_', '-')} is at least 1")
    if options.queries < 2:
        parser.error("--queries is at least 2: a half chooses, the other is measured")
    options.farvec = str(pathlib.Path(options.farvec).resolve())
    return options


def say(text):
    print(f"{time.strftime('%H:%M:%S')} {text}", file=sys.stderr, flush=True)


def call(farvec, *words):
    done = subprocess.run([farvec, *map(str, words)], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise PeerError(f"farvec {' '.join(map(str, words[:2]))}: {reason_of(done.stderr)}")
    return done.stdout


# --- the data

def file_of(folder, name):
    """Answers the path of a vector file, or of the rows that are there of one that is still being made."""
    ends = (".fbin", ".u8bin", ".i8bin", ".partial.fbin")
    found = [path for end in ends if (path := pathlib.Path(folder) / (name + end)).exists()]
    if not found:
        raise SystemExit(f"error: {folder} has no {name}.fbin, .u8bin or .i8bin")
    return found[0]


def write_floats(path, rows):
    import numpy as np
    with open(path, "wb") as file:
        np.asarray(rows.shape, "<u4").tofile(file)
        np.ascontiguousarray(rows, "<f4").tofile(file)


def prepare(options):
    """Writes the rows and queries as floats, and finds the true neighbours of these rows. Answers the
    paths: base, queries, truth."""
    from vectors import read_vectors
    base = read_vectors(file_of(options.data, "base"))
    queries = read_vectors(file_of(options.data, "query"))
    if options.rows and options.rows > len(base):
        raise SystemExit(f"error: {options.data} has {len(base):,} rows, and not {options.rows:,}")
    rows = options.rows or len(base)
    folder = WORK / f"{pathlib.Path(options.data).resolve().name}-{rows}"
    folder.mkdir(parents=True, exist_ok=True)
    paths = folder / "base.fbin", folder / "query.fbin", folder / "gt100.ibin"
    write_floats(paths[0], base[:rows])
    write_floats(paths[1], queries[:options.queries])
    paths[2].unlink(missing_ok=True)
    call(options.farvec, "dataset", "groundtruth", "--data", paths[0], "--queries", paths[1], "--metric",
         options.metric, "--k", 100, "--out", paths[2])
    return paths


# --- farvec

def ladder(first=10, last=MOST_LIST):
    """Lists a 25th apart."""
    lists = []
    while first < last:
        lists.append(first)
        first += max(1, round(first / 25))
    return [*lists, last]


def chunks(values, size):
    return [values[start:start + size] for start in range(0, len(values), size)]


def folder_bytes(index):
    """(of the index, of its second copy), as they lie on the disk."""
    sizes = {path.name: path.stat().st_size for path in pathlib.Path(index).iterdir()}
    second = sizes.pop("second.bin", 0)
    return sum(sizes.values()), second


class Ours:
    """A graph in DRAM, its second copy too."""

    where = "DRAM"
    second_tier = ()
    all_slots = (1, 4, 8, 16, 24)  # in flight

    def __init__(self, name, index, seconds, options, workload):
        self.key = self.label = f"farvec {name}"
        self.index, self.options, self.workload = index, options, workload
        self.build_seconds = statistics.median(seconds)
        self.index_bytes, self.second_bytes = folder_bytes(index)
        self.dram_bytes = self.shortest = self.chosen = None
        if not self.second_bytes:
            self.where = None

    def sweep(self, half, lists, widths, slots, pass_ms):
        from contenders import asked_of_sweep, rows_of_sweep
        which = self.workload.halves()[half]
        words = ["--index", self.index, *asked_of_sweep(self.options, which), "--list",
                 ",".join(map(str, lists)), "--width", ",".join(map(str, widths)), "--slots",
                 ",".join(map(str, slots)), "--tier", "dram", *self.second_tier, "--pass-ms", pass_ms,
                 "--line-ns", LINE_NS]
        try:
            return rows_of_sweep(self.options.farvec, words)
        except SystemExit as error:
            raise PeerError(reason_of(str(error))) from error

    def shortest_list(self, target):
        """Answers the shortest list of the ladder that reaches the target with a width of 1, or None. Wider
        searches find no less."""
        if self.shortest is None:
            self.shortest = 0
            for lists in chunks(COARSE, 3):
                reached = [line["list"] for line in self.sweep(0, lists, (1,), (16,), 1)
                           if line["recall"] >= target]
                if reached:
                    self.shortest = self.between(COARSE, min(reached), target)
                    break
        return self.shortest or None

    def between(self, coarse, reached, target):
        """Answers the shortest list beyond the coarse step before `reached`."""
        before = max((length for length in coarse if length < reached), default=0)
        fine = [length for length in ladder() if before < length < reached]
        lines = self.sweep(0, fine, (1,), (16,), 1) if fine else []
        return min((line["list"] for line in lines if line["recall"] >= target), default=reached)

    def choose(self, target):
        """Answers the fastest of some widths and numbers of slots, with the shortest list."""
        length = self.shortest_list(target)
        if length is None or self.chosen is not None:
            return self.chosen
        lines = self.sweep(0, (length,), (1, 2, 4), self.all_slots, CHOOSING_MS)
        best = max((line for line in lines if line["recall"] >= target), key=lambda line: line["qps"],
                   default=lines[0])
        self.chosen = {name: best[name] for name in ("list", "width", "slots")}
        return self.chosen

    @staticmethod
    def most():
        return {"list": MOST_LIST, "width": 1, "slots": 8}

    def measure(self, parameters):
        from contenders import Point
        words = [(parameters["list"],), (parameters["width"],)]
        line, = self.sweep(1, *words, (parameters["slots"],), PASS_MS)
        alone = line
        if parameters["slots"] != 1:
            alone, = self.sweep(1, *words, (1,), ALONE_MS)
        # Buffers of searches are counted on no side.
        in_dram = round(line["index_dram_bytes_per_vector"] * self.workload.rows)
        self.dram_bytes = line["index_bytes"] + in_dram
        return Point(line["recall"], line["qps"], parameters, alone["p99_us"], line["processor_us"])

    def close(self):
        """Every call was a process of its own."""


class OursOnDisk(Ours):
    """The same graph in DRAM, the second copy read from the disk."""

    where = "disk"
    second_tier = ("--second-tier", "ssd")
    all_slots = (8, 16, 32, 64)

    def __init__(self, ours):
        super().__init__(ours.key.removeprefix("farvec ") + ", copy on disk", ours.index,
                         [ours.build_seconds], ours.options, ours.workload)
        self.ours = ours

    def choose(self, target):
        """Answers the list and width for DRAM, as a tier changes no recall, with more in flight."""
        chosen = self.ours.choose(target)
        if chosen is None:
            return None
        lines = self.sweep(0, (chosen["list"],), (chosen["width"],), self.all_slots, CHOOSING_MS)
        return {**chosen, "slots": max(lines, key=lambda line: line["qps"])["slots"]}


def processor_of_children():
    """Answers the seconds that the processors have spent on processes which have ended."""
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    return spent.ru_utime + spent.ru_stime


def build_ours(options, paths, way, failures):
    """{name: (index, seconds of each build, of the processors)}; those whose builds are compared are built in
    turn."""
    built = {}
    for number in range(options.builds):
        for name in options.ours:
            if name in failures or (number > 0 and name not in BUILT_OFTEN):
                continue
            index = paths[0].with_name(name.replace(" ", "-").replace(",", "") + ".index")
            shutil.rmtree(index, ignore_errors=True)
            say(f"building farvec {name}")
            words = [way if word == "WAY" else word for word in OURS[name]]
            start, spent = time.perf_counter(), processor_of_children()
            try:
                call(options.farvec, "build", "graph", "--data", paths[0], "--metric", options.metric,
                     "--list", options.build_list, "--out", index, "--quiet", *words)
            except PeerError as error:
                failures[name] = str(error)
                built.pop(name, None)
                continue
            _, seconds, processor = built.setdefault(name, (index, [], []))
            seconds.append(time.perf_counter() - start)
            processor.append(processor_of_children() - spent)
    return built


# --- the others

def peer_command(options, paths, step, name):
    return [sys.executable, "-B", HERE / "run.py", "--data", paths[0], "--queries", paths[1],
            "--groundtruth", paths[2], "--metric", options.metric, "--k", str(options.k), "--build-list",
            str(options.build_list), "--peers", name, step, name]


def build_peer(options, paths, workload, name):
    folder = harness.cache_folder(workload, name)
    shutil.rmtree(folder, ignore_errors=True)
    done = subprocess.run(peer_command(options, paths, "--build", name), text=True, check=False,
                          stderr=subprocess.PIPE, stdout=subprocess.DEVNULL,
                          timeout=harness.BUILD_TIMEOUT_S,
                          env=dict(os.environ, OMP_NUM_THREADS=str(os.cpu_count())))
    if done.returncode != 0:
        raise PeerError(f"build failed ({done.returncode}): {reason_of(done.stderr)}")


def start_peer(options, paths, workload, name):
    from contenders import PeerContender

    class Started(PeerContender):
        key = name

        def most(self):
            return {"effort": self.efforts[-1], **self.worker.hello["settings"][0]}

    peer = Started(name, harness.cache_folder(workload, name), workload.rows,
                   peer_command(options, paths, "--worker", name))
    peer.efforts = range(10, min(peer.efforts.stop, MOST_LIST + 1))
    peer.index_bytes = round(peer.bytes_per_vector * workload.rows)
    ranked_again = "ranked again" in peer.label
    peer.second_bytes = 4 * workload.rows * workload.dimension if ranked_again else 0
    peer.where = "DRAM" if ranked_again else None
    peer.dram_bytes = peer.index_bytes  # at least
    return peer


def start_database(options, workload, paths):
    import bit_adapters
    import pgvector_bits
    sys.path.append(str(ROOT / "bench" / "hnsw"))
    import pgvector
    install = options.postgres
    if not install:
        found = sorted(pgvector.VENV.glob(pgvector.INSTALL))
        if not found:
            raise PeerError(f"{pgvector.VENV} has no PostgreSQL: {pgvector.PACKAGE} was not installed")
        install = found[0]
    thresholds = bit_adapters.thresholds_of(workload.base, bit_adapters.way_of(workload.base))
    bits = [bit_adapters.packed(rows, thresholds) for rows in (workload.base, workload.queries)]
    return pgvector_bits.Database(install, paths[0].with_name("postgres"), workload, bits,
                                  options.build_list)


def start_pgvector(options, database, kind):
    import pgvector_bits
    contender = pgvector_bits.PgvectorContender(kind, database, options.k)
    contender.where = "DRAM"  # the table, as far as the server's buffer has it: all of it
    return contender


# --- the passes

class Session:
    """Contenders, their chosen parameters, and their points pass by pass. One that fails leaves with its
    reason."""

    def __init__(self, failures):
        self.contenders, self.chosen, self.points, self.failures = [], {}, {}, failures
        self.loads = []

    def attempt(self, key, make):
        if key in self.failures:
            return None
        try:
            return make()
        except (PeerError, OSError, subprocess.SubprocessError) as error:
            self.failures[key] = reason_of(str(error))
            say(f"warning: {key}: {self.failures[key]}")
            return None

    def add(self, key, make):
        contender = self.attempt(key, make)
        if contender is not None:
            self.contenders.append(contender)
        return contender

    def arrange(self, beginnings):
        """Puts the contenders in the order of these beginnings of their keys; others come last."""
        def place(contender):
            return next((number for number, text in enumerate(beginnings)
                         if contender.key == text or contender.key.startswith(text + " ")), len(beginnings))
        self.contenders.sort(key=place)

    def choose(self, target):
        for contender in self.contenders:
            say(f"choosing {contender.label}")
            parameters = self.attempt(contender.key, lambda: contender.choose(target))
            if contender.key not in self.failures:
                self.chosen[contender.key] = parameters or contender.most()

    def passes(self, count):
        for number in range(count):
            self.loads.append(os.getloadavg()[0])
            say(f"pass {number + 1} of {count}, load {self.loads[-1]:.1f}")
            for contender in self.contenders:
                parameters = self.chosen.get(contender.key)
                point = parameters and self.attempt(contender.key, lambda: contender.measure(parameters))
                if point:
                    self.points.setdefault(contender.key, []).append(point)

    def rows(self, target):
        rows = []
        for contender in self.contenders:
            points = self.points.get(contender.key)
            if contender.key in self.failures or not points:
                continue
            tails = [point.p99_us for point in points if point.p99_us is not None]
            spent = [point.processor_us for point in points if point.processor_us is not None]
            rows.append({
                "key": contender.key, "label": contender.label, "parameters": points[0].parameters,
                "recall": points[0].recall, "reached": reaches(points[0].recall, target),
                "rates": [point.qps for point in points], "processor_us": spent,
                "p99_us": statistics.median(tails) if tails else None, "p99s_us": tails,
                "build_seconds": contender.build_seconds, "index_bytes": contender.index_bytes,
                "dram_bytes": contender.dram_bytes, "second_bytes": contender.second_bytes,
                "second_where": contender.where if contender.second_bytes else None})
        return rows


# --- the tables

# The half that chooses is not the half that is measured: a recall that is lower by this still counts.
ROOM = 0.01


def reaches(recall, target):
    return recall >= target - ROOM


def fastest(rows, keys):
    return max((row for row in rows if row["key"] in keys and row["reached"]),
               key=lambda row: statistics.median(row["rates"]), default=None)


def spread(values, form):
    return f"{form(statistics.median(values))} ({form(min(values))} to {form(max(values))})"


def verdict(name, wanted, ratio, at_most, words):
    if ratio is None:
        return f"{name}: no figure, {words}"
    met = ratio <= wanted if at_most else ratio >= wanted
    return f"{name}: {words}; {'at most' if at_most else 'at least'} {wanted:g} is wanted: " \
           f"{'met' if met else 'NOT met'}"


def dram_verdict(rows):
    ours = min((row for row in rows if row["second_where"] == "disk" and row["reached"]),
               key=lambda row: row["dram_bytes"], default=None)
    theirs = min((row for row in rows if row["key"] in F32_HNSW and row["reached"]),
                 key=lambda row: row["dram_bytes"], default=None)
    if not ours or not theirs:
        missing = "bits with the second copy on a disk" if not ours else "an HNSW of f32"
        return verdict("bytes in DRAM", 0.1, None, True, f"{missing} did not reach the recall")
    ratio = ours["dram_bytes"] / theirs["dram_bytes"]
    return verdict("bytes in DRAM", 0.1, ratio, True,
                   f"{ours['label']} has {ours['dram_bytes']:,}, the smallest HNSW of f32 "
                   f"({theirs['label']}) {theirs['dram_bytes']:,}: {ratio:.3f} of them, at "
                   f"{spread(ours['rates'], '{:,.0f}'.format)} searches a second")


def build_verdict(builds, name):
    """`builds`: {name: [seconds of each build, seconds of the processors]} of farvec's kinds."""
    ours, whole = (builds.get(kind, ([], [])) for kind in (name, "f32"))
    if not ours[0] or not whole[0]:
        return verdict("build", 0.2, None, True, f"{name} or f32 was not built")
    ratios, spent = ([a / b for a, b in zip(*times)] for times in zip(ours, whole))
    seconds = "{:.1f} s".format
    return verdict("build", 0.2, statistics.median(ratios), True,
                   f"{name} {spread(ours[0], seconds)}, f32 {spread(whole[0], seconds)}, in turn: "
                   f"{spread(ratios, '{:.3f}'.format)}, by the processors' time "
                   f"{spread(spent, '{:.3f}'.format)}")


def rate_verdict(rows):
    ours = fastest(rows, ("farvec b1 hamming", "farvec b1 jaccard", "farvec b1 hamming, packed"))
    theirs = fastest(rows, ("usearch-b1", "usearch-b1-32", "usearch-b1-jaccard"))
    if not ours or not theirs:
        missing = "farvec's bits" if not ours else "usearch's b1"
        return verdict("rate", 2, None, False, f"{missing} did not reach the recall")
    ratios = [a / b for a, b in zip(ours["rates"], theirs["rates"])]
    spent = [b / a for a, b in zip(ours["processor_us"], theirs["processor_us"])]
    return verdict("rate", 2, statistics.median(ratios), False,
                   f"{ours['label']} over the fastest b1 of usearch ({theirs['label']}), pass by pass: "
                   f"{spread(ratios, '{:.2f}'.format)}, by the processor's time "
                   f"{spread(spent, '{:.2f}'.format)}")


HEAD = ["index", "parameters", "recall", "rate", "processor, us", "p99, us", "build, s", "index bytes",
        "in DRAM", "second copy"]


def cells(row):
    words = " ".join(f"{name}={value:g}" for name, value in row["parameters"].items())
    second = f"{row['second_bytes']:,} ({row['second_where']})" if row["second_bytes"] and \
        row["second_where"] else "-"
    recall = f"{row['recall']:.4f}" + ("" if row["reached"] else ", not reached")
    return [row["label"], words, recall, spread(row["rates"], "{:,.0f}".format),
            spread(row["processor_us"], "{:,.1f}".format) if row["processor_us"] else "-",
            spread(row["p99s_us"], "{:,.0f}".format) if row["p99s_us"] else "-",
            f"{row['build_seconds']:.1f}", f"{row['index_bytes']:,}", f"{row['dram_bytes']:,}", second]


def markdown(facts, rows, failures):
    lines = [HEAD, ["---"] * len(HEAD), *map(cells, rows)]
    busy = "" if facts["load"] < 1.6 else " The machine was BUSY: rates and times say little."
    note = (f"{facts['processor']}, {facts['processors']} processors; load {facts['load']:.1f} at most at "
            f"the beginnings of passes (one thread of this makes about 1).{busy} Commit {facts['commit']}. "
            f"{facts['rows']:,} rows of {facts['dimension']} floats, {facts['metric']}, bits by "
            f"{facts['way']}, {facts['queries']:,} queries: a half chooses, the other is measured. "
            f"Rates and p99 are medians of {facts['passes']} passes in turn (least to most). Graphs were "
            f"built on {facts['processors']} processors with a list of {facts['build_list']}. `processor` is "
            "the processor's time for a query (pgvector's is not known). `index bytes` are those on the "
            "disk; `in DRAM` is what a search keeps without the second copy and without its own buffers: of "
            "libraries the saved index.")
    return "\n".join([f"# Fewer bits on {facts['name']}, recall@{facts['k']} of {facts['target']:g}", "",
                      "```sh", facts["command"], "```", "", note, "",
                      *("| " + " | ".join(line) + " |" for line in lines), "",
                      *(f"- {line}." for line in facts["verdicts"]),
                      *(f"- {key} has no row: {why}." for key, why in failures.items()), ""])


def measure(options, failures):
    import bit_adapters
    from vectors import Workload
    paths = prepare(options)
    options.queries, options.groundtruth = paths[1], paths[2]
    workload = Workload.load(*paths, options.metric)
    workload.build_list = options.build_list
    way = bit_adapters.way_of(workload.base)
    say(f"{workload.rows:,} rows of {workload.dimension}, bits by {way}")
    session, database = Session(failures), None
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # the server is stopped
    try:
        built = build_ours(options, paths, way, failures)
        for name in options.peers:
            say(f"building {name}")
            session.attempt(name, lambda name=name: build_peer(options, paths, workload, name))
        if options.pgvector:
            say("loading pgvector")
            database = session.attempt("pgvector", lambda: start_database(options, workload, paths))
        if database:
            for kind in options.pgvector:
                say(f"building pgvector {kind}")
                session.add(f"pgvector-{kind}", lambda kind=kind: start_pgvector(options, database, kind))
        os.sched_setaffinity(0, {options.core})
        for name in options.peers:
            session.add(name, lambda name=name: start_peer(options, paths, workload, name))
        for name, (index, seconds, _) in built.items():
            ours = Ours(name, index, seconds, options, workload)
            session.add(ours.key, lambda ours=ours: ours)
            if name in ON_DISK:
                session.add(f"{ours.key}, copy on disk", lambda ours=ours: OursOnDisk(ours))
        session.arrange(["farvec", *options.peers])
        session.choose(options.recall)
        session.passes(options.passes)
    finally:
        for contender in session.contenders:
            contender.close()
        if database:
            database.stop()
    rows = session.rows(options.recall)
    return workload, way, rows, session, {name: times for name, (_, *times) in built.items()}


def enter_environment(options):
    """Runs this script again with the environment's interpreter, with the peers that are there."""
    packages = {**harness.PACKAGES, **harness.BIT_PACKAGES}
    wanted = {name: packages[name] for name in options.peers}
    failures = harness.install(harness.BUILD / "peers-venv", {**wanted, "ranking again": "faiss-cpu"})
    if "ranking again" in failures:
        raise SystemExit(f"error: faiss-cpu ranks again for every library: {failures['ranking again']}")
    if options.pgvector and not options.postgres:
        sys.path.append(str(ROOT / "bench" / "hnsw"))
        import pgvector
        failures |= {f"pgvector-{name}": why for _, why in
                     harness.install(pgvector.VENV, {"pgvector": pgvector.PACKAGE}).items()
                     for name in options.pgvector}
    python = str(harness.BUILD / "peers-venv" / "bin" / "python")
    os.environ.update(OMP_NUM_THREADS="1", OMP_WAIT_POLICY="passive", FARVEC_PEERS=json.dumps(failures))
    os.execv(python, [python, "-B", __file__, *sys.argv[1:]])


def main():
    options = parse_arguments()
    if "FARVEC_PEERS" not in os.environ:
        enter_environment(options)
    failures = json.loads(os.environ["FARVEC_PEERS"])
    began = time.time()
    workload, way, rows, session, builds = measure(options, failures)
    verdicts = [dram_verdict(rows), *(build_verdict(builds, name) for name in ON_DISK), rate_verdict(rows)]
    commit = subprocess.run(["git", "-C", ROOT, "rev-parse", "--short=12", "HEAD"], text=True,
                            capture_output=True, check=False).stdout.strip()
    facts = {"name": pathlib.Path(options.data).resolve().name, "rows": workload.rows,
             "dimension": int(workload.dimension),
             "metric": options.metric, "way": way, "target": options.recall, "k": options.k,
             "queries": len(workload.queries), "passes": options.passes, "build_list": options.build_list,
             "processor": harness.cpu_model(), "processors": os.cpu_count(), "commit": commit,
             "load": max(session.loads), "command": "bench/peers/bits.py " + " ".join(sys.argv[1:]),
             "seconds": time.time() - began, "builds": builds, "verdicts": verdicts}
    page = markdown(facts, rows, failures)
    print(page)
    if options.out:
        prefix = pathlib.Path(options.out)
        prefix.parent.mkdir(parents=True, exist_ok=True)
        prefix.with_name(prefix.name + ".json").write_text(
            json.dumps({**facts, "failures": failures, "table": rows}, indent=1) + "\n")
        prefix.with_name(prefix.name + ".md").write_text(page)


if __name__ == "__main__":
    main()
