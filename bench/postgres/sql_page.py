"""The tables of bench/postgres/compare.py, and what the comparisons in SQL say in the same words."""
import json
import pathlib
import statistics

# farvec's kinds, and what each is compared with.
PAIRS = (("farvec", "pgvector"), ("farvec-node", "pgvector"), ("farvec", "pgvector-ivfflat"),
         ("farvec-halfvec", "pgvector-halfvec"), ("farvec-bits", "pgvector-bits"),
         ("farvec", "farvec-direct"))


def middle(values, form="{:,.0f}"):
    most, least = form.format(max(values)), form.format(min(values))
    return f"{form.format(statistics.median(values))} ({least} to {most})"


def rates(passes):
    return [1e6 / statistics.fmean(times) for times in passes]


def tails(passes):
    return [float(sorted(times)[int(0.99 * len(times))]) for times in passes]


def rows_of(contenders, options):
    """What was measured, a dictionary for each contender, recall and number of clients."""
    found = []
    for contender in contenders:
        for target in options.recalls:
            choice, passes = contender.choices.get(target), contender.times.get(target, [])
            row = {"kind": contender.kind, "target": target, "clients": 1,
                   "list": choice.list if choice else None, "shown": str(choice) if choice else "-",
                   "candidates": choice.candidates if choice else None,
                   "recall": contender.recalls.get(target), "build_seconds": contender.seconds,
                   "bytes": contender.bytes, "rates": rates(passes), "p99s_us": tails(passes), "others": 0}
            found.append(row)
            for (wanted, clients), taken in contender.many.items():
                if wanted == target:
                    found.append({**row, "clients": clients, "rates": [rate for rate, *_ in taken],
                                  "p99s_us": [float(p99) for _, p99, _ in taken],
                                  "others": sum(others for *_, others in taken)})
    return found


def pairs(rows, target, clients=1):
    """[(farvec's row, what it is compared with)] of those that were measured."""
    at = {row["kind"]: row for row in rows
          if row["target"] == target and row["clients"] == clients and row["rates"]}
    return [(at[ours], at[theirs]) for ours, theirs in PAIRS if ours in at and theirs in at]


def ratios(ours, theirs):
    """Of the rates, pass by pass."""
    return [a / b for a, b in zip(ours["rates"], theirs["rates"])]


def table(head, lines):
    every = [head, ["---"] * len(head), *lines]
    return ["| " + " | ".join(line) + " |" for line in every]


def main_table(rows):
    head = ["index", "recall wanted", "list", "recall", "searches a second", "p99, us", "build, s", "bytes"]
    return table(head, [
        [row["kind"], f"{row['target']:g}", row["shown"],
         f"{row['recall']:.4f}" if row["recall"] is not None else "not reached",
         middle(row["rates"]) if row["rates"] else "-",
         middle(row["p99s_us"]) if row["p99s_us"] else "-",
         f"{row['build_seconds']:.1f}", f"{row['bytes']:,}"] for row in rows if row["clients"] == 1])


def clients_table(rows):
    """Nothing where there was one client alone."""
    many = sorted({row["clients"] for row in rows})
    if many == [1]:
        return []
    head = ["index", "recall wanted", "clients", "searches a second", "p99, us", "answers unlike one client's"]
    return ["", *table(head, [
        [row["kind"], f"{row['target']:g}", str(row["clients"]), middle(row["rates"]),
         middle(row["p99s_us"]), f"{row['others']:,}"]
        for clients in many for row in rows if row["clients"] == clients and row["rates"]])]


def sayings(rows, targets):
    said, built = [], {}
    for target in targets:
        for clients in sorted({row["clients"] for row in rows}):
            for ours, theirs in pairs(rows, target, clients):
                many = f" with {clients} clients" if clients > 1 else ""
                said.append(f"- At {target:g} {ours['kind']} has {middle(ratios(ours, theirs), '{:.2f}')} times "
                            f"the rate of {theirs['kind']}{many}, pass by pass.{added(ours, theirs)}")
                built[ours["kind"], theirs["kind"]] = ours, theirs
    for (ours, theirs), (mine, other) in built.items():
        if theirs != "farvec-direct":
            said.append(f"- {ours} takes {mine['build_seconds'] / other['build_seconds']:.2f} of the time of "
                        f"{theirs} to build, and {mine['bytes'] / other['bytes']:.2f} of its bytes.")
    return said


def added(ours, theirs):
    """What PostgreSQL adds to a search, where the engine was asked the same without it."""
    if theirs["kind"] != "farvec-direct":
        return ""
    spent = [1e6 / mine - 1e6 / other for mine, other in zip(ours["rates"], theirs["rates"])]
    return f" PostgreSQL adds {middle(spent)} us to a search."


def note(facts, *further):
    busy = "" if facts["load"] < 2.2 else " The machine was BUSY: rates and times say little."
    return " ".join((
        f"{facts['processor']}, {facts['processors']} processors, load {facts['load']:.1f} at most at the "
        f"beginnings of passes.{busy} {facts['server']}, pgvector {facts['pgvector']}. {facts['rows']:,} rows "
        f"of `vector({facts['dimension']})`, {facts['metric']}, m {facts['m']}, ef_construction "
        f"{facts['ef_construction']}.", *further, f"Commit {facts['commit']}."))


def page(title, facts, further, *parts):
    """Markdown: what was run, on what, and the lines of the parts."""
    lines = [line for part in parts for line in part]
    return "\n".join([f"# {title} on {facts['name']}", "", "```sh", facts["command"], "```", "",
                      note(facts, *further), "", *lines, ""])


def markdown(facts, rows):
    further = (f"{facts['queries']:,} queries.",
               f"Ten rows by primary key take {facts['key_us']:.0f} us.")
    return page("Connections to PostgreSQL", facts, further, main_table(rows), clients_table(rows), [""],
                sayings(rows, facts["recalls"]))


def write(text, out, facts):
    """Prints a page, and writes OUT.md and OUT.json where there is an OUT."""
    print(text)
    if out:
        prefix = pathlib.Path(out)
        prefix.parent.mkdir(parents=True, exist_ok=True)
        prefix.with_name(prefix.name + ".json").write_text(json.dumps(facts, indent=1) + "\n")
        prefix.with_name(prefix.name + ".md").write_text(text)
