"""Collections: the recovery of PostgreSQL-V (003), and pgvector's table of a year (001)."""
import json
import shutil

from . import peers
from .items import Item, item, panels, save
from .verdict import Unseen

FRESH = {"quick": 20_000, "full": 100_000}
RECALL = 0.99
LISTS = (20, 40, 80, 120, 160, 240, 320)


class Set:
    """A collection in the work folder, made anew for a measurement."""

    def __init__(self, lab, data, name):
        self.lab, self.data, self.folder = lab, data, lab.work / "collections" / name

    def run(self, verb, *options):
        return self.lab.run([self.lab.farvec, "collection", verb, "--collection", self.folder, *options],
                            f"collection {verb}", 3600)

    def create(self, *options):
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.parent.mkdir(parents=True, exist_ok=True)
        self.run("create", "--metric", "l2", "--like", self.data.base, *options)

    def seconds(self, verb, *options):
        begin = self.lab.clock()
        self.run(verb, *options)
        return self.lab.clock() - begin


@item
class Recovery(Item):
    name = "003-S44"
    title = "opening again after an end without warning"
    how = ("A collection of the first set with so many rows in a segment and so many fresh ones in the log "
           "alone. `farvec collection inspect` opens it three times; the shortest time that the log took to "
           "read back, scaled to 100,000 rows. It is the paper's second half: segments need no recovery, "
           "and there is no table whose status pages could differ.")
    seconds = 40

    def measure(self, lab):
        data, fresh = lab.sets()[0], min(FRESH[lab.effort.name], lab.sets()[0].rows // 2)
        what = {"measure": "log read back", "set": data.name, "rows": data.rows, "fresh": fresh}
        return lab.store.get(what, lambda: [self._measured(lab, data, fresh)])

    @staticmethod
    def _measured(lab, data, fresh):
        some, old = Set(lab, data, "recovery"), data.rows - fresh
        some.create("--memtable-rows", 2 * fresh)
        some.run("insert", "--data", data.base, "--range", f":{old}", "--import", "--quiet")
        some.run("insert", "--data", data.base, "--range", f"{old}:{data.rows}", "--durability", "none",
                 "--quiet")
        opened = [json.loads(some.run("inspect", "--json")) for _ in range(3)]
        return {"set": data.label, "segment_rows": old, "fresh": opened[0]["memtable_vectors"],
                "log_ms": 1000 * min(report["log"]["seconds"] for report in opened)}

    def ours(self, rows):
        (row,) = rows
        return {"recovery_ms": row["log_ms"] * 100_000 / row["fresh"],
                "kills": Unseen("kills are the tests': docs/results/024 has 1,000 and nothing was lost")}

    def table(self, rows):
        return ["set", "rows in a segment", "fresh rows", "reading the log back, ms"], [
            [row["set"], row["segment_rows"], row["fresh"], f"{row['log_ms']:.1f}"] for row in rows]


@item
class OneTable(Item):
    name = "001-T1"
    title = "recall, rate, p99, build time and size in one table"
    how = (f"Collections of each set, imported at once, searched one query after the other from DRAM by one "
           f"thread with the least list that has recall@10 {RECALL}, or the largest that was tried. Beside "
           "them other libraries in memory, by bench/peers, at the same recall on the same processor. Sizes "
           "are of the segments; an empty log takes 64 MiB beside them. The paper's table is of pgvector "
           "with SIFT's million vectors as floats on 64 processors, its own on another kind of machine; "
           "ours keep the bytes of the set.")
    seconds = 150

    def measure(self, lab):
        rows = []
        for data in lab.sets():
            for bits in (1, 2, 4):
                what = {"measure": "one table", "set": data.name, "rows": data.rows, "bits": bits}
                rows += lab.store.get(what, lambda: [self._measured(lab, data, bits)])
            rows += peers.each(lab, data, RECALL)
        return rows

    @staticmethod
    def _measured(lab, data, bits):
        some = Set(lab, data, f"table-{bits}")
        some.create("--code-bits", bits)
        build = some.seconds("insert", "--data", data.base, "--import", "--quiet")
        out = lab.work / "rows.part"
        out.unlink(missing_ok=True)
        some.run("search", "--queries", data.queries, "--groundtruth", data.truth, "--list",
                 ",".join(map(str, LISTS)), "--slots", 1, "--passes", lab.effort.passes, "--json", out)
        found = [json.loads(line) for line in out.read_text().splitlines()]
        row = next((some for some in found if some["recall"] >= RECALL), found[-1])
        size = sum(path.stat().st_size for path in (some.folder / "segments").rglob("*")
                   if path.is_file())
        return {"set": data.label, "label": f"farvec, codes of {bits} bits", "rows": data.rows,
                "bits": bits, "recall": row["recall"], "list": row["list"], "qps": row["qps"], "p99_us": row["p99_us"], "build_s": build,
                "bytes": size}

    def ours(self, rows):
        million = [row for row in rows if row.get("rows") == 1_000_000 and row["bits"] == 4]
        if not million:
            why = Unseen("a part of a set is no million vectors: --full has it")
            return {name: why for name in ("qps", "p99", "build", "size")}
        row = million[0]
        return {"qps": row["qps"], "p99": row["p99_us"] / 1000, "build": row["build_s"],
                "size": row["bytes"] / 2**30}

    def table(self, rows):
        header = ["set", "index", "recall", "list", "QPS, dram (real)", "p99, ms", "build, s",
                  "size, MiB"]
        return header, [self.line(row) for row in rows]

    @staticmethod
    def line(row):
        if "failure" in row:
            return [row["set"], row["label"], row["failure"], *["–"] * 5]
        p99 = "–" if row["p99_us"] is None else f"{row['p99_us'] / 1000:.2f}"
        return [row["set"], row["label"], f"{row['recall']:.4f}", row.get("list", "–"),
                f"{row['qps']:,.0f}", p99, f"{row['build_s']:.1f}", f"{row['bytes'] / 2**20:.1f}"]

    def draw(self, rows, path):
        figure, (line,) = panels(1, 4, size=(1.9, 2))
        rows = [row for row in rows if "failure" not in row]
        names = [f"{row['set']}\n{row['label']}" for row in rows]
        for axes, (number, label) in zip(line, (("qps", "QPS, dram (real)"), ("p99_us", "p99, us"),
                                                ("build_s", "build, s"), ("bytes", "bytes"))):
            axes.barh(names, [row[number] or 0 for row in rows])
            axes.invert_yaxis()
            axes.set(xlabel=label)
        for axes in line[1:]:
            axes.set_yticklabels([])
        return save(figure, path)
