#!/usr/bin/env python3
"""Changes of a table in PostgreSQL: without an index of its vectors, with farvec's, and with pgvector's.

Example:
    bench/postgres/changes.py --data data/sift1m --metric l2 --rows 1000000 --out build/sql-changes

Each kind has a table of its own with the same rows. farvec-filter's index has a column of numbers as a
filter. In passes in turn: an update of another column than the vector, one of that filter, an INSERT of
many rows in one statement, INSERTs of single rows, each a transaction, and
VACUUM after a tenth of the rows is deleted. Figures are medians of the passes; each pass changes other
rows. Commits are written to the disk (fsync). Sizes are of the table with its TOAST, and of the index of
vectors, before and after each step.
"""
import math
import os
import statistics

import sql_page
from sql_contenders import Contender, Farvec
from sql_setup import (Client, argument_parser, check_numbers, enter_environment, facts_of, load_rows,
                       make_client, prepare, run_in_folder, say, start_server)

STEPS = ("update", "update filter", "insert many", "insert single", "vacuum")
TENTHS = 10


class Changed:
    """What the kinds have in common. Timed steps answer seconds."""

    def load(self):
        self.server.ask(f"CREATE TABLE {self.table} AS SELECT id, v, 0 AS note, 0 AS shelf FROM items ORDER BY id",
                        f"ALTER TABLE {self.table} ADD PRIMARY KEY (id)", f"VACUUM ANALYZE {self.table}",
                        "CHECKPOINT")

    def timed(self, statement):
        """By the server's clock: to start a client takes as long as some of the statements."""
        now = "SELECT extract(epoch FROM clock_timestamp())"
        began, *_, ended = self.server.ask(now, statement, now)[0].splitlines()
        return float(ended) - float(began)

    def update(self, number, column="note"):
        every = max(1, self.workload.rows // self.options.updates)
        return self.timed(f"UPDATE {self.table} SET {column} = {column} + 1 WHERE id % {every} = {number % every} "
                          f"AND id < {self.workload.rows}")

    def update_filter(self, number):
        return self.update(number, "shelf")

    def first_of(self, number):
        """The first id that a pass inserts: many, then single ones."""
        return self.workload.rows + number * (self.options.many + self.options.single)

    def insert_many(self, number):
        first = self.first_of(number)
        return self.timed(f"INSERT INTO {self.table} SELECT id, v, 0, 0 FROM fresh WHERE id >= {first} "
                          f"AND id < {first + self.options.many}")

    def insert_single(self, number):
        first = self.first_of(number) + self.options.many
        found = self.client.ask(
            f"INSERT INTO {self.table} SELECT id, v, 0, 0 FROM fresh WHERE id = $1::int RETURNING id", "-",
            range(first, first + self.options.single))
        return found.seconds

    def vacuum(self, number):
        self.server.ask(f"DELETE FROM {self.table} WHERE id % {TENTHS} = {number % TENTHS} "
                        f"AND id < {self.workload.rows}")
        return self.timed(f"VACUUM {self.table}")

    def sizes(self):
        table = int(self.server.ask(f"SELECT pg_table_size('{self.table}')")[0])
        return {"table": table, "index": self.index_bytes()}

    def step(self, name, number):
        before = self.sizes()
        seconds = getattr(self, name.replace(" ", "_"))(number)
        self.measured.setdefault(name, []).append({"seconds": seconds, "before": before, "after": self.sizes()})


class Without(Changed, Contender):
    def build(self):
        self.seconds = self.bytes = 0

    def index_bytes(self):
        return 0


class Pgvector(Changed, Contender):
    pass


class FarvecChanged(Changed, Farvec):
    pass


class FarvecFilter(FarvecChanged):
    def columns(self):
        return super().columns() + ", shelf"


KINDS = {"without": Without, "farvec": FarvecChanged, "farvec-filter": FarvecFilter, "pgvector": Pgvector}


def parse_arguments(arguments=None):
    parser = argument_parser(__doc__)
    add = parser.add_argument
    add("--kinds", nargs="+", default=list(KINDS), choices=tuple(KINDS))
    add("--steps", nargs="+", default=list(STEPS), choices=STEPS)
    add("--updates", type=int, default=10_000, help="rows of an update (%(default)s)")
    add("--many", type=int, default=10_000, help="rows of one INSERT (%(default)s)")
    add("--single", type=int, default=500, help="INSERTs of one row (%(default)s)")
    add("--passes", type=int, default=3, help="at most 10: each deletes a tenth of its own (%(default)s)")
    options = parser.parse_args(arguments)
    options.k, options.clients = 10, []
    check_numbers(parser, options, "updates", "many", "single", "passes", "m", "ef_construction")
    if options.passes > TENTHS:
        parser.error(f"--passes are at most {TENTHS}")
    return options


def fresh_rows(options, workload):
    """The rows that are inserted: those of the file after the table's, or else the table's own, moved a
    little."""
    import bits
    import numpy as np
    from vectors import read_vectors
    wanted = options.passes * (options.many + options.single)
    base = read_vectors(bits.file_of(options.data, "base"))
    further = np.asarray(base[workload.rows:workload.rows + wanted], np.float32)
    lacking = wanted - len(further)
    again = np.resize(workload.base, (lacking, workload.base.shape[1])) * np.float32(1 + 1 / 1024)
    return np.concatenate([further, again + np.float32(1 / 1024)]) if lacking else further


def load_all(options, workload, contenders):
    server = contenders[0].server
    load_rows(server, "items", workload.base)
    load_rows(server, "fresh", fresh_rows(options, workload), workload.rows)
    for contender in contenders:
        say(f"loading and building {contender.kind}")
        contender.measured = {}
        contender.load()
        contender.build()


def rows_of(contenders, options):
    return [{"kind": contender.kind, "step": step, "seconds": [one["seconds"] for one in contender.measured[step]],
             "before": contender.measured[step][0]["before"], "after": contender.measured[step][-1]["after"],
             "passes": contender.measured[step]} for step in options.steps for contender in contenders]


def counted(step, facts):
    """What a step changes, in words."""
    return {"update": f"another column of {facts['updates']:,} rows",
            "update filter": f"the filter of {facts['updates']:,} rows", "insert many": f"{facts['many']:,} rows",
            "insert single": f"{facts['single']:,} times one row",
            "vacuum": f"after {facts['rows'] // TENTHS:,} deletions"}[step]


def sayings(rows):
    """farvec's seconds over those of the others, by their medians."""
    at = {(row["step"], row["kind"]): statistics.median(row["seconds"]) for row in rows}
    return [f"- {step}: farvec takes {at[step, 'farvec'] / seconds:.2f} of the time "
            f"{'with pgvector' if kind == 'pgvector' else 'without an index'}."
            for (step, kind), seconds in at.items()
            if kind != "farvec" and (step, "farvec") in at and seconds > 0 and not math.isnan(seconds)]


def markdown(facts, rows):
    lines = sql_page.table(
        ["step", "what", "index", "ms", "table before", "table after", "index before", "index after"],
        [[row["step"], counted(row["step"], facts), row["kind"],
          sql_page.middle([1000 * value for value in row["seconds"]]),
          *(f"{row[when][what]:,}" for what in ("table", "index") for when in ("before", "after"))]
         for row in rows])
    further = (f"Medians of {facts['passes']} passes; sizes are before the first and after the last.",)
    return sql_page.page("Changes in PostgreSQL", facts, further, lines, [""], sayings(rows))


def run(options, folder):
    workload = prepare(options, folder, queries=2)
    server, pg_config = start_server(folder, options.bin, fsync="on", max_wal_size="16GB")
    try:
        client = Client(make_client(pg_config, folder), server, 1)
        contenders = [KINDS[kind](kind, options, workload, server, client) for kind in options.kinds]
        load_all(options, workload, contenders)
        loads = []
        for number in range(options.passes):
            loads.append(os.getloadavg()[0])
            say(f"pass {number + 1} of {options.passes}, load {loads[-1]:.1f}")
            for step in options.steps:
                for contender in contenders:
                    contender.step(step, number)
                    server.ask("CHECKPOINT")
        facts = facts_of("changes.py", options, workload, server, loads)
    finally:
        server.stop()
    facts |= {name: getattr(options, name) for name in ("updates", "many", "single", "passes")}
    return facts, rows_of(contenders, options)


def main():
    options = parse_arguments()
    enter_environment(__file__)
    facts, rows = run_in_folder(run, options)
    sql_page.write(markdown(facts, rows), options.out, {**facts, "table": rows})


if __name__ == "__main__":
    main()
