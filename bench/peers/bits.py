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
sent one by one. `farvec ..., copy ...` has the bits in DRAM and the second copy elsewhere: on the disk of the
build folder (disk, O_DIRECT), in a mapping that processes share, as a memory node of this machine has it
(shared memory), or in DRAM that is read through a model of RDMA (modelled RDMA, `emulated:rdma`).
"""
import argparse
import json
import os
import pathlib
import shutil
import signal
import statistics
import subprocess
import sys
import time

import run as harness
from bits_ours import (ELSEWHERE, IN_DRAM, MEASURED_APART, MOST_LIST, OURS, Ours, OursElsewhere, build_ours,
                       call, say)
from bits_tables import markdown, reaches, verdicts
from worker import PeerError, reason_of

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
WORK = ROOT / "build" / "peers-bits"
PEERS = ("hnswlib", "usearch", "usearch-f16", "usearch-b1", "usearch-b1-32", "usearch-b1-jaccard",
         "faiss-bits", "faiss-bits-32", "faiss-bits-flat")
PGVECTOR = ("vector", "halfvec", "bit-hamming", "bit-jaccard")


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
    peer.where = IN_DRAM if ranked_again else None
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
    contender.where = IN_DRAM  # the table, as far as the server's buffer has it: all of it
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
            for where in ELSEWHERE if name in MEASURED_APART else ():
                session.add(f"{ours.key}, copy {where}",
                            lambda ours=ours, where=where: OursElsewhere(ours, where))
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
    commit = subprocess.run(["git", "-C", ROOT, "rev-parse", "--short=12", "HEAD"], text=True,
                            capture_output=True, check=False).stdout.strip()
    facts = {"name": pathlib.Path(options.data).resolve().name, "rows": workload.rows,
             "dimension": int(workload.dimension),
             "metric": options.metric, "way": way, "target": options.recall, "k": options.k,
             "queries": len(workload.queries), "passes": options.passes, "build_list": options.build_list,
             "processor": harness.cpu_model(), "processors": os.cpu_count(), "commit": commit,
             "load": max(session.loads), "command": "bench/peers/bits.py " + " ".join(sys.argv[1:]),
             "seconds": time.time() - began, "builds": builds, "verdicts": verdicts(rows, builds)}
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
