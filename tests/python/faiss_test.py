"""What faiss' users have: indexes of its own, whose vectors are taken, and its names."""

import os
import pathlib
import subprocess
import sys

import faiss
import numpy as np
import pytest

import farvec
from conftest import vectors

TOOL = pathlib.Path(os.environ["FARVEC_BIN_DIR"]) / "farvec"
ROWS, DIMENSION = 3000, 24


def convert(index, out, python=sys.executable):
    return subprocess.run([TOOL, "dataset", "convert", "--from-faiss", index, out], check=False,
                          capture_output=True, text=True,
                          env=dict(os.environ, FARVEC_PYTHON=str(python), OMP_NUM_THREADS="1"))


def written(tmp_path, factory, rows):
    index = faiss.index_factory(rows.shape[1], factory)
    index.train(rows)
    index.add(rows)
    faiss.write_index(index, str(tmp_path / "set.faiss"))
    return index


@pytest.mark.parametrize("factory, exact", [
    ("Flat", True), ("HNSW16,Flat", True), ("IVF8,Flat", True), ("SQ8", False), ("IVF8,SQ8", False),
    ("HNSW16,SQ8", False),
])
def test_vectors_are_taken_in_the_order_of_their_ids(tmp_path, factory, exact):
    rows = vectors(ROWS, dimension=DIMENSION, seed=5)
    written(tmp_path, factory, rows)
    done = convert(tmp_path / "set.faiss", tmp_path / "set.fbin")
    assert done.returncode == 0, done.stderr
    taken = farvec.read_vectors(tmp_path / "set.fbin")
    assert np.array_equal(taken, rows) if exact else np.allclose(taken, rows, atol=0.05)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["set.faiss", "set.fbin"]


def refused(tmp_path, python=sys.executable):
    done = convert(tmp_path / "set.faiss", tmp_path / "set.fbin", python)
    assert done.returncode != 0 and not done.stdout
    assert [path.name for path in tmp_path.iterdir() if "npy" in path.name or "fbin" in path.name] == []
    return done.stderr


def test_indexes_that_have_none(tmp_path):
    assert "not there" in refused(tmp_path)
    rows = vectors(ROWS, dimension=DIMENSION, seed=5)
    written(tmp_path, "PQ4x4np", rows)
    assert "IndexPQ" in refused(tmp_path)
    mapped = faiss.IndexIDMap(faiss.IndexFlatL2(DIMENSION))
    mapped.add_with_ids(rows, np.arange(ROWS) + 7)
    faiss.write_index(mapped, str(tmp_path / "set.faiss"))
    assert "ids are not row numbers" in refused(tmp_path)
    clusters = faiss.index_factory(DIMENSION, "IVF8,Flat")
    clusters.train(rows)
    clusters.add_with_ids(rows, np.arange(ROWS) * 3)
    faiss.write_index(clusters, str(tmp_path / "set.faiss"))
    assert "IndexIVFFlat" in refused(tmp_path)
    faiss.write_index(faiss.IndexFlatL2(DIMENSION), str(tmp_path / "set.faiss"))
    assert "no vectors" in refused(tmp_path)
    (tmp_path / "set.faiss").write_bytes(b"no index at all" * 10)
    assert "faiss cannot read it" in refused(tmp_path)


def test_an_interpreter_without_it(tmp_path):
    written(tmp_path, "Flat", vectors(10, dimension=DIMENSION))
    python = tmp_path / "python"
    python.write_text(f"#!/bin/sh\nexec {sys.executable} -I -S \"$@\"\n")
    python.chmod(0o755)
    assert "pip install faiss-cpu" in refused(tmp_path, python)
    assert "starting" in refused(tmp_path, tmp_path / "nowhere")


@pytest.mark.parametrize("metric, theirs", [("l2", faiss.IndexFlatL2), ("ip", faiss.IndexFlatIP)])
def test_a_search_by_its_names_answers_as_it_does(tmp_path, metric, theirs):
    rows, queries = vectors(ROWS, dimension=DIMENSION, seed=5), vectors(30, dimension=DIMENSION, seed=6)
    exact = theirs(DIMENSION)
    exact.add(rows)
    farvec.build_graph(rows, tmp_path / "set", metric=metric, degree=32, list=100, progress=False)
    with farvec.open(tmp_path / "set") as index:
        ours = farvec.faiss_like(index, list=400)
        assert (ours.ntotal, ours.d, ours.is_trained) == (exact.ntotal, exact.d, exact.is_trained)
        distances, ids = ours.search(queries, 10)
        true_distances, true_ids = exact.search(queries, 10)
        assert (ids == true_ids).mean() > 0.99 and ids.dtype == true_ids.dtype
        same = ids == true_ids
        assert np.allclose(distances[same], true_distances[same], rtol=1e-4, atol=1e-4)
