"""The paged HNSW's paper (000), searches: Tables 1 and 2, Figures 4, 5 and 8, by bench/hnsw/study.py."""
import json
import re
import sys

from . import ROOT
from .items import Item, distinct, item, one, panels, save, select
from .verdict import Unseen

SETS = ("deep20k",)
QUERIES = {"quick": ("--warm", 60, "--measured", 30, "--passes", 1), "full": ("--warm", 1800, "--measured",
                                                                            200, "--passes", 3)}
WAYS = ("sync", "parallel", "pipelined")


def studied(lab, study, *where, rows_of=None):
    """The points of a study of bench/hnsw, measured where they fit `where` (name=value,value): on the
    items' set, or on `rows_of`, (the name of another, how many of its rows)."""
    name, rows = rows_of or (SETS[0], None)
    data = lab.whole(name)
    effort = lab.effort.name
    # Its own file holds every point, so that it goes on; a machine and a commit have one each.
    what = {"set": name, "effort": effort, **({"rows": rows} if rows else {})}
    folder = lab.work / "hnsw" / lab.store.key(what)
    folder.mkdir(parents=True, exist_ok=True)
    lab.run([sys.executable, "-B", ROOT / "bench" / "hnsw" / "study.py", study, "--data", data.base,
             "--queries", data.queries, "--metric", "l2", *QUERIES[effort],
             *(["--rows", rows] if rows else []),
             "--bin", lab.bin, "--out", folder, *(word for some in where for word in ("--where", some))],
            f"study '{study}' of bench/hnsw", 4 * 3600)
    lines = map(json.loads, (folder / "study.jsonl").read_text().splitlines())
    points = [line for line in lines if line["study"] == study]
    wanted = {name: values.split(",") for name, values in (some.split("=") for some in where)}
    return [point for point in points
            if all(str(point["point"].get(name)) in values for name, values in wanted.items())]


class PagedItem(Item):
    measured_on = f"{SETS[0]}, whole"
    how = (f"`bench/hnsw/study.py` on {SETS[0]} (20,000 x 96 floats, the kind of the paper's Deep), "
           "m 24, ef_construction 200, ef 40, pages of 8 KiB, on the disk "
           "of the work folder with O_DIRECT (real).")
    seconds = 25

    def table(self, rows):
        names = [name for name in rows[0] if name != "graph"]
        return names, [[short(row[name]) for name in names] for row in rows]


def short(value):
    return f"{value:,.3g}" if isinstance(value, float) else value


def searched(points):
    """A row for every way and buffer of the study 'reads'."""
    kept = ("search", "buffer", "qps", "mean_us", "p99_us", "hit_ratio", "miss_penalty_us", "recall",
            "reads_per_query")
    return [{**point["point"], **{name: found[name] for name in kept if name in found}}
            for point in points for found in point["found"]]


@item
class WaysToRead(PagedItem):
    name = "000-F4"
    title = "one page after the other, in parallel, pipelined"
    seconds = 60

    def measure(self, lab):
        return searched(studied(lab, "reads", "slots=1,10", "nodes=1"))

    def gain(self, rows, way, other, number="qps", **where):
        return (one(rows, search=way, **where)[number] / one(rows, search=other, **where)[number])

    def ours(self, rows):
        low, high = ({"slots": 1, "buffer": buffer} for buffer in ("10%", "50%"))
        penalty = self.gain(rows, "pipelined", "sync", "miss_penalty_us", **low)
        return {"parallel_10": self.gain(rows, "parallel", "sync", **low),
                "pipelined_10": self.gain(rows, "pipelined", "sync", **low),
                "parallel_50": self.gain(rows, "parallel", "sync", **high),
                "pipelined_over_parallel": self.gain(rows, "pipelined", "parallel", **high),
                "penalty": 100 * (1 - penalty),
                "ten_in_flight": self.gain(rows, "pipelined", "sync", slots=10, buffer="10%"),
                "slow_disk": Unseen("one disk, whose parallelism does not change")}

    def draw(self, rows, path):
        figure, (line,) = panels(1, 2, size=(3.4, 2.4), sharey=True)
        for axes, slots in zip(line, distinct(rows, "slots")):
            for place, way in enumerate(WAYS):
                mine = select(rows, slots=slots, search=way)
                axes.bar([number + 0.27 * place for number in range(len(mine))],
                         [row["qps"] for row in mine], width=0.25, label=f"{way}, ssd (real)")
            axes.set_xticks([0.27, 1.27], [row["buffer"] for row in mine])
            axes.set(title=f"{slots} in flight", xlabel="buffer", ylabel="queries per second")
        return save(figure, path, line[0])


@item
class Disks(Item):
    name = "000-T1"
    measured_on = "the disk of the work folder"
    title = "reads one after the other, and in parallel"
    how = "`farvec bench disk` in the work folder: 8 KiB, one read in flight and 64."
    seconds = 5

    def measure(self, lab):
        rows = lab.json_rows("bench disk", [
            lab.farvec, "bench", "disk", "--path", lab.work, "--payload", 8192, "--depth", "1,64",
            "--fio", "off", "--bytes", "256MiB", "--passes", 1, "--seconds", 0.5])
        return [{"depth": row["depth"], "MB/s": 1000 * row["gb_per_s"]} for row in rows]

    def ours(self, rows):
        return {"parallel_ratio": one(rows, depth=64)["MB/s"] / one(rows, depth=1)["MB/s"]}

    def table(self, rows):
        return ["reads in flight", "MB/s, ssd (real)"], [[row["depth"], f"{row['MB/s']:,.0f}"]
                                                         for row in rows]

    def draw(self, rows, path):
        figure, ((axes,),) = panels(1, 1, size=(3, 2))
        axes.bar([str(row["depth"]) for row in rows], [row["MB/s"] for row in rows])
        axes.set(xlabel="reads in flight", ylabel="MB/s, ssd (real)")
        return save(figure, path)


@item
class HalfInTheBuffer(WaysToRead):
    name = "000-T2"
    title = "hits and use of the disk with half of the pages in the buffer"
    seconds = 5

    def measure(self, lab):
        rows = searched(studied(lab, "reads", "slots=1", "nodes=1"))
        best = max(row["MB/s"] for row in Disks().measure(lab))
        return [{**row, "disk_used": 100 * row["qps"] * row["reads_per_query"] * 8192 / 1e6 / best}
                for row in select(rows, buffer="50%", search="sync")]

    def ours(self, rows):
        return {"hit_ratio": 100 * rows[0]["hit_ratio"], "used": rows[0]["disk_used"]}

    def draw(self, rows, path):
        return False


@item
class Layers(PagedItem):
    name = "000-T3"
    title = "visits and hits by layer"
    how = PagedItem.how + " One search at a time, half of the pages in the buffer, a page after the other."
    seconds = 5

    def measure(self, lab):
        points = studied(lab, "reads", "slots=1", "nodes=1")
        found = one([found for point in points for found in point["found"]], search="sync",
                    buffer="50%")
        queries = sum(layer["visited"] for layer in found["layers"]) / found["visited_per_query"]
        return [{"layer": layer["layer"], "visits per query": layer["visited"] / queries,
                 "pages per query": layer["pages_asked"] / queries, "hits": 100 * layer["hit_ratio"]}
                for layer in reversed(found["layers"])]

    def ours(self, rows):
        *_, lowest = rows
        return {"layer_0": lowest["visits per query"], "hits_0": lowest["hits"],
                "hits_3": rows[0]["hits"]}

    def draw(self, rows, path):
        figure, (line,) = panels(1, 2, size=(2.6, 2))
        names = [str(row["layer"]) for row in rows]
        for axes, number in zip(line, ("visits per query", "hits")):
            axes.bar(names, [row[number] for row in rows])
            axes.set(xlabel="layer", ylabel=number + (", %" if number == "hits" else ""))
        return save(figure, path)


@item
class Overlap(PagedItem):
    name = "000-F5"
    title = "near queries walk the same paths"
    how = f"`build/release/bin/path_overlap` on {SETS[0]}: pairs of searches, counted in memory."

    def measure(self, lab):
        data = lab.whole(SETS[0])
        command = [lab.bin / "path_overlap", "--data", data.base, "--metric", "l2", "--searches", 500,
                   "--pairs", 50_000]
        def measure():
            return parse_overlap(lab.run(command, "path_overlap"))
        return lab.store.get({"measure": "path_overlap", "command": lab.words(command)}, measure)

    def ours(self, rows):
        return {"correlated": rows[0]["pearson"]}

    def draw(self, rows, path):
        figure, ((axes,),) = panels(1, 1, size=(3.6, 2.4))
        axes.plot([row["distance"] for row in rows], [row["overlap"] for row in rows], marker="o")
        axes.set(xlabel="mean distance of the pairs (squared)", ylabel="share of the path in common",
                 ylim=0)
        return save(figure, path)


def parse_overlap(printed):
    """Rows of its table, each with the correlation of all."""
    pearson = float(re.search(r"Pearson (-?[\d.]+)", printed).group(1))
    lines = re.findall(r"^\s*([\d.]+)%\s+(\d+)\s+([\d.e+-]+)\s+([\d.]+)", printed, re.MULTILINE)
    return [{"nearest %": float(share), "pairs": int(pairs), "distance": float(distance),
             "overlap": float(overlap), "pearson": pearson} for share, pairs, distance, overlap in lines]


@item
class Partitions(PagedItem):
    name = "000-F8"
    title = "hits by nodes in a partition, and what partitions and pipelined reads bring"
    seconds = 60

    def measure(self, lab):
        sizes = "8192" if lab.effort.name == "quick" else "8192,32768"
        pages = studied(lab, "pages", "page_bytes=" + sizes, "nodes=1,8,64")
        hits = [{**point["point"], "buffer": "10%", "hit_ratio": point["found"]["hit_ratio"],
                 "pages_per_query": point["found"]["pages_per_query"]} for point in pages]
        reads = searched(studied(lab, "reads", "slots=1", "nodes=1,64"))
        for row in hits:
            row["rates"] = {f"{read['nodes']}, {read['search']}": read["qps"]
                            for read in select(reads, buffer="10%")}
        return hits

    def ours(self, rows):
        hits = lambda nodes, page: 100 * one(rows, nodes=nodes, page_bytes=page)["hit_ratio"]
        rates, large = rows[0]["rates"], select(rows, page_bytes=32768)
        return {"deep_1": hits(1, 8192), "deep_64": hits(64, 8192),
                "deep_gain": hits(64, 8192) / hits(1, 8192),
                "larger_pages": hits(64, 32768) / hits(64, 8192) if large else
                Unseen("--quick has pages of 8 KiB alone"),
                "with_pipelined": rates["64, pipelined"] / rates["1, sync"],
                "of_100m": Unseen("no hundred million rows here")}

    def table(self, rows):
        return ["page bytes", "nodes in a partition", "hits at 10%", "pages asked"], [
            [row["page_bytes"], row["nodes"], f"{100 * row['hit_ratio']:.1f}%",
             f"{row['pages_per_query']:.0f}"] for row in rows]

    def draw(self, rows, path):
        figure, ((axes,),) = panels(1, 1, size=(3.6, 2.4))
        for page in distinct(rows, "page_bytes"):
            mine = select(rows, page_bytes=page)
            axes.plot([str(row["nodes"]) for row in mine], [100 * row["hit_ratio"] for row in mine],
                      marker="o", label=f"pages of {page} bytes, ssd (real)")
        axes.set(xlabel="nodes in a partition", ylabel="hits, %", ylim=0)
        axes.legend()
        return save(figure, path)
