"""farvec.sweep and farvec.advise give what the tool writes."""

import json
import os
import pathlib
import signal
import subprocess
import threading
import time

import pytest
from conftest import vectors

import farvec

FARVEC = pathlib.Path(os.environ["FARVEC_BIN_DIR"]) / "farvec"
QUICK = {"passes": 1, "pass_ms": 5, "line_ns": 5}
# What is counted or follows from it; the rest is time, or says where and by whom.
TIMES = {"qps", "qps_min", "qps_max", "qps_passes", "processor_us", "mean_us", "p50_us", "p99_us",
         "memory_bound_qps", "device_bound_qps", "compute_bound_qps", "compute_bound_share",
         "compute_bound_share_min", "compute_bound_share_max", "command"}


@pytest.fixture(scope="module")
def files(tmp_path_factory, rows, queries):
    """Files of the queries and of their true neighbours."""
    folder = tmp_path_factory.mktemp("files")
    farvec.write_vectors(folder / "query.fbin", queries)
    farvec.write_vectors(folder / "base.fbin", rows)
    farvec.write_ground_truth(folder / "gt.ibin", *farvec.ground_truth(rows, queries, k=20))
    return folder


def told(command, *words):
    done = subprocess.run([str(FARVEC), command, *map(str, words)], text=True, capture_output=True,
                          check=False)
    assert done.returncode == 0, done.stderr
    return done


def tool_rows(index, files, *words):
    out = files / "tool.jsonl"
    told("sweep", "--index", index, "--queries", files / "query.fbin", "--groundtruth",
         files / "gt.ibin", "--json", out, "--overwrite", "--passes", 1, "--pass-ms", 5, *words)
    return [json.loads(line) for line in out.read_text().splitlines()]


def counted(row):
    return {name: value for name, value in row.items() if name not in TIMES}


def test_the_rows_are_those_of_the_tool(folder, files, rows, queries):
    mine = farvec.sweep(folder, files / "query.fbin", files / "gt.ibin", list=[20, 40], width=[1, 2],
                        tier=["dram", "emulated:rdma"], slots=4, **QUICK)
    tools = tool_rows(folder, files, "--list", "20,40", "--width", "1,2", "--tier",
                      "dram,emulated:rdma", "--slots", 4, "--line-ns", 5)
    assert len(mine) == 8
    assert [counted(row) for row in mine] == [counted(row) for row in tools]
    assert [set(row) for row in mine] == [set(row) for row in tools]
    assert all(row["qps"] > 0 and row["reads_per_query"] > 0 for row in mine)
    assert min(row["recall"] for row in mine if row["list"] == 40) > 0.9


def test_arrays_are_as_good_as_files(folder, files, rows, queries):
    truth = farvec.ground_truth(rows, queries, k=20)
    of_files = farvec.sweep(folder, files / "query.fbin", files / "gt.ibin", list=30, **QUICK)
    of_arrays = farvec.sweep(folder, queries, truth, list=30, **QUICK)
    ids_alone = farvec.sweep(folder, queries, truth[0], list=30, **QUICK)
    assert [counted(row) for row in of_files] == [counted(row) for row in of_arrays]
    assert ids_alone[0]["recall"] == pytest.approx(of_files[0]["recall"], abs=0.01)


def test_some_of_the_queries(folder, files):
    (row,) = farvec.sweep(folder, files / "query.fbin", files / "gt.ibin", list=20,
                          queries_range=(10, 30), **QUICK)
    assert row["queries"] == 20 and row["queries_range"] == [10, 30]


def test_clusters(tmp_path, files, rows, queries):
    farvec.build_clusters(rows, tmp_path / "index", clusters=40, replicas=2, progress=False)
    mine = farvec.sweep(tmp_path / "index", files / "query.fbin", files / "gt.ibin", probe=[2, 8],
                        dedup=[True, False], slots=4, **QUICK)
    tools = tool_rows(tmp_path / "index", files, "--probe", "2,8", "--dedup", "on,off", "--slots", 4)
    assert [counted(row) for row in mine] == [counted(row) for row in tools]


def test_a_graph_on_pages(tmp_path, files, rows):
    farvec.build_hnsw(rows, tmp_path / "set.hnsw", metric="l2", progress=False)
    found = farvec.sweep(tmp_path / "set.hnsw", files / "query.fbin", files / "gt.ibin", list=40,
                         buffer="50%", search=["sync", "pipelined"], slots=1, passes=1)
    assert [row["search"] for row in found] == ["sync", "pipelined"]
    assert found[0]["recall"] == found[1]["recall"] > 0.9
    assert found[0]["visited_per_query"] == found[1]["visited_per_query"]


def test_what_cannot_run_says_why_in_the_words_of_python(folder, files):
    good, bad = farvec.sweep(folder, files / "query.fbin", files / "gt.ibin", list=[20, 5], **QUICK)
    assert "error" not in good
    assert "qps" not in bad and "list" in bad["error"] and "--" not in bad["error"]
    with pytest.raises(farvec.Error, match="none of the combinations can run") as refused:
        farvec.sweep(folder, files / "query.fbin", files / "gt.ibin", list=5, **QUICK)
    assert "--" not in str(refused.value)


def test_files_of_rows_are_kept_and_gone_on_with(folder, files, tmp_path):
    def swept(**more):
        return farvec.sweep(folder, files / "query.fbin", files / "gt.ibin",
                            json=tmp_path / "rows.jsonl", html=tmp_path / "page.html", **QUICK, **more)

    (first,) = swept(list=20)
    assert [json.loads(line) for line in (tmp_path / "rows.jsonl").open()] == [first]
    with pytest.raises(farvec.Error, match="resume=True adds the rows that it lacks, overwrite=True"):
        swept(list=20)
    again = swept(list=[20, 40], resume=True)
    assert again[0] == first and len(again) == 2
    assert "<html" in (tmp_path / "page.html").read_text()
    assert len(swept(list=40, overwrite=True)) == 1


REFUSED = [
    ({"k": 0}, "k: 0"),
    ({"list": []}, "list: there is none"),
    ({"list": [20, 0]}, "list: 0"),
    ({"passes": 0}, "passes: 0"),
    ({"slots": "some"}, "slots: 'some'"),
    ({"tier": "drum"}, "tier: "),
    ({"queries_range": (5, 5)}, "queries_range: 5 to 5 is empty"),
    ({"queries_range": (0, 500)}, "queries_range: 0:500"),
    ({"pass_ms": 0}, "pass_ms must be more than 0"),
    ({"k": 21}, "20 neighbours for each of 40 queries"),
    ({"resume": True, "overwrite": True}, "exclude each other"),
]


@pytest.mark.parametrize("arguments, words", REFUSED, ids=[words for _, words in REFUSED])
def test_values_that_cannot_be(folder, files, arguments, words):
    with pytest.raises(farvec.Error) as refused:
        farvec.sweep(folder, files / "query.fbin", files / "gt.ibin", **{**QUICK, **arguments})
    assert words in str(refused.value) and "--" not in str(refused.value)


def test_it_is_silent_unless_asked(folder, files, capfd):
    farvec.sweep(folder, files / "query.fbin", files / "gt.ibin", list=20, passes=1, pass_ms=5)
    assert capfd.readouterr() == ("", "")
    farvec.sweep(folder, files / "query.fbin", files / "gt.ibin", list=20, progress=True, **QUICK)
    out, err = capfd.readouterr()
    assert out == "" and "1 combinations of 40 queries" in err


def interrupt_when(begun):
    """As Ctrl-C does, once begun() is true."""
    def kill():
        for _ in range(6000):
            if begun():
                break
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=kill).start()


def test_ctrl_c_leaves_what_was_measured(folder, files, tmp_path):
    rows = tmp_path / "rows.jsonl"
    interrupt_when(lambda: rows.exists() and rows.stat().st_size > 0)
    with pytest.raises(KeyboardInterrupt):
        farvec.sweep(folder, files / "query.fbin", files / "gt.ibin", list=list(range(20, 200)),
                     passes=1, pass_ms=100, line_ns=5, json=rows, html=tmp_path / "page.html")
    measured = rows.read_text().splitlines()
    assert 0 < len(measured) < 180
    assert (tmp_path / "page.html").exists()


ADVICE = {"k": 5, "recall": 0.8, "degree": 16, "cluster_rows": 50, "replicas": 2, "layout": "grouped",
          "graph_layout": ["csr"], "sample": 4000}


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    folder = tmp_path_factory.mktemp("large")
    farvec.write_vectors(folder / "base.fbin", vectors(5000, seed=5))
    farvec.write_vectors(folder / "query.fbin", vectors(100, seed=6))
    return folder


def test_the_advice_is_that_of_the_tool(large, tmp_path):
    mine = farvec.advise(large / "base.fbin", large / "query.fbin", "rdma", scratch=tmp_path, **ADVICE)
    assert list(tmp_path.iterdir()) == []
    told("advise", "--data", large / "base.fbin", "--queries", large / "query.fbin", "--device", "rdma",
         "--k", 5, "--recall", 0.8, "--degree", 16, "--cluster-rows", 50, "--replicas", 2, "--layout",
         "grouped", "--graph-layout", "csr", "--sample", 4000, "--json", tmp_path / "advice.json")
    tools = json.loads((tmp_path / "advice.json").read_text())
    assert set(mine) == set(tools)
    for name in ("data", "metric", "rows", "sample_rows", "queries", "k", "recall", "device", "threads"):
        assert mine[name] == tools[name]

    def exact(advice):
        return sorted((s["index"], s["build"], s["reached"], s["amplification"],
                       [sample["reads_per_query"] for sample in s["samples"]])
                      for s in advice["settings"])

    assert len(mine["settings"]) == 2 and exact(mine) == exact(tools)
    assert mine["choice"] in mine["settings"]


def test_no_index_may_be_the_advice(large):
    advice = farvec.advise(large / "base.fbin", large / "query.fbin", "rdma", max_dram=0.001, **ADVICE)
    assert advice["choice"] is None and len(advice["settings"]) == 2


@pytest.mark.parametrize("arguments, words", [
    ({"recall": 2}, "recall 2 is out of range"),
    ({"degree": [], "cluster_rows": []}, "no index is left to compare"),
    ({"metric": "l3"}, "metric: "),
    ({"layout": "round"}, "layout: "),
    ({"sample": 100}, "too few to learn from"),
    ({"queries_range": (0, 50)}, "too few to tell a recall"),
    ({"scratch": "/nowhere"}, "place with scratch"),
])
def test_advice_that_cannot_be(large, arguments, words):
    with pytest.raises(farvec.Error) as refused:
        farvec.advise(large / "base.fbin", large / "query.fbin", "rdma", **{**ADVICE, **arguments})
    assert words in str(refused.value) and "--" not in str(refused.value)


def test_ctrl_c_ends_an_advice_and_leaves_nothing(large, tmp_path):
    interrupt_when(lambda: any(tmp_path.iterdir()))
    with pytest.raises(KeyboardInterrupt):
        farvec.advise(large / "base.fbin", large / "query.fbin", "rdma", scratch=tmp_path,
                      **{**ADVICE, "degree": [16, 32, 48, 64], "cluster_rows": [20, 50, 100, 150]})
    assert list(tmp_path.iterdir()) == []
