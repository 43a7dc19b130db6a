#!/usr/bin/env python3
"""How hard a set is to search, told by its true neighbours.

Examples:
    scripts/datasets/hardness.py sift1m/gt100.ibin siftdense-10M/gt100.ibin
    scripts/datasets/hardness.py hog/gt100.ibin --data hog/base.fbin --queries hog/query.fbin

Prints per file the local intrinsic dimension at the queries (the maximum-likelihood estimate of
Levina and Bickel over all k neighbours: mean, median, 90th percentile) and how much farther the
100th neighbour is than the 10th. A higher dimension means more neighbours nearly as near, and more
work for the same recall. Distances must be those of l2 (squared) or cosine.

With the rows also the relative contrast (He, Kumar, Chang 2012): how much farther a row at random
is than the nearest, means over all queries; near 1 means that all are about as far.
"""
import argparse
import sys

import numpy as np

import xbin

SAMPLE = 1000  # rows at random, of which the contrast is told


def read_distances(path):
    """Not squared (for cosine: of the normalised vectors, up to a factor)."""
    raw = np.fromfile(path, np.uint32)
    count, k = (int(value) for value in raw[:2]) if len(raw) >= 2 else (0, 0)
    if count * k == 0 or len(raw) != 2 + 2 * count * k:
        raise ValueError(f"{path}: not {count} x {k} ids and as many distances")
    values = raw[2 + count * k:].view(np.float32)
    return np.sqrt(np.maximum(values.reshape(count, k).astype(np.float64), 0))


def local_dimensions(distances):
    """One per query; queries whose neighbours are all at one distance, or at 0, have none."""
    limit = distances[:, -1:]
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log(limit / distances[:, :-1])
        found = 1 / logs.mean(axis=1)
    return found[np.isfinite(found) & (found > 0)]


def relative_contrast(distances, options):
    """Mean distance of rows at random over mean distance of the nearest, both not squared."""
    rows, queries = xbin.map_rows(options.data), xbin.map_rows(options.queries)
    if len(queries) != len(distances) or rows.shape[1] != queries.shape[1]:
        raise ValueError(f"{options.data}, {options.queries} and the neighbours do not belong "
                         "together")
    chosen = np.sort(np.random.default_rng(1).permutation(len(rows))[:SAMPLE])
    rows, queries = rows[chosen].astype(np.float64), np.asarray(queries, np.float64)
    if options.metric == "cosine":
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
        queries /= np.linalg.norm(queries, axis=1, keepdims=True)
    squares = (queries**2).sum(1)[:, None] - 2 * queries @ rows.T + (rows**2).sum(1)
    # True neighbours by cosine have 1-cos, which is half the square.
    scale = 2 if options.metric == "cosine" else 1
    return np.sqrt(np.maximum(squares / scale, 0)).mean() / distances[:, 0].mean()


def describe(path, options):
    distances = read_distances(path)
    found = local_dimensions(distances)
    tenth = distances[:, min(9, distances.shape[1] - 1)]
    ratio = np.median(distances[:, -1] / np.maximum(tenth, 1e-9))
    line = (f"{path}: {len(distances)} queries, local intrinsic dimension mean {found.mean():.1f}, "
            f"median {np.median(found):.1f}, 90% {np.percentile(found, 90):.1f}; "
            f"100th / 10th distance {ratio:.3f}")
    if options.data:
        line += f"; relative contrast {relative_contrast(distances, options):.2f}"
    return line


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("groundtruth", nargs="+", help=".ibin with distances")
    parser.add_argument("--data", help="base rows, of one ground truth; for the contrast")
    parser.add_argument("--queries", help="with --data")
    parser.add_argument("--metric", choices=("l2", "cosine"), default="l2", help="with --data")
    options = parser.parse_args(arguments)
    if bool(options.data) != bool(options.queries) or options.data and len(options.groundtruth) > 1:
        parser.error("--data and --queries go together, with one ground truth")
    for path in options.groundtruth:
        try:
            print(describe(path, options))
        except (OSError, ValueError) as error:
            print(f"error: {error}", file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
