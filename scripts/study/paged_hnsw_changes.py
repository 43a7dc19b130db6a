"""The paged HNSW's paper (000), inserts: Figures 6, 7, 9, 10 and 11, Table 5, by bench/hnsw/study.py."""
import json

from . import peers
from .items import Absent, Item, item, one, panels, save
from .paged_hnsw import SETS, PagedItem, short, studied
from .verdict import Unseen, all_of


def inserted(points):
    """A row for each point whose `found` is the report of an insert."""
    kept = ("done", "per_second", "hit_ratio", "written_bytes", "read_bytes")
    rows = []
    for point in points:
        found = point["found"]
        seconds = found.get("order_seconds", 0) + found["seconds"] + found["write_back_seconds"]
        rows.append({**point["point"], "seconds": seconds, "order_seconds": found.get("order_seconds", 0),
                     **{name: found[name] for name in kept}})
    return rows


class InsertItem(PagedItem):
    seconds = 60

    def bars(self, rows, path, name_of):
        figure, (line,) = panels(1, 2, size=(3.6, 0.25 * len(rows) + 1.2))
        names = [name_of(row) for row in rows]
        line[0].barh(names, [row["seconds"] for row in rows])
        line[0].set(xlabel="seconds, ssd (real)")
        line[1].barh(names, [100 * row["hit_ratio"] for row in rows], color="#D55E00")
        line[1].set(xlabel="hits, %")
        line[1].set_yticklabels([])
        for axes in line:
            axes.invert_yaxis()
        return save(figure, path)


@item
class InsertReads(Absent):
    name = "000-F4d"
    title = "inserts by the way of reading"
    why = (f"a tenth of the pages of {SETS[0]} is too small a buffer for inserts that read in parallel: "
           "docs/results/023 has it on hog576")


class OrderItem(InsertItem):
    how = PagedItem.how + (" A twentieth of the rows goes in, one after the other; with --quick without "
                           "k-means and by pipelined reads, where the paper reads one page at a time.")

    def measure(self, lab):
        orders, ways = (("none,pca", "pipelined") if lab.effort.name == "quick"
                        else ("none,pca,kmeans", "sync,pipelined"))
        return inserted(studied(lab, "orders", "slots=1", "order=" + orders, "reordered=incremental",
                                "search=" + ways))

    @staticmethod
    def way(rows):
        """The paper's way to read, if it was measured."""
        return "sync" if any(row["search"] == "sync" for row in rows) else "pipelined"

    @staticmethod
    def without_kmeans(rows, ours):
        """Ours, with what k-means has a part in left out where it was not measured."""
        if any(row["order"] == "kmeans" for row in rows):
            return {name: number() for name, number in ours.items()}
        return {name: Unseen("--quick leaves k-means out") if "kmeans" in name or name == "pca_faster"
                else number() for name, number in ours.items()}

    def draw(self, rows, path):
        return self.bars(rows, path, lambda row: f"{row['order']}, {row['search']}")

    def at(self, rows, order, search):
        return one(rows, order=order, search=search)


@item
class Orders(OrderItem):
    name = "000-F6"
    title = "orders of inserts: hits and seconds of the order itself"

    def ours(self, rows):
        hits = lambda order: 100 * self.at(rows, order, "pipelined")["hit_ratio"]
        seconds = lambda order: self.at(rows, order, "pipelined")["order_seconds"]
        return self.without_kmeans(rows, {
            "hits_none": lambda: hits("none"), "kmeans_best": lambda: hits("kmeans") / hits("pca"),
            "pca_faster": lambda: seconds("kmeans") / seconds("pca")})


@item
class OrderedInserts(OrderItem):
    name = "000-F7"
    title = "orders of inserts: time, hits, bytes written"

    def ours(self, rows):
        way = self.way(rows)
        base = self.at(rows, "none", way)
        saved = lambda order: 100 * (1 - self.at(rows, order, way)["seconds"] / base["seconds"])
        hits = lambda order: 100 * self.at(rows, order, way)["hit_ratio"]
        written = min(row["written_bytes"] for row in rows if row["search"] == way)
        whole = Unseen("the whole set in a new order takes minutes: docs/results/021 has it")
        return {**self.without_kmeans(rows, {
            "hits_none": lambda: hits("none"), "hits_pca": lambda: hits("pca"),
            "hits_kmeans": lambda: hits("kmeans"), "saved_pca": lambda: saved("pca"),
            "saved_kmeans": lambda: saved("kmeans"),
            "written": lambda: 100 * (1 - written / base["written_bytes"])}),
            "saved_pca_full": whole, "saved_with_reads": whole,
            "five_in_flight": Unseen("five inserts in flight: docs/results/021 has them")}


@item
class InsertPages(InsertItem):
    name = "000-F9"
    title = "insert pages of partitions"
    why = "--quick has no time for a tenth of the rows: --full measures it, docs/results/023 has it"

    def measure(self, lab):
        if lab.effort.name == "quick":
            return []
        return [{**point["point"], "pages": point["found"]["inserts"]["graph"]["pages"],
                 "per_second": point["found"]["inserts"]["per_second"],
                 "hit_ratio": point["found"]["searches"]["hit_ratio"],
                 "insert_hits": point["found"]["inserts"]["hit_ratio"]}
                for point in studied(lab, "shares", "share=0%,90%")]

    def ours(self, rows):
        none, most = (one(rows, share=share) for share in ("0%", "90%"))
        return {"more_pages": 100 * (most["pages"] / none["pages"] - 1),
                "insert_rate": most["per_second"] / none["per_second"],
                "hits_gain": Unseen("nine tenths inserted take an hour: docs/results/023 has them")}

    def draw(self, rows, path):
        figure, (line,) = panels(1, 3, size=(2.2, 2))
        for axes, number in zip(line, ("pages", "per_second", "hit_ratio")):
            axes.bar([row["share"] for row in rows], [row[number] for row in rows])
            axes.set(xlabel="partitions with insert pages", ylabel=number)
        return save(figure, path)


@item
class AllTogether(InsertItem):
    name = "000-F10"
    title = "order, partitions and pipelined reads together"
    why = InsertPages.why

    def measure(self, lab):
        if lab.effort.name == "quick":
            return []
        plain = studied(lab, "together", "search=sync", "order=none", "nodes=1")
        return inserted(plain + studied(lab, "together", "search=pipelined", "order=pca+kmeans",
                                        "nodes=64"))

    def ours(self, rows):
        plain, whole = rows
        return {"rate": plain["seconds"] / whole["seconds"], "hits_before": 100 * plain["hit_ratio"],
                "hits_after": 100 * whole["hit_ratio"]}

    def draw(self, rows, path):
        return self.bars(rows, path, lambda row: f"{row['order']}, {row['nodes']}, {row['search']}")


def on_disk(lab, data):
    """Rows of DiskANN and of the paged HNSW, of the same degree, list and memory, and of AlayaLite's
    LASER with as much memory; none with --quick."""
    if lab.effort.name == "quick":
        return []
    folder = lab.work / "hnsw-beside"
    hnsw = lab.made(folder, [
        [lab.farvec, "build", "hnsw", "--data", data.base, "--metric", "l2",
         "--partition-nodes", 64, "--out", folder / "index", "--overwrite", "--quiet"]],
        "paged HNSW beside DiskANN") / "index"
    pages = sum(file.stat().st_size for file in hnsw.glob("pages*"))
    memory = ["--memory-budget", pages // 10]
    return [*peers.measured(lab, data, 0.95, [peers.DISKANN], [
        "--hnsw", hnsw, "--hnsw-slots", "1", *memory, "--build-list", 200]),
            *peers.measured(lab, data, 0.95, [peers.LASER], memory)]


def is_diskann(row):
    return "DiskANN" in row["label"]


def is_laser(row):
    return "LASER" in row["label"]


@item
class BesideDiskann(PagedItem):
    name = "000-F11"
    title = "beside DiskANN"
    why = "--quick does not build DiskANN: --full measures it"
    how = (f"{SETS[0]} in the paged HNSW (m 24, ef_construction 200, partitions of 64, pipelined reads) and in "
           "diskannpy's disk index (R 48, L 200), and AlayaLite's LASER (R 64, L 200), which the paper has "
           "not, each with memory of a tenth of the paged HNSW's pages, "
           "recall@10 0.95, one search at a time, by bench/peers, on the disk of the work folder (real).")
    seconds = 1

    def measure(self, lab):
        return on_disk(lab, lab.whole(SETS[0]))

    def ours(self, rows):
        why = Unseen(self.why)
        if not rows:
            return {"speedup": why, "gap": why}
        # The paper's gap is the plain one's; ours has partitions and pipelined reads.
        return {"speedup": Unseen("bench/hnsw/pgvector.py measures pgvector beside it: docs/results/023"),
                "gap": Unseen(f"of the whole, not of the plain one: {self.gap(rows):.1f} times")}

    @staticmethod
    def gap(rows):
        (peer,) = [row for row in rows if is_diskann(row)]
        (own,) = [row for row in rows if not is_diskann(row) and not is_laser(row)]
        return peer["qps"] / own["qps"]

    def table(self, rows):
        return ["index", "recall", "QPS, ssd (real)", "p99, us", "build, s"], [
            [row["label"], row["failure"], "", "", ""] if "failure" in row else
            [row["label"], f"{row['recall']:.4f}", f"{row['qps']:,.0f}", f"{row['p99_us'] or 0:,.0f}",
             short(row["build_s"] or 0.0)] for row in rows]

    def draw(self, rows, path):
        return False


@item
class Builds(Item):
    name = "000-T5"
    title = "seconds of a build from nothing"
    how = (f"`farvec build hnsw` of {SETS[0]} with 95% of the rows in memory (--quick: 99%) and the rest "
           "inserted on pages: "
           "plain (one page after the other, the set's order), and with PCA order, pipelined reads, partitions "
           "and insert pages.")
    seconds = 40
    WAYS = {"plain": ("--search", "sync", "--order", "none", "--slots", 1),
            "ours": ("--search", "pipelined", "--order", "pca", "--slots", 1, "--partition-nodes", 64,
                     "--insert-share", "90%")}

    def measure(self, lab):
        data = lab.whole(SETS[0])
        memory = data.rows * (99 if lab.effort.name == "quick" else 95) // 100
        rows = [{"way": way, **self._built(lab, data.base, memory, options)}
                for way, options in self.WAYS.items()]
        return rows + [{"way": "DiskANN, R 48, L 200", "seconds": row["build_s"], "pages": 0}
                       for row in on_disk(lab, data) if is_diskann(row)]

    @staticmethod
    def _built(lab, base, memory, options):
        out = lab.work / "build-hnsw"
        command = [lab.farvec, "build", "hnsw", "--data", base, "--metric", "l2", "--memory-rows",
                   memory, "--buffer", "25%", *options, "--out", out, "--overwrite", "--quiet",
                   "--json"]
        def measure():
            started = lab.clock()
            report = json.loads(lab.run(command, "build hnsw"))
            return [{"seconds": lab.clock() - started, "pages": report["pages"]}]
        return lab.store.get({"measure": "build hnsw", "command": lab.words(command)}, measure)[0]

    def ours(self, rows):
        own = one(rows, way="ours")["seconds"]
        beside = [row["seconds"] / own for row in rows if "DiskANN" in row["way"]]
        return {"faster": one(rows, way="plain")["seconds"] / own,
                "diskann": all_of(beside) if beside else Unseen(BesideDiskann.why)}

    def table(self, rows):
        return ["way", "seconds", "pages"], [[row["way"], short(row["seconds"]), row["pages"]]
                                             for row in rows]

    def draw(self, rows, path):
        figure, ((axes,),) = panels(1, 1, size=(3, 1.8))
        axes.barh([row["way"] for row in rows], [row["seconds"] for row in rows])
        axes.set(xlabel="seconds")
        return save(figure, path)
