"""What each study builds and measures."""
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
WAYS = ("sync", "parallel", "pipelined")
ORDERS = ("none", "first", "centroid", "random", "pca", "kmeans", "pca+kmeans")
CLUSTERINGS = ("gmm", "spectral", "hierarchical")  # scikit-learn's
NODES = (1, 8, 64)
PARTITION = 64
# As the paper's: one insert at a time, nothing waited for but the graph.
ONE = {"slots": 1, "durability": "none"}
INSERT_BUFFER, SEARCH_BUFFER = "20%", "10%"


class Study:
    """Points of one study, measured unless results has them."""

    def __init__(self, name, shop, results, options):
        self.name, self.shop, self.results, self.options = name, shop, results, options
        conditions = (condition.split("=", 1) for condition in options.where)
        self.wanted = {name: values.split(",") for name, values in conditions}

    def take(self, measure, **point):
        if any(str(point.get(name)) not in values for name, values in self.wanted.items()):
            return
        self.results.take(self.name, point, lambda: measure(**point))

    def share(self, share):
        return int(share * self.shop.rows)

    def measured(self):
        """The last queries; those before fill the buffer."""
        count = self.shop.query_count
        return f"{count - min(self.options.measured, count // 2)}:{count}"

    def sweep(self, graph, rows, **options):
        return self.shop.sweep(graph, rows, list=self.options.list,
                               queries_range=self.measured(), **options)

    def hits(self, graph, rows):
        """One pass, pipelined: exact counts."""
        return self.sweep(graph, rows, search="pipelined", buffer=SEARCH_BUFFER, slots=1,
                          passes=1)[0]


def reads(study):
    rows = study.shop.rows

    def measure(nodes, slots):
        graph, _ = study.shop.build(rows, partition_nodes=nodes)
        return study.sweep(graph, rows, search=",".join(WAYS), buffer="10%,50%", slots=slots,
                           passes=study.options.passes)

    for slots in (1, 5, 10):
        for nodes in (1, PARTITION):
            study.take(measure, nodes=nodes, slots=slots)


def inserts(study):
    rows, built = study.shop.rows, study.share(0.99)

    def measure(search):
        graph, _ = study.shop.build(built)
        return study.shop.insert(study.shop.copy(graph), built, rows, search=search,
                                 buffer=SEARCH_BUFFER, **ONE)

    for search in WAYS:
        study.take(measure, search=search)


def clustering(study, method, rows):
    """A file with an order that scikit-learn has found."""
    path = study.shop.folder / f"{method}-{rows.stem}.ibin"
    if not path.exists():
        subprocess.run([sys.executable, str(ROOT / "scripts" / "order" / "cluster_order.py"),
                        "--data", str(rows), "--method", method, "--out", str(path)], check=True)
    return f"file:{path}"


def orders(study):
    rows, built = study.shop.rows, study.share(0.95)

    def incremental(order, search, slots):
        graph, _ = study.shop.build(built)
        if order in CLUSTERINGS:
            order = clustering(study, order, study.shop.part(built, rows))
        return study.shop.insert(study.shop.copy(graph), built, rows, order=order, search=search,
                                 buffer=INSERT_BUFFER, slots=slots, durability="none")

    def full(order, search, slots):
        _, report = study.shop.build(rows, order=order, memory_rows=built, buffer=INSERT_BUFFER,
                                     search=search, slots=slots)
        return {**report["inserts"], "order_seconds": report["order_seconds"]}

    def measure(reordered, **how):
        return (full if reordered == "full" else incremental)(**how)

    for order in (*ORDERS, *CLUSTERINGS):
        study.take(measure, reordered="incremental", order=order, search="pipelined", slots=1)
    for order in ("pca", "kmeans", "pca+kmeans"):
        study.take(measure, reordered="full", order=order, search="pipelined", slots=1)
    for order in ("none", "pca", "kmeans", "pca+kmeans"):
        study.take(measure, reordered="incremental", order=order, search="sync", slots=1)
    for order in ("pca", "kmeans", "pca+kmeans"):
        study.take(measure, reordered="full", order=order, search="sync", slots=1)
    for reordered, search, order in (("incremental", "sync", "none"),
                                     ("incremental", "pipelined", "none"),
                                     ("incremental", "pipelined", "pca+kmeans"),
                                     ("full", "pipelined", "pca")):
        study.take(measure, reordered=reordered, order=order, search=search, slots=5)


def pages(study):
    rows = study.shop.rows

    def measure(nodes, page_bytes):
        graph, _ = study.shop.build(rows, partition_nodes=nodes, page_bytes=page_bytes)
        return study.hits(graph, rows)

    for page_bytes in (8192, 4096, 16384, 32768):
        for nodes in (NODES if page_bytes != 8192 else (1, 2, 4, 8, 16, 32, 64, 128, 256)):
            study.take(measure, nodes=nodes, page_bytes=page_bytes)


def sizes(study):
    def measure(rows, nodes):
        graph, _ = study.shop.build(rows, partition_nodes=nodes)
        return study.hits(graph, rows)

    for share in (0.1, 0.3, 1):
        for nodes in (1, PARTITION):
            study.take(measure, rows=study.share(share), nodes=nodes)


def placed(study, begin, nodes, share):
    """A copy of the graph of the first rows, with insert pages for a share of its partitions that
    does not change."""
    graph, report = study.shop.build(begin, partition_nodes=nodes, insert_share=share,
                                     insert_pages="0%")
    return study.shop.copy(graph), report["pages"]


def shares(study):
    rows, built = study.shop.rows, study.share(0.9)

    def measure(share):
        graph, before = placed(study, built, PARTITION, share)
        work = study.shop.insert(graph, built, rows, search="pipelined", buffer=INSERT_BUFFER,
                                 **ONE)
        return {"pages_before": before, "inserts": work, "searches": study.hits(graph, rows)}

    for share in ("0%", "10%", "30%", "50%", "70%", "90%"):
        study.take(measure, share=share)


def growth(study):
    ends = [study.share(share) for share in (0.1, 0.3, 0.5, 0.7, 1)]
    # A fifth of what there will be: of a graph that is ten times smaller it holds too few pages.
    buffer = study.shop.build(ends[-1])[1]["bytes"] // 5

    def measure(nodes, share):
        graph, before = placed(study, ends[0], nodes, share)
        steps = [{"rows": ends[0], "pages": before, "searches": study.hits(graph, ends[0])}]
        for begin, end in zip(ends, ends[1:]):
            work = study.shop.insert(graph, begin, end, search="pipelined", buffer=buffer, **ONE)
            steps.append({"rows": end, "pages": work["graph"]["pages"], "inserts": work,
                          "searches": study.hits(graph, end)})
        return steps

    for nodes, share in ((1, "0%"), (PARTITION, "0%"), (PARTITION, "90%")):
        study.take(measure, nodes=nodes, share=share)


def together(study):
    rows, built = study.shop.rows, study.share(0.9)

    def measure(order, nodes, share, search):
        graph, _ = placed(study, built, nodes, share)
        return study.shop.insert(graph, built, rows, order=order, search=search,
                                 buffer=INSERT_BUFFER, **ONE)

    for search in ("pipelined", "sync"):
        for nodes, share in ((1, "0%"), (PARTITION, "90%")):
            for order in ("none", "pca+kmeans"):
                study.take(measure, order=order, nodes=nodes, share=share, search=search)


STUDIES = {study.__name__: study
           for study in (reads, inserts, orders, pages, sizes, shares, growth, together)}
