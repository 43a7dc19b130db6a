"""examples/python/: the programs as a reader starts them."""

import os
import pathlib
import re
import subprocess
import sys

import pytest

EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "examples" / "python"
TEXT300K = pathlib.Path(os.environ.get("FARVEC_DATA") or "FARVEC_DATA") / "text300k"


def run(name, *arguments):
    done = subprocess.run([sys.executable, "-B", str(EXAMPLES / name), *map(str, arguments)],
                          text=True, capture_output=True, timeout=280, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def recalls(printed):
    return [float(found) for found in re.findall(r"recall@\d+ ([\d.]+)", printed)]


@pytest.mark.parametrize("tier", ["dram", "emulated:rdma"])
def test_text_search(tier):
    found = recalls(run("text_search.py", "--tier", tier))
    assert len(found) == 5 and found[-1] > 0.95


@pytest.mark.skipif(not TEXT300K.exists() or "FARVEC_LONG" not in os.environ,
                    reason="no data: text300k is not there, or this is no long run")
def test_text_search_over_real_embeddings():
    found = recalls(run("text_search.py", "--data", TEXT300K))
    assert len(found) == 5 and found[-1] > 0.95


def test_far_records():
    printed = run("rdma.py", "127.0.0.1", "--transport", "fabric:tcp")
    near, far = recalls(printed)
    assert near == far > 0.9 and printed.endswith("the same neighbours\n")


def test_a_collection_goes_on_where_it_was(tmp_path):
    first, second = (run("collection.py", tmp_path / "things") for _ in range(2))
    assert "round 4: 1250 rows" in first and "round 9: 2500 rows" in second
    assert min(recalls(first) + recalls(second)) > 0.95
