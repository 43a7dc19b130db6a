"""Dashboard and alerts (scripts/launch/monitoring) against the metrics of running daemons."""
import json
import pathlib
import re
import subprocess
import sys
import time
import unittest

import numpy as np

from daemons_test import scrape
from farvec_tool import TIMEOUT_S, DaemonTest, farvec, free_port, write_vectors

FOLDER = pathlib.Path(__file__).resolve().parents[2] / "scripts" / "launch" / "monitoring"
METRIC = re.compile(r"\bfarvec_[a-z0-9_]+")
LABEL = re.compile(r'(status|reason)=~?"([^"]+)"')


def dashboard_expressions():
    for panel in json.loads((FOLDER / "dashboard.json").read_text())["panels"]:
        for target in panel.get("targets", ()):
            yield panel["title"], target["expr"]


def promtool(*arguments, text=None):
    return subprocess.run([FOLDER / "prometheus.sh", "promtool", *map(str, arguments)], input=text,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          timeout=TIMEOUT_S, check=False)


def skip_without(program):
    version = subprocess.run([FOLDER / "prometheus.sh", program, "--version"], text=True,
                             capture_output=True, timeout=TIMEOUT_S, check=False)
    if "cannot fetch" in version.stderr:
        raise unittest.SkipTest(f"no {program}: {version.stderr.strip()}")


class Metrics(DaemonTest):
    def served(self, name, *options):
        """Names of a daemon's metrics, as Prometheus has them, with the labels in their places."""
        port, address = free_port(), f"unix:{self.folder}/{name}{len(self.addresses)}"
        self.addresses.append(address)
        self.start(name, "--listen", address, "--metrics", f"127.0.0.1:{port}", *options)
        self.await_status(address)
        self.ports[address] = port
        return scrape(port)

    def repeated(self, address, base):
        """The metrics of a node that has repeated a search exactly."""
        self.must_pass(farvec("search", "--connect", address, "--queries", base))
        until = time.monotonic() + TIMEOUT_S
        while "farvec_compute_recall" not in (metrics := scrape(self.ports[address])):
            self.assertLess(time.monotonic(), until)
            time.sleep(0.05)
        return metrics

    def test_every_metric_that_is_asked_for_exists(self):
        self.addresses, self.ports = [], {}
        base = write_vectors(self.folder / "base", self.rows(200, 8, np.float32))
        self.must_pass(self.build(base))
        collection = self.folder / "set"
        self.must_pass(farvec("collection", "create", "--collection", collection, "--metric", "l2",
                              "--like", base))
        self.folders_of_daemons.append(collection)
        metrics = dict(self.served("farvec-memory-node", "--index", self.folder / "index"))
        metrics |= self.served("farvec-compute-node", "--memory-node", self.addresses[0],
                               "--recall-sample", 1)
        metrics |= self.repeated(self.addresses[1], base)
        metrics |= self.served("farvec-compute-node", "--collection", collection)
        metrics |= self.served("farvec-compute-node", "--collection", collection, "--follow")
        names = {re.split(r"[{ ]", key)[0] for key in metrics}
        labels = {pair for key in metrics for pair in re.findall(r'(status|reason)="([^"]+)"', key)}
        asked = list(dashboard_expressions())
        self.assertGreater(len(asked), 30)
        rules = "\n".join(line for line in (FOLDER / "alerts.yml").read_text().splitlines()
                          if not line.lstrip().startswith(("#", "summary")))
        for where, expression in [*asked, ("alerts.yml", rules)]:
            wanted = set(METRIC.findall(expression))
            self.assertTrue(wanted, where)
            self.assertLessEqual(wanted, names, where)
            for label, values in LABEL.findall(expression):
                self.assertLessEqual({(label, value) for value in values.split("|")}, labels, where)
        # What they look at is what there is to see, but for what is the sum of others.
        seen = {name for _, expression in asked for name in METRIC.findall(expression)}
        self.assertGreater(len(seen & names), len(names) // 3)

    def test_dashboard_is_whole(self):
        dashboard = json.loads((FOLDER / "dashboard.json").read_text())
        places = [(panel["gridPos"]["x"], panel["gridPos"]["y"]) for panel in dashboard["panels"]]
        self.assertEqual(len(places), len(set(places)))
        numbers = [panel["id"] for panel in dashboard["panels"]]
        self.assertEqual(len(numbers), len(set(numbers)))


class Preview(DaemonTest):
    """The dashboard's own queries, asked of a Prometheus that watches daemons under a load."""

    K, LIST, SECONDS = 5, 20, 6

    def setUp(self):
        super().setUp()
        skip_without("prometheus")
        base = write_vectors(self.folder / "base", self.rows(400, 8, np.float32))
        self.queries = write_vectors(self.folder / "queries", self.rows(100, 8, np.float32))
        self.must_pass(self.build(base))
        memory, self.compute = (f"unix:{self.folder}/{name}" for name in "mc")
        ports = []
        for name, address, options in (
                ("farvec-memory-node", memory, ("--index", self.folder / "index")),
                ("farvec-compute-node", self.compute, ("--memory-node", memory))):
            ports.append(free_port())
            self.start(name, "--listen", address, "--metrics", f"127.0.0.1:{ports[-1]}", *options)
            self.await_status(address)
        self.port = ports[-1]
        targets = [f"127.0.0.1:{port}" for port in ports]
        configuration = self.folder / "prometheus.yml"
        configuration.write_text(json.dumps({
            "global": {"scrape_interval": "1s"},
            "scrape_configs": [{"job_name": "farvec", "static_configs": [{"targets": targets}]}]}))
        self.prometheus = f"127.0.0.1:{free_port()}"
        self.folders_of_daemons.append(self.folder / "series")
        self.start(FOLDER / "prometheus.sh", "prometheus", f"--config.file={configuration}",
                   f"--storage.tsdb.path={self.folder / 'series'}",
                   f"--web.listen-address={self.prometheus}")

    def preview(self, *options):
        return subprocess.run([sys.executable, FOLDER / "preview.py", f"http://{self.prometheus}", "--out",
                               self.folder / "page.png", "--minutes", "1", "--interval", "40s",
                               *options], text=True, capture_output=True, timeout=TIMEOUT_S,
                              check=False)

    def test_panels_have_what_daemons_do(self):
        refused = self.preview()
        if refused.returncode != 0:  # it may listen already
            self.assertIn("does not answer", refused.stderr)
            self.assertFalse((self.folder / "page.png").exists())
        asked = ("--connect", self.compute, "--queries", self.queries, "--k", self.K, "--list",
                 self.LIST)
        self.must_pass(farvec("bench", "service", *asked, "--rate", 50, "--seconds", self.SECONDS))
        result = self.preview("--json")
        self.assertEqual(result.returncode, 0, result.stderr)
        panels = {line["panel"]: line["last"] for line in map(json.loads, result.stdout.splitlines())}
        ((status, rate),) = panels["Queries a second, by status"].items()
        self.assertTrue(status.endswith("OK") and rate > 0, (status, rate))
        (reads,) = panels["Reads a query"].values()
        own = scrape(self.port)
        expected = own["farvec_compute_reads_total"] / own['farvec_compute_queries_total{status="OK"}']
        self.assertAlmostEqual(reads, expected, delta=0.1 * expected)
        (attached, nodes) = panels["Attached"].values()
        self.assertEqual((attached, nodes), (1, 1))
        self.assertIn(1, panels["Leases"].values())
        self.assertEqual(panels["Segments"], {})
        self.assertEqual((self.folder / "page.png").read_bytes()[1:4], b"PNG")


class Alerts(unittest.TestCase):
    def setUp(self):
        skip_without("promtool")

    def test_rules_are_sound_and_fire(self):
        for words in (("check", "rules", FOLDER / "alerts.yml"),
                      ("test", "rules", FOLDER / "alerts_test.yml")):
            result = promtool(*words)
            self.assertEqual(result.returncode, 0, result.stdout)
            self.assertIn("SUCCESS", result.stdout)

    def test_a_rule_that_asks_wrongly_is_refused(self):
        wrong = (FOLDER / "alerts.yml").read_text().replace("increase(", "increse(")
        result = promtool("check", "rules", "/dev/stdin", text=wrong)
        self.assertNotEqual(result.returncode, 0)

    def test_dashboard_expressions_are_sound(self):
        rules = [{"record": f"panel:{number}", "expr": expression.replace("$__rate_interval", "1m")}
                 for number, (_, expression) in enumerate(dashboard_expressions())]
        text = json.dumps({"groups": [{"name": "dashboard", "rules": rules}]})
        result = promtool("check", "rules", "--lint=none", "/dev/stdin", text=text)
        self.assertEqual(result.returncode, 0, result.stdout)
        self.assertIn(f"{len(rules)} rules found", result.stdout)


if __name__ == "__main__":
    unittest.main()
