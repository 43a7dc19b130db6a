"""Tables of a study, as Markdown, with what the paper has."""

MIB = 1 << 20


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|---" * len(head) + "|"]
    return "\n".join(lines + ["| " + " | ".join(map(str, row)) + " |" for row in rows])


def percent(share):
    return f"{100 * share:.1f}%"


def times(rate, base):
    return f"{rate / base:.2f} times" if base else ""


def rate(row):
    return f"{row['qps']:,.1f} ({row['qps_min']:,.1f}..{row['qps_max']:,.1f})"


def insert_seconds(work):
    """The order, the inserts, and what was still to be written."""
    return work.get("order_seconds", 0) + work["seconds"] + work["write_back_seconds"]


def reads(rows):
    base = {}
    for row in rows:
        for found in row["found"]:
            if row["point"]["nodes"] == 1 and found["search"] == "sync":
                base[row["point"]["slots"], found["buffer"]] = found
    cells = []
    for row in rows:
        nodes, slots = row["point"]["nodes"], row["point"]["slots"]
        for found in row["found"]:
            plain = base.get((slots, found["buffer"]), {})
            cells.append([found["buffer"], slots, nodes, found["search"], f"{found['recall']:.4f}",
                          rate(found), times(found["qps"], plain.get("qps")),
                          f"{found['p50_us'] / 1000:.1f}", f"{found['p99_us'] / 1000:.1f}",
                          f"{found['reads_per_query']:.0f}", percent(found["hit_ratio"]),
                          f"{found['miss_penalty_us']:.0f}"])
    return table(["buffer", "in flight", "partitions of", "search", "recall", "queries/s",
                  "over sync, no partitions", "p50 ms", "p99 ms", "pages read", "hits",
                  "miss penalty us"], cells)


def change_row(point, work, base):
    seconds = insert_seconds(work)
    saved = f"{100 * (seconds / base - 1):+.0f}%" if base else ""
    return [*point, work["done"], f"{work.get('order_seconds', 0):.2f}", f"{seconds:.1f}", saved,
            percent(work["hit_ratio"]), f"{work['read_bytes'] / MIB:,.0f}",
            f"{work['written_bytes'] / MIB:,.0f}", f"{work['log_bytes'] / MIB:,.0f}"]


CHANGE_HEAD = ["rows", "order s", "s in all", "saved", "hits", "read MiB", "pages written MiB",
               "log MiB"]


def base_seconds(rows, **point):
    """Of the row with this point, 0 when it was not measured."""
    return next((insert_seconds(row["found"]) for row in rows
                 if point.items() <= row["point"].items()), 0)


def inserts(rows):
    base = base_seconds(rows, search="sync")
    return table(["search", *CHANGE_HEAD],
                 [change_row([row["point"]["search"]], row["found"], base) for row in rows])


def orders(rows):
    cells = []
    for row in rows:
        point = row["point"]
        base = base_seconds(rows, search="sync", order="none", slots=point["slots"])
        cells.append(change_row([point["reordered"], point["order"], point["search"],
                                 point["slots"]], row["found"], base))
    return table(["reordered", "order", "search", "in flight", *CHANGE_HEAD], cells)


def hit_row(point, found):
    return [*point, found["pages"], f"{found['pages_per_query']:.0f}", percent(found["hit_ratio"]),
            f"{found['recall']:.4f}"]


HIT_HEAD = ["pages", "asked", "hits at 10%", "recall"]


def pages(rows):
    return table(["page bytes", "partitions of", *HIT_HEAD],
                 [hit_row([row["point"]["page_bytes"], row["point"]["nodes"]], row["found"])
                  for row in rows])


def sizes(rows):
    return table(["rows", "partitions of", *HIT_HEAD],
                 [hit_row([row["point"]["rows"], row["point"]["nodes"]], row["found"])
                  for row in rows])


def shares(rows):
    cells = []
    for row in rows:
        found, work = row["found"], row["found"]["inserts"]
        added = work["graph"]["pages"] / found["pages_before"] - 1
        cells.append([row["point"]["share"], found["pages_before"], f"+{100 * added:.1f}%",
                      work["placed_by_partition"], work["extended_pages"],
                      work["placed_by_fallback"], f"{work['per_second']:.1f}",
                      percent(work["hit_ratio"]), percent(found["searches"]["hit_ratio"]),
                      f"{found['searches']['pages_per_query']:.0f}"])
    return table(["partitions with insert pages", "pages before", "pages after", "placed", "extended",
                  "fallback", "inserts/s", "their hits", "hits of searches", "asked"], cells)


def growth(rows):
    cells = []
    for row in rows:
        for step in row["found"]:
            cells.append([row["point"]["nodes"], row["point"]["share"], step["rows"],
                          step["pages"], percent(step["searches"]["hit_ratio"]),
                          f"{step['searches']['pages_per_query']:.0f}",
                          percent(step["inserts"]["hit_ratio"]) if "inserts" in step else "",
                          f"{step['searches']['recall']:.4f}"])
    return table(["partitions of", "with insert pages", "rows", "pages", "hits of searches",
                  "asked", "hits of inserts", "recall"], cells)


def together(rows):
    base = base_seconds(rows, search="sync", order="none", nodes=1)
    cells = []
    for row in rows:
        point = row["point"]
        cells.append(change_row([point["search"], point["order"], point["nodes"], point["share"]],
                                row["found"], base) +
                     [times(base, insert_seconds(row["found"]))])
    return table(["search", "order", "partitions of", "with insert pages", *CHANGE_HEAD, "rate"],
                 cells)


TABLES = {
    "reads": (reads, "Figures 4a, 4c, 4e, 8c. Paper: parallel 8.12 and pipelined 8.55 times sync at "
              "10%, parallel 5.14 at 50% and pipelined 10% more; miss penalty -94%; ten searches "
              "4.6 to 6.3 times; partitions and pipelined 6.6 times at 10%"),
    "inserts": (inserts, "Figure 4d. Paper: -85% time"),
    "orders": (orders, "Figures 6 and 7. Paper, hits: none 53.4% (figure 6: 22.4%), incremental "
               "pca 74.4%, k-means 86.6%, full pca 86.6%; time: full -68%, incremental pca -42%, "
               "k-means -67%; with pipelined reads pca -90%, k-means -85%; written -46%; five in "
               "flight 8 to 13.8 times the rate"),
    "pages": (pages, "Figures 8a and 8b. Paper, partitions of 64 over 1: 1.4 to 3.2 times (Deep "
              "15.8% to 51.2%); larger pages more"),
    "sizes": (sizes, "Figure 8d. Paper: 2.7 times at 100 million rows"),
    "shares": (shares, "Figures 9a to 9c. Paper: +7% pages at 90%, more inserts a second, more hits"),
    "growth": (growth, "Figure 9d. Paper: after nine tenths went in 19.1% without, 44.2% with"),
    "together": (together, "Figure 10. Paper: 7.6 times the rate, hits 43.5% to 79.1%"),
}


def page(name, rows):
    make, paper = TABLES[name]
    return f"## {name}\n\n{paper}.\n\n{make(rows)}\n"
