"""Codes follow the spread of the data: what a memtable finds, its segment finds too."""

import json
import os
import pathlib
import subprocess

import numpy as np
import pytest

import farvec

BIN = pathlib.Path(os.environ["FARVEC_BIN_DIR"])
ROWS, DIMENSION, QUERIES, LISTS = 4000, 48, 100, (10, 40, 100, 400)
TYPES = {np.float32: "f32", np.float16: "f16", np.uint8: "u8", np.int8: "i8"}
ODDITIES = ("wide coordinate", "wide coordinates", "wide direction", "far clusters", "decaying")


def odd_rows(oddity, count, random):
    rows = random.normal(size=(count, DIMENSION))
    if oddity == "wide coordinate":
        rows[:, 0] *= 100
    elif oddity == "wide coordinates":
        rows[:, :5] *= 100
    elif oddity == "wide direction":
        axis = np.random.default_rng(4).normal(size=DIMENSION)
        rows += 100 * random.normal(size=(count, 1)) * axis / np.linalg.norm(axis)
    elif oddity == "far clusters":
        rows += 1000 * (random.random((count, 1)) < .5)
    elif oddity == "decaying":
        rows *= 100 * .8 ** np.arange(DIMENSION)
    return rows


def data_of(oddity, kind=np.float32):
    random = np.random.default_rng(9)
    rows, queries = odd_rows(oddity, ROWS, random), odd_rows(oddity, QUERIES, random)
    if np.issubdtype(kind, np.integer):
        scale = 120 / np.abs(rows).max()
        middle = 128 if kind == np.uint8 else 0
        rows, queries = (np.clip(np.rint(x * scale), -127, 127) + middle for x in (rows, queries))
    return rows.astype(kind), queries.astype(kind)


def recalls(index, queries, truth):
    ids, distances = truth
    found = [index.search(queries, k=10, list=size) for size in LISTS]
    return np.array([farvec.recall(one.ids.astype(np.uint32), ids, distances=one.distances,
                                   true_distances=distances) for one in found])


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("metric", ["l2", "cosine", "ip"])
def test_a_segment_finds_what_its_memtable_found(tmp_path, metric, kind):
    """Or, where a graph of this degree finds less, what it finds by the vectors themselves."""
    for oddity in ODDITIES if kind == np.float32 and metric == "l2" else ODDITIES[:1]:
        rows, queries = data_of(oddity, kind)
        truth = farvec.ground_truth(rows, queries, k=10, metric=metric)
        path = tmp_path / oddity
        found = []
        for bits in (None, 0):
            farvec.Collection.create(f"{path}{bits}", DIMENSION, metric=metric, type=TYPES[kind],
                                     code_bits=bits)
            with farvec.Collection(f"{path}{bits}", durability="none") as collection:
                collection.insert(np.arange(ROWS, dtype=np.uint64), rows)
                found.append(recalls(collection, queries, truth))
                collection.flush()
                found.append(recalls(collection, queries, truth))
        memtable, segment, _, by_vectors = found
        # Two graphs of the same rows, linked beside each other's searches, differ by .012 at times.
        least = np.minimum(memtable - .01, by_vectors - .02)
        assert (segment >= least).all(), (oddity, memtable, by_vectors, segment)


def test_merged_segments_find_as_much(tmp_path):
    rows, queries = data_of("wide coordinate")
    truth = farvec.ground_truth(rows, queries, k=10)
    farvec.Collection.create(tmp_path / "c", DIMENSION, memtable_rows=1000, merge_fanout=2)
    with farvec.Collection(tmp_path / "c", durability="none") as collection:
        for begin in range(0, ROWS, 500):
            collection.insert(np.arange(begin, begin + 500, dtype=np.uint64),
                              rows[begin:begin + 500])
        collection.compact()
        found = recalls(collection, queries, truth)
    assert (found >= .99).all(), found


@pytest.mark.parametrize("layout", ["csr", "packed", "padded", "slotted"])
def test_every_layout_of_codes_in_dram(tmp_path, layout):
    rows, queries = data_of("wide coordinate")
    truth = farvec.ground_truth(rows, queries, k=10)

    def build(out, **options):
        if layout == "slotted":
            return farvec.build_slotted(rows, out, payload="vector", progress=False, **options)
        return farvec.build_graph(rows, out, layout=layout, progress=False, **options)

    def search(out):
        pages = dict(tier="ssd", memory_budget="32MiB") if layout == "slotted" else {}
        with farvec.open(out, **pages) as index:
            return recalls(index, queries, truth)

    chosen, exact = build(tmp_path / "chosen"), build(tmp_path / "exact", code_bits=0)
    assert "astray" in chosen["code_bits_because"] and "code_bits_because" not in exact
    assert exact["code_bits"] == 0
    assert (search(tmp_path / "chosen") >= search(tmp_path / "exact") - .01).all()
    asked = build(tmp_path / "asked", code_bits=2)
    assert asked["code_bits"] == 2 and "without code_bits" in asked["code_bits_because"]


def test_codes_of_edges_have_more_bits(tmp_path):
    rows, queries = data_of("wide coordinate")
    truth = farvec.ground_truth(rows, queries, k=10)
    found = {}
    for bits in (None, 0, 1):
        layout = "csr" if bits == 0 else "inline"
        farvec.build_graph(rows, tmp_path / str(bits), layout=layout, code_bits=bits,
                           progress=False)
        with farvec.open(tmp_path / str(bits)) as index:
            found[bits] = recalls(index, queries, truth)
    assert (found[None][2:] >= found[0][2:] - .01).all(), found
    assert (found[None] >= found[1] - .01).all(), found


def test_plain_rows_keep_the_usual_codes(tmp_path):
    rows, _ = data_of("plain")
    for layout in ("csr", "packed"):
        facts = farvec.build_graph(rows, tmp_path / layout, layout=layout, progress=False)
        assert facts["code_bits"] == 2 and "code_bits_because" not in facts


def test_the_tool_tells(tmp_path):
    rows, _ = data_of("wide coordinate")
    farvec.write_vectors(tmp_path / "base.fbin", rows)

    def tool(*arguments):
        done = subprocess.run([BIN / "farvec", *map(str, arguments)], check=True, timeout=300,
                              capture_output=True, text=True)
        return done.stdout, done.stderr

    build = ("build", "graph", "--data", tmp_path / "base.fbin", "--metric", "l2", "--quiet")
    _, told = tool(*build, "--out", tmp_path / "chosen")
    assert "astray" in told and "warning" not in told
    _, told = tool(*build, "--out", tmp_path / "asked", "--code-bits", 2)
    assert "warning: codes of 2 bits" in told and "without --code-bits the data chooses" in told
    shown, _ = tool("inspect", tmp_path / "chosen")
    assert "astray" in shown
    facts = json.loads(tool("inspect", tmp_path / "asked", "--json")[0])
    assert "astray" in facts["code_bits_because"]
