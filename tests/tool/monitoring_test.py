"""Dashboard and alerts (scripts/launch/monitoring) against the metrics of running daemons."""
import json
import pathlib
import re
import subprocess
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
    return subprocess.run([FOLDER / "promtool.sh", *map(str, arguments)], input=text,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          timeout=TIMEOUT_S, check=False)


class Metrics(DaemonTest):
    def served(self, name, *options):
        """Names of a daemon's metrics, as Prometheus has them, with the labels in their places."""
        port, address = free_port(), f"unix:{self.folder}/{name}{len(self.addresses)}"
        self.addresses.append(address)
        self.start(name, "--listen", address, "--metrics", f"127.0.0.1:{port}", *options)
        self.await_status(address)
        return scrape(port)

    def test_every_metric_that_is_asked_for_exists(self):
        self.addresses = []
        base = write_vectors(self.folder / "base", self.rows(200, 8, np.float32))
        self.must_pass(self.build(base))
        collection = self.folder / "set"
        self.must_pass(farvec("collection", "create", "--collection", collection, "--metric", "l2",
                              "--like", base))
        self.folders_of_daemons.append(collection)
        metrics = dict(self.served("farvec-memory-node", "--index", self.folder / "index"))
        metrics |= self.served("farvec-compute-node", "--memory-node", self.addresses[0])
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


class Alerts(unittest.TestCase):
    def setUp(self):
        version = promtool("--version")
        if "cannot fetch" in version.stdout:
            self.skipTest(f"no promtool: {version.stdout.strip()}")

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
