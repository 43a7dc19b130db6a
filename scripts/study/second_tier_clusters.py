"""Second-tier memory (004), graphs beside clusters: Figures 10, 12 and 13, Table 5."""
from .items import Item, distinct, item, panels, save, select
from .second_tier_graphs import RECALL, draw_bounds, facts, graph_rows
from .variants import CLUSTERS, DRAM, FAR, SSD, TIERS, tier_label
from .verdict import all_of


def cluster_rows(lab, tiers=TIERS):
    """A row per set, way to build, R and tier, with the clusters that reach the recall."""
    rows = []
    for data in lab.sets():
        for series in CLUSTERS:
            for replicas in lab.effort.replicas:
                index = lab.clusters(data, replicas, series)
                for row in lab.at_recall(data, "cluster", index, tiers, RECALL).values():
                    rows.append(facts(row, set=data.label, series=series.name, replicas=replicas,
                                      probe=row["probe"], dimension=data.dimension,
                                      strays=row["stray_reads_per_query"]))
    return rows


def both_kinds(lab):
    return ([{**row, "series": "graph", "parameter": row["degree"]} for row in graph_rows(lab)]
            + [{**row, "parameter": row["replicas"]} for row in cluster_rows(lab)])


def best(rows, **wanted):
    return max(select(rows, **wanted), key=lambda row: row["qps"])


@item
class GraphsAndClusters(Item):
    name = "004-F13"
    title = "graph against cluster, tier by tier"
    how = ("Graphs of each degree and clusters of each R at recall@10 0.9, one thread. The text's ratios "
           "are of BIGANN and DEEP on one side, SPACEV on the other: sift1m is of the kind of BIGANN, "
           "text300k of that of SPACEV (embeddings of text as i8, 100 dimensions), though its "
           "clusters are not close.")
    seconds = 150

    def measure(self, lab):
        return both_kinds(lab)

    def ratio(self, rows, name, tier):
        """Rate of the fastest graph over that of the fastest grouped clusters."""
        clusters = [row for row in select(rows, set=name, tier=tier)
                    if row["series"] == CLUSTERS[0].name]
        return best(rows, set=name, tier=tier, series="graph")["qps"] / best(clusters)["qps"]

    def ours(self, rows):
        ours = {}
        for name in distinct(rows, "set"):
            spacev = name.startswith("text")
            for tier in FAR:
                ratio = self.ratio(rows, name, tier)
                key = ("cluster_over_graph_" if spacev else "graph_over_cluster_") + tier.split(":")[1]
                ours[key] = 1 / ratio if spacev else ratio
        sizes = [best(rows, set=name, tier=tier, series=CLUSTERS[0].name)["size"] - 1
                 for name in distinct(rows, "set") for tier in FAR]
        ours["cluster_amplification"] = all_of(sizes)
        smaller = [100 * (1 - best(rows, set=name, tier=tier, series=CLUSTERS[0].name)["size"]
                          / best(rows, set=name, tier=tier, series="graph")["size"])
                   for name in distinct(rows, "set") for tier in FAR]
        ours["cluster_smaller"] = all_of(smaller)
        return ours

    def table(self, rows):
        tiers = distinct(rows, "tier")
        lines = []
        for name in distinct(rows, "set"):
            for series in distinct(rows, "series"):
                for parameter in distinct(select(rows, series=series), "parameter"):
                    mine = select(rows, set=name, series=series, parameter=parameter)
                    lines.append([name, series, parameter, f"{mine[0]['size']:.2f}"]
                                 + [f"{row['qps']:,.0f}" for tier in tiers
                                    for row in select(mine, tier=tier)])
        return ["set", "index", "degree or R", "size",
                *(f"QPS, {tier_label(tier)}" for tier in tiers)], lines

    def draw(self, rows, path):
        sets, tiers = distinct(rows, "set"), (SSD, *FAR, DRAM)
        lines = [("graph", "o", "#0072B2")] + [(series.name, series.marker, series.colour)
                                               for series in CLUSTERS]
        figure, grid = panels(len(sets), len(tiers), size=(2.3, 2.2), sharey="row")
        for line, name in zip(grid, sets):
            for axes, tier in zip(line, tiers):
                for series, marker, colour in lines:
                    mine = sorted(select(rows, set=name, tier=tier, series=series),
                                  key=lambda row: row["size"])
                    axes.plot([row["size"] for row in mine], [row["qps"] for row in mine],
                              marker=marker, color=colour, markersize=4, linewidth=1.2,
                              label=series if series == "graph" else f"clusters, {series}")
                axes.set(title=f"{name}, {tier_label(tier)}", yscale="log")
            line[0].set_ylabel("queries per second")
        for axes in grid[-1]:
            axes.set_xlabel("index size / data size")
        return save(figure, path, grid[0][0])
