#!/usr/bin/env python3
"""Updates of another column: what they cost with an index of the vectors, and without one.

Example:
    bench/postgres/updates.py --dimensions 128 768 --rows 20000 --updated 10000

Each kind has a table of its own with the same random rows: `table` has no index of the vectors, `farvec`
has one in the server's engine, and `pgvector` an HNSW. One statement updates some rows, and its time goes up
to the end of its transaction. The tables are vacuumed between passes, and the kinds take turns. No version
of a row fits the page of the former one, so each update is one of the index too. PostgreSQL is that of
pg_config; pgvector is left out where the server does not have it.
"""
import argparse
import os
import pathlib
import shutil
import statistics
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path += [str(ROOT / "tests/postgres"), str(ROOT / "tests/e2e")]
KINDS = ("table", "farvec", "pgvector")
START_S = 60
LONG_S = 3600


def parse_arguments(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--dimensions", type=int, nargs="+", default=[128, 768], help="(%(default)s)")
    add("--rows", type=int, default=20_000, help="of each table (%(default)s)")
    add("--updated", type=int, default=10_000, help="rows of a statement (%(default)s)")
    add("--passes", type=int, default=5, help="(%(default)s)")
    add("--kinds", nargs="+", default=list(KINDS), choices=KINDS)
    add("--build", default=str(ROOT / "build/release"), help="where farvec was built (%(default)s)")
    add("--pg-config", default=shutil.which("pg_config"), help="(%(default)s)")
    add("--set", action="append", default=[], metavar="NAME=VALUE", help="another setting of the server")
    return parser.parse_args(arguments)


def start_server(options):
    build = pathlib.Path(options.build).resolve()
    os.environ.setdefault("FARVEC_BIN_DIR", str(build / "bin"))
    os.environ.setdefault("FARVEC_POSTGRES_DIR", str(build / "postgres"))
    os.environ.setdefault("FARVEC_LIBRARY", str(build / "client/c/libfarvec.so"))
    from postgres_server import Postgres, build_folder
    settings = {"shared_preload_libraries": "farvec", "farvec.engine_memory": "2GB", "shared_buffers": "2GB",
                "farvec.engine": build / "bin/farvec-postgres-engine", "max_wal_size": "16GB",
                "autovacuum": "off", "jit": "off", **dict(word.split("=", 1) for word in options.set)}
    return Postgres(options.pg_config, build_folder(), **settings)


def wait_for_engine(server):
    from postgres_server import SqlError
    end = time.monotonic() + START_S
    while True:
        try:
            return server.sql("BEGIN; CREATE TABLE first (v vector(2)); CREATE INDEX ON first USING farvec "
                              "(v vector_l2_ops); ROLLBACK;")
        except SqlError as error:
            if time.monotonic() > end:
                raise SystemExit(f"error: the engine does not start: {error}") from error
            time.sleep(0.1)


def make(server, kind, dimension, rows):
    server.sql(f"CREATE TABLE of_{kind} (id int, n int, v vector({dimension})); INSERT INTO of_{kind} SELECT i, 0, "
               f"(SELECT array_agg(random()::real) FROM generate_series(1, {dimension}) k WHERE i > 0)::vector "
               f"FROM generate_series(1, {rows}) i;", timeout=LONG_S)
    method = {"farvec": "farvec", "pgvector": "hnsw"}.get(kind)
    if method:
        server.sql(f"CREATE INDEX of_{kind}_v ON of_{kind} USING {method} (v vector_l2_ops);", timeout=LONG_S)
    server.sql(f"VACUUM ANALYZE of_{kind};", timeout=LONG_S)


def update(server, kind, rows):
    """Milliseconds of one statement."""
    server.sql("CHECKPOINT;", timeout=LONG_S)
    began = time.perf_counter()
    server.sql(f"UPDATE of_{kind} SET n = n + 1 WHERE id <= {rows};", timeout=LONG_S)
    took = 1e3 * (time.perf_counter() - began)
    server.sql(f"VACUUM of_{kind};", timeout=LONG_S)
    return took


def measure(server, options, dimension):
    times = {kind: [] for kind in options.kinds}
    for kind in options.kinds:
        make(server, kind, dimension, options.rows)
    for _ in range(options.passes):
        for kind in options.kinds:
            times[kind].append(update(server, kind, options.updated))
    base = statistics.median(times[options.kinds[0]])
    for kind in options.kinds:
        middle = statistics.median(times[kind])
        print(f"| {dimension} | {kind} | {middle:.1f} ({min(times[kind]):.1f} to {max(times[kind]):.1f}) "
              f"| {middle / base:.2f} |", flush=True)
        server.sql(f"DROP TABLE of_{kind};")


def main():
    options = parse_arguments()
    server = start_server(options)
    try:
        has_pgvector = server.one("SELECT count(*) FROM pg_available_extensions WHERE name = 'vector';") == "1"
        if not has_pgvector:
            options.kinds = [kind for kind in options.kinds if kind != "pgvector"]
        server.sql(("CREATE EXTENSION vector; " if has_pgvector else "") + "CREATE EXTENSION farvec;")
        wait_for_engine(server)
        print(f"PostgreSQL {server.one('SHOW server_version;')}, {options.rows:,} rows, {options.updated:,} updated, "
              f"{options.passes} passes, load {os.getloadavg()[0]:.1f}\n\n| dimensions | kind | ms | times the first "
              "|\n|---|---|---|---|")
        for dimension in options.dimensions:
            measure(server, options, dimension)
    finally:
        server.close()


if __name__ == "__main__":
    main()
