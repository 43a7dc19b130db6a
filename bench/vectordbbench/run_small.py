#!/usr/bin/env python3
"""Runs VectorDBBench itself, from its command on, against a compute node with an empty collection.

    bench/vectordbbench/run_small.py --data base.fbin --queries query.fbin \\
        --metric l2 --rows 10000 --also hnswlib,faiss,lancedb

The benchmark and the databases of --also come from PyPI into build/vectordbbench-venv, made on first
use. Its data set, "custom", is made of the first rows of --data; the true neighbours are computed here
Prints what the benchmark says of each: load, recall, rate, p99.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
VENV = ROOT / "build" / "vectordbbench-venv"
BENCHMARK = "vectordb-bench==2.0.0"
# Their packages, and what the benchmark's command for them wants besides.
OTHERS = {"lancedb": (["lancedb"], ["lancedbivfhnswsq", "--uri", "{folder}/lancedb"]),
          **{name: ([package], ["library", "--library", name, "--folder", f"{{folder}}/{name}", "--ef",
                                "{list}"])
             for name, package in (("hnswlib", "hnswlib"), ("faiss", "faiss-cpu"))}}
METRICS = {"l2": "L2", "ip": "IP", "cosine": "COSINE"}
WAIT_S = 60
RUN_S = 3600


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--data", required=True, help=".fbin")
    add("--queries", required=True, help=".fbin")
    add("--metric", choices=tuple(METRICS), default="l2")
    add("--rows", type=int, default=10_000, help="the first so many (%(default)s)")
    add("--k", type=int, default=10)
    add("--list", type=int, default=40, help="of farvec, and ef of hnswlib and faiss (%(default)s)")
    add("--seconds", type=int, default=10, help="of concurrent searches (%(default)s)")
    add("--connections", default="1,2", help="that search at once (%(default)s)")
    add("--also", default="", help=f"databases beside it: {', '.join(OTHERS)}")
    add("--bin", default=str(ROOT / "build/release/bin"), help="folder of farvec's programs")
    add("--package", default=str(ROOT / "build/release/python"),
        help="folder of the Python package farvec")
    add("--out", help="file for a JSON object per database")
    options = parser.parse_args()
    # The benchmark runs elsewhere, where its logs go.
    options.package = str(pathlib.Path(options.package).resolve())
    return options


def enter_environment(others):
    """Runs this script again with the environment's interpreter."""
    packages = [package for name in others for package in OTHERS[name][0]]
    made = subprocess.run([ROOT / "scripts/python/venv.sh", VENV, BENCHMARK, *packages], check=False,
                          stdout=subprocess.PIPE, text=True)
    if made.returncode != 0:
        raise SystemExit(made.returncode)
    if pathlib.Path(sys.prefix).resolve() != VENV.resolve():
        python = made.stdout.strip()
        os.execv(python, [python, "-B", __file__, *sys.argv[1:]])
    subprocess.run([sys.executable, HERE / "install.py"], check=True)


def make_data(options, folder):
    """Its files of a custom set: train, test and neighbors.parquet."""
    import farvec
    import numpy as np
    import polars
    rows = np.asarray(farvec.read_vectors(options.data)[:options.rows], np.float32)
    queries = np.asarray(farvec.read_vectors(options.queries), np.float32)
    true, _ = farvec.ground_truth(rows, queries, k=max(options.k, 100), metric=options.metric)
    for name, column, values in (("train", "emb", rows), ("test", "emb", queries),
                                 ("neighbors", "neighbors_id", true.astype(np.int64))):
        frame = {"id": np.arange(len(values)), column: values.tolist()}
        polars.DataFrame(frame).write_parquet(folder / f"{name}.parquet")
    return rows.shape[1]


def case(options, folder, dimension):
    """The benchmark's options for any database."""
    return ["--case-type", "PerformanceCustomDataset", "--custom-case-name", "small",
            "--custom-dataset-name", "small", "--custom-dataset-dir", str(folder),
            "--custom-dataset-size", str(options.rows), "--custom-dataset-dim", str(dimension),
            "--custom-dataset-metric-type", METRICS[options.metric], "--custom-dataset-file-count", "1",
            "--k", str(options.k), "--num-concurrency", options.connections,
            "--concurrency-duration", str(options.seconds), "--drop-old", "--load",
            "--search-serial", "--search-concurrent"]


def run_benchmark(options, name, command, folder, dimension):
    """What it says of one database: the metrics in the file that it leaves."""
    results = folder / "results" / name
    environment = dict(os.environ, RESULTS_LOCAL_DIR=str(results), PYTHONPATH=options.package)
    done = subprocess.run([VENV / "bin" / "vectordbbench", *command,
                           *case(options, folder, dimension)], env=environment, cwd=folder, check=False,
                          timeout=RUN_S, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    files = sorted(results.rglob("result_*.json"))
    if done.returncode != 0 or not files:
        raise SystemExit(f"error: vectordbbench {name} ended with {done.returncode}:\n"
                         f"{done.stdout[-3000:]}")
    found = json.loads(files[-1].read_text())["results"][0]
    if found["metrics"]["recall"] == 0:
        raise SystemExit(f"error: vectordbbench {name} found nothing:\n{done.stdout[-3000:]}")
    return {"database": name, **{metric: found["metrics"][metric] for metric in (
        "load_duration", "recall", "ndcg", "qps", "serial_latency_p99", "conc_num_list",
        "conc_qps_list", "conc_latency_p99_list")}}


def serve(options, folder, dimension):
    """(process, address) of a node with an empty collection."""
    tool = pathlib.Path(options.bin)
    subprocess.run([tool / "farvec", "collection", "create", "--collection", folder / "set",
                    "--dimension", str(dimension), "--type", "f32", "--metric", options.metric],
                   check=True, stdout=subprocess.DEVNULL)
    address = f"unix:{folder}/node.sock"
    node = subprocess.Popen([tool / "farvec-compute-node", "--collection", folder / "set",
                             "--listen", address], stderr=subprocess.DEVNULL)
    for _ in range(10 * WAIT_S):
        if (folder / "node.sock").exists():
            return node, address
        time.sleep(0.1)
    node.kill()
    raise SystemExit(f"error: the node did not listen at {address} within {WAIT_S} s")


def main():
    options = parse_arguments()
    others = [name for name in options.also.split(",") if name]
    unknown = set(others) - set(OTHERS)
    if unknown:
        raise SystemExit(f"error: --also: {', '.join(sorted(unknown))} not known here")
    sys.path.insert(0, options.package)
    enter_environment(others)
    with tempfile.TemporaryDirectory(prefix="farvec-vdb-") as name:
        folder = pathlib.Path(name)
        dimension = make_data(options, folder)
        node, address = serve(options, folder, dimension)
        try:
            found = [run_benchmark(options, "farvec", ["farvec", "--address", address, "--list",
                                                       str(options.list)], folder, dimension)]
        finally:
            node.terminate()
            node.wait(timeout=WAIT_S)
        for other in others:
            command = [word.format(folder=folder, list=options.list) for word in OTHERS[other][1]]
            found.append(run_benchmark(options, other, command, folder, dimension))
    lines = "".join(json.dumps(row) + "\n" for row in found)
    print(lines, end="")
    if options.out:
        pathlib.Path(options.out).write_text(lines)


if __name__ == "__main__":
    main()
