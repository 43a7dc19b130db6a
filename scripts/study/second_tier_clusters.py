"""Second-tier memory (004), clusters, and graphs beside them: Figures 10, 12 and 13, Table 5."""
from graph_and_cluster import parameter

from .items import Item, distinct, item, one, panels, save, select
from .second_tier_graphs import RECALL, bounds, draw_bounds, facts, graph_rows
from .variants import CLUSTERS, DRAM, FAR, RDMA, SSD, TIERS, kind_of, tier_label
from .verdict import all_of


def cluster_rows(lab, tiers=TIERS):
    """A row per set, way to build, R and tier, with the clusters that reach the recall."""
    rows = []
    for data in lab.sets():
        for series in CLUSTERS:
            for replicas in lab.effort.replicas:
                index = lab.clusters(data, replicas, series)
                for row in lab.at_recall(data, series.kind, index, tiers, RECALL).values():
                    rows.append(facts(row, set=data.label, series=series.name, replicas=replicas,
                                      probe=row["probe"], dimension=data.dimension,
                                      strays=row["stray_reads_per_query"],
                                      centroids=row["centroid_distances_per_query"] +
                                      row["centroid_estimates_per_query"]))
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
        for name in filter(kind_of, distinct(rows, "set")):
            spacev = kind_of(name) == "spacev"
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


@item
class Grouping(Item):
    name = "004-F10"
    title = "grouping and the decoupled layout, by R"
    how = ("Clusters of each R at recall@10 0.9 on modelled RDMA. Plain is `decoupled` that reads every "
           "address of every probed cluster (`--dedup off`); grouping alone is `grouped` without "
           "deduplication. Requests are counted, rates are measured.")
    seconds = 60
    WAYS = (("coupled", "on"), ("decoupled", "off"), ("decoupled", "on"), ("grouped", "off"),
            ("grouped", "on"))
    NAMES = {("coupled", "on"): "coupled", ("decoupled", "off"): "plain decoupled",
             ("decoupled", "on"): "dedup alone", ("grouped", "off"): "grouping alone",
             ("grouped", "on"): "grouping and dedup"}
    COLOURS = ("#009E73", "#999999", "#56B4E9", "#E69F00", "#D55E00")

    def measure(self, lab):
        rows = []
        for data in lab.sets():
            for replicas in lab.effort.replicas:
                folder = lab.clusters(data, replicas, CLUSTERS[0]).parent
                probe = lab.chosen(data, "cluster", folder / CLUSTERS[0].layout, RECALL)
                for layout, dedup in self.WAYS:
                    row = lab.on_tiers(data, "cluster", folder / layout, [
                        *parameter("cluster", probe), "--dedup", dedup], (RDMA,))[RDMA]
                    rows.append(facts(row, set=data.label, replicas=replicas, probe=probe,
                                      way=self.NAMES[layout, dedup],
                                      strays=row["stray_reads_per_query"]))
        return rows

    def pairs(self, rows, way, other, name="qps"):
        """`way` over `other`, at the largest R of each set."""
        most = max(row["replicas"] for row in rows)
        return [row[name] / one(rows, set=row["set"], replicas=most, way=other)[name]
                for row in select(rows, way=way, replicas=most)]

    def ours(self, rows):
        least, most = (end(row["replicas"] for row in rows) for end in (min, max))
        plain = select(rows, way="plain decoupled", replicas=most)
        alone = self.pairs(rows, "grouping alone", "plain decoupled", "reads_per_query")
        drop = [100 * (1 - row["qps"] / one(rows, set=row["set"], way=row["way"],
                                            replicas=least)["qps"]) for row in plain]
        return {"grouping_gain": all_of(self.pairs(rows, "grouping alone", "plain decoupled")),
                "grouped_over_coupled": all_of(self.pairs(rows, "grouping and dedup", "coupled")),
                "fewer_requests": all_of(100 * (1 - share) for share in alone),
                "decoupled_drop": all_of(drop),
                "small_reads": all_of(100 * row["strays"] / row["reads_per_query"] for row in plain),
                "requests_per_cluster": all_of(row["reads_per_query"] / row["probe"] for row in plain),
                "smaller": all_of(100 * (1 - share) for share in
                                  self.pairs(rows, "plain decoupled", "coupled", "size"))}

    def table(self, rows):
        header = ["set", "R", "way", "probed", "size", "QPS, rdma (modelled)", "requests", "strays",
                  "KB read"]
        return header, [[row["set"], row["replicas"], row["way"], row["probe"], f"{row['size']:.2f}",
                         f"{row['qps']:,.0f}", f"{row['reads_per_query']:,.1f}",
                         f"{row['strays']:,.1f}", f"{row['bytes_per_query'] / 1000:,.1f}"]
                        for row in rows]

    def draw(self, rows, path):
        sets = distinct(rows, "set")
        figure, grid = panels(len(sets), 3, size=(3, 2.3))
        what = (("queries per second, rdma (modelled)", "qps"), ("requests", "reads_per_query"),
                ("index size / data size", "size"))
        for line, name in zip(grid, sets):
            for axes, (label, number) in zip(line, what):
                for way, colour in zip(self.NAMES.values(), self.COLOURS):
                    mine = select(rows, set=name, way=way)
                    axes.plot([row["replicas"] for row in mine], [row[number] for row in mine],
                              marker="o", markersize=3, color=colour, label=way)
                axes.set(title=name, ylabel=label, xlabel="R", ylim=0)
        return save(figure, path, grid[0][0])


@item
class ClustersOnEachTier(Item):
    name = "004-F12"
    title = "clusters end to end, with the bounds of computing and of the device"
    how = ("Clusters of each R at recall@10 0.9, one thread. The bound of computing is the rate in DRAM "
           "in the same passes, that of the device what its model can bring. The index on SSD is the "
           "coupled one of the best R there.")
    seconds = 10

    def measure(self, lab):
        return cluster_rows(lab)

    def against_ssd(self, rows, number):
        """Of the best grouped clusters on each memory over the best coupled ones on the SSD."""
        return [best(rows, set=name, tier=tier, series=CLUSTERS[0].name)[number]
                / best(rows, set=name, tier=SSD, series="coupled")[number]
                for name in distinct(rows, "set") for tier in FAR]

    def ours(self, rows):
        return {"size_of_ssd": all_of(100 * share for share in self.against_ssd(rows, "size")),
                "over_ssd": all_of(self.against_ssd(rows, "qps")),
                **{f"megabytes_{kind_of(name)}":
                   best(rows, set=name, tier=RDMA, series=CLUSTERS[0].name)["bytes_per_query"] / 1e6
                   for name in filter(kind_of, distinct(rows, "set"))}}

    def table(self, rows):
        header = ["set", "series", "R", "probed", "size", "tier", "QPS", "bound of computing",
                  "bound of the device", "of the lower bound", "KB read"]
        return header, [[row["set"], row["series"], row["replicas"], row["probe"],
                         f"{row['size']:.2f}", tier_label(row["tier"]), f"{row['qps']:,.0f}",
                         *bounds(row), f"{row['bytes_per_query'] / 1000:,.1f}"] for row in rows]

    def draw(self, rows, path):
        return draw_bounds(rows, path, [({"series": series.name}, series.name, series.marker,
                                         series.colour) for series in CLUSTERS])


@item
class Intensity(Item):
    name = "004-T5"
    title = "operations per byte and bytes read"
    how = ("At recall@10 0.9 on modelled RDMA, the fastest graph and the fastest grouped clusters. "
           "Operations are the dimensions of all distances and estimates, those of the search for "
           "the centroids included; the paper does not say what it counts.")
    seconds = 5

    def measure(self, lab):
        rows = both_kinds(lab)
        return [best(rows, set=name, tier=RDMA, series=series)
                for name in distinct(rows, "set") for series in ("graph", CLUSTERS[0].name)]

    def intensity(self, row):
        work = row["distances_per_query"] + row["estimates_per_query"] + row.get("centroids", 0)
        return work * row["dimension"] / row["bytes_per_query"]

    def ours(self, rows):
        ours = {}
        for row in rows:
            if kind_of(row["set"]) is None:
                continue
            kind = ("graph_" if row["series"] == "graph" else "cluster_") + kind_of(row["set"])
            ours[f"intensity_{kind}"] = self.intensity(row)
            ours[f"kilobytes_{kind}"] = row["bytes_per_query"] / 1000
        fewer = [100 * (1 - graph["bytes_per_query"] / clusters["bytes_per_query"])
                 for graph, clusters in zip(rows[::2], rows[1::2])]
        return {**ours, "fewer_bytes": all_of(fewer)}

    def table(self, rows):
        header = ["set", "index", "degree or R", "operations per byte", "KB read", "distances",
                  "estimates", "of centroids"]
        return header, [[row["set"], row["series"], row["parameter"], f"{self.intensity(row):.1f}",
                         f"{row['bytes_per_query'] / 1000:,.1f}", f"{row['distances_per_query']:,.0f}",
                         f"{row['estimates_per_query']:,.0f}",
                         f"{row.get('centroids', 0):,.0f}"] for row in rows]
