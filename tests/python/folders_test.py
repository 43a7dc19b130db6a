"""The spelling of a folder's name decides nothing, nor does the folder that one works in."""

import os

import numpy as np
import pytest

import farvec
from conftest import DIMENSION, vectors


@pytest.fixture()
def place(tmp_path, monkeypatch):
    """A folder to work in, with a link to another one in which things are made."""
    real, work = tmp_path / "real", tmp_path / "work"
    real.mkdir()
    work.mkdir()
    (work / "link").symlink_to(real)
    monkeypatch.chdir(work)
    return real


SPELLINGS = ["link/set", "link/set/", "./link/set", "../real/set", "link/../real/set/.",
             "../work/link/set//"]


@pytest.mark.parametrize("name", SPELLINGS)
def test_a_collection_is_built_however_it_is_named(place, name):
    rows, ids = vectors(400), np.arange(400, dtype=np.uint64)
    farvec.Collection.create(name, DIMENSION, memtable_rows=100)
    with farvec.Collection(name, durability="none") as collection:
        os.chdir("/")
        collection.insert(ids, rows)
        collection.flush()
        collection.delete(ids[:50])
        collection.compact()
        assert collection.describe()["segments"] == 1
        assert collection.search(rows[70], k=1).ids.tolist() == [70]
    with farvec.Collection(place / "set") as collection:
        assert len(collection) == 350


@pytest.mark.parametrize("name", SPELLINGS)
def test_a_paged_hnsw_is_written_however_it_is_named(place, name):
    rows = vectors(600)
    farvec.build_hnsw(rows[:500], name, m=12, ef_construction=60, progress=False)
    with farvec.PagedHnsw(name, buffer="4MiB") as graph:
        os.chdir("/")
        graph.insert(np.arange(500, 600, dtype=np.uint32), rows[500:])
    with farvec.PagedHnsw(place / "set") as graph:
        assert len(graph) == 600
        assert graph.search(rows[550], k=1, list=100).ids.tolist() == [550]


@pytest.mark.parametrize("name", SPELLINGS)
@pytest.mark.parametrize("tier", ["dram", "ssd"])
def test_an_index_is_read_however_it_is_named(place, name, tier):
    rows = vectors(500)
    farvec.build_graph(rows, name, degree=16, list=40, progress=False)
    with farvec.open(name, tier=tier, concurrency=3) as index:
        os.chdir("/")
        found = index.search(rows[:20], k=1, list=50)
        assert found.ids.ravel().tolist() == list(range(20))
    assert sorted(path.name for path in place.iterdir()) == ["set"]


def test_a_link_to_a_folder_is_the_folder(place):
    farvec.Collection.create("link/set", DIMENSION)
    os.symlink(place / "set", "other")
    with farvec.Collection("other"), pytest.raises(farvec.Error, match="another process"):
        farvec.Collection("link/set")
