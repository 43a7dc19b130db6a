"""VeloANN (002), what pools can keep of an unchanged search: Table 1 and Figure 4."""
import numpy as np

from .disk_graphs import DEGREE, OURS, disks
from .items import Item, distinct, item, panels, save, select
from .lab import shape
from .pool_policies import POLICIES, hit_ratio

SHARES = (10, 30, 50)
DRAWS = 10_000


def trace_of(lab, disk):
    """(searches, 2) array: the number of a search and a record that it expands, of all queries."""
    data = lab.whole(disk.data.name)
    folder = lab.work / "traces" / f"{disk.data.name}-{disk.data.rows}"
    truth, trace = folder / "gt.ibin", folder / "trace.ibin"
    lab.made(folder, [
        [lab.farvec, "dataset", "groundtruth", "--data", disk.data.base, "--queries", data.queries,
         "--metric", "l2", "--k", 10, "--quiet", "--out", truth],
        [lab.bin / "slotted_reads", "--index", disk.steps.index, "--data", disk.data.base, "--queries",
         data.queries, "--groundtruth", truth, "--list", disk.lists()[OURS], "--trace", trace]],
        "a trace of searches")
    return np.fromfile(trace, np.uint32, offset=8).reshape(shape(trace))


def per_page(data):
    """DiskANN's nodes of floats in a page of 4 KiB."""
    return max(1, 4096 // (4 * data.dimension + 4 + 4 * DEGREE))


def skewed(trace):
    """The records of searches drawn with weight 1 / rank, one after the other."""
    begins = np.flatnonzero(np.diff(trace[:, 0], prepend=0))
    searches = np.split(trace[:, 1], begins[1:])
    weights = 1 / np.arange(1, len(searches) + 1)
    drawn = np.random.default_rng(1).choice(len(searches), DRAWS, p=weights / weights.sum())
    return np.concatenate([searches[number] for number in drawn])


class TraceItem(Item):
    seconds = 20
    how = (f"Records that searches of all queries expand (`slotted_reads --trace`, best-first, degree "
           f"{DEGREE}), put on DiskANN's pages of 4 KiB with nodes of floats in the order of their numbers. "
           "Hits are of the second half of the searches. Skewed: 10,000 draws of the queries with weight "
           "1 / rank. The paper has Sift1M with 10,000 queries: fewer vertices or queries change what is "
           "untouched.")


@item
class PagePolicies(TraceItem):
    name = "002-T1"
    title = "hits of a pool of pages, by what it drops"

    def measure(self, lab):
        rows = []
        for disk in disks(lab):
            trace, nodes = trace_of(lab, disk), per_page(disk.data)
            for workload, records in (("uniform", trace[:, 1]), ("skewed", skewed(trace))):
                for kept, things, count in (("pages", records // nodes, -(-disk.data.rows // nodes)),
                                            ("records", records, disk.data.rows)):
                    things = things.tolist()
                    rows += [{"set": disk.data.label, "queries": workload, "keeps": kept,
                              "policy": policy, "share": share,
                              "hits": 100 * hit_ratio(policy, things, count * share // 100)}
                             for policy in POLICIES for share in SHARES]
        return rows

    def ours(self, rows):
        mine = select(rows, set=rows[0]["set"], queries="uniform", keeps="pages")
        return {f"{row['policy'].lower()}_{row['share']}": row["hits"] for row in mine
                if row["policy"] != "clock"}

    def table(self, rows):
        header = ["set", "queries", "keeps", "policy", *(f"pool of {share}%" for share in SHARES)]
        lines = [rows[start:start + len(SHARES)] for start in range(0, len(rows), len(SHARES))]
        return header, [[line[0][name] for name in ("set", "queries", "keeps", "policy")]
                        + [f"{row['hits']:.1f}%" for row in line] for line in lines]

    def draw(self, rows, path):
        name = rows[0]["set"]
        figure, (line,) = panels(1, 4, size=(2.3, 2.3), sharey=True)
        kinds = [(queries, keeps) for queries in ("uniform", "skewed") for keeps in ("pages", "records")]
        for axes, (queries, keeps) in zip(line, kinds):
            for policy, marker in zip(POLICIES, "os^x"):
                mine = select(rows, set=name, queries=queries, keeps=keeps, policy=policy)
                axes.plot([row["share"] for row in mine], [row["hits"] for row in mine],
                          marker=marker, markersize=4, label=policy)
            axes.set(title=f"{name}, {queries}, {keeps}", xlabel="pool, %", ylim=(0, 100))
        line[0].set_ylabel("hits, % (counted)")
        return save(figure, path, line[0])


@item
class Skew(TraceItem):
    name = "002-F4"
    title = "how often vertices and pages are accessed"

    def measure(self, lab):
        rows = []
        for disk in disks(lab):
            records, nodes = trace_of(lab, disk)[:, 1], per_page(disk.data)
            for kind, things, count in (("vertices", records, disk.data.rows),
                                        ("pages", records // nodes, -(-disk.data.rows // nodes))):
                times = np.sort(np.bincount(things, minlength=count))[::-1]
                rows.append({"set": disk.data.label, "kind": kind, "count": int(count),
                             "untouched": float(100 * np.mean(times == 0)), "most": int(times[0]),
                             "by_the_hottest_fifth": float(100 * times[:count // 5].sum() / times.sum()),
                             "curve": [int(times[count * place // 100]) for place in range(100)]})
        return rows

    def ours(self, rows):
        first = {row["kind"]: row for row in select(rows, set=rows[0]["set"])}
        return {f"{kind}_untouched": row["untouched"] for kind, row in first.items()}

    def table(self, rows):
        header = ["set", "of", "how many", "never accessed", "accesses of the hottest",
                  "by the hottest fifth"]
        return header, [[row["set"], row["kind"], f"{row['count']:,}", f"{row['untouched']:.1f}%",
                         row["most"], f"{row['by_the_hottest_fifth']:.1f}%"] for row in rows]

    def draw(self, rows, path):
        figure, (line,) = panels(1, len(distinct(rows, "set")), size=(3.6, 2.4))
        for axes, name in zip(line, distinct(rows, "set")):
            for row in select(rows, set=name):
                axes.plot(range(100), row["curve"], label=row["kind"])
            axes.set(title=name, xlabel="% of them, hottest first", ylabel="accesses (counted)",
                     yscale="symlog")
            axes.legend()
        return save(figure, path)
