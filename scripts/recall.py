#!/usr/bin/python3
"""Recall of found neighbours, by distance: a result counts when it is no farther than the k-th
true neighbour, so that ties count.

Example:
    build/release/bin/farvec search --index INDEX --queries Q --k 10 --list 40 --out found.ibin
    scripts/recall.py found.ibin gt100.ibin
"""
import argparse
import sys

import numpy

# Relative room for rounding between two ways of adding the same squares.
TOLERANCE = 1e-5


def read_distances(path):
    """The distances of an .ibin file: n, k, n x k ids, n x k f32."""
    count, k = (int(value) for value in numpy.fromfile(path, numpy.uint32, 2))
    values = numpy.fromfile(path, numpy.float32, offset=8 + 4 * count * k)
    if values.size != count * k:
        raise ValueError(f"{path}: {values.size} distances, expected {count} x {k}")
    return values.reshape(count, k)


def recall(found, truth):
    k = found.shape[1]
    if truth.shape[0] != found.shape[0] or truth.shape[1] < k:
        raise ValueError(f"{truth.shape[0]} x {truth.shape[1]} true neighbours do not fit "
                         f"{found.shape[0]} x {k} found ones")
    limit = truth[:, k - 1:k]
    return float((found <= limit + TOLERANCE * numpy.abs(limit)).mean())


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("found", help=".ibin of `farvec search`")
    parser.add_argument("groundtruth", help=".ibin with at least as many neighbours per query")
    options = parser.parse_args(arguments)
    try:
        print(f"{recall(read_distances(options.found), read_distances(options.groundtruth)):.4f}")
    except (OSError, ValueError, IndexError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
