"""Second-tier memory (004), devices: Table 1, Figures 6 and 7, and the dilemma of Figure 4."""
from paper_devices import INFLIGHT, LARGE, PART, PAYLOADS, SHARES, Points, device_of, tier_of

from .items import Item, distinct, item, one, panels, save, select
from .second_tier_clusters import cluster_rows
from .second_tier_graphs import layout_rows
from .variants import GRAPHS, SSD, TIER_COLOURS, tier_label
from .verdict import all_of

DEVICES = ("rdma", "cxl", "nvm", "ssd")
TIERS = ",".join(tier_of(device) for device in DEVICES)
LEAST_PASS_MS = 500  # an ssd's 1,024 reads in flight take a third of a second


def transport(lab, *options):
    """Rows of `farvec bench transport`."""
    passes = ["--passes", 1 if lab.effort.name == "quick" else 5, "--pass-ms", LEAST_PASS_MS]
    return lab.json_rows("bench transport", [lab.farvec, "bench", "transport", *options, *passes])


def mix_rows(lab):
    """Payloads alone and shares of small reads, apart: those of one would interrupt the other's."""
    rows = []
    for payloads, share in ((PAYLOADS, 0), *(([LARGE], share) for share in SHARES[1:])):
        rows += transport(lab, "--tier", TIERS, "--payload", ",".join(map(str, payloads)), "--mix",
                          f"{round(100 * share)}%", "--inflight", INFLIGHT)
    return rows


@item
class Devices(Item):
    name = "004-T1"
    measured_on = "devices alone, no data set"
    title = "bandwidth and latency of each kind of memory"
    fitted = tuple(f"{what}_{name}" for what in ("bandwidth", "latency") for name in DEVICES)
    how = ("Modelled devices: one read of 64 bytes in flight for the latency, 1,024 of 16 KiB on a part of "
           "the device for the bandwidth. DRAM: `farvec bench memory`, one line in flight for the "
           "latency, lines in the order of addresses by all processors for the bandwidth. The disk: "
           "`farvec bench disk` in the work folder, 4 KiB and 64 KiB.")
    seconds = 20

    def measure(self, lab):
        rows = [*self._modelled(lab), self._dram(lab)]
        return [*rows, self._disk(lab)]

    def _modelled(self, lab):
        single = transport(lab, "--tier", ",".join(f"emulated:{name}" for name in DEVICES),
                           "--payload", 64, "--inflight", 1)
        many = transport(lab, "--tier", TIERS, "--payload", 16384, "--inflight", INFLIGHT)
        for name, alone, crowd in zip(DEVICES, single, many):
            yield {"device": name, "tier": f"emulated:{name}", "latency_us": alone["mean_us"],
                   "gb_per_s": crowd["gb_per_s"] * PART[device_of(crowd)]}

    def _dram(self, lab):
        rows = lab.json_rows("bench memory", [
            lab.farvec, "bench", "memory", "--inflight", "1,16", "--pages", "huge", "--ask",
            "load,sequential", "--passes", 1])
        alone = next(row for row in rows if row["ask"] == "load" and row["inflight"] == 1
                     and row["threads"] == 1)
        return {"device": "dram", "tier": "dram", "latency_us": alone["ns_per_line"] / 1000,
                "gb_per_s": max(row["gb_per_s"] for row in rows)}

    def _disk(self, lab):
        rows = lab.json_rows("bench disk", [
            lab.farvec, "bench", "disk", "--path", lab.work, "--payload", "4096,65536", "--depth",
            "1,32", "--fio", "off", "--bytes", "256MiB", "--passes", 1, "--seconds", 0.5])
        alone = one(rows, payload=4096, depth=1)
        return {"device": "disk", "tier": "ssd", "latency_us": alone["mean_us"],
                "gb_per_s": max(row["gb_per_s"] for row in rows)}

    def ours(self, rows):
        ours = {}
        for row in rows:
            if row["device"] != "disk":
                ours[f"bandwidth_{row['device']}"] = row["gb_per_s"]
                ours[f"latency_{row['device']}"] = row["latency_us"]
        return ours

    def table(self, rows):
        return ["device", "latency, us", "GB/s"], [
            [tier_label(row["tier"]), f"{row['latency_us']:.3g}", f"{row['gb_per_s']:.1f}"]
            for row in rows]

    def draw(self, rows, path):
        figure, ((latency, bandwidth),) = panels(1, 2, size=(3.6, 2.4))
        names = [tier_label(row["tier"]).replace(" ", "\n") for row in rows]
        colours = [TIER_COLOURS[row["tier"]] for row in rows]
        latency.bar(names, [row["latency_us"] for row in rows], color=colours)
        latency.set(title="latency", ylabel="us", yscale="log")
        bandwidth.bar(names, [row["gb_per_s"] for row in rows], color=colours)
        bandwidth.set(title="bandwidth", ylabel="GB/s")
        return save(figure, path)


class DeviceItem(Item):
    measured_on = "devices alone, no data set"
    seconds = 25

    def measure(self, lab):
        return mix_rows(lab)

    def measured(self, rows):
        return Points(rows).measured


@item
class Payloads(DeviceItem):
    name = "004-F6"
    title = "bandwidth against payload"
    how = ("`farvec bench transport` on every modelled device, 1,024 reads of one size in flight on a "
           "part of it. Nine tenths of the bandwidth of Table 1 count as close to its limit.")
    LIMITS = {"rdma": 25, "cxl": 32, "nvm": 60, "ssd": 5.3}
    fitted = tuple(f"saturates_{name}" for name in DEVICES)

    def ours(self, rows):
        measured = self.measured(rows)
        return {f"saturates_{name}": Points.saturating(measured, name, self.LIMITS[name]) or LARGE * 8
                for name in DEVICES}

    def tolerances(self):
        return {f"saturates_{name}": 0 for name in DEVICES}

    def table(self, rows):
        measured = self.measured(rows)
        return ["bytes", *(f"{name} (modelled), GB/s" for name in DEVICES)], [
            [size, *(f"{measured[name, size, 0]:.2f}" for name in DEVICES)] for size in PAYLOADS]

    def draw(self, rows, path):
        measured = self.measured(rows)
        figure, ((axes,),) = panels(1, 1, size=(4.5, 3))
        for name in DEVICES:
            axes.plot(PAYLOADS, [measured[name, size, 0] for size in PAYLOADS], marker="o",
                      color=TIER_COLOURS[f"emulated:{name}"], label=tier_label(f"emulated:{name}"))
        axes.set(xscale="log", yscale="log", xlabel="bytes of a read", ylabel="GB/s")
        axes.legend()
        return save(figure, path)


@item
class SmallReads(DeviceItem):
    name = "004-F7"
    title = "small reads among large ones"
    how = "Of reads of 4 KiB, a share has 128 bytes; what is lost is of the bandwidth of 4 KiB alone."

    def ours(self, rows):
        measured = self.measured(rows)
        lost = lambda name, share: Points.lost(measured, name, share)
        return {"lost_rdma": lost("rdma", 0.5), "lost_nvm": lost("nvm", 0.9),
                "lost_ssd_10": lost("ssd", 0.1), "lost_ssd_50": lost("ssd", 0.5),
                "lost_ssd_90": lost("ssd", 0.9), "lost_cxl": lost("cxl", 0.9)}

    fitted = ("lost_rdma", "lost_nvm", "lost_ssd_10", "lost_ssd_50", "lost_ssd_90", "lost_cxl")

    def table(self, rows):
        measured = self.measured(rows)
        return ["small reads", *(f"{name} (modelled), % lost" for name in DEVICES)], [
            [f"{share:.0%}", *(f"{Points.lost(measured, name, share):.1f}" for name in DEVICES)]
            for share in SHARES[1:]]

    def draw(self, rows, path):
        measured = self.measured(rows)
        figure, ((axes,),) = panels(1, 1, size=(4.5, 3))
        for name in DEVICES:
            axes.plot([100 * share for share in SHARES],
                      [Points.lost(measured, name, share) for share in SHARES], marker="o",
                      color=TIER_COLOURS[f"emulated:{name}"], label=tier_label(f"emulated:{name}"))
        axes.set(xlabel="reads of 128 bytes, %", ylabel="bandwidth lost, %", ylim=(-5, 100))
        axes.legend()
        return save(figure, path)


@item
class Dilemma(Item):
    name = "004-F4"
    title = "rate against index size on an SSD: the dilemma"
    how = ("Padded graphs of each degree and coupled clusters of each R on the modelled SSD, recall@10 "
           "0.9, 64 searches in flight. Ratios are of the largest over the smallest index of a set.")
    seconds = 40

    def measure(self, lab):
        padded = next(series for series in GRAPHS if series.layout == "padded")
        graphs = [row for data in lab.sets() for degree in lab.effort.degrees
                  for row in layout_rows(lab, data, degree, padded, (SSD,))]
        clusters = [row for row in cluster_rows(lab) if row["series"] == "coupled"]
        return ([{**row, "kind": "graph", "parameter": row["degree"]} for row in graphs]
                + [{**row, "kind": "cluster", "parameter": row["replicas"]}
                   for row in select(clusters, tier=SSD)])

    def pairs(self, rows, kind):
        """(smallest, largest) of each set."""
        for name in distinct(rows, "set"):
            mine = sorted(select(rows, kind=kind, set=name), key=lambda row: row["size"])
            if len(mine) > 1:
                yield mine[0], mine[-1]

    def ratios(self, rows, kind, number):
        return all_of(number(large) / number(small) for small, large in self.pairs(rows, kind))

    def ours(self, rows):
        rate, reads = (lambda row: row["qps"]), (lambda row: row["reads_per_query"])
        payload = lambda row: row["bytes_per_query"] / row["reads_per_query"]
        graphs, clusters = select(rows, kind="graph"), select(rows, kind="cluster")
        return {"graph_gain": self.ratios(rows, "graph", rate),
                "graph_size": all_of(large["size"] for _, large in self.pairs(graphs, "graph")),
                "graph_fewer_reads": self.ratios(rows, "graph", lambda row: 1 / reads(row)),
                "graph_payload": self.ratios(rows, "graph", payload),
                "cluster_gain": self.ratios(rows, "cluster", rate),
                "cluster_size": all_of(large["size"] for _, large in self.pairs(clusters, "cluster")),
                "cluster_fewer_probes": self.ratios(rows, "cluster", lambda row: 1 / row["probe"])}

    def table(self, rows):
        header = ["set", "index", "degree or R", "size", "QPS, ssd (modelled)", "reads", "bytes a read"]
        return header, [[row["set"], row["kind"], row["parameter"], f"{row['size']:.2f}",
                         f"{row['qps']:,.0f}", f"{row['reads_per_query']:.1f}",
                         f"{row['bytes_per_query'] / row['reads_per_query']:,.0f}"] for row in rows]

    def draw(self, rows, path):
        figure, grid = panels(2, 3, size=(3, 2.2))
        what = (("queries per second", lambda row: row["qps"]),
                ("reads of a query", lambda row: row["reads_per_query"]),
                ("bytes of a read", lambda row: row["bytes_per_query"] / row["reads_per_query"]))
        for line, kind in zip(grid, ("graph", "cluster")):
            for axes, (label, number) in zip(line, what):
                for marker, name in zip("os^", distinct(rows, "set")):
                    mine = sorted(select(rows, kind=kind, set=name), key=lambda row: row["size"])
                    axes.plot([row["size"] for row in mine], [number(row) for row in mine],
                              marker=marker, markersize=4, label=f"{name}, {tier_label(SSD)}")
                axes.set(title=kind, ylabel=label, xlabel="index size / data size", ylim=0)
        return save(figure, path, grid[0][0])
