"""Second-tier memory (004), graphs: Figures 8 and 9."""
from graph_and_cluster import parameter

from .items import Item, distinct, item, one, panels, save, select
from .variants import DRAM, FAR, GRAPHS, SSD, TIER_COLOURS, TIERS, slots_of, tier_label
from .verdict import all_of

RECALL = 0.9


def size(row):
    return row["index_bytes"] / row["dataset_bytes"]


def facts(row, **more):
    """What pages need of a sweep's row."""
    kept = ("tier", "tier_model", "recall", "qps", "qps_min", "qps_max", "reads_per_query",
            "bytes_per_query", "distances_per_query", "estimates_per_query", "hops_per_query",
            "device_bound_qps", "compute_bound_qps", "compute_bound_share", "quiet_share",
            "memory_bound_qps", "host")
    return {**{name: row[name] for name in kept if name in row}, "size": size(row), **more}


def graph_rows(lab, degrees=None, tiers=TIERS):
    """A row per set, degree and tier of CSR graphs with the list that reaches the recall."""
    rows = []
    for data in lab.sets():
        for degree in degrees or lab.effort.degrees:
            index = lab.graph(data, degree)
            for row in lab.at_recall(data, "graph", index, tiers, RECALL).values():
                rows.append(facts(row, set=data.label, degree=degree, list=row["list"],
                                  dimension=data.dimension))
    return rows


def layout_rows(lab, data, degree, series, tiers, slots=None):
    """A row per tier of a graph in a layout, with the list that reaches the recall in csr."""
    csr = lab.graph(data, degree)
    options = parameter("graph", lab.chosen(data, "graph", csr, RECALL))
    index = lab.graph(data, degree, series.layout, series.options)
    return [facts(row, set=data.label, degree=degree, layout=series.name,
                  slots=slots or slots_of("graph", tier))
            for tier, row in lab.on_tiers(data, "graph", index, options, tiers, slots).items()]


@item
class PipelineAndLayout(Item):
    name = "004-F8"
    title = "the software pipeline, and CSR against padded nodes"
    how = ("Graphs of each degree at recall@10 0.9, three records a hop: with one search in flight "
           "(synchronous) and with eight on the modelled memories (64 on the SSD); and the same graph in "
           "each layout. The padded layout has whole nodes in blocks of 4 KiB, as on an SSD.")
    seconds = 150

    def measure(self, lab):
        rows = []
        for data in lab.sets():
            for degree in lab.effort.degrees:
                for series in GRAPHS:
                    rows += layout_rows(lab, data, degree, series, (*FAR, SSD))
                    if series.layout == "csr":
                        rows += layout_rows(lab, data, degree, series, FAR, slots=1)
        return rows

    def gains(self, rows, tier):
        """Rate with searches in flight over that of one after the other."""
        return [one(piped, set=row["set"], degree=row["degree"])["qps"] / row["qps"]
                for piped in [[row for row in select(rows, layout="CSR", tier=tier) if row["slots"] > 1]]
                for row in select(rows, layout="CSR", tier=tier, slots=1)]

    def padded(self, rows, tier, name):
        """CSR over padded: `size` or `qps`."""
        pairs = ((row, one(select(rows, layout="CSR", tier=tier, set=row["set"],
                                  degree=row["degree"], slots=row["slots"])))
                 for row in select(rows, layout="padded", tier=tier))
        return [csr[name] / padded[name] for padded, csr in pairs]

    def ours(self, rows):
        rdma, cxl, nvm = FAR
        wasted = [100 * (1 - share) for share in self.padded(rows, rdma, "size")]
        lost = [100 * (1 - share) for share in self.padded(rows, SSD, "qps")]
        return {"pipeline_rdma": all_of(self.gains(rows, rdma)),
                "pipeline_loads": all_of(self.gains(rows, cxl) + self.gains(rows, nvm)),
                "padding_wastes": all_of(wasted),
                "unpadded_loses_on_ssd": all_of(lost),
                "csr_rate": all_of(value for tier in FAR for value in self.padded(rows, tier, "qps"))}

    def table(self, rows):
        header = ["set", "degree", "layout", "size", "tier", "searches in flight", "QPS", "reads",
                  "KB read"]
        return header, [[row["set"], row["degree"], row["layout"], f"{row['size']:.2f}",
                         tier_label(row["tier"]), row["slots"], f"{row['qps']:,.0f}",
                         f"{row['reads_per_query']:.1f}", f"{row['bytes_per_query'] / 1000:.1f}"]
                        for row in rows]

    def draw(self, rows, path):
        sets = distinct(rows, "set")
        figure, grid = panels(len(sets), 2, size=(4, 2.5))
        for line, name in zip(grid, sets):
            for tier in FAR:
                points = select(rows, set=name, tier=tier, layout="CSR")
                for way, style in (((lambda row: row["slots"] == 1), "--"),
                                   ((lambda row: row["slots"] > 1), "-")):
                    mine = [row for row in points if way(row)]
                    line[0].plot([row["degree"] for row in mine], [row["qps"] for row in mine], style,
                                 color=TIER_COLOURS[tier], marker="o", markersize=3,
                                 label=tier_label(tier)
                                 + (", pipelined" if style == "-" else ", one at a time"))
            for series in GRAPHS:
                mine = select(rows, set=name, tier=FAR[0], layout=series.name)
                mine = [row for row in mine if row["slots"] > 1]
                line[1].plot([row["size"] for row in mine], [row["qps"] for row in mine],
                             color=series.colour, marker=series.marker, markersize=4,
                             label=f"{series.name}, {tier_label(FAR[0])}")
            line[0].set(title=f"{name}: pipeline", xlabel="degree", ylabel="queries per second", ylim=0)
            line[1].set(title=f"{name}: layout", xlabel="index size / data size", ylim=0)
            line[0].legend()
            line[1].legend()
        return save(figure, path)


@item
class GraphsOnEachTier(Item):
    name = "004-F9"
    title = "graphs end to end, with the bounds of computing and of the device"
    how = ("CSR graphs of each degree at recall@10 0.9, one thread. The bound of computing is the rate "
           "in DRAM in the same passes, of which a rate has the share that it has pass by pass; that of "
           "the device is what its model can bring. The shares are medians of all pairs of passes, with "
           "whatever else the machine did; in quiet passes, those of the quarter of the pairs in which "
           "both tiers together were fastest.")
    seconds = 90

    def measure(self, lab):
        return graph_rows(lab)

    def best(self, rows, name, tier):
        return max(select(rows, set=name, tier=tier), key=lambda row: row["qps"])

    def shares(self, rows):
        """Rate over the lower one of both bounds, of all modelled memories."""
        return [share(row) for tier in FAR for row in select(rows, tier=tier)]

    def ours(self, rows):
        sets = distinct(rows, "set")
        over_ssd = [self.best(rows, name, tier)["qps"] / self.best(rows, name, SSD)["qps"]
                    for name in sets for tier in FAR]
        small = [min(row["size"] for row in select(rows, set=name, tier=tier)
                     if row["qps"] >= 0.9 * self.best(rows, name, tier)["qps"])
                 for name in sets for tier in FAR]
        return {"of_lower_bound": all_of(self.shares(rows)), "size_at_bound": all_of(small),
                "over_ssd": all_of(over_ssd),
                "ssd_size": all_of(self.best(rows, name, SSD)["size"] for name in sets)}

    def table(self, rows):
        header = ["set", "degree", "L", "recall", "size", "tier", "QPS", "bound of computing",
                  "bound of the device", "of the lower bound", "in quiet passes"]
        return header, [[row["set"], row["degree"], row["list"], f"{row['recall']:.4f}",
                         f"{row['size']:.2f}", tier_label(row["tier"]), f"{row['qps']:,.0f}",
                         *bounds(row), quiet(row)] for row in rows]

    def draw(self, rows, path):
        return draw_bounds(rows, path, [({}, "graph", "o", "#0072B2")])


def bound_by_computing(row):
    return row["compute_bound_qps"] < row["device_bound_qps"]


def share(row):
    """Of the rate in the lower one of both bounds; of that of computing pass by pass."""
    if bound_by_computing(row):
        return row["compute_bound_share"]
    return row["qps"] / row["device_bound_qps"]


def quiet(row):
    """The same in quiet passes; a modelled device's bound has none."""
    if row["tier"] == DRAM or not bound_by_computing(row):
        return "–"
    return f"{row['quiet_share']:.3f}"


def bounds(row):
    if row["tier"] == DRAM:
        return ["–"] * 3
    return [f"{row['compute_bound_qps']:,.0f}", f"{row['device_bound_qps']:,.0f}",
            f"{share(row):.3f}"]


def draw_bounds(rows, path, series):
    """Rate against size, a row of panels per set, a column per memory, with both bounds.

    `series`: (what to select, label, marker, colour) of each line.
    """
    sets = distinct(rows, "set")
    figure, grid = panels(len(sets), 4, sharey="row")
    for line, name in zip(grid, sets):
        for axes, tier in zip(line, (*FAR, SSD)):
            for wanted, label, marker, colour in series:
                mine = sorted(select(rows, set=name, tier=tier, **wanted), key=lambda row: row["size"])
                sizes = [row["size"] for row in mine]
                axes.plot(sizes, [row["qps"] for row in mine], color=colour, marker=marker,
                          markersize=4, label=label)
                for bound, style in (("compute_bound_qps", "--"), ("device_bound_qps", ":")):
                    axes.plot(sizes, [row[bound] for row in mine], style, color=colour, linewidth=1,
                              label=f"{label}: bound of "
                              + ("computing" if style == "--" else "the device"))
            axes.set(title=f"{name}, {tier_label(tier)}", yscale="log")
        line[0].set_ylabel("queries per second")
    for axes in grid[-1]:
        axes.set_xlabel("index size / data size")
    return save(figure, path, grid[0][0])
