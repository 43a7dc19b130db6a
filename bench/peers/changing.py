#!/usr/bin/python3
"""Runs a streaming runbook on other vector indexes: rows go in and out, and are searched meanwhile.

Example:
    bench/peers/changing.py growing.yaml --data base.u8bin --queries query.u8bin --metric l2 \\
        --truth growing-truth --peers hnswlib,usearch --recall 0.95 --out peers.jsonl

What `farvec runbook` runs, with the same true neighbours (scripts/runbooks/truth.py), the same
lines of JSON (one per step, one of all), and one thread (--threads) that inserts or searches. At
every search the smallest effort of --efforts that reaches --recall on the first half of the queries
is taken, and the second half is measured with it. The libraries come from PyPI into environments
below build/, made on first use; each runs in a process of its own. One that cannot be installed,
or cannot do a step, has a line with its error.
"""
import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import time

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "scripts" / "runbooks"), str(ROOT / "scripts" / "datasets")]

from changing_adapters import EFFORTS, ENVIRONMENTS, K, PEERS, DiskannDynamic, Exact  # noqa: E402


def read_truth(path):
    """Ids of the nearest, u32 queries x u32 K'."""
    queries, k = np.fromfile(path, "<u4", 2).tolist()
    ids = np.fromfile(path, "<u4", queries * k, offset=8).reshape(queries, k)
    distances = np.fromfile(path, "<f4", queries * k, offset=8 + 4 * queries * k)
    return ids, distances.reshape(queries, k)


def timed(call):
    """What it returns, and what it took: of the clock, and of the processors."""
    start, processor = time.perf_counter(), time.process_time()
    result = call()
    return result, {"seconds": time.perf_counter() - start,
                    "processor_seconds": time.process_time() - processor}


class Run:
    """One peer, from the first step to the last."""

    def __init__(self, options, peer):
        import runbook
        import xbin
        self.options = options
        self.steps = runbook.read(options.runbook)[1]
        self.base = xbin.map_rows(options.data)
        self.queries = np.ascontiguousarray(xbin.map_rows(options.queries), np.float32)
        rows = max(step.end for step in self.steps)
        self.most = runbook.check(self.steps, rows)
        capacity = rows if peer in (Exact, DiskannDynamic) else self.most
        self.index = peer(options, capacity, self.base.shape[1])

    def recall(self, found, which, truth):
        """Share of the results that are no farther than the K-th true neighbour."""
        ids, distances = truth
        hits = 0
        for row, query in zip(found, which):
            row = np.unique(row[row >= 0])
            certain = np.isin(row, ids[query, :K])
            hits += int(certain.sum())
            # Of equal distance with the K-th.
            for other in row[~certain]:
                delta = self.base[other].astype(np.float64) - self.queries[query]
                hits += bool((delta @ delta) <= distances[query, K - 1] * (1 + 1e-6))
        return min(1.0, hits / (K * len(which)))

    def search(self, number):
        truth = read_truth(pathlib.Path(self.options.truth) / f"step{number}.gt100")
        middle = len(self.queries) // 2
        halves = range(middle), range(middle, len(self.queries))
        for effort in self.options.efforts:
            if self.recall(self.index.search(self.queries[:middle], effort), halves[0],
                           truth) >= self.options.recall:
                break
        found, times = timed(lambda: self.index.search(self.queries[middle:], effort))
        return {"operations": len(found), **times, "effort": effort,
                "recall": self.recall(found, halves[1], truth)}

    def change(self, step):
        ids = np.arange(step.start, step.end)
        rows = np.ascontiguousarray(self.base[step.start:step.end], np.float32)
        if step.operation == "delete":
            return {"operations": len(ids), **timed(lambda: self.index.delete(ids))[1]}
        return {"operations": len(ids), **timed(lambda: self.index.insert(ids, rows))[1]}

    def lines(self):
        """One for each step."""
        for number, step in enumerate(self.steps, 1):
            facts = self.search(number) if step.operation == "search" else self.change(step)
            facts["per_second"] = facts["operations"] / max(facts["seconds"], 1e-9)
            yield {"step": number, "operation": step.operation, **facts}


def rate_of(lines, operation, time_of="seconds"):
    of_kind = [line for line in lines if line["operation"] == operation]
    seconds = sum(line[time_of] for line in of_kind)
    return sum(line["operations"] for line in of_kind) / seconds if seconds else 0


def most_memory_bytes():
    """Of this program: ru_maxrss would also have what started it, over exec()."""
    status = pathlib.Path("/proc/self/status").read_text()
    return int(re.search(r"VmHWM:\s*(\d+) kB", status).group(1)) * 1024


def summary(lines):
    recalls = [line["recall"] for line in lines if "recall" in line]
    return {"mean_recall": sum(recalls) / len(recalls) if recalls else 0,
            **{f"{kind}_per_second": rate_of(lines, operation)
               for kind, operation in (("inserts", "insert"), ("deletes", "delete"),
                                       ("searches", "search"))},
            "inserts_per_processor_second": rate_of(lines, "insert", "processor_seconds"),
            "searches_per_processor_second": rate_of(lines, "search", "processor_seconds"),
            "most_memory_bytes": most_memory_bytes()}


def run_one(options):
    peer = PEERS[options.one][0]
    lines = []
    for line in Run(options, peer).lines():
        lines.append(line)
        print(json.dumps({"peer": options.one, **line}), flush=True)
    label = getattr(peer, "label", options.one).format(list=options.build_list)
    print(json.dumps({"peer": options.one, "label": label, "threads": options.threads,
                      **summary(lines)}))


def python_of(name):
    """The interpreter of the peer's environment, which is made when it is missing."""
    packages = PEERS[name][1]
    if not packages:
        return sys.executable
    venv = ROOT / "build" / ENVIRONMENTS.get(name, "peers-venv-changing")
    done = subprocess.run([ROOT / "scripts/python/venv.sh", venv, "numpy", "pyyaml", *packages],
                          check=True, stdout=subprocess.PIPE, text=True)
    return done.stdout.strip()


def run_peer(name, options, out):
    """Its lines, into `out` as they come; answers the last one, or what failed."""
    try:
        command = [python_of(name), "-B", __file__, *sys.argv[1:], "--one", name]
    except (subprocess.SubprocessError, OSError) as error:
        return {"peer": name, "error": f"could not be installed: {error}"}
    environment = dict(os.environ, OMP_NUM_THREADS=str(options.threads))
    last = {}
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          env=environment) as process:
        for text in process.stdout:
            if text.startswith("{"):
                last = json.loads(text)
                out.write(text)
                out.flush()
        said = process.stderr.read().strip().splitlines()
    if process.returncode != 0:
        last = {"peer": name, "error": said[-1] if said else f"exit code {process.returncode}"}
        out.write(json.dumps(last) + "\n")
    return last


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runbook", help=".yaml")
    parser.add_argument("--data", required=True, help=".fbin, .u8bin or .i8bin")
    parser.add_argument("--queries", required=True)
    parser.add_argument("--truth", required=True, help="folder of stepN.gt100")
    parser.add_argument("--metric", choices=("l2", "ip"), default="l2")
    parser.add_argument("--peers", default="hnswlib,usearch,faiss-hnsw,diskannpy",
                        help="of " + ", ".join(PEERS) + " (%(default)s)")
    parser.add_argument("--recall", type=float, default=0.95, help="wanted (%(default)s)")
    parser.add_argument("--efforts", default=",".join(map(str, EFFORTS)),
                        type=lambda text: [int(part) for part in text.split(",")])
    parser.add_argument("--build-list", type=int, default=100,
                        help="list of the searches that insert (%(default)s)")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--out", required=True, help="file of the lines")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    options = parser.parse_args()
    unknown = set(options.peers.split(",")) - set(PEERS)
    if unknown:
        parser.error(f"unknown peers {', '.join(sorted(unknown))}")
    return options


def main():
    options = parse_arguments()
    if options.one:
        return run_one(options)
    with open(options.out, "w") as out:
        for name in options.peers.split(","):
            last = run_peer(name, options, out)
            if "error" in last:
                print(f"{name}: {last['error']}", file=sys.stderr)
            else:
                print(f"{last['label']}: {last['inserts_per_second']:.0f} inserts, "
                      f"{last['deletes_per_second']:.0f} deletes, "
                      f"{last['searches_per_second']:.0f} searches a second, mean recall "
                      f"{last['mean_recall']:.4f}")


if __name__ == "__main__":
    main()
