"""Runs the built programs on small files: what the tests of the tool share."""
import contextlib
import json
import os
import pathlib
import socket
import subprocess
import tempfile
import threading
import time
import unittest

import numpy as np

BIN = pathlib.Path(os.environ["FARVEC_BIN_DIR"])
SUFFIXES = {np.dtype(np.float32): ".fbin", np.dtype(np.uint8): ".u8bin", np.dtype(np.int8): ".i8bin"}
TIMEOUT_S = 120
FASHION = pathlib.Path("/usr/share/datasets/fashion-mnist/t10k-images-idx3-ubyte.gz")
DATA = pathlib.Path(os.environ.get("FARVEC_DATA") or "FARVEC_DATA")
DEEP20K, TEXT300K = DATA / "deep20k", DATA / "text300k"


def needs_data(path):
    """Skips a test; scripts/test_report.py knows the reason by how it begins."""
    return unittest.skipUnless(path.exists(), f"no data: {path} is not there")


def farvec(*arguments, **options):
    """The finished process, with its output as text."""
    return subprocess.run([str(BIN / "farvec"), *map(str, arguments)], text=True,
                          capture_output=True, timeout=TIMEOUT_S, check=False, **options)


def rest_of(process):
    """What a process prints until it ends, on both outputs. Popen.communicate() does not see lines
    that a readline() before it has read ahead."""
    deadline = threading.Timer(TIMEOUT_S, process.kill)
    deadline.start()
    try:
        rest = process.stdout.read()
        errors = process.stderr.read() if process.stderr else ""
        process.wait()
    finally:
        deadline.cancel()
    return rest, errors


GIVEN_PORTS = set()


def free_port():
    """One that nobody listens at; no two calls of a test get the same."""
    while True:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        if port not in GIVEN_PORTS:
            GIVEN_PORTS.add(port)
            return port


def write_vectors(stem, rows, count=None, dimension=None):
    """Writes STEM.fbin, .u8bin or .i8bin; `count` and `dimension` let the header lie."""
    rows = np.ascontiguousarray(rows)
    path = pathlib.Path(stem).with_suffix(SUFFIXES[rows.dtype])
    shape = (rows.shape[0] if count is None else count,
             rows.shape[1] if dimension is None else dimension)
    path.write_bytes(np.asarray(shape, dtype="<u4").tobytes() + rows.tobytes())
    return path


def read_neighbours(path):
    """(ids, distances) of an .ibin file."""
    raw = np.fromfile(path, dtype="<u4")
    queries, k = (int(number) for number in raw[:2])
    cells = queries * k
    return (raw[2:2 + cells].reshape(queries, k),
            raw[2 + cells:].view("<f4").reshape(queries, k))


class ToolTest(unittest.TestCase):
    """A folder per test, and the checks that every refusal has to pass."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="farvec-tool-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.folders_of_daemons = []  # where running daemons write whenever they like
        self.random = np.random.default_rng(7)

    def rows(self, count, dimension=16, dtype=np.uint8):
        if np.dtype(dtype) == np.float32:
            return self.random.standard_normal((count, dimension)).astype(np.float32)
        return self.random.integers(0, 100, (count, dimension)).astype(dtype)

    def build(self, data, *options, metric="l2", out="index", **process_options):
        return farvec("build", "graph", "--data", data, "--metric", metric, "--degree", 8,
                      "--list", 16, "--quiet", "--out", self.folder / out, *options,
                      **process_options)

    def must_pass(self, result):
        self.assertEqual(result.returncode, 0, result.stderr)
        return result

    def must_refuse(self, result, *words):
        """Non-zero exit, one error that holds the words, no half-made output."""
        self.assertIn(result.returncode, (1, 2), result.stdout + result.stderr)
        for word in words:
            self.assertIn(word, result.stderr)
        self.assertEqual([name for name in self.names() if "partial" in name], [])
        return result

    def names(self):
        """Of all files and folders, but for those in which a daemon makes and removes some."""
        for folder, folders, files in os.walk(self.folder):
            folders[:] = [name for name in folders
                          if pathlib.Path(folder, name) not in self.folders_of_daemons]
            yield from folders + files

    def must_refuse_build(self, data, *words, options=()):
        self.must_refuse(self.build(data, *options), *words)
        self.assertFalse((self.folder / "index").exists())


class BenchTest(ToolTest):
    """What all benches print: a table, and as many JSON lines; the rates here are of reads."""

    SMALL = 128  # bytes of the small reads of a mix

    def bench_lines(self, bench, *options):
        path = self.folder / "bench.json"
        result = self.must_pass(bench(*options, "--json", path))
        rows = [json.loads(line) for line in path.read_text().splitlines()]
        self.assertEqual(len(result.stdout.splitlines()), 1 + len(rows), result.stdout)
        for row in rows:
            self.check_rates(row)
        return rows

    def check_rates(self, row):
        self.assertGreater(row["reads_per_s"], 0)
        self.assertLessEqual(row["reads_per_s_min"], row["reads_per_s"])
        self.assertLessEqual(row["reads_per_s"], row["reads_per_s_max"])
        self.assertLessEqual(row["p50_us"], row["p99_us"])
        payload, small = row["payload"], self.SMALL
        least, most = sorted((small, payload)) if row["mix"] > 0 else (payload, payload)
        # Medians of rate and of bandwidth are of the same passes up to rounding and the mix.
        self.assertGreaterEqual(row["gb_per_s"] * 1e9, 0.9 * least * row["reads_per_s_min"])
        self.assertLessEqual(row["gb_per_s"] * 1e9, 1.1 * most * row["reads_per_s_max"])


class DaemonTest(ToolTest):
    """Processes of one test, ended with it: programs of the build, or others by their whole path; what
    NAME prints is in NAME.log."""

    def setUp(self):
        super().setUp()
        self.processes = contextlib.ExitStack()
        self.addCleanup(self.processes.close)

    def start(self, name, *options):
        log = self.processes.enter_context(open(self.folder / f"{pathlib.Path(name).name}.log", "w"))
        process = subprocess.Popen([str(BIN / name), *map(str, options)], stdout=log, stderr=log)
        self.processes.callback(process.wait, timeout=TIMEOUT_S)
        self.processes.callback(process.kill)
        return process

    def await_status(self, address, code=0):
        """Until the node at the address serves, or with code 3 answers and does not; what `farvec
        status --json` then says."""
        end = time.monotonic() + TIMEOUT_S
        while (result := farvec("status", address, "--json")).returncode != code:
            logs = [path.read_text() for path in self.folder.glob("*.log")]
            self.assertLess(time.monotonic(), end, "\n".join([result.stderr, *logs]))
            time.sleep(0.05)
        return json.loads(result.stdout)
