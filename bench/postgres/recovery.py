#!/usr/bin/env python3
"""Recovery of farvec's index in PostgreSQL: the server is killed, and the first search after it is timed.

Example:
    bench/postgres/recovery.py --data ../shared/data/sift1m --rows 200000 --fresh 100000 --entries 10000000 \\
        --extension build/release/postgres --out build/recovery

A table has --rows vectors of the data and, up to --entries in all, rows whose vector is null: these have
entries in the index's status pages as others do, and nothing in the engine. Then the index is built. For
each round, --fresh further vectors come while the engine is away, so that it lacks all of them, and each
process of the server is killed. It starts again, and from its line "ready to accept connections" on is
timed: until the engine answers, each phase of catching up by the server's own line, and the first search
until its answer. The search asks for a fresh row by its own vector, and has to find it. Further searches
ask for fresh and for old rows while the engine makes a segment of the fresh ones, and after that.

The files are in the system's cache. The time until the server is ready, in which it replays its WAL, is
told apart.
"""
import argparse
import array
import datetime
import json
import os
import pathlib
import re
import signal
import statistics
import struct
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
for room in ("bench/hnsw", "tests/postgres"):
    sys.path.append(str(ROOT / room))

from server import adopt_orphans, wait_for_orphans  # noqa: E402

BLOCK = 10_000
PATIENCE_S = 600
READY = "database system is ready to accept connections"
CAUGHT_UP = re.compile(
    r'has caught up in ([\d.]+) ms: its store was asked in ([\d.]+) ms, (\d+) pages were read in ([\d.]+) ms '
    r'and compared in ([\d.]+) ms, (\d+) rows \((\d+) bytes of vectors\) were read in ([\d.]+) ms and told '
    r'in ([\d.]+) ms')
PHASES = ("caught_up_ms", "asked_ms", "pages", "pages_ms", "compared_ms", "rows", "bytes", "read_ms", "told_ms")
BY_INDEX = "SET enable_seqscan = off; SET enable_sort = off;"


def parse_arguments(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--data", required=True, help="folder with base.fbin or base.u8bin")
    add("--rows", type=int, default=100_000, help="vectors that the index is built of (%(default)s)")
    add("--fresh", type=int, default=100_000, help="vectors that come later, each round (%(default)s)")
    add("--entries", type=int, default=0, help="entries before the fresh ones; beyond --rows they are of null "
        "vectors [--rows]")
    add("--rounds", type=int, default=3)
    add("--pg-config", default="pg_config")
    add("--extension", default=str(ROOT / "build/release/postgres"), help="folder with farvec.so")
    add("--bin", default=str(ROOT / "build/release/bin"), help="folder with farvec's programs")
    add("--memory", default="4GB", help="farvec.engine_memory (%(default)s)")
    add("--out", help="write OUT.json and OUT.md")
    options = parser.parse_args(arguments)
    options.entries = max(options.entries, options.rows)
    for name in ("rows", "fresh", "rounds"):
        if getattr(options, name) < 1:
            parser.error(f"--{name} is at least 1")
    return options


def say(text):
    print(f"{time.strftime('%H:%M:%S')} {text}", file=sys.stderr, flush=True)


def wait_until(what, holds, pause_s=0.001):
    end = time.monotonic() + PATIENCE_S
    while not holds():
        if time.monotonic() > end:
            raise SystemExit(f"error: not within {PATIENCE_S} s: {what}")
        time.sleep(pause_s)


def children_of(pid):
    try:
        return [int(word) for word in pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []


def is_there(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] not in "ZX"
    except OSError:
        return False


def cpu_ms(pid):
    """What the threads of a process have had of processors, whatever else ran."""
    sum_ns = 0
    for path in pathlib.Path(f"/proc/{pid}/task").glob("*/schedstat"):
        try:
            sum_ns += int(path.read_text().split()[0])
        except OSError:
            pass  # a thread has ended
    return sum_ns / 1e6


def title_of(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/cmdline").read_text()
    except OSError:
        return ""


class Vectors:
    """Floats of a file as PostgreSQL takes them in COPY. No NumPy: the system's Python runs this."""

    def __init__(self, folder):
        kinds = {".fbin": "f", ".u8bin": "B"}
        paths = [folder / ("base" + end) for end in kinds if (folder / ("base" + end)).exists()]
        if not paths:
            raise SystemExit(f"error: {folder} has no base.fbin and no base.u8bin")
        self.kind = kinds[paths[0].suffix]
        self.file = open(paths[0], "rb")
        self.count, self.dimension = struct.unpack("<ii", self.file.read(8))

    def __len__(self):
        return self.count

    def copy_bytes(self, first, count, first_id):
        numbers = array.array(self.kind)
        self.file.seek(8 + numbers.itemsize * self.dimension * first)
        numbers.fromfile(self.file, count * self.dimension)
        floats = array.array("f", numbers)
        floats.byteswap()
        every = floats.tobytes()
        size = 4 * self.dimension
        parts = [b"PGCOPY\n\xff\r\n\0" + bytes(8)]
        for i in range(count):
            parts.append(struct.pack(">hiiihh", 2, 4, first_id + i, 4 + size, self.dimension, 0))
            parts.append(every[i * size:(i + 1) * size])
        return b"".join([*parts, b"\xff\xff"])


def processor():
    names = re.findall(r"model name\s*: (.*)", pathlib.Path("/proc/cpuinfo").read_text())
    return names[0] if names else "an unknown processor"


def commit():
    return subprocess.run(["git", "-C", ROOT, "rev-parse", "--short=12", "HEAD"], text=True,
                          capture_output=True, check=False).stdout.strip()


class Recovery:
    """A server with a table of vectors, which is killed and looked at."""

    def __init__(self, options, base, server):
        self.options, self.base, self.server = options, base, server
        self.next = 0  # vector of the data
        self.last_id = 0

    # --- the table

    def copy(self, count):
        """Takes further vectors; answers the ids of the first and after the last."""
        first = self.last_id
        for start in range(self.next, self.next + count, BLOCK):
            rows = min(BLOCK, self.next + count - start)
            self.server.ask("COPY items FROM STDIN (FORMAT binary)",
                            rows=self.base.copy_bytes(start, rows, self.last_id))
            self.last_id += rows
        self.next += count
        return first, self.last_id

    def make(self):
        self.server.ask("CREATE EXTENSION farvec",
                        f"CREATE TABLE items (id int PRIMARY KEY, v vector({self.base.dimension}))")
        self.old = self.copy(self.options.rows)
        nulls = self.options.entries - self.options.rows
        if nulls > 0:
            say(f"{nulls:,} rows with null vectors")
            self.server.ask(f"INSERT INTO items SELECT {self.last_id} + i, NULL "
                            f"FROM generate_series(0, {nulls} - 1) i")
            self.last_id += nulls
        say("the index is built")
        began = time.perf_counter()
        self.server.ask("SET maintenance_work_mem = '1GB'",
                        "CREATE INDEX items_v ON items USING farvec (v vector_l2_ops)", "VACUUM ANALYZE items")
        self.build_s = time.perf_counter() - began
        # Each old row is searched for once, so that the first round begins with a segment in use.
        self.find(self.old, 10)

    # --- searches

    def find(self, ids, count):
        """Milliseconds of searches for rows by their own vectors, each of which has to find its row."""
        times = []
        step = max(1, (ids[1] - ids[0]) // count)
        for wanted in range(ids[0], ids[1], step):
            vector = self.server.one(f"SELECT v FROM items WHERE id = {wanted};")
            ms = self.search(wanted, vector)
            if ms is None:
                raise SystemExit(f"error: row {wanted} is not found")
            times.append(ms)
        return times

    def search(self, wanted, vector):
        """Milliseconds; None where another row is found. Two rows may have one vector."""
        began = time.perf_counter()
        distance = self.server.one(BY_INDEX + f"SELECT v <-> '{vector}' FROM items ORDER BY v <-> '{vector}' LIMIT 1;")
        took = 1e3 * (time.perf_counter() - began)
        return took if float(distance) == 0 else None

    def is_planned(self):
        from postgres_server import SqlError
        try:
            plan = self.server.sql(BY_INDEX + "EXPLAIN SELECT id FROM items ORDER BY v <-> "
                                   f"'{self.zeros}' LIMIT 1;")
        except SqlError:
            return False
        return "Index Scan using items_v" in "".join(plan)

    @property
    def zeros(self):
        return "[" + ",".join(["0"] * self.base.dimension) + "]"

    # --- ends

    def postmaster(self):
        return int((self.server.folder / "postmaster.pid").read_text().split()[0])

    def worker(self):
        found = []
        wait_until("the worker is there", lambda: found.extend(
            pid for pid in children_of(self.postmaster()) if "farvec engine" in title_of(pid)) or found)
        return found[0]

    def engine(self, worker):
        found = []
        wait_until("the engine is there", lambda: found.extend(children_of(worker)) or found)
        return found[0]

    def insert_behind_its_back(self):
        """Rows come while the engine is away: entries are written, and it is told nothing."""
        worker = self.worker()
        engine = self.engine(worker)
        os.kill(worker, signal.SIGSTOP)
        os.kill(engine, signal.SIGKILL)
        wait_until("the engine has ended", lambda: not is_there(engine))
        self.server.end_sessions()
        return self.copy(self.options.fresh)

    def kill(self):
        postmaster = self.postmaster()
        every = [postmaster, *children_of(postmaster)]
        self.server.end_sessions()
        for pid in every:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        wait_until("all have ended", lambda: not any(is_there(pid) for pid in every))
        wait_for_orphans(every)

    def ready_at(self, text):
        """When the server said that it is ready, in seconds since 1970."""
        line = [line for line in text.splitlines() if READY in line][-1]
        moment = datetime.datetime.strptime(" ".join(line.split()[:2]), "%Y-%m-%d %H:%M:%S.%f")
        return moment.replace(tzinfo=datetime.timezone.utc).timestamp()

    def round(self):
        fresh = self.insert_behind_its_back()
        wanted = fresh[1] - 1
        vector = self.server.one(f"SELECT v FROM items WHERE id = {wanted};")
        said = len(self.server.log.read_text())
        self.kill()
        began = time.time()
        if self.server.control("start", "--timeout", str(PATIENCE_S), "--log", self.server.log) != 0:
            raise SystemExit("error: the server does not start again: " + self.server.log.read_text()[said:])
        ready = self.ready_at(self.server.log.read_text()[said:])
        self.server.sql("SELECT 1;")
        wait_until("the index is planned", self.is_planned)
        planned = time.time()
        asked = (int(self.server.one("SELECT pg_backend_pid();")), self.engine(self.worker()))
        before = [cpu_ms(pid) for pid in asked]
        began_search = time.time()
        first_ms = self.search(wanted, vector)
        answered = time.time() - (began_search - planned)
        backend_ms, engine_ms = (cpu_ms(pid) - was for pid, was in zip(asked, before))
        if first_ms is None:
            raise SystemExit("error: the first answer is wrong")
        found = {"replay_ms": 1e3 * (ready - began), "engine_ms": 1e3 * (planned - ready),
                 "first_search_ms": first_ms, "backend_cpu_ms": backend_ms, "engine_cpu_ms": engine_ms,
                 "ready_to_answer_ms": 1e3 * (answered - ready)}
        lines = [CAUGHT_UP.search(line) for line in self.server.log.read_text()[said:].splitlines()]
        phases = [line.groups() for line in lines if line is not None]
        if len(phases) != 1:
            raise SystemExit(f"error: the server's log has {len(phases)} lines about catching up")
        found.update({name: float(value) for name, value in zip(PHASES, phases[0])})
        found["search_fresh_ms"] = statistics.median(self.find(fresh, 20))
        found["search_old_ms"] = statistics.median(self.find(self.old, 20))
        bytes_before = self.store()["bytes"]
        began = time.perf_counter()
        wait_until("the rows are in segments", lambda: self.store()["bytes"] > bytes_before
                   or time.perf_counter() - began > 60, pause_s=0.5)
        found["segment_s"] = time.perf_counter() - began
        time.sleep(5)
        found["search_later_ms"] = statistics.median(self.find(fresh, 20))
        sound = json.loads(self.server.one("SELECT farvec_stats('items_v');"))["store"]
        found["stored"] = sound["stored"]
        return found

    def store(self):
        return json.loads(self.server.one("SELECT farvec_stats('items_v');"))["store"]


def markdown(facts, rounds):
    names = list(rounds[0])
    lines = [["what", *(f"round {i + 1}" for i in range(len(rounds)))]]
    lines.append(["---"] * len(lines[0]))
    for name in names:
        lines.append([name, *(f"{one[name]:,.1f}" if isinstance(one[name], float) else f"{one[name]:,}"
                              for one in rounds)])
    note = (f"{facts['processor']}, {facts['processors']} processors, load {facts['load']:.1f} at most. "
            f"PostgreSQL {facts['server']}. {facts['rows']:,} vectors of {facts['dimension']} dimensions and "
            f"{facts['entries'] - facts['rows']:,} null ones, then {facts['fresh']:,} fresh ones each round. "
            f"Commit {facts['commit']}.")
    return "\n".join(["# Recovery of an index in PostgreSQL", "", "```sh", facts["command"], "```", "", note, "",
                      *("| " + " | ".join(line) + " |" for line in lines), ""])


def run(options):
    from postgres_server import Postgres
    adopt_orphans()
    base = Vectors(pathlib.Path(options.data))
    needed = options.rows + options.rounds * options.fresh
    if len(base) < needed:
        raise SystemExit(f"error: {options.data} has {len(base):,} vectors, and {needed:,} are needed")
    server = Postgres(options.pg_config, pathlib.Path(options.extension), **{
        "fsync": "on", "max_wal_size": "16GB", "shared_buffers": "2GB",
        "shared_preload_libraries": "farvec", "log_timezone": "UTC",
        "farvec.engine": pathlib.Path(options.bin) / "farvec-postgres-engine",
        "farvec.engine_memory": options.memory})
    load = os.getloadavg()[0]
    try:
        recovery = Recovery(options, base, server)
        recovery.make()
        rounds = []
        for number in range(options.rounds):
            load = max(load, os.getloadavg()[0])
            rounds.append(recovery.round())
            say(f"round {number + 1}: " + json.dumps(rounds[-1]))
        facts = {"command": " ".join(["bench/postgres/recovery.py", *sys.argv[1:]]), "load": load,
                 "processor": processor(), "processors": os.cpu_count(), "server": server.version(),
                 "rows": options.rows, "entries": options.entries, "fresh": options.fresh,
                 "dimension": base.dimension, "build_s": recovery.build_s, "commit": commit()}
    finally:
        server.close()
    page = markdown(facts, rounds)
    print(page)
    if options.out:
        pathlib.Path(options.out).with_suffix(".json").write_text(json.dumps({**facts, "rounds": rounds}, indent=1))
        pathlib.Path(options.out).with_suffix(".md").write_text(page)


if __name__ == "__main__":
    run(parse_arguments())
