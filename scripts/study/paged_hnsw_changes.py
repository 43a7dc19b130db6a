"""The paged HNSW's paper (000), inserts: Figures 4d, 6, 7, 9, 10 and 11, Table 5, by bench/hnsw."""
import json
import sys

from . import ROOT, peers
from .items import Item, item, one, panels, save, select
from .lab import BUILD_S
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
class InsertReads(InsertItem):
    name = "000-F4d"
    title = "inserts by the way of reading"
    SET, ROWS = "text300k", 100_000  # a tenth of deep20k's pages is too few for reads in parallel
    measured_on = f"the first {ROWS:,} rows of {SET}"
    why = f"--quick has no time for a graph of {ROWS:,} rows: --full measures it"
    how = (f"`bench/hnsw/study.py inserts` on the first {ROWS:,} rows of {SET}: the last hundredth goes in, "
           "one after the other, m 24, ef_construction 200, pages of 8 KiB, a tenth of them in the buffer, on "
           "the disk of the work folder with O_DIRECT (real).")

    def measure(self, lab):
        if lab.effort.name == "quick":
            return []
        return inserted(studied(lab, "inserts", rows_of=(self.SET, self.ROWS)))

    def ours(self, rows):
        seconds = lambda way: one(rows, search=way)["seconds"]
        return {"insert_time": 100 * (1 - seconds("pipelined") / seconds("sync"))}

    def draw(self, rows, path):
        return self.bars(rows, path, lambda row: row["search"])


class OrderItem(InsertItem):
    how = PagedItem.how + (" A twentieth of the rows goes in, one after the other; with --quick without "
                           "k-means and by pipelined reads, where the paper reads one page at a time. "
                           "Reordered \"full\" is the whole set in the order, of which the last "
                           "twentieth goes in.")

    def measure(self, lab):
        if lab.effort.name == "quick":
            return inserted(studied(lab, "orders", "slots=1", "order=none,pca", "reordered=incremental",
                                    "search=pipelined"))
        return inserted(studied(lab, "orders", "slots=1", "order=none,pca,kmeans"))

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
        return self.bars(rows, path, lambda row: ", ".join(
            [row["order"], row["search"], *(["whole set"] if row["reordered"] == "full" else []),
             *([f"{row['slots']} in flight"] if row["slots"] > 1 else [])]))

    def at(self, rows, order, search):
        return one(rows, order=order, search=search, slots=1, reordered="incremental")


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
    # Five inserts that read in parallel pin more pages than a fifth of deep20k's.
    SET, ROWS = InsertReads.SET, InsertReads.ROWS
    measured_on = f"{PagedItem.measured_on}; five inserts in flight: {InsertReads.measured_on}"
    how = OrderItem.how + (f" Five inserts in flight (slots 5): of the first {ROWS:,} rows of {SET}, the plain "
                           "ones beside those of the whole set in PCA's order by pipelined reads.")

    def measure(self, lab):
        rows = super().measure(lab)
        if lab.effort.name == "quick":
            return rows
        where = {"rows_of": (self.SET, self.ROWS)}
        return [*rows, *inserted([
            *studied(lab, "orders", "slots=5", "order=none", "search=sync", **where),
            *studied(lab, "orders", "slots=5", "order=pca", **where)])]

    def ours(self, rows):
        way = self.way(rows)
        base = self.at(rows, "none", way)
        saved = lambda order: 100 * (1 - self.at(rows, order, way)["seconds"] / base["seconds"])
        hits = lambda order: 100 * self.at(rows, order, way)["hit_ratio"]
        written = min(row["written_bytes"]
                      for row in select(rows, search=way, slots=1, reordered="incremental"))
        return {**self.without_kmeans(rows, {
            "hits_none": lambda: hits("none"), "hits_pca": lambda: hits("pca"),
            "hits_kmeans": lambda: hits("kmeans"), "saved_pca": lambda: saved("pca"),
            "saved_kmeans": lambda: saved("kmeans"),
            "written": lambda: 100 * (1 - written / base["written_bytes"])}),
            **self.of_the_whole(rows)}

    @staticmethod
    def of_the_whole(rows):
        """What the whole set in PCA's order saves, also with pipelined reads, and five at a time."""
        if not select(rows, reordered="full"):
            why = Unseen("--quick orders no whole set: --full does")
            return {"saved_pca_full": why, "saved_with_reads": why, "five_in_flight": why}
        seconds = lambda slots, search, order, reordered: one(
            rows, slots=slots, search=search, order=order, reordered=reordered)["seconds"]
        base = seconds(1, "sync", "none", "incremental")
        # Of five in flight the plain ones are in flight too, as in the paper.
        return {"saved_pca_full": 100 * (1 - seconds(1, "sync", "pca", "full") / base),
                "saved_with_reads": 100 * (1 - seconds(1, "pipelined", "pca", "full") / base),
                "five_in_flight": seconds(5, "sync", "none", "incremental") /
                seconds(5, "pipelined", "pca", "full")}


@item
class InsertPages(InsertItem):
    name = "000-F9"
    title = "insert pages of partitions"
    why = "--quick has no time for a tenth of the rows: --full measures it, docs/results/023 has it"
    how = PagedItem.how + (" A tenth of the rows goes in, and nine tenths: one after the other by pipelined "
                           "reads; hits are those of searches afterwards, a tenth of the pages in the buffer.")

    def measure(self, lab):
        if lab.effort.name == "quick":
            return []
        tenth = [(point["point"], point["found"]) for point in studied(lab, "shares", "share=0%,90%")]
        # Nine tenths go in by steps, of which the last says what became of the graph.
        most = [(point["point"], point["found"][-1])
                for point in studied(lab, "growth", "share=0%,90%")]
        return [{"inserted": rows_in, "nodes": point.get("nodes", 64), "share": point["share"],
                 "pages": found["inserts"]["graph"]["pages"],
                 "per_second": found["inserts"]["per_second"],
                 "hit_ratio": found["searches"]["hit_ratio"],
                 "insert_hits": found["inserts"]["hit_ratio"]}
                for rows_in, some in (("10%", tenth), ("90%", most)) for point, found in some]

    def ours(self, rows):
        none, most = (one(rows, inserted="10%", share=share) for share in ("0%", "90%"))
        plain = one(rows, inserted="90%", nodes=1)
        placed = one(rows, inserted="90%", share="90%")
        return {"more_pages": 100 * (most["pages"] / none["pages"] - 1),
                "insert_rate": most["per_second"] / none["per_second"],
                "hits_gain": placed["hit_ratio"] / plain["hit_ratio"]}

    def draw(self, rows, path):
        figure, (line,) = panels(1, 3, size=(2.8, 2))
        for axes, number in zip(line, ("pages", "per_second", "hit_ratio")):
            axes.bar([f"{row['inserted']} in,\n{row['nodes']} nodes,\n{row['share']}" for row in rows],
                     [row[number] for row in rows])
            axes.set(xlabel="rows in, nodes in a partition,\npartitions with insert pages",
                     ylabel=number)
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


def paged_beside(lab, data):
    """The paged HNSW that others are measured beside."""
    folder = lab.work / "hnsw-beside"
    return lab.made(folder, [
        [lab.farvec, "build", "hnsw", "--data", data.base, "--metric", "l2",
         "--partition-nodes", 64, "--out", folder / "index", "--overwrite", "--quiet"]],
        "paged HNSW beside DiskANN") / "index"


def paged_bytes(lab, data):
    return sum(file.stat().st_size for file in paged_beside(lab, data).glob("pages*"))


def on_disk(lab, data):
    """Rows of DiskANN and of the paged HNSW, of the same degree, list and memory, and of AlayaLite's
    LASER with as much memory."""
    memory = ["--memory-budget", paged_bytes(lab, data) // 10]
    ours = ["--hnsw", paged_beside(lab, data), "--hnsw-slots", "1"]
    named = ((peers.DISKANN, [*ours, *memory, "--build-list", 200]), (peers.LASER, memory))
    return [row for name, options in named for row in peers.or_why(
        data, name, lambda: peers.measured(lab, data, 0.95, name, options))]


def pgvector(lab, data, recall, buffer):
    """A row of pgvector with one connection and a buffer of so many bytes, in the form of peers' rows."""
    command = [sys.executable, "-B", ROOT / "bench" / "hnsw" / "pgvector.py", "--data", data.base,
               "--queries", data.queries, "--groundtruth", data.truth, "--metric", "l2",
               "--buffers", buffer, "--ef", "", "--recalls", recall, "--connections", 1,
               "--passes", lab.effort.passes]
    def measure():
        out = lab.work / "pgvector"
        lab.run([*command, "--out", out], "pgvector", BUILD_S)
        facts = json.loads(out.with_suffix(".json").read_text())
        label = f"pgvector {facts['pgvector']}"
        if not facts["queries"]:
            return [{"set": data.label, "label": label, "failure": f"recall {recall} is not reached"}]
        (row,) = facts["queries"]
        return [{"set": data.label, "label": label, "recall": row["recall"], "qps": row["qps"],
                 "p99_us": row["p99_us"], "build_s": facts["build_seconds"],
                 "bytes": facts["index_bytes"]}]
    return lab.store.get({"measure": "pgvector", "command": lab.words(command)}, measure)


def kind_of(row):
    """Whose row it is."""
    return next((kind for kind in ("DiskANN", "LASER", "pgvector") if kind in row["label"]), "farvec")


@item
class BesideDiskann(PagedItem):
    name = "000-F11"
    title = "beside DiskANN"
    why = "--quick does not build DiskANN: --full measures it"
    how = (f"{SETS[0]} in the paged HNSW (m 24, ef_construction 200, partitions of 64, pipelined reads), in "
           "diskannpy's disk index (R 48, L 200), in AlayaLite's LASER (R 64, L 200; it wants 128 "
           "dimensions), which the paper has not, and in pgvector (m 24, ef_construction 200, O_DIRECT), each "
           "with memory of a tenth of the paged HNSW's pages, recall@10 0.95, one search at a time, by "
           "bench/peers on one processor and bench/hnsw/pgvector.py, whose server and client have all "
           "processors, on the disk of the work folder (real; pgvector's files are in build/).")
    seconds = 1

    def measure(self, lab):
        if lab.effort.name == "quick":
            return []
        data = lab.whole(SETS[0])
        buffer = paged_bytes(lab, data) // 10
        return [*on_disk(lab, data), *peers.or_why(data, "pgvector",
                                                   lambda: pgvector(lab, data, 0.95, buffer))]

    def ours(self, rows):
        rates = {kind: [row["qps"] for row in rows if "failure" not in row and kind_of(row) == kind]
                 for kind in ("DiskANN", "pgvector", "farvec")}
        def ratio(kind, other):
            for name in (kind, other):
                if not rates[name]:
                    return Unseen(f"{name} has no rate here: the table says why")
            return rates[kind][0] / rates[other][0]
        return {"speedup": ratio("farvec", "pgvector"), "gap": ratio("DiskANN", "pgvector")}

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
    measured_on = PagedItem.measured_on
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
        others = on_disk(lab, data) if lab.effort.name == "full" else []
        return rows + [{"way": "DiskANN, R 48, L 200", "seconds": row["build_s"], "pages": 0}
                       for row in others if kind_of(row) == "DiskANN" and "failure" not in row]

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
