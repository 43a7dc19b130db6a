#!/usr/bin/env python3
"""Searches with a condition in PostgreSQL: farvec with the column in its index, pgvector that scans on.

Example:
    bench/postgres/where.py --data data/sift1m --metric l2 --rows 100000 --out build/sql-where

Each row has a number from 0 to 999, which says nothing of its vector, and statements ask for the nearest
rows WHERE this number is small: 50, 10, 1 and 0.1% of the rows. farvec's index has the column after the
vector. pgvector's HNSW goes on until the statement has its rows (hnsw.iterative_scan, in strict and in
relaxed order, with no bound that these rows reach); `pgvector-off` does not go on. Both tables have a
B-tree of the column too. Lists are the least that reach --recall on the first half of the queries, for
each condition; figures are of the second half. At the end the same statement runs with a larger LIMIT on
each plan there is, and the numbers of rows are compared.
"""
import dataclasses
import os
import statistics

import sql_page
from sql_contenders import Contender, Farvec
from sql_setup import (Client, argument_parser, check_numbers, enter_environment, facts_of,
                       load_rows, make_client, numbers_of, prepare, run_in_folder, say, start_server)

BUCKETS = 1000
BUCKET = "((id::bigint * 7919 + 13) % 1000)::int"
MOST_COUNTED = 3000  # rows of a statement whose plans are compared
COUNTED_QUERIES = 3
# What leaves the planner one way.
PLANS = {"index": {"enable_seqscan": "off", "enable_bitmapscan": "off", "enable_sort": "off"},
         "seq scan": {"enable_indexscan": "off", "enable_bitmapscan": "off"},
         "bitmap": {"enable_indexscan": "off", "enable_seqscan": "off"}}
NODES = {"index": "Index Scan using {table}_v ", "seq scan": "Seq Scan on {table}",
         "bitmap": "Bitmap Heap Scan on {table}"}


def bucket_of(ids):
    return (ids * 7919 + 13) % BUCKETS


def condition(share):
    """The WHERE that `share` percent of the rows meet."""
    return f" WHERE bucket < {round(share * BUCKETS / 100)}"


class Filtered:
    """What both have: a table with the column, and a choice for each share of the rows."""

    def load(self):
        self.server.ask(f"CREATE TABLE {self.table} AS SELECT id, v, {BUCKET} AS bucket FROM items ORDER BY id",
                        f"ALTER TABLE {self.table} ADD PRIMARY KEY (id)",
                        f"CREATE INDEX ON {self.table} (bucket)", f"VACUUM ANALYZE {self.table}", "CHECKPOINT")

    def settings(self, choice):
        return {**super().settings(choice), **PLANS["index"], "work_mem": "256MB"}

    def find_where(self, half, choice, share):
        which = self.workload.halves()[half]
        return self.client.ask(self.statement(choice, condition(share)), self.options.query_file, which, 1,
                               self.settings(choice))

    def choose_where(self, share, truth):
        import measure
        self.check_plan(condition(share))
        known = {}

        def recall_of(length):
            if length not in known:
                found = self.find_where(0, self.choice(length, 1.0), share)
                known[length] = truth.recall(found.ids, truth.halves()[0], self.options.k)
            return known[length]

        least = measure.least_ef(recall_of, self.options.recall, self.options.k)
        self.choices[share] = self.choice(least or measure.MOST_EF, 1.0)
        return least is not None

    def measure_where(self, share, truth):
        found = self.find_where(1, self.choices[share], share)
        self.recalls[share] = truth.recall(found.ids, truth.halves()[1], self.options.k)
        self.times.setdefault(share, []).append(found.times)
        self.given[share] = float((found.ids >= 0).sum(axis=1).mean())

    def count(self, share, plan, query, most):
        """How many rows a statement for `most` gives on a plan; None where there is no such plan."""
        asked = f"(SELECT v FROM items WHERE id = {query})"
        settings = {**super().settings(self.choice(100, 1.0)), "enable_seqscan": "on", **PLANS[plan],
                    "work_mem": "256MB"}
        statement = (f"SELECT id FROM {self.table}{condition(share)} ORDER BY {self.form.ordered(asked)} "
                     f"LIMIT {most}")
        explained, _ = self.server.ask(f"EXPLAIN {statement}", settings=settings)
        if NODES[plan].format(table=self.table) not in explained:
            return None
        return int(self.server.ask(f"SELECT count(*) FROM ({statement}) c", settings=settings)[0])


class FarvecFiltered(Filtered, Farvec):
    def columns(self):
        return f"{super().columns()}, bucket"


class Pgvector(Filtered, Contender):
    """Modes share one table: the first of them makes it."""

    mode, owner = "strict_order", None

    def __init__(self, kind, options, workload, server, client):
        super().__init__(kind, options, workload, server, client)
        self.table = "items_pgvector"

    @property
    def scans(self):
        return {"hnsw.iterative_scan": self.mode, "hnsw.max_scan_tuples": 2147483647,
                "hnsw.scan_mem_multiplier": 4}

    def load(self):
        if self.server.ask("SELECT to_regclass('items_pgvector') IS NULL")[0] == "t":
            super().load()

    def build(self):
        Pgvector.owner = Pgvector.owner or self
        if Pgvector.owner is self:
            super().build()
        self.seconds, self.bytes = Pgvector.owner.seconds, Pgvector.owner.bytes


class Relaxed(Pgvector):
    mode = "relaxed_order"


class NotOn(Pgvector):
    mode = "off"


KINDS = {"farvec": FarvecFiltered, "pgvector-strict": Pgvector, "pgvector-relaxed": Relaxed,
         "pgvector-off": NotOn}


def parse_arguments(arguments=None):
    parser = argument_parser(__doc__)
    add = parser.add_argument
    add("--queries", type=int, default=200, help="the first queries (%(default)s)")
    add("--kinds", nargs="+", default=["farvec", "pgvector-strict", "pgvector-relaxed"], choices=tuple(KINDS))
    add("--shares", default="50,10,1,0.1", help="percent of the rows that meet the condition (%(default)s)")
    add("--recall", type=float, default=0.95)
    add("--k", type=int, default=10)
    add("--passes", type=int, default=5)
    options = parser.parse_args(arguments)
    options.clients = []
    options.shares = numbers_of(parser, "--shares", options.shares, float)
    check_numbers(parser, options, "queries", "k", "m", "ef_construction", "passes")
    if not all(0.1 <= share <= 100 for share in options.shares):
        parser.error("--shares are 0.1 to 100")
    return options


def truth_of(options, folder, workload, share):
    """The Workload with the nearest neighbours among the rows that meet the condition."""
    import bits
    import numpy as np
    from vectors import read_neighbour_ids
    ids = np.arange(workload.rows)
    ids = ids[bucket_of(ids) < round(share * BUCKETS / 100)]
    if len(ids) < options.k:
        raise SystemExit(f"error: {share:g}% of {workload.rows:,} rows are {len(ids)}, and {options.k} are wanted")
    rows, out = folder / f"rows-{share:g}.fbin", folder / f"gt-{share:g}.ibin"
    bits.write_floats(rows, workload.base_file[ids])
    bits.call(f"{options.bin}/farvec", "dataset", "groundtruth", "--data", rows, "--queries",
              options.query_file, "--metric", options.metric, "--k", options.k, "--out", out)
    rows.unlink()
    return dataclasses.replace(workload, neighbours=ids[np.asarray(read_neighbour_ids(out))])


def compare_plans(contender, share, rows):
    """{plan: rows}, each the same for some queries, or the counts of each."""
    import numpy as np
    matches = int((bucket_of(np.arange(rows)) < round(share * BUCKETS / 100)).sum())
    most = min(matches + 10, MOST_COUNTED)
    found = {}
    for plan in PLANS:
        counts = {contender.count(share, plan, query, most) for query in range(COUNTED_QUERIES)}
        found[plan] = sorted(count for count in counts if count is not None)
    return {"share": share, "kind": contender.kind, "wanted": min(matches, most), **found}


def rows_of(contenders, options):
    return [{"kind": contender.kind, "share": share, "list": contender.choices[share].list,
             "recall": contender.recalls[share], "given": contender.given[share],
             "medians_us": [float(statistics.median(times)) for times in contender.times[share]],
             "p99s_us": sql_page.tails(contender.times[share]), "build_seconds": contender.seconds,
             "bytes": contender.bytes} for share in options.shares for contender in contenders]


def markdown(facts, rows, plans):
    lines = sql_page.table(
        ["rows that match", "index", "list", "recall", "rows given", "median, us", "p99, us"],
        [[f"{row['share']:g}%", row["kind"], str(row["list"]), f"{row['recall']:.4f}", f"{row['given']:.2f}",
          sql_page.middle(row["medians_us"]), sql_page.middle(row["p99s_us"])] for row in rows])
    counted = sql_page.table(
        ["rows that match", "index", "rows there are", *PLANS],
        [[f"{plan['share']:g}%", plan["kind"], f"{plan['wanted']:,}",
          *(" or ".join(f"{count:,}" for count in plan[name]) or "no such plan" for name in PLANS)]
         for plan in plans])
    further = (f"{facts['queries']:,} queries for {facts['k']} rows, recall {facts['recall']:g} wanted.",)
    return sql_page.page("Conditions in PostgreSQL", facts, further, lines,
                         ["", f"Rows that a statement for up to {MOST_COUNTED:,} gives, by its plan:", ""],
                         counted, [""], differences(plans))


def differences(plans):
    """A line for each index whose number of rows depends on the plan."""
    return [f"- With {plan['kind']} the number of rows at {plan['share']:g}% DEPENDS on the plan."
            for plan in plans if len({count for name in PLANS for count in plan[name]}) > 1]


def run(options, folder):
    workload = prepare(options, folder)
    server, pg_config = start_server(folder, options.bin)
    try:
        client = Client(make_client(pg_config, folder), server, options.k)
        load_rows(server, "items", workload.base)
        contenders = [KINDS[kind](kind, options, workload, server, client) for kind in options.kinds]
        truths = {share: truth_of(options, folder, workload, share) for share in options.shares}
        for contender in contenders:
            contender.given = {}
            say(f"loading and building {contender.kind}")
            contender.load()
            contender.build()
            for share in options.shares:
                if not contender.choose_where(share, truths[share]):
                    say(f"{contender.kind} does not reach {options.recall:g} at {share:g}%")
        loads = []
        for number in range(options.passes):
            loads.append(os.getloadavg()[0])
            say(f"pass {number + 1} of {options.passes}, load {loads[-1]:.1f}")
            for contender in contenders:
                for share in options.shares:
                    contender.measure_where(share, truths[share])
        say("comparing plans")
        plans = [compare_plans(contender, share, workload.rows)
                 for share in options.shares for contender in contenders]
        facts = facts_of("where.py", options, workload, server, loads)
    finally:
        server.stop()
    facts |= {"queries": len(workload.queries), "k": options.k, "recall": options.recall, "plans": plans}
    return facts, rows_of(contenders, options)


def main():
    options = parse_arguments()
    enter_environment(__file__)
    facts, rows = run_in_folder(run, options)
    sql_page.write(markdown(facts, rows, facts["plans"]), options.out, {**facts, "table": rows})


if __name__ == "__main__":
    main()
