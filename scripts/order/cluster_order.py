#!/usr/bin/env python3
"""Writes an order of inserts by clusters that farvec itself does not make.

Example:
    scripts/order/cluster_order.py --data base.u8bin --method spectral --out order.ibin

The order is used as `--order file:order.ibin`. Rows are taken chunk by chunk, as they stand or along
their first principal component (--along pca), and every chunk is clustered by scikit-learn: gmm
(Gaussian mixture with diagonal covariances), spectral (on the graph of nearest neighbours) or
hierarchical (Ward's). Where a chunk has more rows than --sample, that many are clustered and the
others go to the cluster whose centroid is nearest. Clusters follow each other, and rows inside
them, as in farvec's own `kmeans`: from each cluster to the nearest that is left, and inside it along
the line from the centroid before to the centroid after.

scikit-learn comes from PyPI into build/order-venv, made on first use. Vectors are .fbin, .u8bin or
.i8bin; the file is mapped, and a chunk is in memory at a time (--along pca: and the projections).
"""
import argparse
import os
import pathlib
import subprocess
import sys
import time

try:
    import numpy as np
except ModuleNotFoundError:
    np = None  # the environment has it

ROOT = pathlib.Path(__file__).resolve().parents[2]
VENV = ROOT / "build" / "order-venv"
PACKAGE = "scikit-learn>=1.5,<2"
TYPES = {".fbin": "<f4", ".u8bin": "u1", ".i8bin": "i1"}
# What a method takes of a chunk unless --sample says otherwise; 0: all of it.
SAMPLES = {"gmm": 0, "spectral": 2000, "hierarchical": 2000}


def parse_arguments(words):
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", required=True)
    parser.add_argument("--method", required=True, choices=tuple(SAMPLES))
    parser.add_argument("--out", required=True, help=".ibin")
    parser.add_argument("--along", choices=("rows", "pca"), default="rows")
    parser.add_argument("--chunk", type=int, default=10_000, help="rows (default %(default)s)")
    parser.add_argument("--clusters", type=int, default=10, help="per chunk (default %(default)s)")
    parser.add_argument("--sample", type=int, help="rows of a chunk that are clustered, 0: all "
                        "(default: gmm 0, spectral and hierarchical 2000)")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args(words)
    if not 0 < arguments.clusters <= arguments.chunk:
        parser.error("--clusters must be at least 1 and at most --chunk")
    if pathlib.Path(arguments.out).suffix != ".ibin":
        parser.error("--out must end in .ibin")
    if arguments.sample is None:
        arguments.sample = SAMPLES[arguments.method]
    return arguments


def enter_environment():
    """Runs this script again with the interpreter that has scikit-learn."""
    made = subprocess.run([ROOT / "scripts/python/venv.sh", VENV, PACKAGE], check=False,
                          stdout=subprocess.PIPE, text=True)
    if made.returncode != 0:
        raise SystemExit(made.returncode)
    python = made.stdout.strip()
    os.environ["FARVEC_ORDER_VENV"] = "1"
    os.execv(python, [python, "-B", __file__, *sys.argv[1:]])


def map_rows(path):
    """The rows of a file, which stay there. Raises ValueError when it is damaged."""
    path = pathlib.Path(path)
    kind = TYPES.get(path.suffix)
    if kind is None:
        raise ValueError(f"{path}: not one of {', '.join(TYPES)}")
    header = np.fromfile(path, "<u4", 2)
    count, dimension = (int(word) for word in header) if len(header) == 2 else (0, 0)
    if count * dimension == 0 or path.stat().st_size != 8 + count * dimension * int(kind[-1]):
        raise ValueError(f"{path}: not {count} rows of {dimension} {path.suffix[1:-3]}")
    return np.memmap(path, kind, "r", 8, (count, dimension))


def finite_chunk(rows, ids):
    chunk = np.asarray(rows[ids], np.float32)
    bad = ~np.isfinite(chunk).all(axis=1)
    if bad.any():
        raise ValueError(f"row {ids[bad.argmax()]} holds NaN or infinity")
    return chunk


def rows_along(rows, along, seed, step=65536):
    """The rows as they stand, or by their places along the first principal component."""
    if along == "rows" or len(rows) < 3:
        return np.arange(len(rows))
    from sklearn.decomposition import PCA
    sample = np.arange(0, len(rows), max(len(rows) // 100_000, 1))
    pca = PCA(1, svd_solver="randomized", random_state=seed).fit(finite_chunk(rows, sample))
    places = [pca.transform(finite_chunk(rows, np.arange(begin, min(begin + step, len(rows)))))[:, 0]
              for begin in range(0, len(rows), step)]
    return np.argsort(np.concatenate(places), kind="stable")


def clusterer(method, clusters, seed):
    """A function from rows to the number of each row's cluster."""
    from sklearn.cluster import AgglomerativeClustering, SpectralClustering
    from sklearn.mixture import GaussianMixture
    if method == "gmm":
        return GaussianMixture(clusters, covariance_type="diag", reg_covar=1e-3,
                               random_state=seed).fit_predict
    if method == "spectral":
        return SpectralClustering(clusters, affinity="nearest_neighbors", random_state=seed,
                                  assign_labels="cluster_qr").fit_predict
    return AgglomerativeClustering(clusters).fit_predict


def centroids_of(chunk, labels):
    return np.stack([chunk[labels == label].mean(axis=0) for label in np.unique(labels)])


def nearest_centroids(chunk, centroids):
    distances = (centroids**2).sum(axis=1) - 2 * chunk @ centroids.T
    return distances.argmin(axis=1)


def cluster_chunk(chunk, cluster, sample, random):
    """The cluster of each row, from 0 without gaps; through a sample when there are more rows."""
    if sample == 0 or len(chunk) <= sample:
        return np.unique(cluster(chunk), return_inverse=True)[1]
    taken = chunk[np.sort(random.choice(len(chunk), sample, replace=False))]
    labels = nearest_centroids(chunk, centroids_of(taken, cluster(taken)))
    return np.unique(labels, return_inverse=True)[1]


def path_through(centroids, before):
    """From each centroid to the nearest that is left, beginning near `before`, else at the first."""
    left, path = list(range(len(centroids))), []
    while left:
        place = 0
        if before is not None:
            place = ((centroids[left] - before)**2).sum(axis=1).argmin()
        path.append(left.pop(place))
        before = centroids[path[-1]]
    return path


def order_chunk(chunk, labels, before):
    """The rows of a chunk in the order of their clusters, and the centroid where the path ends."""
    centroids = centroids_of(chunk, labels)
    path = path_through(centroids, before)
    order = []
    for i, label in enumerate(path):
        start = centroids[path[i - 1]] if i > 0 else before
        line = centroids[path[min(i + 1, len(path) - 1)]] - (centroids[label] if start is None
                                                            else start)
        members = np.flatnonzero(labels == label)
        order.append(members[np.argsort(chunk[members] @ line, kind="stable")])
    return np.concatenate(order), centroids[path[-1]]


def order_rows(rows, arguments, cluster_of=None):
    """Every row's number once, in the order of inserts."""
    random = np.random.default_rng(arguments.seed)
    along = rows_along(rows, arguments.along, arguments.seed)
    order, before = [], None
    for begin in range(0, len(rows), arguments.chunk):
        ids = along[begin:begin + arguments.chunk]
        chunk = finite_chunk(rows, ids)
        clusters = min(arguments.clusters, len(chunk))
        if clusters < 2 or (chunk == chunk[0]).all():
            labels = np.zeros(len(chunk), int)
        else:
            cluster = cluster_of or clusterer(arguments.method, clusters, arguments.seed)
            labels = cluster_chunk(chunk, cluster, arguments.sample, random)
        places, before = order_chunk(chunk, labels, before)
        order.append(ids[places])
    return np.concatenate(order)


def write_order(path, order):
    partial = pathlib.Path(path + ".partial")
    with open(partial, "wb") as file:
        np.asarray([len(order), 1], "<u4").tofile(file)
        order.astype("<u4").tofile(file)
        file.flush()
        os.fsync(file.fileno())
    partial.rename(path)


def main():
    arguments = parse_arguments(sys.argv[1:])
    if "FARVEC_ORDER_VENV" not in os.environ:
        enter_environment()
    try:
        rows = map_rows(arguments.data)
        start = time.perf_counter()
        order = order_rows(rows, arguments)
        seconds = time.perf_counter() - start
        write_order(arguments.out, order)
    except (OSError, ValueError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    print(f"{arguments.out}: {len(order)} rows, {arguments.method}, {seconds:.1f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
