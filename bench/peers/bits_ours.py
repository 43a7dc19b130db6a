"""farvec's graphs as contenders of bits.py: built in turn, and measured by `farvec sweep`."""
import pathlib
import resource
import shutil
import statistics
import subprocess
import sys
import time

from worker import PeerError, reason_of

MOST_LIST = 1000  # pgvector takes no more; so does nobody
# The kinds of graphs; WAY stands for how numbers become bits.
OURS = {
    "f32": [],
    "f32, RaBitQ codes of 1 bit": ["--code-bits", "1"],
    "f16": ["--store", "f16"],
    "i8": ["--store", "i8"],
    "b1 hamming": ["--store", "b1", "--by", "WAY"],
    "b1 jaccard": ["--store", "b1", "--by", "WAY", "--bits-metric", "jaccard"],
    "b1 hamming, packed": ["--store", "b1", "--by", "WAY", "--layout", "packed"],
    "b1 hamming, packed, copy of f16": ["--store", "b1", "--by", "WAY", "--layout", "packed",
                                        "--second-copy", "f16"],
}
MEASURED_APART = ("b1 hamming", "b1 hamming, packed", "b1 hamming, packed, copy of f16")  # also with the second copy elsewhere
BUILT_OFTEN = ("f32", *MEASURED_APART)  # whose builds the verdicts divide
IN_DRAM = "in DRAM"
# Where else the second copy is: the tier, and searches in flight that are tried.
ELSEWHERE = {
    "on disk": ("ssd", (8, 16, 32, 64)),
    "in shared memory": ("shm", (1, 4, 8, 16, 24)),
    "over modelled RDMA": ("emulated:rdma", (4, 8, 16, 24, 32)),
}
PASS_MS, CHOOSING_MS, ALONE_MS = 500, 100, 300
COARSE = (10, 20, 40, 80, 160, 320, 640, MOST_LIST)  # lists, between which the ladder is climbed
LINE_NS = 50  # spares each sweep the measurement of memory, which only its bounds want


def say(text):
    print(f"{time.strftime('%H:%M:%S')} {text}", file=sys.stderr, flush=True)


def call(farvec, *words):
    done = subprocess.run([farvec, *map(str, words)], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise PeerError(f"farvec {' '.join(map(str, words[:2]))}: {reason_of(done.stderr)}")
    return done.stdout


def ladder(first=10, last=MOST_LIST):
    """Lists a 25th apart."""
    lists = []
    while first < last:
        lists.append(first)
        first += max(1, round(first / 25))
    return [*lists, last]


def chunks(values, size):
    return [values[start:start + size] for start in range(0, len(values), size)]


def folder_bytes(index):
    """(of the index, of its second copy), as they lie on the disk."""
    sizes = {path.name: path.stat().st_size for path in pathlib.Path(index).iterdir()}
    second = sizes.pop("second.bin", 0)
    return sum(sizes.values()), second


class Ours:
    """A graph in DRAM, its second copy too."""

    where = IN_DRAM
    second_tier = ()
    all_slots = (1, 4, 8, 16, 24)  # in flight

    def __init__(self, name, index, seconds, options, workload):
        self.key = self.label = f"farvec {name}"
        self.index, self.options, self.workload = index, options, workload
        self.build_seconds = statistics.median(seconds)
        self.index_bytes, self.second_bytes = folder_bytes(index)
        self.dram_bytes = self.shortest = self.chosen = None
        if not self.second_bytes:
            self.where = None

    def sweep(self, half, lists, widths, slots, pass_ms):
        from contenders import asked_of_sweep, rows_of_sweep
        which = self.workload.halves()[half]
        words = ["--index", self.index, *asked_of_sweep(self.options, which), "--list",
                 ",".join(map(str, lists)), "--width", ",".join(map(str, widths)), "--slots",
                 ",".join(map(str, slots)), "--tier", "dram", *self.second_tier, "--pass-ms", pass_ms,
                 "--line-ns", LINE_NS]
        try:
            return rows_of_sweep(self.options.farvec, words)
        except SystemExit as error:
            raise PeerError(reason_of(str(error))) from error

    def shortest_list(self, target):
        """Answers the shortest list of the ladder that reaches the target with a width of 1, or None. Wider
        searches find no less."""
        if self.shortest is None:
            self.shortest = 0
            for lists in chunks(COARSE, 3):
                reached = [line["list"] for line in self.sweep(0, lists, (1,), (16,), 1)
                           if line["recall"] >= target]
                if reached:
                    self.shortest = self.between(COARSE, min(reached), target)
                    break
        return self.shortest or None

    def between(self, coarse, reached, target):
        """Answers the shortest list beyond the coarse step before `reached`."""
        before = max((length for length in coarse if length < reached), default=0)
        fine = [length for length in ladder() if before < length < reached]
        lines = self.sweep(0, fine, (1,), (16,), 1) if fine else []
        return min((line["list"] for line in lines if line["recall"] >= target), default=reached)

    def choose(self, target):
        """Answers the fastest of some widths and numbers of slots, with the shortest list."""
        length = self.shortest_list(target)
        if length is None or self.chosen is not None:
            return self.chosen
        lines = self.sweep(0, (length,), (1, 2, 4), self.all_slots, CHOOSING_MS)
        best = max((line for line in lines if line["recall"] >= target), key=lambda line: line["qps"],
                   default=lines[0])
        self.chosen = {name: best[name] for name in ("list", "width", "slots")}
        return self.chosen

    @staticmethod
    def most():
        return {"list": MOST_LIST, "width": 1, "slots": 8}

    def measure(self, parameters):
        from contenders import Point
        words = [(parameters["list"],), (parameters["width"],)]
        line, = self.sweep(1, *words, (parameters["slots"],), PASS_MS)
        alone = line
        if parameters["slots"] != 1:
            alone, = self.sweep(1, *words, (1,), ALONE_MS)
        # Buffers of searches are counted on no side.
        in_dram = round(line["index_dram_bytes_per_vector"] * self.workload.rows)
        self.dram_bytes = line["index_bytes"] + in_dram
        return Point(line["recall"], line["qps"], parameters, alone["p99_us"], line["processor_us"])

    def close(self):
        """Every call was a process of its own."""


class OursElsewhere(Ours):
    """The same graph in DRAM, the second copy read from elsewhere."""

    def __init__(self, ours, where):
        super().__init__(f"{ours.key.removeprefix('farvec ')}, copy {where}", ours.index,
                         [ours.build_seconds], ours.options, ours.workload)
        tier, self.all_slots = ELSEWHERE[where]
        self.ours, self.where, self.second_tier = ours, where, ("--second-tier", tier)

    def choose(self, target):
        """Answers the list and width for DRAM, as a tier changes no recall, with other numbers in flight."""
        chosen = self.ours.choose(target)
        if chosen is None:
            return None
        lines = self.sweep(0, (chosen["list"],), (chosen["width"],), self.all_slots, CHOOSING_MS)
        return {**chosen, "slots": max(lines, key=lambda line: line["qps"])["slots"]}


def processor_of_children():
    """Answers the seconds that the processors have spent on processes which have ended."""
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    return spent.ru_utime + spent.ru_stime


def build_ours(options, paths, way, failures):
    """{name: (index, seconds of each build, of the processors)}; those whose builds are compared are built in
    turn."""
    built = {}
    for number in range(options.builds):
        for name in options.ours:
            if name in failures or (number > 0 and name not in BUILT_OFTEN):
                continue
            index = paths[0].with_name(name.replace(" ", "-").replace(",", "") + ".index")
            shutil.rmtree(index, ignore_errors=True)
            say(f"building farvec {name}")
            words = [way if word == "WAY" else word for word in OURS[name]]
            start, spent = time.perf_counter(), processor_of_children()
            try:
                call(options.farvec, "build", "graph", "--data", paths[0], "--metric", options.metric,
                     "--list", options.build_list, "--out", index, "--quiet", *words)
            except PeerError as error:
                failures[name] = str(error)
                built.pop(name, None)
                continue
            _, seconds, processor = built.setdefault(name, (index, [], []))
            seconds.append(time.perf_counter() - start)
            processor.append(processor_of_children() - spent)
    return built
