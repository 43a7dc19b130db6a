#!/usr/bin/python3
"""One runbook over a compute node, for four indexes under one budget of memory: collections of graphs,
of clusters and of slotted pages, and the paged HNSW.

Each index is made anew and served by a node of one thread in every round; the indexes take turns. A
table has the median of the rounds, least and most. "Written" and "most memory" are the node's, as the
kernel counts them. Run it on a quiet machine, with the folder on the disk that is meant.

Example:
    scripts/runbooks/make.py sliding --data base.i8bin --out sliding.yaml
    scripts/bench/node_runbook.py sliding.yaml --data base.i8bin --queries query.i8bin --metric l2 \\
        --budget 24MiB --memtable-rows 1024 --rounds 5 --json rounds.jsonl
"""
import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
PATIENCE = 60  # seconds for a node to answer


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runbook", type=pathlib.Path)
    parser.add_argument("--data", required=True, type=pathlib.Path)
    parser.add_argument("--queries", required=True, type=pathlib.Path)
    parser.add_argument("--metric", required=True)
    parser.add_argument("--budget", default="24MiB", help="for pages, of slotted pages and of the paged HNSW (%(default)s)")
    parser.add_argument("--memtable-rows", default="1024", help="(%(default)s)")
    parser.add_argument("--list", default="60", help="of searches of graphs (%(default)s)")
    parser.add_argument("--probe", default="16", help="clusters that a search reads (%(default)s)")
    parser.add_argument("--m", default="16", help="of the paged HNSW (%(default)s)")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--folder", help="where indexes are made (a temporary folder)")
    parser.add_argument("--bin", type=pathlib.Path, default=ROOT / "build" / "release" / "bin")
    parser.add_argument("--json", type=pathlib.Path, help="file for a JSON object per round and index")
    return parser.parse_args()


class Round:
    """One index, from its making to the end of its node."""

    def __init__(self, given, folder, truth):
        self.given, self.folder, self.truth = given, folder, truth
        self.address = f"unix:{folder}/node"

    def tool(self, *words):
        command = [self.given.bin / "farvec", *map(str, words)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            sys.exit(f"{' '.join(map(str, command))}: {done.stderr}")
        return done.stdout

    def collection(self, *options):
        path = self.folder / "set"
        self.tool("collection", "create", "--collection", path, "--like", self.given.data, "--metric",
                  self.given.metric, "--memtable-rows", self.given.memtable_rows, *options)
        return ["--collection", path, "--tier", "ssd", "--max-width", 4]

    def graphs(self):
        return self.collection()

    def clusters(self):
        return self.collection("--kind", "cluster")

    def slotted(self):
        return [*self.collection("--layout", "slotted"), "--memory-budget", self.given.budget]

    def paged(self):
        """A graph of a few rows, which are taken out again."""
        path, few = self.folder / "set.hnsw", self.folder / f"few{self.given.data.suffix}"
        self.tool("dataset", "sample", self.given.data, few, "--first", 100)
        self.tool("build", "hnsw", "--data", few, "--metric", self.given.metric, "--m", self.given.m, "--out", path,
                  "--quiet")
        self.tool("delete", "--index", path, "--range", "0:100")
        self.tool("vacuum", "--index", path)
        return ["--paged", path, "--buffer", self.given.budget]

    def run(self, kind):
        served = getattr(self, kind)()
        with open(self.folder / "node.log", "w", encoding="utf-8") as log:
            node = subprocess.Popen([self.given.bin / "farvec-compute-node", *map(str, served), "--listen", self.address,
                                     "--threads", "1", "--slots", "16", "--max-list", "128"], stdout=log, stderr=log)
        try:
            self.await_node(node)
            lines = self.search(kind)
            return {"index": kind, **summary(lines), **kernel_counts(node.pid)}
        finally:
            node.terminate()
            node.wait(PATIENCE)

    def await_node(self, node):
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end and node.poll() is None:
            done = subprocess.run([self.given.bin / "farvec", "status", self.address], capture_output=True,
                                  check=False)
            if done.returncode == 0:
                return
            time.sleep(0.2)
        sys.exit(f"the node does not answer: {(self.folder / 'node.log').read_text()}")

    def search(self, kind):
        report = self.folder / "report.jsonl"
        effort = ["--probe", self.given.probe] if kind == "clusters" else ["--list", self.given.list]
        self.tool("runbook", self.given.runbook, "--data", self.given.data, "--queries", self.given.queries,
                  "--metric", self.given.metric, "--connect", self.address, "--slots", 8, *effort, "--truth", self.truth,
                  "--json", report)
        return [json.loads(line) for line in report.read_text().splitlines()]


def summary(lines):
    """Rates of all steps of a kind together, and the mean recall and times of the searches."""
    row = {}
    steps = [line for line in lines if "operation" in line]
    for operation in ("insert", "delete", "search"):
        some = [step for step in steps if step["operation"] == operation]
        row[operation] = sum(step["operations"] for step in some) / max(1e-9, sum(step["seconds"] for step in some))
    searches = [step for step in steps if "recall" in step]
    for name in ("recall", "p50_us", "p99_us"):
        row[name] = statistics.fmean(step[name] for step in searches)
    return row


def kernel_counts(pid):
    """Bytes that the process has written, and the most memory that it has had."""
    io = dict(line.split(": ") for line in pathlib.Path(f"/proc/{pid}/io").read_text().splitlines())
    status = pathlib.Path(f"/proc/{pid}/status").read_text()
    peak = next(line for line in status.splitlines() if line.startswith("VmHWM"))
    return {"written": int(io["write_bytes"]), "memory": int(peak.split()[1]) * 1024}


COLUMNS = (("recall", "recall@10", 1, "{:.4f}"), ("insert", "inserts a second", 1, "{:,.0f}"),
           ("delete", "deletes a second", 1, "{:,.0f}"), ("search", "searches a second", 1, "{:,.0f}"),
           ("p50_us", "p50, ms", 1e-3, "{:.1f}"), ("p99_us", "p99, ms", 1e-3, "{:.1f}"),
           ("written", "written, MB", 1e-6, "{:,.1f}"), ("memory", "most memory, MB", 1e-6, "{:,.0f}"))


def cell(values, form):
    middle, least, most = (form.format(of(values)) for of in (statistics.median, min, max))
    return middle if least == most else f"{middle} ({least} to {most})"


def print_table(rows):
    print("| index | " + " | ".join(name for _, name, _, _ in COLUMNS) + " |")
    print("|---" * (len(COLUMNS) + 1) + "|")
    for kind in KINDS:
        mine = [row for row in rows if row["index"] == kind]
        print(f"| {kind} | " + " | ".join(cell([row[key] * unit for row in mine], form)
                                          for key, _, unit, form in COLUMNS) + " |")


KINDS = ("graphs", "clusters", "slotted", "paged")


def main():
    given = arguments()
    rows = []
    with tempfile.TemporaryDirectory(dir=given.folder) as kept:
        for number in range(given.rounds):
            for kind in KINDS[number % len(KINDS):] + KINDS[:number % len(KINDS)]:
                with tempfile.TemporaryDirectory(dir=given.folder) as folder:
                    row = Round(given, pathlib.Path(folder), pathlib.Path(kept) / "truth").run(kind)
                rows.append({"round": number, **row})
                print(json.dumps(rows[-1]), file=sys.stderr, flush=True)
                if given.json:
                    given.json.write_text("".join(json.dumps(one) + "\n" for one in rows))
    print_table(rows)


if __name__ == "__main__":
    main()
