"""Small data sets, their exact neighbours by numpy alone, and indexes of them."""

import os
import pathlib
import subprocess
import time

import numpy as np
import pytest

import farvec

ROWS, QUERIES, DIMENSION = 2000, 40, 24


def distances(metric, queries, rows):
    """Of every query from every row, in double precision."""
    q, x = queries.astype(np.float64), rows.astype(np.float64)
    if metric == "l2":
        return ((q[:, None, :] - x[None, :, :]) ** 2).sum(axis=2)
    if metric == "cosine":
        q = q / np.linalg.norm(q, axis=1, keepdims=True)
        x = x / np.linalg.norm(x, axis=1, keepdims=True)
        return 1 - q @ x.T
    return -(q @ x.T)


def neighbours(metric, queries, rows, k):
    """Ids of the k nearest, nearest first, equal ones by the smaller id."""
    return np.argsort(distances(metric, queries, rows), axis=1, kind="stable")[:, :k]


def vectors(count, dtype=np.float32, seed=1, dimension=DIMENSION):
    values = np.random.default_rng(seed).normal(size=(count, dimension))
    if dtype in (np.float32, np.float16):
        return values.astype(dtype)
    low = 0 if dtype == np.uint8 else -128
    return np.clip(values * 40 + (128 + low), low, low + 255).astype(dtype)


@pytest.fixture(scope="session")
def rows():
    return vectors(ROWS, seed=1)


@pytest.fixture(scope="session")
def queries():
    return vectors(QUERIES, seed=2)


@pytest.fixture(scope="session")
def folder(tmp_path_factory, rows):
    """A graph of `rows`."""
    path = tmp_path_factory.mktemp("graph") / "index"
    farvec.build_graph(rows, path, metric="l2", progress=False)
    return path


@pytest.fixture()
def index(folder):
    with farvec.open(folder) as opened:
        yield opened


def daemons(name, socket):
    """Starts the daemon with options and returns its address once it listens; then ends all."""
    started = []

    def start(*options):
        node = subprocess.Popen(
            [pathlib.Path(os.environ["FARVEC_BIN_DIR"]) / name, "--listen", f"unix:{socket}", *options],
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        started.append(node)
        for _ in range(600):
            if socket.exists() or node.poll() is not None:
                break
            time.sleep(0.05)
        assert node.poll() is None, node.stderr.read()
        return f"unix:{socket}"

    start.nodes = started
    yield start
    for node in started:
        node.terminate()
        node.communicate(timeout=60)


@pytest.fixture()
def serve(tmp_path):
    """Starts a compute node with options and returns its address once it answers."""
    for start in daemons("farvec-compute-node", tmp_path / "node.sock"):
        def serve_index(*options):
            return "grpc://" + start(*options)

        serve_index.nodes = start.nodes
        yield serve_index


@pytest.fixture()
def hold(tmp_path):
    """Starts a memory node with options and returns its address."""
    yield from daemons("farvec-memory-node", tmp_path / "memory.sock")


def open_soon(address, opener=farvec.open):
    """It may listen before it has its index."""
    for _ in range(600):
        try:
            return opener(address, retries=3)
        except farvec.Unavailable:
            time.sleep(0.05)
    return opener(address)
