"""VeloANN (002), searches of a graph on this machine's disk: Figures 8 to 12 and 14."""
import json
import re
import types

import ssd_steps

from . import StudyError
from .items import Item, distinct, item, one, panels, save, select
from .lab import StoredSweeps
from .second_tier_graphs import facts
from .variants import DRAM, tier_label
from .verdict import Unseen, all_of

RECALL = 0.95
CODES_RECALL = 0.9  # what codes of 1 + 4 bits alone reach with a hundred dimensions
BUDGET = "20%"
DEGREE = 64
MANY = 512  # dimensions
OURS, DISKANN = "+ cache-aware", "padded nodes, beam, synchronous"
SLOTS = 16


VECTORS = ("--payload", "vector", "--code-bits", "4")
# As the paper has it: 1 bit a dimension in DRAM, 4 in the record, affine records in a page.
CODES = ("--payload", "code", "--rerank", "off", "--placement", "affinity")


class Disk:
    """A slotted graph and DiskANN's padded nodes of the same set, on the disk of --work."""

    def __init__(self, lab, data, slotted=VECTORS, recall=RECALL):
        self.lab, self.data, self.sweeps = lab, data, StoredSweeps(lab, data)
        self.recall = recall
        self.steps = types.SimpleNamespace(
            index=built(lab, data, "slotted", *slotted), tier="ssd",
            padded=built(lab, data, "padded", "--code-bits", "4"), padded_tier="ssd", slots=SLOTS)

    def lists(self):
        """{step: the least list with the recall}"""
        return self.chosen(ssd_steps.choose_lists)

    def chosen(self, choose):
        try:
            return choose(self.sweeps, self.steps, recall=self.recall)
        except SystemExit as error:
            raise StudyError(f"{self.data.label}: {error}") from error

    def row(self, step, threads=1, share=BUDGET, **changes):
        """The median row of a step, with its options changed, like width=8, and with a pool of a
        share of the records beside what the search needs in any case."""
        options = ssd_steps.options_of(step, self.steps)
        for name, value in changes.items():
            options[options.index("--" + name) + 1] = value
        index, options = ssd_steps.index_of(step, self.steps), [*options, "--list", self.lists()[step]]
        records = inspected(self.lab, index)["layouts"][layout_of(index)]["records_bytes"]
        budget = self.needed(index, options, threads) + int(share.strip("%")) * records // 100
        row = self.sweeps.rows(index, self.sweeps.second_half, [
            *options, "--memory-budget", budget, "--passes", self.lab.effort.passes], threads)[0]
        more = {name: row[name] for name in ("mean_us", "p99_us", "io_reads_per_query",
                                             "pool_hit_rate", "memory_bytes") if name in row}
        return facts(row, set=self.data.label, dimension=self.data.dimension, step=step,
                     threads=threads, budget=share,
                     **{"width": ssd_steps.WIDTH, "slots": row["slots"], **changes, **more})

    def needed(self, index, options, threads):
        """Bytes of codes, map, buffers and searches, without a pool: what the tool says they are."""
        def measure():
            try:
                self.sweeps.rows(index, self.sweeps.second_half, [
                    *options, "--memory-budget", 1, "--passes", 1], threads)
            except StudyError as error:
                found = re.search(r"(\d+) are needed", str(error))
                if found:
                    return [int(found.group(1))]
                raise
            raise StudyError(f"{index} runs within a byte of memory")
        what = {"measure": "needed", "index": self.lab.name_of(index), "options": list(map(str, options)),
                "threads": threads}
        return self.lab.store.get(what, measure)[0]


def layout_of(index):
    """By the name that built() gave its folder: disk-LAYOUT-..."""
    return index.parent.name.split("-")[1]


def inspected(lab, index):
    """What `farvec inspect` says of an index."""
    def measure():
        return [json.loads(lab.run([lab.farvec, "inspect", "--json", index], f"inspect of {index}"))]
    return lab.store.get({"measure": "inspect", "index": lab.name_of(index)}, measure)[0]


def built(lab, data, layout, *options):
    """A graph of the degree of the paper in a layout of disks."""
    name = "-".join([layout, *(word.strip("-") for word in options)])
    folder = lab.work / "indexes" / f"{data.name}-{data.rows}" / f"disk-{name}"
    return lab.made(folder, [
        [lab.farvec, "build", "graph", "--data", data.base, "--metric", "l2", "--degree", DEGREE,
         "--list", 100, "--layout", layout, *options, "--out", folder / "index", "--overwrite",
         "--quiet"]], f"{layout} graph") / "index"


def disks(lab):
    """With --quick a set of the paper's own kind, and those of many dimensions."""
    sets = lab.sets()
    if lab.effort.name == "quick":
        sets = sets[:1] + [data for data in sets[1:] if data.dimension >= MANY]
    return [Disk(lab, data) for data in sets]


class DiskItem(Item):
    """Rows of Disk.row(); `x` is what varies, `varies` how the figure names it."""
    x, varies = "width", "width"
    seconds = 15
    how = (f"Slotted pages of degree {DEGREE} with vectors in the records and 4-bit codes, on the disk "
           f"of the work folder through io_uring (real), recall@10 {RECALL}, cache-aware search of width "
           f"{ssd_steps.WIDTH}, {SLOTS} searches in flight, a pool of {BUDGET} of the records, "
           "if not said otherwise. Every pass begins with an empty pool, which the first half of the "
           "queries fills.")

    def table(self, rows):
        header = ["set", "step", "searches in flight", "width", "threads", "pool", "recall", "QPS",
                  "mean us", "reads", "hits"]
        return header, [[row["set"], row["step"], row["slots"], row["width"], row["threads"],
                         row["budget"], f"{row['recall']:.4f}", f"{row['qps']:,.0f}",
                         f"{row['mean_us']:,.0f}", f"{row.get('io_reads_per_query', 0):.1f}",
                         f"{100 * row.get('pool_hit_rate', 0):.0f}%"] for row in rows]

    def draw(self, rows, path):
        figure, (line,) = panels(1, 2, size=(3.4, 2.5))
        for name in distinct(rows, "set"):
            for step in distinct(rows, "step"):
                mine = select(rows, set=name, step=step)
                for axes, number in zip(line, ("qps", "mean_us")):
                    axes.plot([str(row[self.x]) for row in mine], [row[number] for row in mine],
                              marker="o", label=f"{name}, {step}, {tier_label(mine[0]['tier'])}")
        line[0].set(ylabel="queries per second", xlabel=self.varies, ylim=0)
        line[1].set(ylabel="mean latency, us", xlabel=self.varies, ylim=0)
        return save(figure, path, line[0])


@item
class BesideBaselines(DiskItem):
    name = "002-F8"
    title = "beside DiskANN's way to search"
    ALONE = OURS + ", one at a time"  # as DiskANN's, for the latency
    x = varies = "step"

    def measure(self, lab):
        return [row for disk in disks(lab) for row in (
            disk.row(OURS), {**disk.row(OURS, slots=1), "step": self.ALONE}, disk.row(DISKANN))]

    def ours(self, rows):
        ratios = lambda step, number: [one(rows, set=name, step=step)[number]
                                       / one(rows, set=name, step=DISKANN)[number]
                                       for name in distinct(rows, "set")]
        return {"over_diskann": all_of(ratios(OURS, "qps")),
                "latency_diskann": all_of(1 / value for value in ratios(self.ALONE, "mean_us")),
                "over_pipeann": Unseen("PipeANN is not in this machine's packages"),
                "over_starling": Unseen("Starling is not in this machine's packages")}


@item
class InFlight(DiskItem):
    name = "002-F9"
    title = "searches in flight"
    x, varies = "slots", "searches in flight"

    def measure(self, lab):
        return [disk.row(OURS, slots=slots) for disk in disks(lab) for slots in (1, 2, 4, 8, 16, 32)]

    def ours(self, rows):
        # How many times the latency grows when the searches in flight double, at most 2.
        growth = [large["mean_us"] / small["mean_us"] for name in distinct(rows, "set")
                  for small, large in [select(rows, set=name)[-2:]]]
        gains = [max(row["qps"] for row in select(rows, set=name)) / one(rows, set=name, slots=1)["qps"]
                 for name in distinct(rows, "set")]
        return {"latency_grows": all_of(growth), "rate_scales": all_of(gains),
                "high_dimensions": tuple(self.enough(select(rows, set=name))
                                         for name in distinct(rows, "set")
                                         if one(rows, set=name, slots=1)["dimension"] >= MANY)
                or Unseen("the sets here have about a hundred dimensions")}

    @staticmethod
    def enough(rows):
        """Searches in flight from which on twice as many bring less than a third more."""
        return next((few["slots"] for few, many in zip(rows, rows[1:])
                     if many["qps"] < 1.33 * few["qps"]), rows[-1]["slots"])


@item
class Widths(DiskItem):
    name = "002-F10"
    title = "width of the cache-aware search"

    def measure(self, lab):
        return [row for disk in disks(lab) for row in
                [disk.row("best-first, page search", width=1),
                 *(disk.row(OURS, width=width) for width in (1, 2, 4, 8, 16))]]

    def ours(self, rows):
        ours = select(rows, step=OURS)
        best = [max(select(ours, set=name), key=lambda row: row["qps"])["width"]
                for name in distinct(rows, "set")]
        first = [one(ours, set=name, width=1)["qps"]
                 / one(rows, set=name, step="best-first, page search")["qps"]
                 for name in distinct(rows, "set")]
        return {"best_width": all_of(best), "width_one": all_of(first)}


@item
class Threads(DiskItem):
    name = "002-F11"
    title = "threads"
    x = varies = "threads"

    def measure(self, lab):
        return [disk.row(step, threads=threads) for disk in disks(lab)
                for step in (OURS, DISKANN) for threads in (1, 2)]

    def ours(self, rows):
        over = [one(rows, set=name, step=OURS, threads=2)["qps"]
                / one(rows, set=name, step=DISKANN, threads=2)["qps"] for name in distinct(rows, "set")]
        return {"over_diskann_threads": all_of(over),
                "rate_32": Unseen("two processors, not 32"),
                "over_pipeann_threads": Unseen("PipeANN is not in this machine's packages")}


@item
class Budgets(DiskItem):
    name = "002-F12"
    title = "share of the index in memory, beside the graph in memory"
    x, varies = "budget", "pool, share of the records"
    SHARES = ("10%", "20%", "30%", "50%")

    def measure(self, lab):
        rows = []
        for disk in disks(lab):
            rows += [disk.row(OURS, share=share) for share in self.SHARES]
            rows.append(self.in_memory(lab, disk.data))
        return rows

    @staticmethod
    def in_memory(lab, data):
        """The same degree as a CSR graph in DRAM, as many searches in flight as hide nothing."""
        row = lab.at_recall(data, "graph", lab.graph(data, DEGREE), (DRAM,), RECALL)[DRAM]
        return facts(row, set=data.label, step="in memory", threads=1, budget="100%", width=row["width"],
                     slots=row["slots"], mean_us=row["mean_us"])

    def ours(self, rows):
        ours = {}
        for budget in ("10%", "30%", "50%"):
            mine = select(rows, budget=budget)
            share = budget.strip("%")
            memory = [one(rows, set=row["set"], step="in memory") for row in mine]
            ours[f"rate_{share}"] = all_of(row["qps"] / full["qps"] for row, full in zip(mine, memory))
            ours[f"latency_{share}"] = all_of(row["mean_us"] / full["mean_us"]
                                              for row, full in zip(mine, memory))
        return ours


@item
class Breakdown(DiskItem):
    name = "002-F14"
    title = "what each part of the search is worth"
    x = varies = "step"
    STEPS = ("synchronous", "+ coroutines", "+ record pool", "+ prefetch", "+ cache-aware",
             "+ page search")
    INDEXES = {"vectors, 4-bit codes": (VECTORS, RECALL), "1 + 4 bits, affinity": (CODES, CODES_RECALL)}
    how = (DiskItem.how + " The paper's own index has codes alone, 1 bit a dimension in DRAM and 4 in the "
           f"record, affine records in a page; here that is measured at recall {CODES_RECALL}, with a pool of "
           "10% of it, and stands for the paper's numbers; the other is what farvec builds where there "
           "are a hundred dimensions.")

    def measure(self, lab):
        rows = []
        for disk in disks(lab):
            for name, (slotted, recall) in self.INDEXES.items():
                of = Disk(lab, disk.data, slotted, recall)
                rows += [{**of.row(step, share="10%"), "index": name} for step in self.STEPS]
            rows.append({**disk.row(DISKANN, share="10%"), "index": "padded nodes"})
        return rows

    def table(self, rows):
        header, lines = super().table(rows)
        return [header[0], "index", *header[1:]], [[line[0], row["index"], *line[1:]]
                                                   for row, line in zip(rows, lines)]

    def over(self, rows, step, other, number="qps"):
        papers = [*self.INDEXES][-1]
        of = lambda name, step: one(rows, set=name, step=step, index=papers)[number]
        return all_of(of(name, step) / of(name, other) for name in distinct(rows, "set"))

    def ours(self, rows):
        first, coroutines = "synchronous", "+ coroutines"
        return {"async_gain": self.over(rows, coroutines, first),
                "async_latency": self.over(rows, coroutines, first, "mean_us"),
                "record_gain": self.over(rows, "+ record pool", coroutines),
                "record_latency": self.over(rows, coroutines, "+ record pool", "mean_us"),
                "prefetch_latency": self.over(rows, coroutines, "+ prefetch", "mean_us"),
                "cbs_gain": self.over(rows, OURS, coroutines),
                "cbs_over_baseline": self.over(rows, OURS, first),
                "cbs_latency": self.over(rows, coroutines, OURS, "mean_us")}

    def draw(self, rows, path):
        bars = [(name, index) for name in distinct(rows, "set") for index in self.INDEXES]
        figure, grid = panels(len(bars), 2, size=(4, 2.2))
        for line, (name, index) in zip(grid, bars):
            mine = select(rows, set=name, index=index) + select(rows, set=name, index="padded nodes")
            for axes, number, label in zip(line, ("qps", "mean_us"),
                                           ("queries per second", "mean latency, us")):
                axes.barh([row["step"] for row in mine], [row[number] for row in mine],
                          color="#0072B2")
                axes.invert_yaxis()
                axes.set(title=f"{name}, {index}, ssd (real)", xlabel=label)
            line[1].set_yticklabels([])
        return save(figure, path)
