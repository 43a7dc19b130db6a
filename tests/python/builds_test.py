"""Builds: the tool's own bytes, from arrays and files, and their end by a signal."""

import json
import os
import pathlib
import signal
import subprocess
import sys
import textwrap

import numpy as np
import pytest

import farvec
from conftest import neighbours, vectors

BIN = pathlib.Path(os.environ["FARVEC_BIN_DIR"])


def regions(folder):
    return {file.name: file.read_bytes() for file in sorted(pathlib.Path(folder).iterdir())
            if file.name != "manifest.json"}


@pytest.mark.parametrize("layout", ["csr", "packed", "inline", "padded"])
def test_the_bytes_are_the_tools(tmp_path, layout):
    data = vectors(600)
    farvec.write_vectors(tmp_path / "base.fbin", data)
    options = ["--degree", "16", "--list", "40", "--layout", layout, "--seed", "7"]
    subprocess.run([BIN / "farvec", "build", "graph", "--data", tmp_path / "base.fbin", "--metric",
                    "l2", "--out", tmp_path / "tool", "--quiet", *options], check=True,
                   capture_output=True, timeout=120)
    for name, source in (("array", data), ("file", tmp_path / "base.fbin")):
        facts = farvec.build_graph(source, tmp_path / name, degree=16, list=40, layout=layout,
                                   seed=7, progress=False)
        assert facts["count"] == 600 and facts["layout"] == layout
        assert regions(tmp_path / name) == regions(tmp_path / "tool")


@pytest.mark.parametrize("bits", [None, 1, 4])
def test_coded_clusters_are_the_tools(tmp_path, bits):
    data = vectors(600)
    farvec.write_vectors(tmp_path / "base.fbin", data)
    codes = ["--code-bits", str(bits)] if bits else []
    subprocess.run([BIN / "farvec", "build", "cluster", "--data", tmp_path / "base.fbin",
                    "--metric", "l2", "--clusters", "20", "--layout", "coded", "--out",
                    tmp_path / "tool", "--quiet", *codes],
                   check=True, capture_output=True, timeout=120)
    farvec.build_clusters(data, tmp_path / "here", clusters=20, layout="coded", code_bits=bits,
                          progress=False)
    assert regions(tmp_path / "here") == regions(tmp_path / "tool")
    with farvec.open(tmp_path / "here") as index:
        found = index.search(data[:50], k=1, list=40, probe=20).ids[:, 0]
        assert found.tolist() == list(range(50))


@pytest.mark.parametrize("arguments, word", [
    (dict(layout="coded", code_bits=5), "code_bits 5"), (dict(code_bits=2), "grouped has no codes"),
    (dict(layout="coded", code_bits=-1), "code_bits"), (dict(clusters=0, head_ratio=2.0), "ratio"),
])
def test_clusters_that_cannot_be(tmp_path, arguments, word):
    with pytest.raises(farvec.InvalidArgument if "code_bits" in arguments else farvec.Error,
                       match=word):
        farvec.build_clusters(vectors(50), tmp_path / "index", progress=False,
                              **{"clusters": 4, **arguments})
    assert not list(tmp_path.iterdir())


def test_a_folder_is_replaced_only_when_asked(tmp_path):
    data = vectors(50)
    farvec.build_graph(data, tmp_path / "index", progress=False)
    with pytest.raises(farvec.Error, match="index"):
        farvec.build_graph(data, tmp_path / "index", progress=False)
    farvec.build_graph(data[:40], tmp_path / "index", overwrite=True, progress=False)
    with farvec.open(tmp_path / "index") as index:
        assert index.describe()["count"] == 40


def test_one_vector_is_an_index(tmp_path):
    one = vectors(1)
    farvec.build_graph(one, tmp_path / "index", progress=False)
    with farvec.open(tmp_path / "index") as index:
        assert index.search(one[0], k=1).ids.tolist() == [0]


def apart(count, seed):
    """Queries near the middle of rows of length 1, in few directions, and such rows."""
    axes = vectors(4, seed=8)
    rows = vectors(2000)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    shares = np.random.default_rng(seed).normal(size=(count, 4))
    return rows, (0.02 * shares @ axes).astype(np.float32)


@pytest.mark.parametrize("metric", ["l2", "ip", "cosine"])
def test_edges_for_queries_of_a_sample(tmp_path, metric):
    rows, sample = apart(800, seed=3)
    _, queries = apart(100, seed=4)
    farvec.write_vectors(tmp_path / "sample.fbin", sample)
    truth = neighbours(metric, queries, rows, 10).astype(np.uint32)
    recalls = []
    for given in (None, sample, tmp_path / "sample.fbin"):
        facts = farvec.build_graph(rows, tmp_path / "index", metric=metric, degree=8, list=40,
                                   code_bits=8, sample_queries=given, overwrite=True,
                                   progress=False)
        assert (facts["edges_added_for_queries"] > 0) == (given is not None)
        with farvec.open(tmp_path / "index") as index:
            recalls.append(farvec.recall(index.search(queries, list=10).ids, truth))
    assert recalls[1] == recalls[2] > recalls[0] + 0.1


def test_pages_take_a_sample_of_queries(tmp_path):
    rows, sample = apart(800, seed=3)
    facts = farvec.build_slotted(rows, tmp_path / "index", degree=8, sample_queries=sample,
                                 progress=False)
    assert facts["edges_added_for_queries"] > 0 and facts["average_degree"] <= 8


@pytest.mark.parametrize("build", [farvec.build_graph, farvec.build_slotted])
@pytest.mark.parametrize("sample, word", [
    (vectors(5)[:, :3].copy(), "queries"), (vectors(5, np.float16), "sample_queries"),
    (np.full((2, 24), np.nan, np.float32), "row 0"), ("nowhere.fbin", "nowhere.fbin"),
    (np.zeros((0, 24), np.float32), "no rows"),
])
def test_samples_that_cannot_be(tmp_path, build, sample, word):
    with pytest.raises(farvec.Error, match=word):
        build(vectors(50), tmp_path / "index", sample_queries=sample, progress=False)
    assert not list(tmp_path.iterdir())


def test_the_degree_that_nobody_says(tmp_path):
    for build in (farvec.build_graph, farvec.build_slotted):
        for metric, degree in (("l2", 32), ("cosine", 32), ("ip", 48)):
            build(vectors(200), tmp_path / "index", metric=metric, overwrite=True, progress=False)
            manifest = json.loads((tmp_path / "index" / "manifest.json").read_text())
            assert manifest["build"]["degree"] == degree
    for metric, degree in (("l2", 32), ("ip", 48)):
        farvec.Collection.create(tmp_path / metric, 24, metric=metric)
        with farvec.Collection(tmp_path / metric) as collection:
            assert collection.describe()["degree"] == degree


@pytest.mark.parametrize("arguments, word", [
    (dict(metric="euclid"), "euclid"), (dict(layout="heap"), "heap"), (dict(degree=0), "degree"),
    (dict(code_bits=9), "code_bits"), (dict(alpha=0.5), "alpha"), (dict(degree=-1), "degree"),
    (dict(list=0), "list"), (dict(layout="slotted"), "build_slotted"),
])
def test_what_cannot_be_built_is_said(tmp_path, arguments, word):
    with pytest.raises(farvec.Error, match=word):
        farvec.build_graph(vectors(50), tmp_path / "index", progress=False, **arguments)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("data, word", [
    (np.zeros((0, 8), np.float32), "no rows"), (np.zeros((4, 0), np.float32), "elements"),
    (np.full((4, 8), np.nan, np.float32), "row 0"), (np.zeros((4, 8), int), "float32"),
    (np.zeros((2, 4, 8), np.float32), "dimensions"), (np.zeros((4, 20000), np.float32), "16384"),
    ("/there/is/no/such.fbin", "such.fbin"), ("/etc/hostname", "hostname"),
])
def test_data_that_is_none(tmp_path, data, word):
    for build in (farvec.build_graph, farvec.build_slotted,
                  lambda *a, **k: farvec.build_clusters(*a, clusters=2, **k)):
        with pytest.raises(farvec.Error, match=word):
            build(data, tmp_path / "index", progress=False)
    assert not list(tmp_path.iterdir())


BUILDS = {
    "graph": "farvec.build_graph(data, out, degree=64, list=400, progress=False)",
    "slotted": "farvec.build_slotted(data, out, degree=64, list=400, progress=False)",
    "clusters": "farvec.build_clusters(data, out, clusters=60_000, progress=False)",
}


@pytest.mark.parametrize("build", BUILDS)
def test_ctrl_c_ends_a_build_and_leaves_nothing(tmp_path, build):
    """Of data that would take minutes; the signal comes from a thread of the child, while the main
    one is in the build."""
    program = textwrap.dedent(f"""
        import os, signal, sys, threading, numpy, farvec
        data = numpy.random.default_rng(1).normal(size=(150_000, 32)).astype(numpy.float32)
        out = sys.argv[1]
        threading.Timer(0.7, os.kill, (os.getpid(), signal.SIGINT)).start()
        try:
            {BUILDS[build]}
        except KeyboardInterrupt:
            print("interrupted", farvec.ground_truth(data[:5], data[:1], 1)[0].tolist())
    """)
    ended = subprocess.run([sys.executable, "-c", program, str(tmp_path / "index")], text=True,
                           capture_output=True, timeout=240)
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.strip() == "interrupted [[0]]"
    assert not list(tmp_path.iterdir())


def test_a_handler_that_raises_nothing_lets_the_build_go_on(tmp_path):
    seen = []
    before = signal.signal(signal.SIGUSR1, lambda *_: seen.append(1))
    try:
        os.kill(os.getpid(), signal.SIGUSR1)
        farvec.build_graph(vectors(300), tmp_path / "index", progress=False)
    finally:
        signal.signal(signal.SIGUSR1, before)
    assert seen == [1]
