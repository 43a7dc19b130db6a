"""Vector files, ground truth and recall."""

import numpy as np
import pytest

import farvec
from conftest import distances, neighbours, vectors

FORMATS = [("fbin", np.float32), ("f16bin", np.float16), ("u8bin", np.uint8), ("i8bin", np.int8),
           ("fvecs", np.float32), ("bvecs", np.uint8), ("npy", np.float32), ("npy", np.int8),
           ("hdf5", np.float32)]


@pytest.mark.parametrize("suffix, dtype", FORMATS)
@pytest.mark.parametrize("mmap", [True, False])
def test_what_is_written_is_read(tmp_path, suffix, dtype, mmap):
    data = vectors(33, dtype, dimension=7)
    path = tmp_path / f"base.{suffix}"
    farvec.write_vectors(path, data)
    read = farvec.read_vectors(path, mmap=mmap)
    assert read.dtype == dtype and np.array_equal(read, data)


def test_a_mapped_array_is_a_view_that_cannot_be_written(tmp_path):
    path = tmp_path / "base.fbin"
    farvec.write_vectors(path, vectors(5, dimension=3))
    read = farvec.read_vectors(path)
    with open(path, "r+b") as file:
        file.seek(8)
        file.write(np.float32(42).tobytes())
    assert read[0, 0] == 42
    with pytest.raises(ValueError):
        read[0, 0] = 1
    part = read[2:]
    del read
    assert np.array_equal(part, farvec.read_vectors(path)[2:])


def test_numpy_reads_what_farvec_writes_and_the_reverse(tmp_path):
    data = vectors(9, dimension=4)
    farvec.write_vectors(tmp_path / "a.npy", data)
    assert np.array_equal(np.load(tmp_path / "a.npy"), data)
    np.save(tmp_path / "b.npy", data)
    assert np.array_equal(farvec.read_vectors(tmp_path / "b.npy"), data)


@pytest.mark.parametrize("metric", ["l2", "ip", "cosine"])
def test_ground_truth_is_numpys(tmp_path, metric):
    data, wanted = vectors(300, seed=5), vectors(12, seed=6)
    ids, found = farvec.ground_truth(data, wanted, 9, metric=metric)
    assert np.array_equal(ids, neighbours(metric, wanted, data, 9))
    exact = np.sort(distances(metric, wanted, data), axis=1)[:, :9]
    assert np.allclose(found, exact, atol=1e-4)
    farvec.write_vectors(tmp_path / "base.fbin", data)
    assert np.array_equal(farvec.ground_truth(tmp_path / "base.fbin", wanted, 9, metric=metric)[0],
                          ids)
    farvec.write_ground_truth(tmp_path / "gt.ibin", ids, found)
    again = farvec.read_ground_truth(tmp_path / "gt.ibin")
    assert np.array_equal(again[0], ids) and np.array_equal(again[1], found)
    farvec.write_ground_truth(tmp_path / "gt.ivecs", ids)
    assert farvec.read_ground_truth(tmp_path / "gt.ivecs")[1] is None


def test_recall_counts_hits_and_ties():
    true = np.array([[1, 2, 3], [4, 5, 6]], np.uint32)
    assert farvec.recall(true, true) == 1
    assert farvec.recall(true[:, ::-1], true) == 1
    assert farvec.recall(np.array([[1, 9, 9], [4, 5, 8]]), true) == pytest.approx(3 / 6)
    assert farvec.recall(np.array([[9, 2], [4, 5]]), true, 2) == pytest.approx(3 / 4)
    near = np.array([[0.0, 1, 2], [0, 1, 2]], np.float32)
    other = np.array([[7, 8, 9], [4, 5, 6]], np.uint32)
    assert farvec.recall(other, true, distances=near, true_distances=near) == 1
    missing = np.full((2, 3), 2**32 - 1, np.uint32)
    assert farvec.recall(missing, true) == 0


def test_recall_of_what_does_not_fit():
    true = np.zeros((2, 3), np.uint32)
    for ids in (np.zeros((3, 3), np.uint32), np.zeros((2, 4), np.uint32)):
        with pytest.raises(farvec.Error):
            farvec.recall(ids, true)
    with pytest.raises(farvec.InvalidArgument, match="distances"):
        farvec.recall(true, true, distances=np.zeros((2, 2), np.float32))


def test_files_that_are_none(tmp_path):
    (tmp_path / "short.fbin").write_bytes(b"\1\0\0\0\4\0\0\0")
    (tmp_path / "words.npy").write_bytes(b"no header at all, but long enough to be one")
    for name in ("short.fbin", "words.npy", "none.fbin", "base.parquet"):
        with pytest.raises(farvec.Error, match=name):
            farvec.read_vectors(tmp_path / name)
    with pytest.raises(farvec.InvalidArgument, match="row 2"):
        farvec.write_vectors(tmp_path / "nan.fbin", np.array([[0], [1], [np.nan]], np.float32))
    with pytest.raises(farvec.Error):
        farvec.write_vectors(tmp_path / "wrong.u8bin", vectors(3))
    assert not (tmp_path / "nan.fbin").exists()
