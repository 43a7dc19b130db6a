"""Tables of a run: as text for the terminal and as Markdown for docs/results/."""
import statistics

# Columns of ratios: the fastest row of farvec on dram, of any layout and of CSR alone.
REFERENCES = {"best dram": None, "csr dram": "csr"}


def summarise(points):
    rates = [point.qps for point in points]
    tails = [point.p99_us for point in points if point.p99_us is not None]
    return {"qps": statistics.median(rates), "qps_min": min(rates), "qps_max": max(rates),
            "passes": len(rates), "recall": points[0].recall,
            "p99_us": statistics.median(tails) if tails else None,
            "parameters": points[0].parameters}


def fastest(rows, target, wanted):
    """The row of a target with the highest rate of those that are `wanted`, or None."""
    found = [row for row in rows if row["target"] == target and row.get("qps") and wanted(row)]
    return max(found, key=lambda row: row["qps"], default=None)


def reference(rows, target, layout):
    """farvec's fastest row on dram, of this layout if one is named."""
    return fastest(rows, target, lambda row: row["tier"] == "dram" and
                   layout in (None, row["layout"]))


def ratio(rows, target, layout, row):
    """How many times the row's QPS the reference has at the same target."""
    found = reference(rows, target, layout)
    return f"{found['qps'] / row['qps']:.2f}" if found else "-"


def verdict(rows, target, layout, at_most):
    """farvec's fastest row beside the fastest peer's, of any size or of at most farvec's bytes."""
    ours = reference(rows, target, layout)
    if not ours:
        return None
    limit = ours["bytes_per_vector"] if at_most else float("inf")
    peer = fastest(rows, target, lambda row: not row["tier"] and row["bytes_per_vector"] <= limit)
    size = f"of at most {limit:,.0f} bytes per vector" if at_most else "of any size"
    if not peer:
        return f"recall {target:.2f}: no peer {size} beside {ours['label']}"
    return (f"recall {target:.2f}: {ours['label']} has {ours['qps'] / peer['qps']:.2f} times the "
            f"rate of the fastest peer {size}, {peer['label']}")


def verdicts(rows):
    """Per target: the best layout beside the best peer, CSR beside the best that is no larger."""
    targets = sorted({row["target"] for row in rows if row["target"] is not None})
    lines = [verdict(rows, target, *which) for target in targets
             for which in ((None, False), ("csr", True))]
    return [line for line in lines if line]


def cells(rows, row):
    build = row["build_seconds"]
    size = row["bytes_per_vector"]
    head = [row["label"], "-" if row["target"] is None else f"{row['target']:.2f}"]
    tail = ["-" if size is None else f"{size:,.0f}", "-" if build is None else f"{build:,.0f}"]
    if not row.get("qps"):
        said = f"failed: {row['failure']}" if row.get("failure") else "not reached"
        return head + [said.replace("|", "/"), "-", "-", "-", "-"] + ["-"] * len(REFERENCES) + tail
    settings = " ".join(f"{name}={value}" for name, value in row["parameters"].items())
    return head + [settings, f"{row['recall']:.4f}", f"{row['qps']:,.0f}",
                   f"{row['qps_min']:,.0f}..{row['qps_max']:,.0f}",
                   "-" if row["p99_us"] is None else f"{row['p99_us']:,.0f}",
                   *(ratio(rows, row["target"], layout, row)
                     for layout in REFERENCES.values())] + tail


HEAD = ["index", "target", "parameters", "recall@k", "QPS", "min..max", "p99 us",
        *(f"{name} / this" for name in REFERENCES), "bytes per vector", "build s"]


def table(rows):
    return [HEAD] + [cells(rows, row) for row in rows]


def text(rows):
    lines = table(rows)
    widths = [max(len(line[column]) for line in lines) for column in range(len(HEAD))]
    return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip()
                     for line in lines)


def markdown(facts, rows):
    lines = table(rows)
    body = [lines[0], ["---"] * len(HEAD)] + lines[1:]
    note = (f"One thread on core {facts['core']}, k={facts['k']}, {facts['passes']} passes in "
            "turn, median with the smallest and the largest. Parameters were chosen on the first "
            "half of the queries, figures are of the second. Indexes were built on "
            f"{facts['build_threads']} cores. Sizes are of the saved index; farvec's is its "
            "region on the memory node plus its compute DRAM. Each peer runs in a process of its "
            "own. p99 is the median over passes: a peer's of queries sent one by one from Python, "
            "farvec's of the run that gave the rate, with as many in flight as its slots.")
    return "\n".join([f"# Peers on {facts['workload']}", "", "```sh", facts["command"], "```", "",
                      f"{facts['cpu']}, {facts['host']}, commit {facts['commit']}.", "", note, "",
                      *("| " + " | ".join(line) + " |" for line in body), "",
                      *(f"- {line}." for line in verdicts(rows)), ""])
