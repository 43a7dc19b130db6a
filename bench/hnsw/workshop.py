"""Graphs on pages that the study builds, changes and searches with the farvec tool."""
import json
import pathlib
import shutil
import struct
import subprocess
import sys

SUFFIXES = (".fbin", ".u8bin", ".i8bin")


def options_of(values):
    """{"memory_rows": 5} as ["--memory-rows", "5"]."""
    words = []
    for key, value in values.items():
        words += ["--" + key.replace("_", "-"), str(value)]
    return words


def rows_of(path):
    with open(path, "rb") as file:
        return struct.unpack("<II", file.read(8))[0]


class Workshop:
    """One set of vectors: its first rows, graphs over them, and what is measured of these.

    A folder is of one set. Graphs are kept in folder/graphs, one for each choice of rows and options;
    what is inserted goes into a copy of one.
    """

    def __init__(self, tool, folder, data, queries, metric, rows=None):
        self.tool, self.metric = str(tool), metric
        self.folder = pathlib.Path(folder)
        self.data, self.queries = pathlib.Path(data), pathlib.Path(queries)
        if self.data.suffix not in SUFFIXES or self.queries.suffix != self.data.suffix:
            raise SystemExit(f"error: {self.data} and {self.queries} are to be .fbin, .u8bin or "
                             ".i8bin, both the same")
        self.rows = min(rows or rows_of(self.data), rows_of(self.data))
        self.query_count = rows_of(self.queries)
        (self.folder / "graphs").mkdir(parents=True, exist_ok=True)

    def take_queries(self, count):
        """The first so many alone are searched from now on."""
        if count >= self.query_count:
            return
        path = self.folder / f"queries-{count}{self.queries.suffix}"
        if not path.exists():
            self.run("dataset", "sample", self.queries, path, "--rows", f"0:{count}", "--quiet")
        self.queries, self.query_count = path, count

    def run(self, *words):
        """The one JSON object that the tool prints."""
        print("farvec", *words, file=sys.stderr, flush=True)
        done = subprocess.run([self.tool, *map(str, words)], stdout=subprocess.PIPE, text=True,
                              check=False)
        if done.returncode != 0:
            raise SystemExit(f"error: farvec {words[0]} ended with {done.returncode}")
        return json.loads(done.stdout) if done.stdout.startswith("{") else {}

    def part(self, begin, end):
        """A file of rows begin to end of the set."""
        if (begin, end) == (0, rows_of(self.data)):
            return self.data
        path = self.folder / f"rows-{begin}-{end}{self.data.suffix}"
        if not path.exists():
            self.run("dataset", "sample", self.data, path, "--rows", f"{begin}:{end}", "--quiet")
        return path

    def truth(self, rows):
        path = self.folder / f"truth-{rows}-{self.query_count}.ibin"
        if not path.exists():
            self.run("dataset", "groundtruth", "--data", self.part(0, rows), "--queries",
                     self.queries, "--metric", self.metric, "--k", 10, "--out", path, "--quiet")
        return path

    def build(self, rows, **options):
        """(folder, report) of a graph over the first rows."""
        name = "-".join([str(rows), *(f"{key}={value}" for key, value in options.items())])
        folder = self.folder / "graphs" / name.replace("/", "_")
        report = folder.with_name(folder.name + ".json")
        if not report.exists():
            facts = self.run("build", "hnsw", "--data", self.part(0, rows), "--metric", self.metric,
                             "--out", folder, "--quiet", "--json", "--overwrite",
                             *options_of(options))
            report.write_text(json.dumps(facts))
        return folder, json.loads(report.read_text())

    def copy(self, graph):
        """A copy to change, in place of the one before."""
        work = self.folder / "work"
        shutil.rmtree(work, ignore_errors=True)
        shutil.copytree(graph, work)
        return work

    def insert(self, graph, begin, end, **options):
        """Rows begin to end of the set go in; the ids are the numbers of the rows."""
        return self.run("insert", "--index", graph, "--data", self.part(begin, end), "--first-id",
                        begin, "--quiet", "--json", *options_of(options))

    def sweep(self, graph, rows, **options):
        """Rows of a sweep of a graph that holds the first rows of the set. The first queries fill
        the buffer, the last are measured."""
        out = self.folder / "sweep.jsonl"
        out.unlink(missing_ok=True)
        self.run("sweep", "--index", graph, "--queries", self.queries, "--groundtruth",
                 self.truth(rows), "--json", out, *options_of(options))
        found = [json.loads(line) for line in out.read_text().splitlines()]
        for row in found:
            if "error" in row:
                raise SystemExit(f"error: farvec sweep: {row['error']}")
        return found
