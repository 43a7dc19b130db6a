"""What a cluster search costs, counted; exact_counts.py tells how to renew the figures."""
import unittest

from exact_counts import ExactCounts, needs_deep20k, needs_fashion

# R, layout, deduplication: plain addresses are what the others are compared with.
CASES = ((1, "grouped", "on"), (8, "coupled", "on"), (8, "decoupled", "off"), (8, "grouped", "on"),
         (8, "grouped-inline", "on"))
COUNTS = ("recall", "reads_per_query", "bytes_per_query", "group_reads_per_query",
          "list_reads_per_query", "stray_reads_per_query", "distances_per_query",
          "estimates_per_query", "amplification")


class ClusterCounts(ExactCounts):
    def figures(self, clusters, data, queries, truth):
        """{"grouped, R 8, dedup on, emulated:rdma": {"probe 2": {count: value}}}: how far apart
        strays share a read depends on the device."""
        folders = {replicas: self.build("cluster", data, "--clusters", clusters, "--replicas",
                                        replicas, "--layout", "all", "--seed", 1)[0]
                   for replicas in (1, 8)}
        figures = {}
        for replicas, layout, dedup in CASES:
            lines = self.sweep(folders[replicas] / layout, queries, truth, "--probe", "2,8",
                               "--dedup", dedup, "--tier", "dram,emulated:rdma", "--slots", "1,4")
            for tier in ("dram", "emulated:rdma"):
                figures[f"{layout}, R {replicas}, dedup {dedup}, {tier}"] = self.points(
                    [line for line in lines if line["tier"] == tier], ("probe",), COUNTS)
        return figures

    @needs_fashion
    def test_fashion_mnist_10k(self):
        self.compare("cluster-fashion-mnist-10k",
                     lambda: self.figures(180, *self.fashion_mnist_10k()))

    @needs_deep20k
    def test_deep20k(self):
        self.compare("cluster-deep20k", lambda: self.figures(300, *self.deep20k()))


if __name__ == "__main__":
    unittest.main()
