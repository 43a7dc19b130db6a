#!/usr/bin/env python3
"""The index in PostgreSQL on real data, in a server of its own: what scripts/demo.sh --postgres runs.

It loads Fashion-MNIST as a table of vectors, makes an index with farvec, and asks the same questions with
the index and without it. Then it deletes and inserts rows, kills the engine, and asks again.
"""
import argparse
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "bench" / "hnsw"), str(ROOT / "bench" / "postgres")]

import server as postgres  # noqa: E402
import table  # noqa: E402
from private_install import private_install  # noqa: E402

BLOCK = 10_000
QUERIES, K = 100, 10
BY_INDEX = {"enable_seqscan": "off"}
BY_TABLE = {"enable_indexscan": "off"}
NEAREST = ("SELECT q.id, i.id FROM queries q CROSS JOIN LATERAL "
           f"(SELECT id FROM items ORDER BY v <-> q.v LIMIT {K}) i ORDER BY q.id")
WAIT_S = 60


def read_bytes(path):
    rows, dimension = np.fromfile(path, "<u4", 2)
    return np.fromfile(path, np.uint8, offset=8).reshape(rows, dimension)


def say(text):
    print(f"== {text}", flush=True)


class Demo:
    def __init__(self, running, data):
        self.server, self.data = running, data

    def sql(self, *statements, settings=None, rows=b""):
        """Shows the statements, and answers what they answer."""
        for statement in statements:
            print(f"   {statement};")
        return self.server.ask(*statements, settings=settings, rows=rows)[0]

    def timed(self, *statements, settings=None):
        began = time.perf_counter()
        answer = self.sql(*statements, settings=settings)
        print(f"   -- {time.perf_counter() - began:.1f} s", flush=True)
        return answer

    def load(self):
        say("A table of 60,000 pictures, as vectors of 784 numbers")
        self.sql("CREATE EXTENSION farvec")
        for name, file, most in (("items", "base", None), ("queries", "query", QUERIES)):
            rows = read_bytes(self.data / f"{file}.u8bin")[:most].astype(np.float32)
            self.sql(f"CREATE TABLE {name} (id int PRIMARY KEY, v vector(784))")
            for start in range(0, len(rows), BLOCK):
                self.server.ask(f"COPY {name} FROM STDIN (FORMAT binary)",
                                rows=table.copy_bytes(start, rows[start:start + BLOCK], "vector"))
        self.server.ask("VACUUM ANALYZE items", "VACUUM ANALYZE queries")

    def found(self, settings):
        """{query: the ids that were found}."""
        answers = {}
        for line in self.timed(NEAREST, settings=settings).splitlines():
            query, item = line.split("|")
            answers.setdefault(query, set()).add(item)
        return answers

    def compare(self):
        say(f"The nearest {K} of each of {QUERIES} pictures: without the index, then with it")
        exact, found = self.found(BY_TABLE), self.found(BY_INDEX)
        if {len(items) for items in (*exact.values(), *found.values())} != {K}:
            raise SystemExit(f"error: not every picture has {K} nearest ones")
        hits = sum(len(exact[query] & found[query]) for query in exact)
        print(f"   recall@{K}: {hits / (K * len(exact)):.4f}", flush=True)

    def build(self):
        say("The index, in the server's engine")
        end = time.monotonic() + WAIT_S
        while True:
            try:
                self.timed("CREATE INDEX ON items USING farvec (v vector_l2_ops)")
                break
            except postgres.ServerError as error:
                # The server starts its engine after it has begun to serve.
                if time.monotonic() > end or "it is starting" not in str(error):
                    raise
                time.sleep(0.2)

    def change(self):
        say("Rows change with their table")
        nearest = ("SELECT string_agg(id::text, ' ') FROM (SELECT id FROM items ORDER BY v <-> "
                   "(SELECT v FROM queries WHERE id = 0) LIMIT 3) i")
        first = self.sql(nearest, settings=BY_INDEX).split()
        print(f"   {' '.join(first)}")
        self.sql(f"DELETE FROM items WHERE id = {first[0]}",
                 "INSERT INTO items SELECT 60000, v FROM queries WHERE id = 0")
        after = self.sql(nearest, settings=BY_INDEX).split()
        print(f"   {' '.join(after)}")
        if after != ["60000", *first[1:]]:
            raise SystemExit("error: the changes are not in the answer")

    def kill(self):
        say("The engine is killed, and comes back; the server goes on")
        listed = subprocess.run(["pgrep", "-f", f"farvec-postgres-engine.*{self.server.folder}/"],
                                capture_output=True, text=True, check=False).stdout.split()
        if not listed:
            raise SystemExit("error: no engine runs")
        print(f"   kill -9 {' '.join(listed)}")
        subprocess.run(["kill", "-9", *listed], check=True)
        end = time.monotonic() + WAIT_S
        statement = "SELECT id FROM items ORDER BY v <-> (SELECT v FROM queries WHERE id = 0) LIMIT 1"
        while True:
            try:
                answer = self.server.ask(statement, settings=BY_INDEX)[0]
                break
            except postgres.ServerError as error:
                if time.monotonic() > end:
                    raise
                said = re.sub(r"^psql: ", "", str(error))
            time.sleep(0.2)
        print(f"   {statement};\n   {answer}")
        if answer != "60000":
            raise SystemExit("error: the answer is another one" + (f" ({said})" if said else ""))


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", required=True, type=pathlib.Path, help="folder of Fashion-MNIST")
    parser.add_argument("--build", required=True, type=pathlib.Path, help="a build tree with the extension")
    parser.add_argument("--pg-config", required=True, help="of the server that the extension is for")
    parser.add_argument("--out", required=True, type=pathlib.Path, help="folder for the server, made anew")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # the server is stopped
    shutil.rmtree(options.out, ignore_errors=True)
    options.out.mkdir(parents=True)
    extension = options.out / "extension"
    shutil.copytree(options.build / "postgres", extension, ignore=shutil.ignore_patterns("CMakeFiles"))
    shutil.copy2((options.build / "client/c/libfarvec.so.0").resolve(), extension / "libfarvec.so.0")
    # The server's user may not reach the build tree.
    engine = pathlib.Path(shutil.copy2(options.build / "bin/farvec-postgres-engine", options.out)).resolve()
    install = private_install(options.pg_config, extension, options.out / "wheels/package/install")
    running = postgres.Server(install, options.out / "data")
    running.create("--no-sync")
    try:
        running.start({"shared_preload_libraries": "farvec", "shared_buffers": "512MB", "fsync": "off",
                       "farvec.engine": engine})
        demo = Demo(running, options.data)
        demo.load()
        demo.build()
        demo.compare()
        demo.change()
        demo.kill()
    except postgres.ServerError as error:
        raise SystemExit(f"error: {error}") from error
    finally:
        running.stop()


if __name__ == "__main__":
    main()
