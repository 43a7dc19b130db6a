#!/usr/bin/env python3
"""Makes a streaming runbook for a data set, of the shape of big-ann-benchmarks' track.

Examples:
    scripts/runbooks/make.py sliding --data hog/base.fbin --out hog/sliding.yaml
    scripts/runbooks/make.py clustered --data hog/base.fbin --permuted hog/clustered.fbin \\
        --out hog/clustered.yaml

sliding: batches of rows go in, in their order, each followed by a search; as soon as the window is
full, the oldest batch goes out before the search. clustered: k-means orders the rows by cluster and
writes them so (a range of ids is then a cluster); every cluster gets a part of its rows, then loses
a part of these, then gets the rest, each followed by a search: data that drift. Shares and clusters
hang on the seed. growing: half of the rows go in at once, the others in batches, each followed by a
search. scripts/runbooks/truth.py finds the true neighbours.
"""
import argparse
import pathlib
import sys

import numpy as np

import runbook
from runbook import Step

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "datasets"))
import xbin  # noqa: E402

SAMPLE = 100_000  # rows that the centroids are made of
ITERATIONS = 10
BLOCK = 20_000
# Of a cluster: what goes in first; of that: what goes out. From the least to the most.
FIRST_SHARE, DELETED_SHARE = (0.3, 0.7), (0.3, 0.9)


def sliding(rows, batches, window):
    """`window` is how many batches stay."""
    bounds = [rows * number // batches for number in range(batches + 1)]
    steps = []
    for number in range(batches):
        steps.append(Step("insert", bounds[number], bounds[number + 1]))
        if number >= window:
            oldest = number - window
            steps.append(Step("delete", bounds[oldest], bounds[oldest + 1]))
        steps.append(Step("search"))
    return steps


def growing(rows, batches):
    first = rows // 2
    bounds = [first + (rows - first) * number // batches for number in range(batches + 1)]
    steps = [Step("insert", 0, first), Step("search")]
    for start, end in zip(bounds, bounds[1:]):
        steps += [Step("insert", start, end), Step("search")]
    return steps


def labels_of(rows, clusters, seed):
    """The cluster of each row."""
    from scipy.cluster.vq import kmeans2, vq
    random = np.random.default_rng(seed)
    chosen = np.sort(random.permutation(len(rows))[:SAMPLE])
    centroids, _ = kmeans2(np.asarray(rows[chosen], np.float32), clusters, iter=ITERATIONS,
                           minit="++", seed=random)
    return np.concatenate([vq(np.asarray(rows[start:start + BLOCK], np.float32), centroids)[0]
                           for start in range(0, len(rows), BLOCK)])


def clustered(sizes, seed):
    """Of clusters that lie one behind the other; those that are too small for parts are whole."""
    random = np.random.default_rng(seed)
    ends = np.cumsum(sizes)
    rounds = ([], [], [])
    for start, end in zip((ends - sizes).tolist(), ends.tolist()):
        first = start + round((end - start) * random.uniform(*FIRST_SHARE))
        gone = start + round((first - start) * random.uniform(*DELETED_SHARE))
        for steps, step in zip(rounds, (Step("insert", start, first), Step("delete", start, gone),
                                        Step("insert", first, end))):
            if step.start < step.end:
                steps += [step, Step("search")]
    return [step for steps in rounds for step in steps]


def make_sliding(options, rows):
    if not 1 <= options.window <= options.batches <= len(rows):
        raise ValueError(f"{options.batches} batches, a window of {options.window} of them and "
                         f"{len(rows)} rows do not go together")
    return options.name, sliding(len(rows), options.batches, options.window)


def make_growing(options, rows):
    count = options.rows or len(rows)
    if not 2 <= 2 * options.batches <= count <= len(rows):
        raise ValueError(f"{options.batches} batches of half of {count} of {len(rows)} rows")
    return options.name, growing(count, options.batches)


def make_clustered(options, rows):
    if not 1 <= options.clusters <= len(rows):
        raise ValueError(f"{options.clusters} clusters of {len(rows)} rows")
    labels = labels_of(rows, options.clusters, options.seed)
    order = np.argsort(labels, kind="stable")
    xbin.write_rows(options.permuted, rows.shape, (rows[order[start:start + BLOCK]]
                                                   for start in range(0, len(rows), BLOCK)))
    sizes = np.bincount(labels, minlength=options.clusters)
    print(f"clusters of {sizes.min():,} to {sizes.max():,} rows", file=sys.stderr)
    return f"{options.name}-clustered", clustered(sizes, options.seed)


def parse_arguments(arguments):
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    kinds = parser.add_subparsers(required=True, metavar="sliding|clustered|growing")
    one = kinds.add_parser("sliding")
    one.add_argument("--batches", type=int, default=100, help="(%(default)s)")
    one.add_argument("--window", type=int, default=50, help="batches that stay (%(default)s)")
    one.set_defaults(make=make_sliding)
    other = kinds.add_parser("clustered")
    other.add_argument("--clusters", type=int, default=32, help="(%(default)s)")
    other.add_argument("--permuted", required=True, help="file to write: the rows by cluster")
    other.add_argument("--seed", type=int, default=1)
    other.set_defaults(make=make_clustered)
    last = kinds.add_parser("growing")
    last.add_argument("--batches", type=int, default=10, help="(%(default)s)")
    last.add_argument("--rows", type=int, help="of the file (all)")
    last.set_defaults(make=make_growing)
    for kind in (one, other, last):
        kind.add_argument("--data", required=True, help=".fbin, .u8bin or .i8bin")
        kind.add_argument("--name", help="of the data set (the folder's)")
        kind.add_argument("--out", required=True, help="file to write, .yaml")
    options = parser.parse_args(arguments)
    options.name = options.name or pathlib.Path(options.data).resolve().parent.name
    return options


def main(arguments):
    options = parse_arguments(arguments)
    try:
        rows = xbin.map_rows(options.data)
        name, steps = options.make(options, rows)
        runbook.write(options.out, name, steps, len(rows))
    except (OSError, ValueError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    count = {kind: sum(step.operation == kind for step in steps)
             for kind in ("insert", "delete", "search")}
    print(f"{options.out}: {name}, {len(steps)} steps: " +
          ", ".join(f"{number} {kind}" for kind, number in count.items()))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
