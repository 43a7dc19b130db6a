#!/usr/bin/env python3
"""Connections to PostgreSQL: farvec's indexes beside pgvector's, in one server, at equal recall.

Example:
    bench/postgres/compare.py --data data/sift1m --metric l2 --rows 100000 --out build/sql-sift
    bench/postgres/compare.py --data data/text768 --metric cosine --recalls 0.99 --out build/sql-text
    bench/postgres/compare.py --data data/sift1m --metric l2 --clients 1,8,32,128 --kinds pgvector farvec

The server is PostgreSQL 18 with pgvector 0.8.5 from PyPI, in a folder of its own, and the extension is
made for it. Each index has a table of its own with the same rows. Everything is in memory: the server's
buffer is larger than tables and indexes. The client is connections over a Unix socket, with a prepared
statement and binary parameters (one_connection.c, which needs a C compiler and libpq). ef_search,
ivfflat.probes and farvec.search_list are the least that reach each recall on the first half of the
queries; figures are of the second half, in passes in turn.

Beside them stand ten rows that are fetched by primary key, and the same searches of farvec's index asked
of the engine without PostgreSQL (`farvec-direct`) and of a compute node (`farvec-node`). `--kinds` says
what is measured: `-halfvec` is an index on half floats, `-bits` one on signs whose candidates the whole
vectors rank again. where.py, changes.py and memory.py beside this script measure the rest.
"""
import os
import statistics

from sql_contenders import KINDS
from sql_direct import FarvecDirect
from sql_page import markdown, rows_of, write
from sql_setup import (Client, argument_parser, check_numbers, enter_environment, facts_of, make_client,
                       numbers_of, prepare, run_in_folder, say, start_server)

EVERY = {**KINDS, "farvec-direct": FarvecDirect}
USUAL = ("pgvector", "farvec", "farvec-direct")


def parse_arguments(arguments=None):
    parser = argument_parser(__doc__)
    add = parser.add_argument
    add("--queries", type=int, default=1000, help="the first queries (%(default)s)")
    add("--kinds", nargs="+", default=list(USUAL), choices=tuple(EVERY))
    add("--recalls", default="0.90,0.95,0.99", help="(%(default)s)")
    add("--k", type=int, default=10)
    add("--clients", default="1", help="connections that ask at a time, as 1,8,32,128 (%(default)s)")
    add("--passes", type=int, default=5)
    add("--core", type=int, help="server and client share this processor [all of them]")
    options = parser.parse_args(arguments)
    options.recalls = numbers_of(parser, "--recalls", options.recalls, float)
    options.clients = numbers_of(parser, "--clients", options.clients, int)
    check_numbers(parser, options, "queries", "k", "m", "ef_construction", "passes")
    if min(options.clients) < 1 or max(options.clients) > 1000:
        parser.error("--clients are 1 to 1000")
    return options


def measure_all(options, contenders, client):
    """Microseconds of ten rows by key, and the loads at the beginnings of the passes."""
    for contender in contenders:
        say(f"loading and building {contender.kind}")
        contender.load()
        contender.build()
        contender.check_plan()
        say(f"choosing lists of {contender.kind}: built in {contender.seconds:.1f} s")
        contender.choose()
    loads, keys = [], []
    for number in range(options.passes):
        loads.append(os.getloadavg()[0])
        say(f"pass {number + 1} of {options.passes}, load {loads[-1]:.1f}")
        answers = client.ask(f"SELECT id FROM {contenders[0].table} WHERE id = ANY (ARRAY(SELECT $1::int + "
                             "i * 7 FROM generate_series(0, 9) i))", "-", range(1, 1001))
        keys.append(float(statistics.median(answers.times)))
        for contender in contenders:
            contender.measure()
    return statistics.median(keys), loads


def run(options, folder):
    workload = prepare(options, folder)
    if options.core is not None:
        os.sched_setaffinity(0, {options.core})
    server, pg_config = start_server(folder, options.bin, max_connections=max(options.clients) + 40)
    contenders = []
    try:
        client = Client(make_client(pg_config, folder), server, options.k)
        for kind in options.kinds:
            contenders.append(EVERY[kind](kind, options, workload, server, client))
        FarvecDirect.join(contenders)
        key_us, loads = measure_all(options, contenders, client)
        facts = facts_of("compare.py", options, workload, server, loads)
    finally:
        server.stop()
        for contender in contenders:
            contender.close()
    facts |= {"queries": len(workload.queries), "recalls": options.recalls, "k": options.k,
              "passes": options.passes, "key_us": key_us}
    return facts, rows_of(contenders, options)


def main():
    options = parse_arguments()
    enter_environment(__file__)
    facts, rows = run_in_folder(run, options)
    write(markdown(facts, rows), options.out, {**facts, "table": rows})


if __name__ == "__main__":
    main()
