"""A launch.toml that is wrong: an error that names the file, the key and the way out, and nothing
started."""
import json
import tomllib
import unittest

from launch_tool import ROOT, LaunchTest, launch, processes_with


class Config(LaunchTest):
    def must_refuse_config(self, *words, action="up"):
        result = self.launch(action)
        self.must_refuse(result, "launch.toml: ", *words)
        self.assertEqual(result.stderr.count("error: "), 1, result.stderr)
        self.assertNotIn("Traceback", result.stderr)
        self.assertFalse(self.run_dir.exists())
        self.assertEqual(processes_with(str(self.run_dir)), [])

    def test_unknown_key_in_each_table(self):
        for table in ("", "transport", "placement", "tls", "limits", "sweep", "ports", "memory",
                      "compute", "ssh", "local", "systemd", "slurm"):
            with self.subTest(table):
                self.tables.setdefault(table, {})["colour"] = "red"
                self.must_refuse_config(f"{table}.colour".lstrip(".") + ": unknown key")
                del self.tables[table]["colour"]

    def test_unknown_key_is_told_its_neighbour(self):
        self.tables["placement"]["replica"] = 2
        self.must_refuse_config("placement.replica: unknown key; did you mean 'replicas'?")

    def test_unknown_table(self):
        self.tables["plcement"] = {"index": "/srv"}
        self.must_refuse_config("plcement: unknown key; did you mean 'placement'?")

    def test_unknown_key_of_a_node(self):
        self.tables["[node]"][1]["rols"] = ["memory"]
        self.must_refuse_config("node 'm1'.rols: unknown key; did you mean 'roles'?")

    def test_backing_that_needs_a_path_and_one_that_takes_none(self):
        self.tables["memory"] = {"backing": "devdax"}
        self.must_refuse_config("memory.path: name what 'farvec devices format' has made")
        self.tables["memory"] = {"backing": "shm", "path": "/dev/dax0.0"}
        self.must_refuse_config("memory.path: ", "backing is 'shm'")
        self.tables["memory"] = {"backing": "disk"}
        self.must_refuse_config("memory.backing: 'disk' is none of dram, shm, devdax, pmem")

    def test_duplicate_node(self):
        self.tables["[node]"][1]["name"] = "m0"
        self.must_refuse_config("node 'm0': there are two nodes of this name")

    def test_two_daemons_on_one_address(self):
        self.tables["[node]"][1]["memory_port"] = self.tables["[node]"][0]["memory_port"]
        self.must_refuse_config("node 'm1': ", "both listen on 127.0.0.1:", "memory_port")

    def test_missing_host(self):
        del self.tables["[node]"][0]["host"]
        self.must_refuse_config("node 'm0'.host: is missing")

    def test_host_that_is_an_option_of_ssh(self):
        self.tables["[node]"][0]["reach"] = "-oProxyCommand=true"
        self.must_refuse_config("node 'm0'.reach: ", "is no host name")

    def test_more_replicas_than_memory_nodes(self):
        self.tables["placement"]["replicas"] = 3
        self.must_refuse_config("placement.replicas: 3 copies do not fit on 2 memory nodes",
                                "on the same node", "at most 2")

    def test_replica_on_the_same_node(self):
        self.tables["placement"] |= {"memory_nodes": ["m0", "m0"], "replicas": 2}
        self.must_refuse_config("placement.memory_nodes: 'm0' is there twice", "lost with it")

    def test_replica_on_the_same_machine(self):
        self.tables[""]["launcher"] = "ssh"
        self.tables["placement"]["replicas"] = 2
        self.must_refuse_config("placement.replicas: memory nodes 'm0' and 'm1' are both on "
                                "127.0.0.1")

    def test_placement_on_a_node_that_is_not_there(self):
        self.tables["placement"]["memory_nodes"] = ["m0", "m7"]
        self.must_refuse_config("placement.memory_nodes: 'm7' is no node with the role 'memory'")

    def test_index_that_does_not_fit(self):
        path = self.folder / "index/manifest.json"
        manifest = json.loads(path.read_text())
        manifest["regions"][0]["payload_bytes"] = 1 << 50
        path.write_text(json.dumps(manifest))
        self.tables["placement"]["memory_nodes"] = ["m0"]
        self.must_refuse_config("placement.index: ", "does not fit: memory node m0 on this machine",
                                "1024 TB", "add memory nodes")

    def test_index_that_is_not_there(self):
        self.tables["placement"]["index"] = str(self.folder / "nothing")
        self.must_refuse_config("placement.index: ", "farvec build graph")

    def test_index_that_is_not_placed(self):
        self.must_refuse_config("placement: ", "is placed on 1 node(s)", "launch.sh load")

    def test_placement_whose_replica_is_on_the_same_node(self):
        path = self.folder / "index/manifest.json"
        manifest = json.loads(path.read_text())
        same = {"extents": [{"begin": 0, "copies": [{"node": 1, "offset": 0}] * 2}]}
        manifest["placement"] = {"nodes": 2, "replicas": 2, "regions": [same] * 3}
        path.write_text(json.dumps(manifest))
        self.tables["placement"]["replicas"] = 2
        self.must_refuse_config("placement.index: ", "the extent at 0 is on the same node",
                                "launch.sh load")

    def test_programs_that_are_not_there(self):
        self.tables[""]["bin_dir"] = "/nowhere"
        self.tables["placement"]["memory_nodes"] = ["m0"]
        self.must_refuse_config("bin_dir: node m0 has no program /nowhere/farvec-memory-node")

    def test_neither_certificates_nor_insecure(self):
        self.tables["tls"] = {}
        self.must_refuse_config("tls.directory: ", "make-certs.sh", "tls.insecure = true")

    def test_certificates_and_insecure(self):
        self.tables["tls"]["directory"] = "/srv/certs"
        self.must_refuse_config("tls.directory: ", "one of the two")

    def test_certificates_that_are_not_there(self):
        self.tables["tls"] = {"directory": str(self.folder / "certs")}
        self.tables["placement"]["memory_nodes"] = ["m0"]
        self.must_refuse_config("tls.directory: ", "node.crt", "make-certs.sh")

    def test_wrong_types_and_ranges(self):
        for table, key, value, words in (
                ("", "name", "Big Name", "small letters"), ("", "launcher", "pbs", "none of"),
                ("", "run_dir", "run", "path from /"), ("transport", "tier", "carrier", "none of"),
                ("placement", "replicas", "2", "must be a whole number"),
                ("placement", "extent_bytes", "16 potatoes", "no size"),
                ("compute", "threads", True, "must be a whole number"),
                ("ports", "memory", 70000, "out of range"),
                ("sweep", "list", [5], "below sweep.k")):
            with self.subTest(key=key):
                kept = {name: dict(values) for name, values in self.tables.items()
                        if isinstance(values, dict)}
                self.tables.setdefault(table, {})[key] = value
                self.must_refuse_config(f"{table}.{key}".lstrip(".") + ": ", words)
                self.tables |= kept | ({} if table in kept else {table: {}})

    def test_role_that_nobody_has(self):
        self.tables["[node]"] = self.tables["[node]"][:2]
        self.must_refuse_config("no node has the role 'compute'")

    def test_namespace_without_a_bridge(self):
        self.tables["[node]"][0]["netns"] = True
        self.must_refuse_config("local.bridge: ")

    def test_sweep_without_queries(self):
        self.tables["sweep"]["queries"] = ""
        self.must_refuse_config("sweep.queries: ", action="sweep")

    def test_file_that_is_not_toml_or_not_there(self):
        path = self.folder / "launch.toml"
        path.write_text("name = \n")
        self.must_refuse(launch("up", path), "launch.toml: not TOML: ", "line 1")
        path.unlink()
        self.must_refuse(launch("up", path), "launch.toml: cannot be read: ", "--config FILE")

    def test_the_example_is_right_but_for_its_index(self):
        path = ROOT / "scripts/launch/launch.toml"
        tables = tomllib.loads(path.read_text())
        self.must_refuse(launch("up", path), "launch.toml: placement.index: /srv/sift1m/")
        self.assertEqual(len(tables["node"]), 4)

    def test_help_tells_every_action_and_an_example(self):
        text = launch("--help", "x").stdout
        for word in ("up", "status", "load", "sweep", "logs", "down", "Example", "launch.toml"):
            self.assertIn(word, text)


if __name__ == "__main__":
    unittest.main()
