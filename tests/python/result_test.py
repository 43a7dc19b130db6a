"""What a call gives back, and how what is open shows itself."""

import copy
import os
import pickle

import numpy as np
import pytest

import farvec
from conftest import DIMENSION, ROWS, vectors


@pytest.fixture()
def things(tmp_path):
    farvec.Collection.create(tmp_path / "set", DIMENSION, metric="cosine")
    with farvec.Collection(tmp_path / "set", durability="none") as opened:
        opened.insert(range(20), vectors(20))
        yield opened


def test_a_result_unpacks_and_indexes(index, queries):
    result = index.search(queries, k=3)
    ids, distances, counts = result
    assert len(result) == 3 and result[0] is ids and result[-2] is distances
    assert result[1:] == (distances, counts) or result[1:][0] is distances
    assert result[2].reads == counts.reads
    for bad in (3, -4):
        with pytest.raises(IndexError):
            result[bad]
    with pytest.raises(TypeError):
        result["ids"]


def test_what_is_given_back_pickles(index, things, queries):
    for result in (index.search(queries, k=3), things.search(queries[0], k=2)):
        for again in (pickle.loads(pickle.dumps(result)), copy.deepcopy(result), copy.copy(result)):
            assert np.array_equal(again.ids, result.ids) and again.ids.dtype == result.ids.dtype
            assert np.array_equal(again.distances, result.distances)
            assert repr(again.counts) == repr(result.counts) and again.coverage == 1
            for name in ("cache_hits", "clusters", "lost", "pool_misses", "rerank_reads"):
                assert getattr(again.counts, name) == getattr(result.counts, name)
    receipt = things.delete([1, 99])
    assert repr(pickle.loads(pickle.dumps(receipt))) == repr(receipt)


def test_they_show_what_they_are(tmp_path, index, folder, things, queries):
    result = index.search(queries[0], k=2)
    assert repr(result).startswith(f"Result(ids={result.ids!r}, distances=array([")
    assert f"counts=Counts(hops={result.counts.hops}, " in repr(result)
    assert repr(index) == f"<farvec.Index '{folder}': {ROWS} vectors of {DIMENSION} x f32, l2>"
    assert repr(things) == \
        f"<farvec.Collection '{tmp_path}/set': 20 vectors of {DIMENSION} x f32, cosine>"
    things.close()
    assert repr(things) == "<farvec.Collection: closed>"
    farvec.build_hnsw(vectors(30, np.uint8), tmp_path / "h", progress=False)
    with farvec.PagedHnsw(tmp_path / "h", buffer="4MiB") as pages:
        assert repr(pages) == \
            f"<farvec.PagedHnsw '{tmp_path}/h': 30 vectors of {DIMENSION} x u8, l2>"


def test_a_name_that_is_no_text_is_shown(tmp_path):
    path = os.fsdecode(os.fsencode(tmp_path) + b"/s\xff")
    farvec.Collection.create(path, DIMENSION)
    with farvec.Collection(path, durability="none") as things:
        assert "/s\\xff'" in repr(things)
