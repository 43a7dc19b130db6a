"""A compute node by its address, beside the same index here."""

import os
import pathlib
import subprocess
import time

import numpy as np
import pytest

import farvec
from conftest import DIMENSION, ROWS, vectors

BIN = pathlib.Path(os.environ["FARVEC_BIN_DIR"])


@pytest.fixture()
def serve(tmp_path):
    """Starts a compute node with options and returns its address once it answers."""
    started = []

    def start(*options):
        address = f"unix:{tmp_path}/node.sock"
        node = subprocess.Popen(
            [BIN / "farvec-compute-node", "--listen", address, *options],
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        started.append(node)
        for _ in range(600):
            if (tmp_path / "node.sock").exists() or node.poll() is not None:
                break
            time.sleep(0.05)
        assert node.poll() is None, node.stderr.read()
        return "grpc://" + address

    start.nodes = started
    yield start
    for node in started:
        node.terminate()
        node.communicate(timeout=60)


def open_soon(address):
    """It may listen before it has its index."""
    for _ in range(600):
        try:
            return farvec.open(address, retries=3)
        except farvec.Unavailable:
            time.sleep(0.05)
    return farvec.open(address)


def test_an_index(serve, folder, queries):
    with open_soon(serve("--index", str(folder))) as node, farvec.open(folder) as here:
        many = np.tile(queries, (4, 1))
        found, expected = node.search(many, k=5), here.search(many, k=5)
        assert np.array_equal(found.ids, expected.ids)
        assert np.array_equal(found.distances, expected.distances)
        assert found.counts.reads == expected.counts.reads
        assert node.search(queries[0]).ids.shape == (10,)
        facts = node.describe()
        assert (facts["kind"], facts["count"], facts["dimension"]) == ("graph", ROWS, DIMENSION)
        with pytest.raises(farvec.InvalidArgument, match="k: 0"):
            node.search(queries, k=0)
        with pytest.raises(farvec.InvalidArgument, match="elements"):
            node.search(queries[:, :3].copy())


def test_a_node_that_goes_away(serve, folder, queries):
    node = open_soon(serve("--index", str(folder)))
    assert node.search(queries[0]).ids.shape == (10,)
    serve.nodes[0].kill()
    serve.nodes[0].wait()
    with pytest.raises((farvec.Unavailable, farvec.DeadlineExceeded), match="node.sock"):
        node.search(queries, deadline=5)
    node.close()


def test_a_collection(serve, tmp_path):
    rows, ids = vectors(50), np.arange(50, dtype=np.uint64) + 2**40
    farvec.Collection.create(tmp_path / "set", DIMENSION)
    with farvec.Collection(tmp_path / "set") as collection:
        collection.insert(ids, rows)
    with open_soon(serve("--collection", str(tmp_path / "set"))) as node:
        found = node.search(rows, k=60)
        assert found.ids.dtype == np.uint64
        assert np.array_equal(found.ids[:, 0], ids)
        assert (found.ids[:, 50:] == np.iinfo(np.uint64).max).all()
        assert node.describe()["kind"] == "collection"
