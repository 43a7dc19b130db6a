"""What the comparisons in SQL share: the environment, a server with both extensions, rows, the client."""
import argparse
import dataclasses
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
for room in ("bench/hnsw", "bench/peers", "tests/postgres"):
    sys.path.append(str(ROOT / room))
MEMORY_MIB = 4096
BLOCK = 10_000
TIMEOUT_S = 3600
OPERATORS = {"l2": ("l2", "<->"), "ip": ("ip", "<#>"), "cosine": ("cosine", "<=>")}


def say(text):
    print(f"{time.strftime('%H:%M:%S')} {text}", file=sys.stderr, flush=True)


def argument_parser(description):
    """A parser with the options that every comparison has."""
    parser = argparse.ArgumentParser(description=description,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--data", required=True, help="folder with base.* and query.*")
    add("--metric", choices=tuple(OPERATORS), required=True)
    add("--rows", type=int, help="the first rows of base.* [all]")
    add("--m", type=int, default=16, help="of pgvector's HNSW; farvec's degree is twice as much")
    add("--ef-construction", type=int, default=64, help="of both (%(default)s)")
    add("--bin", default=str(ROOT / "build/release/bin"), help="folder with farvec's programs")
    add("--out", help="write OUT.json and OUT.md")
    return parser


def check_numbers(parser, options, *names):
    for name in names:
        if getattr(options, name) < 1:
            parser.error(f"--{name.replace('_', '-')} is at least 1")
    if getattr(options, "queries", 2) < 2:
        parser.error("--queries is at least 2: a half chooses, the other is measured")


def numbers_of(parser, name, text, kind):
    """The numbers of a list like 1,8,32. Ends with the reason where it is none."""
    try:
        return [kind(word) for word in text.split(",")]
    except ValueError as error:
        parser.error(f"{name}: {error}")


def enter_environment(script):
    """Runs a script again with the interpreter that has NumPy, where this one has none."""
    import pgvector
    made = subprocess.run([ROOT / "scripts/python/venv.sh", pgvector.VENV, "numpy", pgvector.PACKAGE],
                          check=False, stdout=subprocess.PIPE, text=True)
    if made.returncode != 0:
        raise SystemExit(made.returncode)
    if pathlib.Path(sys.prefix).resolve() != pgvector.VENV.resolve():
        python = made.stdout.strip()
        os.execv(python, [python, "-B", script, *sys.argv[1:]])


def run_in_folder(run, options):
    """What run(options, folder) answers; the folder is gone then."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # the server is stopped
    with tempfile.TemporaryDirectory(prefix="farvec-sql-") as name:
        folder = pathlib.Path(name)
        folder.chmod(0o755)
        return run(options, folder)


# --- rows

def prepare(options, folder, queries=None):
    """Rows and queries as floats with their true neighbours, as files; answers the Workload."""
    import bits
    from vectors import Workload, read_vectors
    base = read_vectors(bits.file_of(options.data, "base"))
    asked = read_vectors(bits.file_of(options.data, "query"))
    rows = options.rows or len(base)
    if rows > len(base):
        raise SystemExit(f"error: {options.data} has {len(base):,} rows, and not {rows:,}")
    paths = [folder / name for name in ("base.fbin", "query.fbin", "gt100.ibin")]
    bits.write_floats(paths[0], base[:rows])
    bits.write_floats(paths[1], asked[:queries or options.queries])
    bits.call(str(pathlib.Path(options.bin) / "farvec"), "dataset", "groundtruth", "--data", paths[0],
              "--queries", paths[1], "--metric", options.metric, "--k", max(100, options.k), "--out", paths[2])
    options.query_file = paths[1]
    return Workload.load(*paths, options.metric)


def load_rows(server, table, rows, first=0):
    """A table (id, v) of the rows, numbered from `first` on."""
    from table import copy_bytes
    server.ask(f"CREATE TABLE {table} (id int PRIMARY KEY, v vector({rows.shape[1]}))")
    for start in range(0, len(rows), BLOCK):
        server.ask(f"COPY {table} FROM STDIN (FORMAT binary)",
                   rows=copy_bytes(first + start, rows[start:start + BLOCK], "vector"))
    server.ask(f"VACUUM ANALYZE {table}", "CHECKPOINT")


# --- the server

def start_server(folder, programs, **settings):
    """(a server with both extensions, its pg_config). Without settings everything is in memory."""
    from pgvector_installs import build_extension, pg_config_of
    from private_install import private_install
    import server
    pg_config = pg_config_of(18)
    say("making the extension for PostgreSQL 18")
    extension = ROOT / "build" / "pg18"
    build_extension(pg_config, extension)
    for library in (pathlib.Path(programs).resolve().parent / "client/c").glob("libfarvec.so.0"):
        (extension / library.name).unlink(missing_ok=True)
        (extension / library.name).symlink_to(library)
    install = private_install(pg_config, extension, folder / "wheels/package/install")
    made = server.Server(install, folder / "data")
    made.create("--no-sync")
    made.start(server_settings(programs, **settings))
    made.ask("CREATE EXTENSION vector", "CREATE EXTENSION farvec")
    return made, pg_config


def server_settings(programs, **settings):
    return {"fsync": "off", "shared_buffers": f"{MEMORY_MIB}MB", "shared_preload_libraries": "farvec",
            "maintenance_work_mem": f"{MEMORY_MIB}MB", "farvec.engine_memory": f"{MEMORY_MIB}MB",
            "farvec.engine": pathlib.Path(programs).resolve() / "farvec-postgres-engine", **settings}


# --- clients

def compile_program(folder, name, *words):
    """Compiles a program of this folder; answers its path."""
    program = pathlib.Path(folder) / name
    done = subprocess.run(["cc", "-O2", "-D_GNU_SOURCE", "-pthread", "-o", program, HERE / f"{name}.c", *words],
                          capture_output=True, text=True, check=False, timeout=TIMEOUT_S)
    if done.returncode != 0:
        raise SystemExit(f"error: the client {name} cannot be compiled: {done.stderr.strip()}")
    return program


def make_client(pg_config, folder):
    from private_install import config
    return compile_program(
        folder, "one_connection", f"-I{config(pg_config, 'includedir')}",
        f"-L{config(pg_config, 'libdir')}", f"-Wl,-rpath,{config(pg_config, 'libdir')}", "-lpq")


def run_client(words, environment=None):
    """What a client writes. Ends with its reason where it fails."""
    done = subprocess.run([str(word) for word in words], capture_output=True, check=False,
                          timeout=TIMEOUT_S, env=environment)
    if done.returncode != 0:
        raise SystemExit(f"error: {done.stderr.decode(errors='replace').strip()}")
    return done.stdout


@dataclasses.dataclass(frozen=True)
class Answers:
    """`times`: microseconds of each call; `ids`: k of each call, -1 where there were fewer."""

    seconds: float  # from the first call to the end of the last
    times: object
    ids: object


class Client:
    """Runs one statement for some queries; each call has connections of its own."""

    def __init__(self, program, server, k):
        self.program, self.server, self.k = program, server, k

    def ask(self, statement, queries, which, passes=1, settings=None, clients=1):
        """`queries` is a file, or "-" where the numbers of `which` are asked."""
        import numpy as np
        k = self.k
        words = [f"{name} = '{value}'" for name, value in (settings or {}).items()]
        said = run_client([self.program, statement, queries, which.start, len(which), passes, k, clients,
                           *words], self.server.environment({}))
        calls = len(which) * passes
        return Answers(float(np.frombuffer(said, np.float64, 1)[0]) / 1e6,
                       np.frombuffer(said, np.float64, calls, 8),
                       np.frombuffer(said, np.int64, calls * k, 8 + 8 * calls).reshape(-1, k))


# --- what a page says of a run

def facts_of(script, options, workload, server, loads):
    import run as harness
    commit = subprocess.run(["git", "-C", ROOT, "rev-parse", "--short=12", "HEAD"], text=True,
                            capture_output=True, check=False).stdout.strip()
    return {"name": pathlib.Path(options.data).resolve().name, "rows": workload.rows,
            "dimension": int(workload.dimension), "metric": options.metric,
            "m": options.m, "ef_construction": options.ef_construction, "load": max(loads),
            "server": "PostgreSQL " + server.ask("SHOW server_version")[0], "commit": commit,
            "pgvector": server.ask("SELECT extversion FROM pg_extension WHERE extname = 'vector'")[0],
            "processor": harness.cpu_model(), "processors": os.cpu_count(),
            "command": f"bench/postgres/{script} " + " ".join(sys.argv[1:])}
