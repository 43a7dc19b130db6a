"""Runs of `farvec sweep` over halves of the queries: what the comparisons of indexes share."""
import json
import pathlib
import statistics
import subprocess
import tempfile


def run(command, cpu=None, stderr=None, timeout_s=None):
    """Runs it to its end, on processor `cpu` if there is one; what it prints is dropped.

    After `timeout_s` it is killed, and subprocess.TimeoutExpired thrown.
    """
    prefix = [] if cpu is None else ["taskset", "-c", str(cpu)]
    subprocess.run([*prefix, *map(str, command)], check=True, stdout=subprocess.DEVNULL,
                   stderr=stderr, timeout=timeout_s)


def read_rows(path):
    """The objects of a file with one on each line, as --json writes it."""
    return [json.loads(line) for line in pathlib.Path(path).read_text().splitlines()]


def spread(values, form=",.0f"):
    """Median (least to most)."""
    return f"{statistics.median(values):{form}} ({min(values):{form}} to {max(values):{form}})"


def least(reach, low, high, most=None):
    """The least number that reach() holds for, by doubling `high` and halving what is between.

    reach() must not hold for `low`. None when `high` would pass `most`.
    """
    while not reach(high):
        low, high = high, high * 2
        if most is not None and high > most:
            return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if reach(middle) else (middle, high)
    return high


class Sweeps:
    """Searches for the queries of one file, by one thread on one processor unless said otherwise.

    Numbers are chosen on `first_half` of the queries and measured on `second_half`.
    """

    timeout_s = None  # of one run

    def __init__(self, farvec, queries, groundtruth, cpu=None, stderr=None):
        self.farvec, self.queries, self.groundtruth = farvec, queries, groundtruth
        self.cpu, self.stderr = cpu, stderr
        with open(queries, "rb") as file:
            count = int.from_bytes(file.read(4), "little")
        self.first_half, self.second_half = (0, count // 2), (count // 2, count)

    def rows(self, index, half, options, threads=1):
        """A row for each combination of the options, all of which have to run."""
        with tempfile.TemporaryDirectory() as folder:
            out = pathlib.Path(folder) / "rows.jsonl"
            run([self.farvec, "sweep", "--index", index, "--queries", self.queries, "--groundtruth",
                 self.groundtruth, "--queries-range", f"{half[0]}:{half[1]}", "--threads",
                 threads, "--json", out, *options], self.cpu, self.stderr, self.timeout_s)
            rows = read_rows(out)
        for row in rows:
            if "error" in row:
                raise RuntimeError(f"{index} {options}: {row['error']}")
        return rows

    def reaches(self, index, recall, options):
        """Whether one search with these options has the recall on the first half, in DRAM."""
        rows = self.rows(index, self.first_half,
                         [*options, "--tier", "dram", "--passes", 1, "--pass-ms", 1])
        return rows[0]["recall"] >= recall
