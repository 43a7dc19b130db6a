"""What is measured: a peer's index in its worker process, or a tier of `farvec sweep`.

A contender can `choose` its parameters on the first half of the queries and `measure` them on the
second; both answer a Point.
"""
import dataclasses
import json
import os
import pathlib
import subprocess
import tempfile

import worker

SWEEP_TIMEOUT_S = 1800
# A rate is of at least this long a run; short query sets are searched again.
LEAST_SECONDS = 0.5
# Recall that twice the effort has to gain for the search to go on.
LEAST_GAIN = 0.0002
# Choosing only has to rank farvec's combinations.
CHOOSING_MS = 100


@dataclasses.dataclass
class Point:
    recall: float
    qps: float
    parameters: dict
    p99_us: float | None = None
    processor_us: float | None = None  # of a query


def rows_of_sweep(farvec, words, environment=None):
    """The JSON rows of one `farvec sweep`. A failure ends the run with what it said."""
    with tempfile.TemporaryDirectory() as folder:
        result = pathlib.Path(folder) / "sweep.jsonl"
        command = [farvec, "sweep", *map(str, words), "--json", str(result)]
        done = subprocess.run(command, capture_output=True, text=True, check=False,
                              timeout=SWEEP_TIMEOUT_S, env=environment)
        if done.returncode != 0:
            raise SystemExit(f"error: {' '.join(command)}\n{done.stderr}")
        lines = [json.loads(line) for line in result.read_text().splitlines()]
    for line in lines:
        if "error" in line:
            raise SystemExit(f"error: {' '.join(command)}\n{line['error']}")
    return lines


def asked_of_sweep(options, which):
    """What every sweep of a half of the queries is given."""
    return ["--queries", options.queries, "--groundtruth", options.groundtruth, "--k", options.k,
            "--threads", 1, "--passes", 1, "--queries-range", f"{which.start}:{which.stop}"]


def with_version(label, version):
    """`name (what)` to `name 1.2 (what)`."""
    name, bracket, rest = label.partition(" (")
    return f"{name} {version}{bracket}{rest}" if version else label


class PeerContender:
    """A peer's worker process, which inherits this process's core."""

    tier = layout = None

    def __init__(self, name, folder, rows, command):
        self.name = name
        facts = json.loads((pathlib.Path(folder) / "build.json").read_text())
        self.build_seconds, self.bytes_per_vector = facts["build_seconds"], facts["bytes"] / rows
        self.worker = worker.Worker(command)
        self.label = with_version(self.worker.hello["label"], self.worker.hello["version"])
        self.efforts = range(*self.worker.hello["efforts"])

    def run(self, half, parameters, least_seconds=0.0, latency=False):
        answer = self.worker.ask({"half": half, "parameters": parameters, "seconds": least_seconds,
                                  "latency": latency})
        return Point(answer["recall"], answer["qps"], parameters, answer.get("p99_us"),
                     answer["processor_us"])

    def recall(self, position, setting):
        return self.run(0, {"effort": self.efforts[position], **setting}).recall

    def least_effort(self, setting, target):
        """The least effort that reaches the target on the first half: by doubling, then bisection,
        so that no effort far beyond the needed one is ever run. None where even twice the effort
        finds nothing more."""
        last = len(self.efforts) - 1
        low, high, before = 0, 0, -1.0
        while (recall := self.recall(high, setting)) < target:
            if high == last or recall < before + LEAST_GAIN:
                return None
            low, high, before = high + 1, min(last, 2 * high + 10), recall
        while low < high:
            middle = (low + high) // 2
            if self.recall(middle, setting) >= target:
                high = middle
            else:
                low = middle + 1
        return {"effort": self.efforts[low], **setting}

    def choose(self, target):
        """Of every setting's least effort, the fastest on the first half."""
        found = [self.least_effort(setting, target) for setting in self.worker.hello["settings"]]
        found = [parameters for parameters in found if parameters]
        if len(found) < 2:
            return found[0] if found else None
        return max(found, key=lambda parameters: self.run(0, parameters, CHOOSING_MS / 1000).qps)

    def measure(self, parameters):
        return self.run(1, parameters, LEAST_SECONDS, latency=True)

    def close(self):
        self.worker.close()


class FarvecContender:
    """One tier of `farvec sweep`, a process per call; it inherits this process's core. With an
    instruction set it is told to use no other."""

    def __init__(self, index, tier, instructions, options, workload):
        self.index, _, seconds = index.partition("=")
        manifest = json.loads((pathlib.Path(self.index) / "manifest.json").read_text())
        self.layout = manifest["graph"]["layout"]
        build = manifest["build"]
        what = f"{self.layout}, degree {build['degree']}, {build['code_bits']} bits"
        self.environment = dict(os.environ)
        if instructions != "auto":
            self.environment["FARVEC_ISA"] = instructions
            what += f", {instructions}"
        self.name = self.label = f"farvec {tier} ({what})"
        self.tier, self.options, self.workload = tier, options, workload
        self.build_seconds = float(seconds) if seconds else None
        self.bytes_per_vector = None
        self.tried = None

    def sweep(self, which, lists, widths, slots, pass_ms):
        return rows_of_sweep(
            self.options.farvec,
            ["--index", self.index, *asked_of_sweep(self.options, which), "--list", lists,
             "--width", widths, "--slots", slots, "--tier", self.tier, "--pass-ms", pass_ms],
            self.environment)

    def recalls(self):
        """One line per list and width on the first half; neither tier nor slots change a recall."""
        if self.tried is None:
            options = self.options
            self.tried = self.sweep(self.workload.halves()[0], options.lists, options.widths, "16",
                                    1)
            line = self.tried[0]
            size = line["index_bytes"] + line["compute_dram_bytes"]
            self.bytes_per_vector = size / self.workload.rows
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
        return Point(line["recall"], line["qps"], parameters, line["p99_us"])

    def close(self):
        """Every call was a process of its own."""


class PagedContender:
    """A paged HNSW of `farvec build hnsw` with so many searches in flight, its buffer of the bytes
    that peers which search from disk may keep. The other half of the queries fills the buffer."""

    layout, tier = "paged", "ssd"

    def __init__(self, index, slots, options, workload):
        self.index, _, seconds = index.partition("=")
        self.options, self.workload, self.slots = options, workload, slots
        self.name = f"farvec paged HNSW, {slots} in flight"
        self.label = f"farvec paged HNSW ({pathlib.Path(self.index).name}, {slots} in flight)"
        self.build_seconds = float(seconds) if seconds else None
        size = sum(path.stat().st_size for path in pathlib.Path(self.index).rglob("*")
                   if path.is_file())
        self.bytes_per_vector = size / workload.rows

    def sweep(self, which, lists):
        return rows_of_sweep(
            self.options.farvec,
            ["--index", self.index, *asked_of_sweep(self.options, which), "--list", lists,
             "--search", "pipelined", "--buffer", self.options.memory_budget,
             "--slots", self.slots])

    def choose(self, target):
        """The shortest list that reaches the target on the first half."""
        for length in sorted({int(text) for text in self.options.lists.split(",")}):
            if length < self.options.k:
                continue
            line, = self.sweep(self.workload.halves()[0], length)
            if line["recall"] >= target:
                return {"list": length, "slots": self.slots}
        return None

    def measure(self, parameters):
        line, = self.sweep(self.workload.halves()[1], parameters["list"])
        return Point(line["recall"], line["qps"], parameters, line["p99_us"])

    def close(self):
        """Every call was a process of its own."""
