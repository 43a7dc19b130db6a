#!/usr/bin/env python3
"""One connection to PostgreSQL: farvec's index beside pgvector's HNSW, in one server, at equal recall.

Example:
    bench/postgres/compare.py --data data/sift1m --metric l2 --rows 100000 --out build/sql-sift
    bench/postgres/compare.py --data data/text768 --metric cosine --recalls 0.99 --out build/sql-text

The server is PostgreSQL 18 with pgvector 0.8.5 from PyPI, in a folder of its own, and the extension is
made for it. Each index has a table of its own with the same rows. Everything is in memory: the server's
buffer is larger than tables and indexes. The client is one connection over a Unix socket, with a prepared
statement and binary parameters (one_connection.c, which needs a C compiler and libpq). ef_search and
farvec.search_list are the least that reach each recall on the first half of the queries; figures are of
the second half, in passes in turn.

Beside them stand ten rows that are fetched by primary key, and the same searches of farvec's index asked
of the node directly, where it is on one (`farvec-node`). `--kinds` says what is measured.
"""
import argparse
import json
import os
import pathlib
import signal
import statistics
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
for room in ("bench/hnsw", "bench/peers", "tests/postgres"):
    sys.path.append(str(ROOT / room))
KINDS = ("pgvector", "farvec", "farvec-node")
MEMORY_MIB = 4096
BLOCK = 10_000
MOST_LIST = 1000  # pgvector takes no more
TIMEOUT_S = 3600
OPERATORS = {"l2": ("l2", "<->"), "ip": ("ip", "<#>"), "cosine": ("cosine", "<=>")}


def parse_arguments(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--data", required=True, help="folder with base.* and query.*")
    add("--metric", choices=tuple(OPERATORS), required=True)
    add("--rows", type=int, help="the first rows of base.* [all]")
    add("--queries", type=int, default=1000, help="the first queries (%(default)s)")
    add("--kinds", nargs="+", default=list(KINDS), choices=KINDS)
    add("--type", choices=("vector", "halfvec"), default="vector")
    add("--recalls", default="0.90,0.95,0.99", help="(%(default)s)")
    add("--k", type=int, default=10)
    add("--m", type=int, default=16, help="of pgvector's HNSW; farvec's degree is twice as much")
    add("--ef-construction", type=int, default=64, help="of both (%(default)s)")
    add("--passes", type=int, default=5)
    add("--core", type=int, help="server and client share this processor [all of them]")
    add("--bin", default=str(ROOT / "build/release/bin"), help="folder with farvec's programs")
    add("--out", help="write OUT.json and OUT.md")
    options = parser.parse_args(arguments)
    try:
        options.recalls = [float(text) for text in options.recalls.split(",")]
    except ValueError as error:
        parser.error(str(error))
    for name in ("queries", "k", "m", "ef_construction", "passes"):
        if getattr(options, name) < 1:
            parser.error(f"--{name.replace('_', '-')} is at least 1")
    if options.queries < 2:
        parser.error("--queries is at least 2: a half chooses, the other is measured")
    return options


def say(text):
    print(f"{time.strftime('%H:%M:%S')} {text}", file=sys.stderr, flush=True)


# --- the client

def make_client(pg_config, folder):
    """Compiles the client; answers its path. Throws SystemExit with the compiler's last line."""
    from private_install import config
    program = pathlib.Path(folder) / "one_connection"
    done = subprocess.run(
        ["cc", "-O2", "-o", program, HERE / "one_connection.c", f"-I{config(pg_config, 'includedir')}",
         f"-L{config(pg_config, 'libdir')}", f"-Wl,-rpath,{config(pg_config, 'libdir')}", "-lpq"],
        capture_output=True, text=True, check=False, timeout=TIMEOUT_S)
    if done.returncode != 0:
        raise SystemExit(f"error: the client cannot be compiled: {done.stderr.strip()}")
    return program


class Client:
    """Runs one statement for some queries; each call is a connection of its own."""

    def __init__(self, program, server, k):
        self.program, self.server, self.k = program, server, k

    def ask(self, statement, queries, which, passes=1, settings=None):
        """(microseconds of each call, ids of each query)."""
        import numpy as np
        words = [f"{name} = {value}" for name, value in (settings or {}).items()]
        done = subprocess.run(
            [self.program, statement, queries, str(which.start), str(len(which)), str(passes),
             str(self.k), *words], capture_output=True, check=False, timeout=TIMEOUT_S,
            env=self.server.environment({}))
        if done.returncode != 0:
            raise SystemExit(f"error: {done.stderr.decode(errors='replace').strip()}")
        calls = len(which) * passes
        return (np.frombuffer(done.stdout, np.float64, calls),
                np.frombuffer(done.stdout, np.int64, len(which) * self.k, 8 * calls).reshape(-1, self.k))


# --- what is compared

class Contender:
    """One index over a table of its own."""

    setting = "hnsw.ef_search"

    def __init__(self, kind, options, workload, server, client):
        self.kind, self.options, self.workload = kind, options, workload
        self.server, self.client = server, client
        self.table = "items_" + kind.replace("-", "_")
        self.classes, self.operator = OPERATORS[options.metric]
        self.seconds = self.bytes = self.node = None
        self.lists, self.times, self.recalls = {}, {}, {}

    def load(self):
        import table
        self.server.ask(f"CREATE TABLE {self.table} (id int PRIMARY KEY, "
                        f"v {self.options.type}({self.workload.dimension}))")
        for start in range(0, self.workload.rows, BLOCK):
            rows = self.workload.base[start:start + BLOCK]
            self.server.ask(f"COPY {self.table} FROM STDIN (FORMAT binary)",
                            rows=table.copy_bytes(start, rows, self.options.type))
        self.server.ask(f"VACUUM ANALYZE {self.table}", "CHECKPOINT")

    def build(self):
        workers = os.cpu_count() - 1
        self.server.ask(f"ALTER TABLE {self.table} SET (parallel_workers = {workers})")
        began = time.perf_counter()
        self.server.ask(f"SET maintenance_work_mem = '{MEMORY_MIB}MB'",
                        f"SET max_parallel_maintenance_workers = {workers}", self.create_statement())
        self.seconds = time.perf_counter() - began
        self.server.ask("CHECKPOINT")
        self.bytes = self.index_bytes()

    def create_statement(self):
        return (f"CREATE INDEX {self.table}_v ON {self.table} USING hnsw (v {self.options.type}_"
                f"{self.classes}_ops) WITH (m = {self.options.m}, "
                f"ef_construction = {self.options.ef_construction})")

    def index_bytes(self):
        return int(self.server.ask(f"SELECT pg_relation_size('{self.table}_v')")[0])

    def statement(self):
        return (f"SELECT id FROM {self.table} ORDER BY v {self.operator} $1::{self.options.type} "
                f"LIMIT {self.options.k}")

    def settings(self, length):
        return {self.setting: length, "enable_seqscan": "off", "jit": "off"}

    def check_plan(self):
        """A plan without the index would be measured as if it had it."""
        plan, _ = self.server.ask(
            f"EXPLAIN SELECT id FROM {self.table} ORDER BY v {self.operator} "
            f"(SELECT v FROM {self.table} LIMIT 1) LIMIT {self.options.k}", settings={"enable_seqscan": "off"})
        if f"{self.table}_v" not in plan:
            raise SystemExit(f"error: PostgreSQL does not use {self.kind}'s index: {plan}")

    def find(self, half, length, passes=1):
        """(microseconds, recall) of a half of the queries."""
        which = self.workload.halves()[half]
        times, ids = self.client.ask(self.statement(), self.options.query_file, which, passes,
                                     self.settings(length))
        return times, self.workload.recall(ids, which, self.options.k)

    def choose(self):
        import measure
        known = {}

        def recall_of(length):
            if length not in known:
                known[length] = self.find(0, length)[1]
            return known[length]

        for target in self.options.recalls:
            self.lists[target] = measure.least_ef(recall_of, target, self.options.k)

    def measure(self):
        for target, length in self.lists.items():
            if length is not None:
                times, self.recalls[target] = self.find(1, length)
                self.times.setdefault(target, []).append(times)


class Farvec(Contender):
    setting = "farvec.search_list"

    def create_statement(self):
        return (f"CREATE INDEX {self.table}_v ON {self.table} USING farvec (v {self.options.type}_"
                f"{self.classes}_ops) WITH (m = {self.options.m}, "
                f"ef_construction = {self.options.ef_construction}{self.place()})")

    def place(self):
        return ""

    def index_bytes(self):
        index = f"{self.table}_v"
        return int(self.server.ask(f"SELECT (farvec_stats('{index}')->'store'->>'bytes')::bigint + "
                                   f"pg_relation_size('{index}')")[0])


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
                        "--metric", self.options.metric, "--type", "f32" if self.options.type == "vector"
                        else "f16", "--dimension", str(self.workload.dimension), "--degree",
                        str(2 * self.options.m), "--list", str(self.options.ef_construction)], check=True,
                       stdout=subprocess.DEVNULL, timeout=TIMEOUT_S)
        self.node = subprocess.Popen(
            [programs / "farvec-compute-node", "--collection", top / "set", "--listen", self.address,
             "--threads", "1"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        end = time.monotonic() + 60
        while not (top / "node.socket").exists():
            if time.monotonic() > end or self.node.poll() is not None:
                raise SystemExit("error: the compute node does not start")
            time.sleep(0.05)
        (top / "node.socket").chmod(0o777)

    def place(self):
        return f", node = '{self.address}'"

    def index_bytes(self):
        """A node does not say how many bytes its collection has; its folder does."""
        every = pathlib.Path(self.folder.name).rglob("*")
        files = sum(path.stat().st_size for path in every if path.is_file())
        return files + int(self.server.ask(f"SELECT pg_relation_size('{self.table}_v')")[0])

    def close(self):
        self.node.terminate()
        self.node.wait(timeout=60)
        self.folder.cleanup()


# --- the page

def middle(values, form="{:,.0f}"):
    most, least = form.format(max(values)), form.format(min(values))
    return f"{form.format(statistics.median(values))} ({least} to {most})"


def rates(passes):
    return [1e6 / statistics.fmean(times) for times in passes]


def tails(passes):
    return [sorted(times)[int(0.99 * len(times))] for times in passes]


def rows_of(contenders, options):
    found = []
    for contender in contenders:
        for target in options.recalls:
            passes = contender.times.get(target)
            found.append({
                "kind": contender.kind, "target": target, "list": contender.lists.get(target),
                "recall": contender.recalls.get(target), "build_seconds": contender.seconds,
                "bytes": contender.bytes, "rates": rates(passes) if passes else [],
                "p99s_us": [float(value) for value in tails(passes)] if passes else []})
    return found


def ratios(rows, target):
    """farvec's rates over pgvector's, pass by pass: {kind: ratios}."""
    at = {row["kind"]: row["rates"] for row in rows if row["target"] == target and row["rates"]}
    if "pgvector" not in at:
        return {}
    return {kind: [a / b for a, b in zip(mine, at["pgvector"])] for kind, mine in at.items()
            if kind != "pgvector"}


def markdown(facts, rows):
    head = ["index", "recall wanted", "list", "recall", "searches a second", "p99, us", "build, s", "bytes"]
    lines = [head, ["---"] * len(head)]
    for row in rows:
        lines.append([row["kind"], f"{row['target']:g}", f"{row['list'] or '-'}",
                      f"{row['recall']:.4f}" if row["recall"] is not None else "not reached",
                      middle(row["rates"]) if row["rates"] else "-",
                      middle(row["p99s_us"]) if row["p99s_us"] else "-",
                      f"{row['build_seconds']:.1f}", f"{row['bytes']:,}"])
    said = []
    for target in facts["recalls"]:
        for kind, values in ratios(rows, target).items():
            said.append(f"- At {target:g} {kind} has {middle(values, '{:.2f}')} times the rate of pgvector, "
                        "pass by pass.")
    busy = "" if facts["load"] < 2.2 else " The machine was BUSY: rates and times say little."
    note = (f"{facts['processor']}, {facts['processors']} processors, load {facts['load']:.1f} at most at the "
            f"beginnings of passes.{busy} {facts['server']}, pgvector {facts['pgvector']}. {facts['rows']:,} "
            f"rows of `{facts['type']}({facts['dimension']})`, {facts['metric']}, {facts['queries']:,} "
            f"queries, m {facts['m']}, ef_construction {facts['ef_construction']}. Ten rows by primary key "
            f"take {facts['key_us']:.0f} us. Commit {facts['commit']}.")
    return "\n".join([f"# One connection to PostgreSQL on {facts['name']}", "", "```sh", facts["command"],
                      "```", "", note, "", *("| " + " | ".join(line) + " |" for line in lines), "", *said, ""])


# --- the run

def prepare(options, folder):
    """Rows and queries as floats with their true neighbours, as files; answers the Workload."""
    import bits
    from vectors import Workload, read_vectors
    base = read_vectors(bits.file_of(options.data, "base"))
    queries = read_vectors(bits.file_of(options.data, "query"))
    rows = options.rows or len(base)
    if rows > len(base):
        raise SystemExit(f"error: {options.data} has {len(base):,} rows, and not {rows:,}")
    paths = [folder / name for name in ("base.fbin", "query.fbin", "gt100.ibin")]
    bits.write_floats(paths[0], base[:rows])
    bits.write_floats(paths[1], queries[:options.queries])
    bits.call(str(pathlib.Path(options.bin) / "farvec"), "dataset", "groundtruth", "--data", paths[0],
              "--queries", paths[1], "--metric", options.metric, "--k", max(100, options.k), "--out", paths[2])
    options.query_file = paths[1]
    return Workload.load(*paths, options.metric)


def start_server(folder, programs):
    """(a server with both extensions, its pg_config)."""
    from pgvector_installs import build_extension, pg_config_of
    from private_install import private_install
    import server
    pg_config = pg_config_of(18)
    say("making the extension for PostgreSQL 18")
    build_extension(pg_config, folder / "extension")
    for library in (ROOT / "build/release/client/c").glob("libfarvec.so.0"):
        (folder / "extension" / library.name).symlink_to(library)
    install = private_install(pg_config, folder / "extension", folder / "wheels/package/install")
    made = server.Server(install, folder / "data")
    made.create("--no-sync")
    made.start({"fsync": "off", "shared_buffers": f"{MEMORY_MIB}MB", "shared_preload_libraries": "farvec",
                "maintenance_work_mem": f"{MEMORY_MIB}MB", "farvec.engine_memory": f"{MEMORY_MIB}MB",
                "farvec.engine": pathlib.Path(programs).resolve() / "farvec-postgres-engine"})
    made.ask("CREATE EXTENSION vector", "CREATE EXTENSION farvec")
    return made, pg_config


def measure_all(options, contenders, client):
    """Microseconds of ten rows by key, and the load at the beginnings of the passes."""
    for contender in contenders:
        say(f"loading and building {contender.kind}")
        contender.load()
        contender.build()
        contender.check_plan()
        say(f"choosing lists of {contender.kind}: built in {contender.seconds:.1f} s")
        contender.choose()
    loads, keys = [], []
    for number in range(options.passes):
        loads.append(os.getloadavg()[0])
        say(f"pass {number + 1} of {options.passes}, load {loads[-1]:.1f}")
        times, _ = client.ask(f"SELECT id FROM {contenders[0].table} WHERE id = ANY (ARRAY(SELECT $1::int + "
                              "i * 7 FROM generate_series(0, 9) i))", "-", range(1, 1001))
        keys.append(float(statistics.median(times)))
        for contender in contenders:
            contender.measure()
    return statistics.median(keys), max(loads)


def run(options, folder):
    import run as harness
    workload = prepare(options, folder)
    if options.core is not None:
        os.sched_setaffinity(0, {options.core})
    server, pg_config = start_server(folder, options.bin)
    contenders = []
    try:
        client = Client(make_client(pg_config, folder), server, options.k)
        makes = {"pgvector": Contender, "farvec": Farvec, "farvec-node": FarvecOnNode}
        for kind in options.kinds:
            contenders.append(makes[kind](kind, options, workload, server, client))
        key_us, load = measure_all(options, contenders, client)
        version = server.ask("SELECT extversion FROM pg_extension WHERE extname = 'vector'")[0]
        said = server.ask("SHOW server_version")[0]
    finally:
        server.stop()
        for contender in contenders:
            if contender.node is not None:
                contender.close()
    commit = subprocess.run(["git", "-C", ROOT, "rev-parse", "--short=12", "HEAD"], text=True,
                            capture_output=True, check=False).stdout.strip()
    facts = {"name": pathlib.Path(options.data).resolve().name, "rows": workload.rows,
             "dimension": int(workload.dimension), "metric": options.metric, "type": options.type,
             "queries": len(workload.queries), "m": options.m, "ef_construction": options.ef_construction,
             "recalls": options.recalls, "k": options.k, "passes": options.passes, "load": load,
             "key_us": key_us, "server": f"PostgreSQL {said}", "pgvector": version, "commit": commit,
             "processor": harness.cpu_model(), "processors": os.cpu_count(),
             "command": "bench/postgres/compare.py " + " ".join(sys.argv[1:])}
    return facts, rows_of(contenders, options)


def enter_environment():
    """Runs this script again with the interpreter that has NumPy, where this one has none."""
    import pgvector
    made = subprocess.run([ROOT / "scripts/python/venv.sh", pgvector.VENV, "numpy", pgvector.PACKAGE],
                          check=False, stdout=subprocess.PIPE, text=True)
    if made.returncode != 0:
        raise SystemExit(made.returncode)
    if pathlib.Path(sys.prefix).resolve() != pgvector.VENV.resolve():
        python = made.stdout.strip()
        os.execv(python, [python, "-B", __file__, *sys.argv[1:]])


def main():
    options = parse_arguments()
    enter_environment()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # the server is stopped
    with tempfile.TemporaryDirectory(prefix="farvec-sql-") as name:
        folder = pathlib.Path(name)
        folder.chmod(0o755)
        facts, rows = run(options, folder)
    page = markdown(facts, rows)
    print(page)
    if options.out:
        prefix = pathlib.Path(options.out)
        prefix.parent.mkdir(parents=True, exist_ok=True)
        prefix.with_name(prefix.name + ".json").write_text(
            json.dumps({**facts, "table": rows}, indent=1) + "\n")
        prefix.with_name(prefix.name + ".md").write_text(page)


if __name__ == "__main__":
    main()
