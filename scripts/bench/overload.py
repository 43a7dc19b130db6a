#!/usr/bin/env python3
"""What a compute node answers in time when more comes than it can serve.

Starts a node with one core over an index, finds its peak with clients that wait for their answers,
then offers multiples of that rate with a short deadline, whatever the node does:

  scripts/bench/overload.py --index sift1m.index --queries query.u8bin --json overload.jsonl

The node's core is on the first of --cpus, the load generator on the last; gRPC's threads of the
node are on any of them. Take searches that are long enough (--list) for the generator and gRPC to carry
ten times their rate on the processors that are left. Exit status 1 when the goodput at the largest
load is less than --require of the best.
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
START_S = 600


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--index", required=True, help="index directory")
    parser.add_argument("--queries", required=True, help="vector file")
    parser.add_argument("--bin", default=ROOT / "build/release/bin", help="folder of the programs")
    parser.add_argument("--tier", default="dram", help="as farvec-compute-node takes it [dram]")
    parser.add_argument("--slots", type=int, default=16, help="searches in flight on the core [16]")
    parser.add_argument("--list", type=int, default=1000, help="of each search [1000]")
    parser.add_argument("--clients", type=int, default=64, help="that find the peak [64]")
    parser.add_argument("--times", default="1,2,5,10", help="multiples of the peak [1,2,5,10]")
    parser.add_argument("--deadline-ms", type=int, default=50, help="of a query [50]")
    parser.add_argument("--seconds", type=float, default=5, help="of each load [5]")
    parser.add_argument("--cpus", default="0,1", help="processors, separated by commas [0,1]")
    parser.add_argument("--require", type=float, default=0, help="share of the best goodput [0]")
    parser.add_argument("--json", help="file for the loads' lines")
    return parser.parse_args()


class Node:
    """A compute node with one core, until the end of the `with`."""

    def __init__(self, arguments, folder):
        self.address = f"unix:{folder}/node"
        self.log = open(pathlib.Path(folder) / "log", "w+", encoding="utf-8")
        program = pathlib.Path(arguments.bin) / "farvec-compute-node"
        self.process = subprocess.Popen(
            ["taskset", "-c", arguments.cpus, str(program), "--index", arguments.index,
             "--tier", arguments.tier, "--threads", "1", "--pin",
             "--slots", str(arguments.slots), "--listen", self.address],
            stdout=self.log, stderr=self.log)

    def __enter__(self):
        end = time.monotonic() + START_S
        while "serving" not in self.text():
            if self.process.poll() is not None or time.monotonic() > end:
                self.__exit__()
                sys.exit(f"overload.py: the compute node does not serve:\n{self.text()}")
            time.sleep(0.1)
        return self

    def text(self):
        self.log.seek(0)
        return self.log.read()

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()


class Loads:
    """`farvec bench service` on the last processor."""

    def __init__(self, arguments, node, folder):
        self.json = pathlib.Path(folder) / "loads.jsonl"
        self.command = ["taskset", "-c", arguments.cpus.split(",")[-1],
                        str(pathlib.Path(arguments.bin) / "farvec"), "bench", "service",
                        "--connect", node.address, "--queries", arguments.queries,
                        "--list", str(arguments.list), "--seconds", str(arguments.seconds),
                        "--json", str(self.json)]

    def offer(self, *options):
        """The loads' JSON objects."""
        self.json.unlink(missing_ok=True)
        subprocess.run([*self.command, *map(str, options)], check=True, stdout=subprocess.DEVNULL)
        return [json.loads(line) for line in self.json.read_text().splitlines()]


def print_table(rows, peak):
    best = max(row["goodput_per_s"] for row in rows)
    print("| load | offered/s | goodput/s | of the best | too late | queue full | late | failed | "
          "unsent | p50 ms | p99 ms | p99.9 ms |")
    print("|---|---|---|---|---|---|---|---|---|---|---|---|")
    for row in rows:
        if row["loop"] == "closed":
            load = f"{row['clients']} clients, {row['deadline_ms']} ms"
        else:
            load = f"{row['rate'] / peak:.3g} x, {row['deadline_ms']} ms"
        counts = " | ".join(str(row[name]) for name in (
            "refused_too_late", "refused_queue_full", "late", "failed", "unsent"))
        print(f"| {load} | {row['offered'] / row['seconds']:,.0f} | {row['goodput_per_s']:,.0f} | "
              f"{row['goodput_per_s'] / best:.2f} | {counts} | {row['p50_ms']:.1f} | "
              f"{row['p99_ms']:.1f} | {row['p999_ms']:.1f} |")
    return rows[-1]["goodput_per_s"] / best


def main():
    arguments = parse_arguments()
    times = [float(factor) for factor in arguments.times.split(",")]
    with tempfile.TemporaryDirectory(prefix="farvec-overload-") as folder:
        with Node(arguments, folder) as node:
            loads = Loads(arguments, node, folder)
            rows = loads.offer("--clients", arguments.clients, "--deadline-ms", 1000)
            peak = rows[0]["goodput_per_s"]
            if peak < 1:
                sys.exit("overload.py: the node answers nothing in time")
            rates = ",".join(str(round(factor * peak)) for factor in times)
            rows += loads.offer("--rate", rates, "--deadline-ms", arguments.deadline_ms)
    share = print_table(rows, peak)
    if arguments.json:
        pathlib.Path(arguments.json).write_text(
            "".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return 0 if share >= arguments.require else 1


if __name__ == "__main__":
    sys.exit(main())
