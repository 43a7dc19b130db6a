"""What is measured: a peer's index in this process, or a tier of `farvec sweep`.

A contender can `choose` its parameters on the first half of the queries and `measure` them on the
second; both answer a Point.
"""
import dataclasses
import json
import pathlib
import subprocess
import tempfile
import time

import adapters
import disk_adapters

PEERS = {**adapters.PEERS, **disk_adapters.PEERS}

SWEEP_TIMEOUT_S = 1800
# A rate is of at least this long a run; short query sets are searched again.
LEAST_SECONDS = 0.5
MOST_REPEATS = 50
# Choosing only has to rank farvec's combinations.
CHOOSING_MS = 100


@dataclasses.dataclass
class Point:
    recall: float
    qps: float
    parameters: dict


class PeerContender:
    def __init__(self, name, workload, folder, k):
        self.name, self.workload, self.k = name, workload, k
        self.peer = PEERS[name](workload, folder)
        self.peer.load()
        facts = json.loads((pathlib.Path(folder) / "build.json").read_text())
        self.label, self.build_seconds = self.peer.label, facts["build_seconds"]
        self.bytes_per_vector = facts["bytes"] / len(workload.base)
        self.found = {}

    def run(self, which, effort, least_seconds=0.0):
        queries = self.peer.queries[which.start:which.stop]
        start, repeats, seconds = time.perf_counter(), 0, 0.0
        while repeats == 0 or (seconds < least_seconds and repeats < MOST_REPEATS):
            found = self.peer.search(queries, self.k, effort)
            repeats, seconds = repeats + 1, time.perf_counter() - start
        key = (which.start, effort)
        if key not in self.found:
            self.found[key] = self.workload.recall(found, which, self.k)
        return Point(self.found[key], repeats * len(queries) / seconds, {"effort": effort})

    def reaches(self, position, target):
        effort = self.peer.efforts[position]
        return self.run(self.workload.halves()[0], effort).recall >= target

    def choose(self, target):
        """The least effort that reaches the target on the first half: by doubling, then bisection,
        so that no effort far beyond the needed one is ever run."""
        last = len(self.peer.efforts) - 1
        low, high = 0, 0
        while not self.reaches(high, target):
            if high == last:
                return None
            low, high = high + 1, min(last, 2 * high + 10)
        while low < high:
            middle = (low + high) // 2
            if self.reaches(middle, target):
                high = middle
            else:
                low = middle + 1
        return {"effort": self.peer.efforts[low]}

    def measure(self, parameters):
        return self.run(self.workload.halves()[1], parameters["effort"], LEAST_SECONDS)


class FarvecContender:
    """One tier of `farvec sweep`, a process per call; it inherits this process's core."""

    def __init__(self, tier, options, workload):
        self.name = self.label = f"farvec {tier}"
        self.tier, self.options, self.workload = tier, options, workload
        self.build_seconds = None
        self.bytes_per_vector = None
        self.tried = None

    def sweep(self, which, lists, widths, slots, pass_ms):
        options = self.options
        with tempfile.TemporaryDirectory() as folder:
            result = pathlib.Path(folder) / "sweep.jsonl"
            command = [options.farvec, "sweep", "--index", options.index,
                       "--queries", options.queries, "--groundtruth", options.groundtruth,
                       "--k", str(options.k), "--list", lists, "--width", widths,
                       "--slots", slots, "--threads", "1", "--tier", self.tier, "--passes", "1",
                       "--pass-ms", str(pass_ms),
                       "--queries-range", f"{which.start}:{which.stop}", "--json", str(result)]
            done = subprocess.run(command, capture_output=True, text=True, check=False,
                                  timeout=SWEEP_TIMEOUT_S)
            if done.returncode != 0:
                raise SystemExit(f"error: {' '.join(command)}\n{done.stderr}")
            lines = [json.loads(line) for line in result.read_text().splitlines()]
        for line in lines:
            if "error" in line:
                raise SystemExit(f"error: {' '.join(command)}\n{line['error']}")
        return lines

    def recalls(self):
        """One line per list and width on the first half; neither tier nor slots change a recall."""
        if self.tried is None:
            options = self.options
            self.tried = self.sweep(self.workload.halves()[0], options.lists, options.widths, "16",
                                    1)
            line = self.tried[0]
            size = line["index_bytes"] + line["compute_dram_bytes"]
            self.bytes_per_vector = size / len(self.workload.base)
        return self.tried

    def choose(self, target):
        """Of every width's shortest list that reaches the target on the first half, with every
        number of slots, the fastest."""
        slots = f"1,{self.options.slots}" if self.tier == "dram" else self.options.slots
        shortest = {}
        for line in self.recalls():
            if line["recall"] >= target:
                width = line["width"]
                shortest[width] = min(line["list"], shortest.get(width, line["list"]))
        lines = [line for width, length in shortest.items()
                 for line in self.sweep(self.workload.halves()[0], str(length), str(width), slots,
                                        CHOOSING_MS)]
        if not lines:
            return None
        best = max(lines, key=lambda line: line["qps"])
        return {name: best[name] for name in ("list", "width", "slots")}

    def measure(self, parameters):
        line, = self.sweep(self.workload.halves()[1],
                           *(str(parameters[name]) for name in ("list", "width", "slots")),
                           LEAST_SECONDS * 1000)
        return Point(line["recall"], line["qps"], parameters)
