"""A refusal tells the true reason, in the words of whoever called, and leaves nothing behind."""

import os
import re
import resource
import subprocess
import sys

import numpy as np
import pytest

import farvec
from conftest import DIMENSION, vectors

UNLIMITED = resource.RLIM_INFINITY


class SmallDisk:
    """Files end at so many bytes, as on a disk that is full."""

    def __init__(self, most_bytes):
        self.most_bytes = most_bytes

    def __enter__(self):
        resource.setrlimit(resource.RLIMIT_FSIZE, (self.most_bytes, UNLIMITED))

    def __exit__(self, *_):
        resource.setrlimit(resource.RLIMIT_FSIZE, (UNLIMITED, UNLIMITED))


@pytest.mark.parametrize("options, said", [
    (dict(memtable_rows=0), "memtable_rows: 0 .* 1 to 1073741824"),
    (dict(merge_fanout=1), "merge_fanout: 1 .* 2 to 64"), (dict(degree=2000), "degree: 2000 .* 1024"),
    (dict(alpha=0.5), "alpha: 0.5 .* 1 to 4"), (dict(alpha=float("nan")), "alpha: nan"),
    (dict(list=0), "list: 0 .* 1 to 10000"), (dict(layout="padded"), "layout: .*csr"),
    (dict(layout="heap"), "layout: .*heap"), (dict(kind="tree"), "kind: .*graph"),
    (dict(metric="l7"), "metric: .*l7"), (dict(type="f64"), "type: .*f64"),
    (dict(kind="cluster", cluster_bytes=0), "cluster_bytes: 0"),
    (dict(kind="cluster", replicas=9), "replicas: 9 .* 1 to 8"),
    (dict(kind="cluster", balance=0.5), "balance: 0.5"),
    (dict(kind="cluster", closure_ratio=0.5), "closure_ratio: 0.5"),
])
def test_options_of_a_collection_that_cannot_be(tmp_path, options, said):
    with pytest.raises(farvec.InvalidArgument, match=said) as refused:
        farvec.Collection.create(tmp_path / "a" / "c", 8, **options)
    assert "manifest" not in str(refused.value)
    assert not (tmp_path / "a").exists()


def test_a_collection_without_room_leaves_nothing(tmp_path):
    with SmallDisk(1 << 20), pytest.raises(farvec.Error):
        farvec.Collection.create(tmp_path / "a" / "c", 8)
    assert os.listdir(tmp_path) == []
    (tmp_path / "file").write_text("mine")
    with pytest.raises(farvec.Error, match="file"):
        farvec.Collection.create(tmp_path / "file" / "c", 8)
    with pytest.raises(farvec.Error, match="file"):
        farvec.Collection.create(tmp_path / "file", 8)


BUILDS = {
    "graph": farvec.build_graph, "slotted": farvec.build_slotted,
    "clusters": farvec.build_clusters, "hnsw": farvec.build_hnsw,
}


@pytest.mark.parametrize("name", BUILDS)
def test_a_build_without_room_leaves_nothing_and_the_next_one_is_made(tmp_path, name):
    build, path, rows = BUILDS[name], tmp_path / "set", vectors(500, dimension=16)
    with SmallDisk(4096), pytest.raises(farvec.Error):
        build(rows, path, progress=False)
    assert os.listdir(tmp_path) == []
    assert build(rows, path, progress=False)["count"] == 500
    with pytest.raises(farvec.Error, match="overwrite=True") as refused:
        build(rows, path, progress=False)
    assert "--" not in str(refused.value)
    before = sorted(os.listdir(path))
    with SmallDisk(4096), pytest.raises(farvec.Error):
        build(rows[:100], path, progress=False, overwrite=True)
    assert (sorted(os.listdir(path)), os.listdir(tmp_path)) == (before, ["set"])
    assert build(rows[:100], path, progress=False, overwrite=True)["count"] == 100
    assert os.listdir(tmp_path) == ["set"]


def test_what_an_earlier_farvec_left_of_an_hnsw_is_replaced_when_asked(tmp_path):
    path, rows = tmp_path / "set", vectors(100)
    (path / "log").mkdir(parents=True)
    (path / "pages").write_bytes(b"")
    with pytest.raises(farvec.Error, match="overwrite=True"):
        farvec.build_hnsw(rows, path, progress=False)
    assert farvec.build_hnsw(rows, path, progress=False, overwrite=True)["count"] == 100


@pytest.mark.parametrize("name", ["graph", "slotted", "clusters"])
def test_a_name_that_no_manifest_holds(tmp_path, name):
    build, rows = BUILDS[name], vectors(200)
    with pytest.raises(farvec.InvalidArgument, match="name: .* 4097 bytes: use at most 4096"):
        build(rows, tmp_path / "set", name="n" * 4097, progress=False)
    assert os.listdir(tmp_path) == []
    build(rows, tmp_path / "set", name="n" * 4096, progress=False)
    farvec.open(tmp_path / "set", tier="ssd" if name == "slotted" else "dram").close()


def test_defaults_of_a_search_never_refuse_it(tmp_path):
    rows = vectors(60)
    assert farvec.build_clusters(rows, tmp_path / "c", progress=False)["clusters"] < 16
    with farvec.open(tmp_path / "c") as index:
        assert index.search(rows[0], k=3).ids[0] == 0
        assert farvec.faiss_like(index).search(rows[:1], 3)[1][0, 0] == 0
        with pytest.raises(farvec.InvalidArgument, match="probe"):
            index.search(rows[0], probe=16)
    farvec.build_graph(rows[:5], tmp_path / "g", progress=False)
    with farvec.open(tmp_path / "g", max_list=20, max_probe=4) as index:
        assert sorted(index.search(rows[0]).ids) == list(range(5))
    for kind in ("graph", "cluster"):
        farvec.Collection.create(tmp_path / kind, DIMENSION, kind=kind)
        with farvec.Collection(tmp_path / kind, max_list=20, max_probe=4) as collection:
            collection.insert(np.arange(60, dtype=np.uint64), rows)
            collection.flush()
            assert collection.search(rows[0]).ids[0] == 0


def test_a_delete_needs_next_to_no_room(tmp_path):
    path = tmp_path / "c"
    farvec.Collection.create(path, DIMENSION)
    with farvec.Collection(path) as collection:
        collection.insert(np.arange(60, dtype=np.uint64), vectors(60))
    with SmallDisk(1 << 20), farvec.Collection(path) as collection:
        assert collection.delete(np.arange(50, dtype=np.uint64)).done == 50
    with farvec.Collection(path) as collection:
        assert len(collection) == 10


def test_who_inserts_on_a_full_disk_hears_that_it_is_full(tmp_path):
    path = tmp_path / "c"
    farvec.Collection.create(path, DIMENSION, memtable_rows=64)
    with farvec.Collection(path, durability="none") as collection:
        with SmallDisk(4096):
            with pytest.raises(farvec.ResourceExhausted) as refused:
                for first in range(0, 6400, 64):
                    collection.insert(np.arange(first, first + 64, dtype=np.uint64), vectors(64),
                                      deadline=1)
    assert re.search("File too large|room|full", str(refused.value)), refused.value
    assert "come faster" not in str(refused.value)


@pytest.mark.parametrize("call, argument", [
    (lambda path, rows: farvec.build_graph(rows, path, layout="heap", progress=False), "layout"),
    (lambda path, rows: farvec.build_clusters(rows, path, heads="x", progress=False), "heads"),
    (lambda path, rows: farvec.build_slotted(rows, path, payload="x", progress=False), "payload"),
    (lambda path, rows: farvec.build_hnsw(rows, path, order="x", progress=False), "order"),
    (lambda path, rows: farvec.build_hnsw(rows, path, partition_nodes=0, progress=False),
     "partition_nodes"),
    (lambda path, rows: farvec.build_hnsw(rows, path, buffer="1KB", progress=False), "buffer"),
])
def test_arguments_have_the_names_that_they_have_here(tmp_path, call, argument):
    with pytest.raises(farvec.Error, match=argument) as refused:
        call(tmp_path / "x", vectors(100))
    assert "--" not in str(refused.value)
    assert os.listdir(tmp_path) == []


def test_what_the_library_of_c_plus_plus_throws_is_farvecs_too(tmp_path):
    (tmp_path / "file").write_text("mine")
    with pytest.raises(farvec.Error):
        farvec.Collection(tmp_path / ("n" * 300))
    with pytest.raises(farvec.Error):
        farvec.open(tmp_path / "file" / "index")
    with pytest.raises(farvec.Error):
        farvec.read_vectors(tmp_path / "file" / "x.fbin")
    name = os.fsdecode(b"\xff.fbin")
    with pytest.raises(farvec.Error, match="xff|\\udcff"):
        farvec.read_vectors(tmp_path / name)


def test_a_vacuum_beside_deletes_counts_what_it_removed(tmp_path):
    import threading
    rows = vectors(1200)
    farvec.build_hnsw(rows, tmp_path / "h", progress=False)
    with farvec.PagedHnsw(tmp_path / "h", durability="none", concurrency=2) as graph:
        graph.delete(np.arange(300, dtype=np.uint64))
        deleted = []
        others = threading.Thread(target=lambda: [
            deleted.append(graph.delete(np.array([i], np.uint64))) for i in range(300, 900)])
        others.start()
        freed = graph.vacuum()
        others.join()
        freed += graph.vacuum()
        assert (freed, sum(deleted), len(graph)) == (900, 600, 300)


@pytest.mark.parametrize("page_bytes, slots, rows", [(8192, 8, 1000), (4096, 32, 5000),
                                                    (32768, 8, 1000)])
def test_an_hnsw_takes_inserts_with_its_defaults(tmp_path, page_bytes, slots, rows):
    data = vectors(rows + 400, dimension=16)
    path = tmp_path / "h"
    farvec.build_hnsw(data[:rows], path, page_bytes=page_bytes, progress=False)
    with farvec.PagedHnsw(path, slots=slots) as graph:
        for i in range(rows, rows + 100):
            assert graph.insert(np.array([i], np.uint64), data[i:i + 1]) == 1
        assert graph.insert(np.arange(rows + 100, rows + 400, dtype=np.uint64),
                            data[rows + 100:]) == 300
        assert len(graph) == rows + 400
        found = graph.search(data, 1, list=200).ids[:, 0]
        assert (found == np.arange(rows + 400)).mean() > 0.998


FORKED = """
import os, sys, signal, numpy as np, farvec
c = farvec.Collection("c"); h = farvec.PagedHnsw("h")
ready, done = os.pipe()
child = os.fork()
if child == 0:
    try:
        c.get(np.array([1], np.uint64))
    except farvec.FailedPrecondition as refused:
        os.write(done, str(refused).encode()[:60])
    signal.pause()
print(os.read(ready, 100).decode())
WHAT
for kind, name in ((farvec.Collection, "c"), (farvec.PagedHnsw, "h")):
    kind(name).close()
    print("reopened")
os.kill(child, 9); os.waitpid(child, 0)
"""


def test_a_child_of_fork_holds_no_locks(tmp_path):
    farvec.Collection.create(tmp_path / "c", DIMENSION)
    farvec.build_hnsw(vectors(100), tmp_path / "h", progress=False)
    done = subprocess.run([sys.executable, "-c", FORKED.replace("WHAT", "c.close(); h.close()")],
                          cwd=tmp_path, capture_output=True, text=True, check=False, timeout=60)
    assert done.stdout.splitlines()[1:] == ["reopened"] * 2, done.stderr
    assert "opened by process" in done.stdout
    # Nor when the parent is killed.
    lost = subprocess.Popen(
        [sys.executable, "-c", FORKED.replace("WHAT", "print(child, flush=True); os.abort()")],
        cwd=tmp_path, stdout=subprocess.PIPE, text=True)
    lost.stdout.readline()  # the child has the other end, too: there is no last line
    child = int(lost.stdout.readline())
    lost.wait()
    try:
        farvec.Collection(tmp_path / "c").close()
        farvec.PagedHnsw(tmp_path / "h").close()
    finally:
        os.kill(child, 9)


THREADS = """
import numpy as np, farvec as fv, threading, time
x = np.random.default_rng(0).normal(size=(2000, 32)).astype(np.float32)
def forever(f):
    def run():
        while True: f()
    threading.Thread(target=run, daemon=True).start()
"""
WORK = {
    "search": "fv.build_graph(x, 'i', progress=False, overwrite=True); ix = fv.open('i')\n"
              "for _ in range(4): forever(lambda: ix.search(x, k=5)); forever(lambda: ix.search(x[0]))",
    "insert": "import shutil; shutil.rmtree('c', ignore_errors=True)\n"
              "fv.Collection.create('c', 32, memtable_rows=200)\n"
              "s = fv.Collection('c', durability='none'); n = [0]\n"
              "def f():\n    n[0] += 100\n"
              "    s.insert(np.arange(n[0], n[0] + 100, dtype=np.uint64), x[:100])\n"
              "forever(f); forever(lambda: s.get(np.arange(50, dtype=np.uint64)))\n"
              "forever(lambda: s.search(x[:3]))",
    "build": "forever(lambda: fv.build_graph(x, 'b', progress=False, overwrite=True))",
    "hnsw": "fv.build_hnsw(x, 'h', progress=False, overwrite=True)\n"
            "h = fv.PagedHnsw('h', durability='none')\n"
            "forever(lambda: h.search(x, 5)); forever(lambda: h.search(x[0], 5))",
}


@pytest.mark.parametrize("name", WORK)
def test_the_interpreter_ends_beside_daemon_threads(tmp_path, name):
    for _ in range(3):
        ended = subprocess.run([sys.executable, "-c", THREADS + WORK[name] + "\ntime.sleep(.1)"],
                               cwd=tmp_path, capture_output=True, text=True, check=False,
                               timeout=120)
        assert (ended.returncode, ended.stderr) == (0, "")


def test_the_exit_code_is_the_programs(tmp_path):
    ended = subprocess.run(
        [sys.executable, "-c", THREADS + WORK["search"] + "\ntime.sleep(.1); raise SystemExit(7)"],
        cwd=tmp_path, capture_output=True, text=True, check=False, timeout=120)
    assert (ended.returncode, ended.stderr) == (7, "")
