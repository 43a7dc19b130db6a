#!/usr/bin/env python3
"""Searches in PostgreSQL with memory for a tenth of the index: pgvector, and farvec with a tier.

Example (root, where memory cgroups can be made):
    bench/postgres/memory.py --data data/sift1m --metric l2 --out build/sql-memory
    bench/postgres/memory.py --data data/sift1m --metric l2 --layout slotted --pool 40MB --code-bits 2

pgvector's HNSW has shared_buffers of --share of its index, and data files are opened with O_DIRECT, so
that no page cache helps. farvec has an index WITH (tier = ...) and farvec.engine_memory of as many bytes.
The whole server is in a memory cgroup of these bytes and --overhead, where one can be made; else the page
says why not. Each kind is built with all memory, in a server of its own, which is then started again with
little. Lists are the least that reach each recall on the first half of the queries; figures are of the
second half. farvec is left out, with its reason, where an index cannot have the tier.
"""
import os

import sql_page
from memory_group import MemoryGroup, NoGroup
from sql_contenders import Contender, Farvec
from sql_setup import (MEMORY_MIB, Client, argument_parser, check_numbers, enter_environment, facts_of,
                       make_client, numbers_of, prepare, run_in_folder, say, server_settings, start_server)


class FarvecOnTier(Farvec):
    def parameters(self):
        words = [super().parameters(), f"tier = '{self.options.tier}'"]
        if self.options.layout:
            words.append(f"layout = '{self.options.layout}'")
        if self.options.pool:
            words.append(f"pool = '{self.options.pool}'")
        if self.options.code_bits is not None:
            words.append(f"code_bits = {self.options.code_bits}")
        return ", ".join(words)


KINDS = {"pgvector": Contender, "farvec": FarvecOnTier}


def parse_arguments(arguments=None):
    parser = argument_parser(__doc__)
    add = parser.add_argument
    add("--queries", type=int, default=1000, help="the first queries (%(default)s)")
    add("--kinds", nargs="+", default=list(KINDS), choices=tuple(KINDS))
    add("--recalls", default="0.90,0.95,0.99", help="(%(default)s)")
    add("--share", type=float, default=10, help="percent of pgvector's index that is in memory (%(default)s)")
    add("--overhead", type=int, default=128, help="MiB that the server's own processes take (%(default)s)")
    add("--tier", default="ssd", help="of farvec's index (%(default)s)")
    add("--layout", help="of farvec's index: csr, packed, inline or slotted [csr]")
    add("--pool", help="of slotted pages, as 64MB [a tenth of the engine's memory]")
    add("--code-bits", type=int, help="of farvec's codes, which stay in memory [as many as rows need]")
    add("--k", type=int, default=10)
    add("--passes", type=int, default=5)
    options = parser.parse_args(arguments)
    options.clients = []
    options.recalls = numbers_of(parser, "--recalls", options.recalls, float)
    check_numbers(parser, options, "queries", "k", "m", "ef_construction", "passes", "overhead")
    if not 0 < options.share <= 100:
        parser.error("--share is more than 0 and at most 100")
    return options


def little(kind, options, index_bytes):
    """(settings of a server with little memory, bytes that the index may take)."""
    most = max(1 << 20, int(index_bytes * options.share / 100))
    settings = {"debug_io_direct": "data", "shared_buffers": f"{max(1, most >> 10)}kB",
                "maintenance_work_mem": "64MB", "max_connections": "20"}
    if kind == "farvec":  # its table's rows are read through a few pages
        settings |= {"shared_buffers": "8MB", "farvec.engine_memory": f"{max(1, most >> 20)}MB"}
    else:
        settings["farvec.engine_memory"] = 0
    return settings, most


class Bounded:
    """A server that is started again with little memory; `why` says why no cgroup holds it, or is ""."""

    def __init__(self, server, options):
        self.server, self.options = server, options
        self.group, self.why = None, ""

    def start(self, kind, index_bytes):
        settings, most = little(kind, self.options, index_bytes)
        every = server_settings(self.options.bin, **settings)
        self.server.stop()
        try:
            self.group = MemoryGroup(f"farvec-sql-{os.getpid()}-{kind}", most + (self.options.overhead << 20))
        except NoGroup as error:
            self.why = str(error)
            self.server.start(every)
            return
        self.group.start(lambda: self.server.start(every))

    def close(self):
        """Stops the server; answers the most bytes that it took, 0 where nobody counted."""
        peak = self.group.peak() if self.group else 0
        self.server.stop()
        if self.group:
            self.group.close()
        return peak


def measure_kind(kind, options, workload, folder, index_bytes):
    """(the contender as measured, facts); throws ServerError where its index cannot be made."""
    server, pg_config = start_server(folder, options.bin)
    bounded, loads = Bounded(server, options), []
    try:
        client = Client(make_client(pg_config, folder), server, options.k)
        contender = KINDS[kind](kind, options, workload, server, client)
        say(f"loading and building {kind}")
        contender.load()
        contender.build()
        contender.check_plan()
        say(f"choosing lists of {kind}, with {MEMORY_MIB} MiB")
        contender.choose()
        bounded.start(kind, index_bytes or contender.bytes)
        for number in range(options.passes):
            loads.append(os.getloadavg()[0])
            say(f"pass {number + 1} of {options.passes}, load {loads[-1]:.1f}")
            contender.measure()
        facts = facts_of("memory.py", options, workload, server, loads)
    finally:
        peak = bounded.close()
    return contender, {**facts, "peak": peak, "why": bounded.why}


def markdown(facts, rows):
    said = [f"- The index may take {facts['most']:,} bytes: {facts['share']:g}% of pgvector's."]
    for kind, one in facts["kinds"].items():
        if "failure" in one:
            said.append(f"- {kind} is left out: {one['failure']}")
        elif one["why"]:
            said.append(f"- No cgroup bounds {kind}'s server: {one['why']}.")
        else:
            said.append(f"- {kind}'s server took {one['peak']:,} bytes at most.")
    further = (f"{facts['queries']:,} queries.",)
    return sql_page.page("PostgreSQL with little memory", facts, further, sql_page.main_table(rows), [""], said,
                         sql_page.sayings(rows, facts["recalls"]))


def run(options, folder):
    import server as servers
    workload = prepare(options, folder)
    measured, kinds, facts, most = [], {}, None, None
    for kind in options.kinds:
        place = folder / kind
        place.mkdir()
        place.chmod(0o755)
        try:
            contender, kinds[kind] = measure_kind(kind, options, workload, place, most)
        except servers.ServerError as error:
            kinds[kind] = {"failure": str(error)}
            say(f"{kind} is left out: {error}")
            continue
        measured.append(contender)
        facts, most = facts or kinds[kind], most or contender.bytes
    if facts is None:
        raise SystemExit("error: nothing could be measured: " + "; ".join(
            one["failure"] for one in kinds.values()))
    facts = {**facts, "kinds": kinds, "share": options.share, "recalls": options.recalls,
             "queries": len(workload.queries), "most": little("pgvector", options, most)[1],
             "load": max(one["load"] for one in kinds.values() if "load" in one)}
    return facts, sql_page.rows_of(measured, options)


def main():
    options = parse_arguments()
    enter_environment(__file__)
    facts, rows = run_in_folder(run, options)
    sql_page.write(markdown(facts, rows), options.out, {**facts, "table": rows})


if __name__ == "__main__":
    main()
