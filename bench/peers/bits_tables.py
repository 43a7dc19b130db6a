"""What bits.py says: the table of a run, and whether bits save what they should."""
import statistics

from bits_ours import ELSEWHERE, IN_DRAM, MEASURED_APART

F32_HNSW = ("hnswlib", "usearch")
# What bits should save: of the bytes in DRAM of an HNSW of f32, of the build of farvec's f32. And how many
# times the rate of usearch's bits they should have.
MOST_BYTES, MOST_BUILD, LEAST_RATE = 0.1, 0.2, 2
# The half that chooses is not the half that is measured: a recall that is lower by this still counts.
ROOM = 0.01


def reaches(recall, target):
    return recall >= target - ROOM


def fastest(rows, keys):
    return max((row for row in rows if row["key"] in keys and row["reached"]),
               key=lambda row: statistics.median(row["rates"]), default=None)


def spread(values, form):
    return f"{form(statistics.median(values))} ({form(min(values))} to {form(max(values))})"


def verdict(name, wanted, ratio, at_most, words):
    if ratio is None:
        return f"{name}: no figure, {words}"
    met = ratio <= wanted if at_most else ratio >= wanted
    return f"{name}: {words}; {'at most' if at_most else 'at least'} {wanted:g} is wanted: " \
           f"{'met' if met else 'NOT met'}"


def smallest(rows, wanted):
    return min((row for row in rows if row["reached"] and wanted(row)), key=lambda row: row["dram_bytes"],
               default=None)


def dram_verdict(rows):
    ours = smallest(rows, lambda row: row["second_where"] not in (None, IN_DRAM))
    theirs = smallest(rows, lambda row: row["key"] in F32_HNSW)
    if not ours or not theirs:
        missing = "an HNSW of f32" if ours else "bits with the second copy elsewhere"
        return verdict("bytes in DRAM", MOST_BYTES, None, True, f"{missing} did not reach the recall")
    ratio = ours["dram_bytes"] / theirs["dram_bytes"]
    return verdict("bytes in DRAM", MOST_BYTES, ratio, True,
                   f"{ours['label']} has {ours['dram_bytes']:,}, the smallest HNSW of f32 "
                   f"({theirs['label']}) {theirs['dram_bytes']:,}: {ratio:.3f} of them")


def build_verdict(builds, name):
    """`builds`: {name: [seconds of each build, seconds of the processors]} of farvec's kinds."""
    ours, whole = (builds.get(kind, ([], [])) for kind in (name, "f32"))
    if not ours[0] or not whole[0]:
        return verdict("build", MOST_BUILD, None, True, f"{name} or f32 was not built")
    ratios, spent = ([a / b for a, b in zip(*times)] for times in zip(ours, whole))
    seconds = "{:.1f} s".format
    return verdict("build", MOST_BUILD, statistics.median(ratios), True,
                   f"{name} {spread(ours[0], seconds)}, f32 {spread(whole[0], seconds)}, in turn: "
                   f"{spread(ratios, '{:.3f}'.format)}, by the processors' time "
                   f"{spread(spent, '{:.3f}'.format)}")


def rate_verdict(rows, where):
    """The rate of bits whose second copy is there."""
    name = f"rate with the second copy {where}"
    ours = fastest(rows, [row["key"] for row in rows if row["second_where"] == where and
                          row["key"].startswith("farvec b1 ")])
    theirs = fastest(rows, ("usearch-b1", "usearch-b1-32", "usearch-b1-jaccard"))
    if not ours or not theirs:
        missing = "usearch's b1" if ours else "farvec's bits"
        return verdict(name, LEAST_RATE, None, False, f"{missing} did not reach the recall")
    ratios = [a / b for a, b in zip(ours["rates"], theirs["rates"])]
    spent = [b / a for a, b in zip(ours["processor_us"], theirs["processor_us"])]
    return verdict(name, LEAST_RATE, statistics.median(ratios), False,
                   f"{ours['label']} over the fastest b1 of usearch ({theirs['label']}), pass by pass: "
                   f"{spread(ratios, '{:.2f}'.format)}, by the processor's time "
                   f"{spread(spent, '{:.2f}'.format)}")


def verdicts(rows, builds):
    return [dram_verdict(rows), *(build_verdict(builds, name) for name in MEASURED_APART),
            *(rate_verdict(rows, where) for where in (IN_DRAM, *ELSEWHERE))]


HEAD = ["index", "parameters", "recall", "rate", "processor, us", "p99, us", "build, s", "index bytes",
        "in DRAM", "second copy"]


def cells(row):
    words = " ".join(f"{name}={value:g}" for name, value in row["parameters"].items())
    second = f"{row['second_bytes']:,} ({row['second_where']})" if row["second_bytes"] and \
        row["second_where"] else "-"
    recall = f"{row['recall']:.4f}" + ("" if row["reached"] else ", not reached")
    return [row["label"], words, recall, spread(row["rates"], "{:,.0f}".format),
            spread(row["processor_us"], "{:,.1f}".format) if row["processor_us"] else "-",
            spread(row["p99s_us"], "{:,.0f}".format) if row["p99s_us"] else "-",
            f"{row['build_seconds']:.1f}", f"{row['index_bytes']:,}", f"{row['dram_bytes']:,}", second]


def markdown(facts, rows, failures):
    lines = [HEAD, ["---"] * len(HEAD), *map(cells, rows)]
    busy = "" if facts["load"] < 1.6 else " The machine was BUSY: rates and times say little."
    note = (f"{facts['processor']}, {facts['processors']} processors; load {facts['load']:.1f} at most at "
            f"the beginnings of passes (one thread of this makes about 1).{busy} Commit {facts['commit']}. "
            f"{facts['rows']:,} rows of {facts['dimension']} floats, {facts['metric']}, bits by "
            f"{facts['way']}, {facts['queries']:,} queries: a half chooses, the other is measured. "
            f"Rates and p99 are medians of {facts['passes']} passes in turn (least to most). Graphs were "
            f"built on {facts['processors']} processors with a list of {facts['build_list']}. `processor` is "
            "the processor's time for a query (pgvector's is not known). `index bytes` are those on the "
            "disk; `in DRAM` is what a search keeps without the second copy and without its own buffers: of "
            "libraries the saved index.")
    return "\n".join([f"# Fewer bits on {facts['name']}, recall@{facts['k']} of {facts['target']:g}", "",
                      "```sh", facts["command"], "```", "", note, "",
                      *("| " + " | ".join(line) + " |" for line in lines), "",
                      *(f"- {line}." for line in facts["verdicts"]),
                      *(f"- {key} has no row: {why}." for key, why in failures.items()), ""])
