#!/usr/bin/env python3
"""The records of an index on a memory node, read over RDMA by a search that never asks its processor.

    examples/python/rdma.py ADDRESS        # of one of this machine's RDMA devices (`rdma link`)
    examples/python/rdma.py 127.0.0.1 --transport fabric:tcp      # without any device

Where there is no device, in a guest of the lab with soft-RoCE (docs/operate/rdma.md):

    scripts/lab/lab.sh run -- sh -c 'examples/python/rdma.py "$FARVEC_LAB_SELF"'

Codes and offsets are in this process, records in the memory node's; both are on one machine here, on
two it is the same with HOST:PORT in place of the socket. The package is farvec (docs/use/python.md),
the programs are those of build/release/bin, or of the folder that FARVEC_BIN_DIR names.
"""
import argparse
import contextlib
import os
import pathlib
import subprocess
import tempfile
import time

import numpy as np

import farvec

ROOT = pathlib.Path(__file__).resolve().parents[2]
BIN = pathlib.Path(os.environ.get("FARVEC_BIN_DIR") or ROOT / "build" / "release" / "bin")
K, LIST, PATIENCE_S = 10, 40, 120


@contextlib.contextmanager
def memory_node(index, socket, *transport):
    """Holds the index in memory that others read, until the end of the block."""
    command = [BIN / "farvec-memory-node", "--index", index, "--listen", socket, *transport]
    with subprocess.Popen(command) as node:
        try:
            yield node
        finally:
            node.terminate()


def open_soon(index, tier, node):
    """The index, when the node has it in memory."""
    end = time.monotonic() + PATIENCE_S
    while True:
        try:
            return farvec.open(index, tier=tier)
        except farvec.Unavailable:
            if node.poll() is not None or time.monotonic() > end:
                raise
            time.sleep(0.1)


def measure(index, tier, queries, truth):
    start = time.perf_counter()
    ids, _, counts = index.search(queries, k=K, list=LIST)
    rate = len(queries) / (time.perf_counter() - start)
    print(f"{tier}: recall@{K} {farvec.recall(ids, truth):.4f}, {counts.reads / len(queries):.1f} reads "
          f"and {counts.bytes / len(queries):,.0f} bytes a query, {rate:,.0f} queries a second", flush=True)
    return ids


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("address", help="IP address that the memory node's device has")
    parser.add_argument("--transport", default="verbs", help="verbs, or fabric:PROVIDER [%(default)s]")
    parser.add_argument("--rows", type=int, default=3000, help="[%(default)s]")
    options = parser.parse_args()
    random = np.random.default_rng(4)
    rows = random.normal(size=(options.rows, 32)).astype(np.float32)
    queries = random.normal(size=(100, 32)).astype(np.float32)
    truth, _ = farvec.ground_truth(rows, queries, k=K)
    if options.transport == "verbs":
        transport = ("--rdma", options.address)
    else:
        transport = ("--fabric", f"{options.transport.partition(':')[2]}:{options.address}")
    with tempfile.TemporaryDirectory() as folder:
        index, socket = f"{folder}/index", f"unix:{folder}/m"
        farvec.build_graph(rows, index, metric="l2", progress=False)
        with farvec.open(index, tier="dram") as near:
            expected = measure(near, "dram", queries, truth)
        with memory_node(index, socket, *transport) as node:
            with open_soon(index, f"{options.transport}:{socket}", node) as far:
                found = measure(far, options.transport, queries, truth)
        print("the same neighbours" if np.array_equal(found, expected) else "OTHER NEIGHBOURS")


if __name__ == "__main__":
    main()
