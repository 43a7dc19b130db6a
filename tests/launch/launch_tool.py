"""Runs launch.sh on a small index: what the tests of this folder share."""
import json
import os
import pathlib
import subprocess

from farvec_tool import BIN, ToolTest, farvec, free_port, write_vectors

ROOT = pathlib.Path(__file__).parents[2]
TIMEOUT_S = 200
LISTS = [10, 20]


def launch(action, config, *arguments, prefix=(), **options):
    """The finished launch.sh; PREFIX is a command that runs it somewhere."""
    command = [*prefix, ROOT / "scripts/launch/launch.sh", action, "--config", config, *arguments]
    return subprocess.run([str(word) for word in command], text=True, capture_output=True,
                          timeout=TIMEOUT_S, check=False, **options)


def toml(tables):
    """TOML of {"": {key: value}, table: {...}, "[node]": [{...}, ...]}."""
    lines = []
    for name, values in tables.items():
        for entry in values if isinstance(values, list) else [values]:
            lines += [f"[{name}]"] if name else []
            lines += [f"{key} = {json.dumps(value)}" for key, value in entry.items()]
    return "\n".join(lines) + "\n"


def processes_with(text):
    """Command lines, of all processes that run, which hold TEXT."""
    found = []
    for folder in pathlib.Path("/proc").iterdir():
        try:
            words = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode()
        except OSError:
            continue
        if text in words and folder.name not in (str(os.getpid()), "self"):
            found.append(words)
    return found


class LaunchTest(ToolTest):
    """An index with its queries, and a launch file of two memory and two compute nodes."""

    def setUp(self):
        super().setUp()
        base = write_vectors(self.folder / "base", self.rows(600))
        queries = write_vectors(self.folder / "query", self.rows(40))
        truth = self.folder / "truth.ibin"
        self.must_pass(self.build(base))
        self.must_pass(farvec("dataset", "groundtruth", "--data", base, "--queries", queries,
                              "--metric", "l2", "--k", 10, "--out", truth))
        self.run_dir = self.folder / "run"
        self.tables = {
            "": {"name": "test", "launcher": "local", "bin_dir": str(BIN),
                 "run_dir": str(self.run_dir)},
            "[node]": [self.node(name) for name in ("m0", "m1", "c0", "c1")],
            "transport": {"tier": "fabric:tcp"},
            "placement": {"index": str(self.folder / "index"), "extent_bytes": "16KB"},
            "tls": {"insecure": True},
            # No replica stands in for a node that a busy machine keeps from answering.
            "compute": {"options": ["--node-timeout-ms", "20000"]},
            "limits": {"start_seconds": 60},
            "sweep": {"queries": str(queries), "groundtruth": str(truth), "list": LISTS,
                      "passes": 1}}

    def node(self, name):
        role = {"m": "memory", "c": "compute"}[name[0]]
        return {"name": name, "host": "127.0.0.1", "roles": [role], f"{role}_port": free_port()}

    def write_config(self):
        path = self.folder / "launch.toml"
        path.write_text(toml(self.tables))
        return path

    def launch(self, action, *arguments, **options):
        return launch(action, self.write_config(), *arguments, **options)

    def must_launch(self, action, *arguments, **options):
        return self.must_pass(self.launch(action, *arguments, **options))

    def up_sweep_down(self, **options):
        """The whole way, and what must hold on it."""
        self.addCleanup(self.launch, "down", **options)
        self.must_launch("load", **options)
        self.assertIn("4 daemons serve", self.must_launch("up", **options).stdout)
        status = self.must_launch("status", **options).stdout
        self.assertEqual(status.count("serving"), 4, status)
        self.must_sweep(**options)
        self.assertIn("nothing is left running", self.must_launch("down", **options).stdout)
        self.must_be_gone(**options)

    def must_sweep(self, **options):
        self.must_launch("sweep", "--out", self.folder / "figures", **options)
        lines = [json.loads(line) for line in
                 (self.folder / "figures/sweep.jsonl").read_text().splitlines()]
        self.assertEqual([line["list"] for line in lines], LISTS)
        for line in lines:
            self.assertEqual(line["recall"], self.local_recall(line["list"]))
            self.assertEqual([node["name"] for node in line["nodes"]], ["c0.compute", "c1.compute"])
            self.assertTrue(all(node["recall"] == line["recall"] for node in line["nodes"]))
        picture = (self.folder / f"figures/{self.tables['']['name']}-qps.png").read_bytes()
        self.assertTrue(picture.startswith(b"\x89PNG"))

    def local_recall(self, length):
        """Of the same index in this machine's memory: figures must be the same everywhere."""
        sweep = self.tables["sweep"]
        found = self.must_pass(farvec("search", "--index", self.folder / "index", "--queries",
                                      sweep["queries"], "--groundtruth", sweep["groundtruth"],
                                      "--k", 10, "--list", length, "--json"))
        return json.loads(found.stdout)["recall"]

    def must_be_gone(self, **options):
        self.assertEqual(processes_with(str(self.run_dir)), [])
        status = self.launch("status", **options)
        self.assertEqual(status.returncode, 3, status.stderr)
        self.assertEqual(status.stdout.count("absent"), 4, status.stdout)
        self.assertIn("nothing is left running", self.must_launch("down", **options).stdout)
