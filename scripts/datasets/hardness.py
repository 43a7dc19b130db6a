#!/usr/bin/env python3
"""How hard a set is to search, told by its true neighbours alone.

Example:
    scripts/datasets/hardness.py sift1m/gt100.ibin siftdense-10M/gt100.ibin

Prints per file the local intrinsic dimension at the queries (the maximum-likelihood estimate of
Levina and Bickel over all k neighbours: mean, median, 90th percentile) and how much farther the
100th neighbour is than the 10th. A higher dimension means more neighbours nearly as near, and more
work for the same recall. Distances must be those of l2 (squared) or cosine.
"""
import argparse
import sys

import numpy as np


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


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("groundtruth", nargs="+", help=".ibin with distances")
    for path in parser.parse_args(arguments).groundtruth:
        try:
            distances = read_distances(path)
        except (OSError, ValueError) as error:
            print(f"error: {error}", file=sys.stderr)
            return 1
        found = local_dimensions(distances)
        tenth = distances[:, min(9, distances.shape[1] - 1)]
        ratio = np.median(distances[:, -1] / np.maximum(tenth, 1e-9))
        print(f"{path}: {len(distances)} queries, local intrinsic dimension "
              f"mean {found.mean():.1f}, median {np.median(found):.1f}, "
              f"90% {np.percentile(found, 90):.1f}; "
              f"100th / 10th distance {ratio:.3f}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
