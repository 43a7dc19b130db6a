#!/usr/bin/env python3
"""Asks a farvec compute node for the nearest neighbours of the vectors of a .fbin file.

    protoc -I rpc --python_out=STUBS --grpc_python_out=STUBS \\
      --plugin=protoc-gen-grpc_python="$(command -v grpc_python_plugin)" rpc/compute_node.proto
    PYTHONPATH=STUBS examples/python/search.py 127.0.0.1:7711 queries.fbin --k 10

The packages are python3-grpcio, protobuf-compiler and protobuf-compiler-grpc; docs/use/clients.md
explains the calls.
"""
import argparse
import time

import grpc
import numpy as np

import compute_node_pb2 as pb
import compute_node_pb2_grpc as pb_grpc

BUSY = (grpc.StatusCode.RESOURCE_EXHAUSTED, grpc.StatusCode.UNAVAILABLE)
QUERIES_PER_CALL = 64


def read_fbin(path):
    """The rows of a file with its number of rows, their dimension and then their floats."""
    count, dimension = np.fromfile(path, dtype="<u4", count=2)
    rows = np.fromfile(path, dtype="<f4", offset=8)
    return rows.reshape(int(count), int(dimension))


def search(node, rows, k, deadline_s=1.0, attempts=5):
    """(ids, distances) for each row: at most k of each, nearest first."""
    request = pb.SearchRequest(type=pb.ELEMENT_TYPE_F32, dimension=rows.shape[1], k=k,
                               queries=[row.tobytes() for row in rows])
    wait_s = 0.01
    for attempt in range(1, attempts + 1):
        try:
            response = node.Search(request, timeout=deadline_s)
            break
        except grpc.RpcError as error:
            if error.code() not in BUSY or attempt == attempts:
                raise
            # A node that has too much to do says in how many milliseconds to ask again.
            told = dict(error.trailing_metadata() or ()).get("grpc-retry-pushback-ms", "0")
            time.sleep(max(wait_s, int(told) / 1000))
            wait_s *= 2
    for i, result in enumerate(response.results):
        if result.status != 0:
            raise RuntimeError(f"query {i}: {result.message}")
    return [(list(result.ids), list(result.distances)) for result in response.results]


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("address", help="HOST:PORT or unix:/path")
    parser.add_argument("queries", help=".fbin file")
    parser.add_argument("--k", type=int, default=10, help="neighbours wanted [10]")
    arguments = parser.parse_args()
    rows = read_fbin(arguments.queries)
    # A node beside this program is not reached through a web proxy.
    with grpc.insecure_channel(arguments.address, [("grpc.enable_http_proxy", 0)]) as channel:
        node = pb_grpc.ComputeNodeStub(channel)
        index = node.Describe(pb.DescribeRequest(), timeout=10)
        print(f"# {index.count} vectors of dimension {index.dimension}, layout {index.layout}")
        for begin in range(0, len(rows), QUERIES_PER_CALL):
            found = search(node, rows[begin:begin + QUERIES_PER_CALL], arguments.k)
            for i, (ids, distances) in enumerate(found, begin):
                print(i, *(f"{id}:{distance:g}" for id, distance in zip(ids, distances)))


if __name__ == "__main__":
    main()
