"""VeloANN (002), bytes and pages: Figure 6 and Table 3, and what the pools keep: Figure 13."""
import functools

import ssd_steps

from .disk_graphs import BUDGET, OURS, VECTORS, Disk, DiskItem, built, disks, inspected
from .items import Item, distinct, item, one, panels, save, select
from .verdict import Unseen, all_of


class Affine(Disk):
    """Records that are affine up to a percentile share pages."""

    def __init__(self, lab, data, percentile):
        super().__init__(lab, data, (*VECTORS, "--placement", "affinity", "--affinity-percentile",
                                     str(percentile)))

    def lists(self):
        return {OURS: self.chosen(functools.partial(ssd_steps.choose_list, step=OURS))}


def wasted(record_bytes, block=4096):
    """The share of a block that whole records leave free; records over a block take whole ones."""
    if record_bytes > block:
        blocks = -(-record_bytes // block)
        return 1 - record_bytes / (blocks * block)
    return 1 - (block // record_bytes) * record_bytes / block


class LayoutItem(Item):
    seconds = 30
    how = ("Padded nodes as DiskANN has them (vector, degree and list, whole nodes in blocks of 4 KiB) "
           "beside slotted pages with 1 bit a dimension in DRAM and 4 bits in the record, from the "
           "same vectors, counted by `farvec inspect`.")

    def measure(self, lab):
        rows = []
        for data in lab.sets():
            coded = inspected(lab, built(lab, data, "slotted", "--payload", "code", "--rerank",
                                         "off"))
            degree, stored = coded["build"]["degree"], coded["dataset"]["row_bytes"]
            layouts = coded["layouts"]
            rows.append({"set": data.label, "row_bytes": stored, "dimension": data.dimension,
                         "padded_free": wasted(stored + 4 + 4 * degree),
                         "floats_free": wasted(4 * data.dimension + 4 + 4 * degree),
                         "slotted_free": coded["slotted"]["fragmentation"],
                         "data": coded["dataset_bytes"], "padded": layouts["padded"]["records_bytes"],
                         "slotted": layouts["slotted"]["records_bytes"],
                         "codes": layouts["slotted"]["codes_bytes"],
                         "map": layouts["slotted"]["offsets_bytes"]})
        return rows


@item
class Fragmentation(LayoutItem):
    name = "002-F6"
    title = "what pages leave free"

    def ours(self, rows):
        free = lambda low, high: tuple(100 * row["floats_free"] for row in rows
                                       if low <= row["dimension"] < high)
        few = "the sets here have about a hundred dimensions, where it is low"
        return {"free_most": free(900, 1000) or Unseen("no set of 960 dimensions here"),
                "free_others": free(256, 900) or Unseen(few)}

    def table(self, rows):
        header = ["set", "bytes of a vector", "padded nodes", "padded nodes, as floats", "slotted pages"]
        return header, [[row["set"], row["row_bytes"], *(f"{100 * row[name]:.1f}%" for name in (
            "padded_free", "floats_free", "slotted_free"))] for row in rows]

    def draw(self, rows, path):
        figure, ((axes,),) = panels(1, 1, size=(4, 2.6))
        for place, (name, label) in enumerate((("padded_free", "padded"), ("floats_free", "padded, floats"),
                                               ("slotted_free", "slotted"))):
            axes.bar([number + 0.25 * place for number in range(len(rows))],
                     [100 * row[name] for row in rows], width=0.22, label=label)
        axes.set_xticks([number + 0.25 for number in range(len(rows))], [row["set"] for row in rows])
        axes.set(ylabel="free, % of the pages")
        axes.legend()
        return save(figure, path)


@item
class Sizes(LayoutItem):
    name = "002-T3"
    title = "bytes on disk and in memory"

    def ours(self, rows):
        # Memory as the paper has it: codes, map, and a pool of a fifth of what is on disk.
        memory = [(row["codes"] + 0.2 * row["padded"])
                  / (row["codes"] + row["map"] + 0.2 * row["slotted"]) for row in rows]
        return {"disk_smaller": all_of(row["padded"] / row["slotted"] for row in rows),
                "memory_smaller": all_of(memory),
                "raw_smaller": all_of(row["data"] / row["slotted"] for row in rows)}

    def table(self, rows):
        header = ["set", "data", "padded nodes", "slotted pages", "codes in DRAM", "map in DRAM"]
        return header, [[row["set"], *(f"{row[name] / 1e6:,.1f} MB" for name in (
            "data", "padded", "slotted", "codes", "map"))] for row in rows]

    def draw(self, rows, path):
        figure, ((axes,),) = panels(1, 1, size=(4, 2.6))
        for place, name in enumerate(("data", "padded", "slotted", "codes")):
            axes.bar([number + 0.2 * place for number in range(len(rows))],
                     [row[name] / 1e6 for row in rows], width=0.18, label=name)
        axes.set_xticks([number + 0.3 for number in range(len(rows))], [row["set"] for row in rows])
        axes.set(ylabel="MB")
        axes.legend()
        return save(figure, path)


@item
class RecordsOrPages(DiskItem):
    name = "002-F13"
    title = "what a pool keeps: records, or whole pages"
    x, varies = "what", "what the pool keeps"
    seconds = 60

    # Distance below which records are affine, as a percentile of a cluster's; what the pool keeps.
    POINTS = ((5, "page"), (0, "single"), (5, "single"), (2, "record"), (5, "record"), (10, "record"),
              (20, "record"))
    how = DiskItem.how + (" Records that are affine share pages (--placement affinity), and come into the "
                          "pool together; `single`: a record that was read comes alone, which is the paper's "
                          "threshold of 0%.")

    def measure(self, lab):
        return [{**Affine(lab, disk.data, percentile).row(OURS, pool=pool), "percentile": percentile,
                 "what": f"{pool}, {percentile}%"}
                for disk in disks(lab) for percentile, pool in self.POINTS]

    def ours(self, rows):
        def over(percentile, pool):
            return all_of(one(rows, set=name, percentile=percentile, pool=pool)["io_reads_per_query"]
                          / one(rows, set=name, percentile=5, pool="record")["io_reads_per_query"]
                          for name in distinct(rows, "set"))
        return {"page_pool_reads": over(5, "page"), "threshold": over(0, "single")}

    def table(self, rows):
        return ["set", "pool of", "affine up to the percentile", "share", "QPS", "mean us", "reads",
                "hits"], [
            [row["set"], row["pool"], row["percentile"], BUDGET, f"{row['qps']:,.0f}",
             f"{row['mean_us']:,.0f}", f"{row['io_reads_per_query']:.1f}",
             f"{100 * row.get('pool_hit_rate', 0):.0f}%"] for row in rows]
