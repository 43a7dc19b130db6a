"""Options that would be ignored are refused by name before anything is loaded, and sizes and shares
are read alike everywhere."""
import subprocess
import unittest

from farvec_tool import BIN, ToolTest, farvec, write_vectors

START_S = 20  # of a daemon that should end at once
NOWHERE = "/nonexistent/queries.fbin"


class Options(ToolTest):
    def setUp(self):
        super().setUp()
        self.base = write_vectors(self.folder / "base", self.rows(300))

    def graph(self, *options, out="index"):
        self.must_pass(self.build(self.base, *options, out=out))
        return self.folder / out

    def clusters(self):
        self.must_pass(farvec("build", "cluster", "--data", self.base, "--metric", "l2",
                              "--cluster-bytes", "0.25KiB", "--quiet", "--out",
                              self.folder / "clusters"))
        return self.folder / "clusters"

    def refuse(self, command, index, option, value, *more, words=()):
        """Nothing has been loaded: the queries are not even there."""
        truth = ("--groundtruth", NOWHERE) if command == "sweep" else ()
        result = self.must_refuse(farvec(command, "--index", index, "--queries", NOWHERE, *truth,
                                         option, value, *more), option, *words)
        self.assertNotIn("nonexistent", result.stderr, f"{command} {option} {value}")

    def test_options_of_the_other_kind_of_index(self):
        graph, clusters = self.graph(), self.clusters()
        for command in ("search", "sweep"):
            for option, value in (("--probe", 4), ("--prune-ratio", 2)):
                self.refuse(command, graph, option, value, words=("cluster", "graph"))
            for option, value in (("--list", 20), ("--width", 2)):
                self.refuse(command, clusters, option, value, words=("graph", "clusters"))
        self.refuse("sweep", clusters, "--line-ns", 5, words=("graph", "clusters"))
        for option, value in (("--dedup", "on"), ("--merge-gap", 64)):
            self.refuse("sweep", graph, option, value, words=("cluster",))
        self.refuse("search", graph, "--probe-counts", "x.json", words=("cluster",))

    def test_options_of_other_tiers(self):
        index, slotted = self.graph(), self.graph("--layout", "slotted", out="slotted")
        for command in ("search", "sweep"):
            self.refuse(command, index, "--memory-budget", "1MB", words=("--tier ssd", "dram"))
            self.refuse(command, index, "--memory-budget", "1MB", "--tier", "emulated:cxl")
            for option, value in (("--search", "bogus"), ("--pool", "page"), ("--prefetch", "on"),
                                  ("--page-search", "on"), ("--rerank", 20)):
                self.refuse(command, index, option, value, words=("slotted",))
                self.refuse(command, index, option, value, "--tier", "ssd", words=("slotted",))
            self.refuse(command, index, "--tls-ca", "ca.pem", words=("memory nodes", "dram"))
        self.refuse("sweep", index, "--cache-bytes", "1MB", "--tier", "dram,shm,emulated:cxl")
        self.refuse("sweep", slotted, "--cache-bytes", "1MB", "--tier", "ssd")
        self.refuse("sweep", slotted, "--line-ns", 5, "--tier", "ssd", words=("slotted",))
        self.refuse("sweep", self.clusters(), "--merge-gap", "1KiB", words=("dram",))
        self.must_refuse(farvec("search", "--index", index, "--queries", NOWHERE, "--partial"),
                         "--partial", "several memory nodes")
        self.must_refuse(farvec("search", "--index", slotted, "--queries", self.base, "--tier",
                                "ssd", "--search", "bogus"), "bogus")

    def test_a_compute_node_is_asked_without_local_options(self):
        for option, value in (("--tier", "dram"), ("--threads", 1), ("--slots", 4),
                              ("--memory-budget", "1MB"), ("--pool", "page")):
            self.must_refuse(farvec("search", "--connect", "unix:/nonexistent", "--queries",
                                    self.base, option, value), option, "--index")

    def test_builds(self):
        for option, value in (("--payload", "code"), ("--bits", 4), ("--page-bytes", 4096),
                              ("--placement", "id"), ("--rerank", "off"), ("--entry-vertices", 9)):
            self.must_refuse_build(self.base, option, "--layout slotted", options=(option, value))
        for options in (("--code-bits", 2, "--payload", "code"), ("--code-bits", 2), ("--bits", 4),
                        ("--bits", 4, "--payload", "vector"),
                        ("--rerank", "on", "--payload", "vector")):
            self.must_refuse_build(self.base, options[0], "--payload",
                                   options=("--layout", "slotted", *options))

    def test_advice_benches_and_placements(self):
        for option, value in (("--width", 2), ("--code-bits", 2)):
            self.must_refuse(farvec("advise", "--data", NOWHERE, "--queries", NOWHERE, "--device",
                                    "rdma", "--degree", "none", option, value), option, "--degree")
        self.must_refuse(farvec("advise", "--data", NOWHERE, "--queries", NOWHERE, "--device",
                                "rdma", "--cluster-rows", "none", "--layout", "coupled"),
                         "--layout", "--cluster-rows")
        bench = ("bench", "transport", "--tier")
        self.must_refuse(farvec(*bench, "dram", "--signal", "all"), "--signal", "verbs")
        self.must_refuse(farvec(*bench, "shm", "--doorbell", "read"), "--doorbell", "verbs")
        self.must_refuse(farvec(*bench, f"file:{self.base}", "--bytes", "1MB"), "--bytes", "dram")
        self.must_refuse(farvec(*bench, "dram", "--tls-key", "key.pem"), "--tls-key", "verbs")
        self.must_refuse(farvec("bench", "disk", "--path", self.base, "--bytes", "1MB"), "--bytes",
                         "folder")
        self.must_refuse(farvec("place", "--index", self.graph(), "--nodes", 1, "--extent-bytes",
                                "16MiB"), "--extent-bytes", "--nodes")

    def test_daemons(self):
        def refuse(daemon, *options, words):
            command = [str(BIN / daemon), *map(str, options)]
            try:
                result = subprocess.run(command, text=True, check=False, capture_output=True,
                                        timeout=START_S)
            except subprocess.TimeoutExpired:
                self.fail(f"{command} serves")
            self.must_refuse(result, *words)

        index = self.graph()
        compute = ("farvec-compute-node", "--listen", f"unix:{self.folder}/c", "--index", index)
        refuse(*compute, "--cache-bytes", "64MB", words=("--cache-bytes", "dram"))
        refuse(*compute, "--cache-bytes", "64QB", "--tier", "ssd", words=("--cache-bytes", "64QB"))
        refuse(*compute, "--partial", words=("--partial", "--memory-node"))
        refuse(*compute, "--node-timeout-ms", 9, words=("--node-timeout-ms", "--memory-node"))
        for option in ("--max-probe", "--default-probe"):
            refuse(*compute, option, 9, words=(option, "clusters", "a graph"))
        compute = (*compute[:-1], self.clusters())
        for option in ("--max-list", "--max-width"):
            refuse(*compute, option, 9, words=(option, "graphs", "clusters"))
        memory = ("farvec-memory-node", "--listen", f"unix:{self.folder}/m", "--index", index)
        refuse(*memory, "--backing-path", "x", words=("--backing-path", "--backing is dram"))
        refuse(*memory, "--rdma-port", 9, words=("--rdma-port", "--rdma"))
        refuse(*memory, "--publisher", "me", words=("--publisher", "--tls-cert"))

    def test_sizes_and_shares_are_read_alike(self):
        index = self.graph()
        search = ("search", "--index", index, "--queries", self.base, "--tier", "ssd", "--slots", 1,
                  "--threads", 1, "--memory-budget")
        for size in ("64MB", "64MiB", "0.5GiB", "67108864", "67108864B"):
            self.must_pass(farvec(*search, size))
        for size in ("101%", "0%", "-5%", "1000%", "1PB", "1.5", "lots"):
            self.must_refuse(farvec(*search, size), "--memory-budget", size)
        self.must_pass(farvec("bench", "transport", "--payload", "64,4KiB", "--inflight", 1,
                              "--bytes", "1MB", "--passes", 1, "--pass-ms", 1))
        self.must_pass(farvec("place", "--index", index, "--nodes", 2, "--extent-bytes", "4KiB"))


if __name__ == "__main__":
    unittest.main()
