"""`farvec status`: what both daemons tell, and what is said of one that does not answer."""
import concurrent.futures
import fcntl
import importlib
import json
import os
import pathlib
import pty
import signal
import socket
import struct
import subprocess
import sys
import termios
import time
import unittest
from unittest import mock

from farvec_tool import BIN, TIMEOUT_S, DaemonTest, farvec, free_port, write_vectors

try:
    import grpc
    MISSING = None
except ImportError:
    MISSING = "python3-grpcio is not installed: run scripts/install-deps.sh"

PROTOCOLS = pathlib.Path(__file__).resolve().parents[2] / "rpc"
QUERIES, LIST = 7, 20


class Nodes(DaemonTest):
    """An index on a memory node, and a compute node that reads it."""

    def setUp(self):
        super().setUp()
        self.base = write_vectors(self.folder / "base", self.rows(300))
        self.must_pass(self.build(self.base))
        self.memory = f"unix:{self.folder}/m"
        self.compute = f"unix:{self.folder}/c"

    def start_memory(self):
        return self.start("farvec-memory-node", "--index", self.folder / "index", "--listen",
                          self.memory, "--lease-seconds", 2)

    def start_both(self):
        memory = self.start_memory()
        self.start("farvec-compute-node", "--memory-node", self.memory, "--listen", self.compute)
        return memory

    def facts(self, address, serves=True):
        """What it says when it serves, or does not; waits until it is so."""
        return self.await_status(address, 0 if serves else 3)


class Status(Nodes):
    def test_a_memory_node(self):
        self.start_memory()
        facts = self.facts(self.memory)
        self.assertEqual(facts["node"], "memory")
        self.assertEqual(facts["state"], "serving")
        self.assertEqual(facts["index"]["vectors"], 300)
        self.assertEqual(facts["index"]["layout"], "csr")
        self.assertEqual((facts["publications"], facts["leases"]), (1, 0))
        text = self.must_pass(farvec("status", self.memory)).stdout
        for word in ("memory node", "serving", "300 vectors of 16 x u8 (l2), csr; node 0 of 1",
                     "uptime", "generation", "leases"):
            self.assertIn(word, text)

    def test_a_compute_node_follows_and_counts(self):
        self.start_both()
        before = self.facts(self.compute)
        self.assertEqual(before["node"], "compute")
        self.assertEqual(before["index"]["vectors"], 300)
        self.assertEqual((before["switches"], before["switches_refused"]), (0, 0))
        self.assertEqual(before["memory_nodes"],
                         [{"address": self.memory, "attached": True, "node": 0}])
        queries = write_vectors(self.folder / "queries", self.rows(QUERIES))
        self.must_pass(farvec("search", "--connect", self.compute, "--queries", queries,
                              "--list", LIST))
        self.must_pass(self.build(self.base, "--layout", "padded", out="padded"))
        self.must_pass(farvec("publish", "--memory-node", self.memory, "--index",
                              self.folder / "padded", "--quiet"))
        end = time.monotonic() + TIMEOUT_S
        while (after := self.facts(self.compute))["switches"] == 0:
            self.assertLess(time.monotonic(), end, after)
            time.sleep(0.05)
        self.assertEqual(after["index"]["layout"], "padded")
        self.assertNotEqual(after["generation"], before["generation"])
        self.assertEqual(after["generation"], self.facts(self.memory)["generation"])
        self.assertEqual(after["queries_ok"], QUERIES)
        self.assertEqual((after["queries_in_flight"], after["queries_queued"]), (0, 0))
        self.assertGreater(after["uptime_seconds"], 0)
        text = self.must_pass(farvec("status", self.compute)).stdout
        for word in ("compute node", "serving", "padded, tier shm", "1 to a newer index, 0 refused",
                     f"{QUERIES} queries", f"{self.memory}: attached, node 0"):
            self.assertIn(word, text)

    def test_a_compute_node_that_waits(self):
        memory = self.start_both()
        self.facts(self.compute)
        memory.send_signal(signal.SIGKILL)
        facts = self.facts(self.compute, serves=False)
        self.assertIn(self.memory, facts["source"])
        self.assertNotIn("index", facts)
        result = farvec("status", self.compute)
        self.assertEqual(result.returncode, 3)
        self.assertIn(f"waiting for memory node {self.memory}", result.stdout)

    def test_nobody_there(self):
        address = f"127.0.0.1:{free_port()}"
        result = self.must_refuse(farvec("status", address), f"nothing listens at {address}")
        self.assertEqual(result.returncode, 1)
        self.must_refuse(farvec("status", "nonsense"), "nonsense")
        self.must_refuse(farvec("status"), "address")

    def test_one_that_does_not_answer_has_a_deadline(self):
        with socket.create_server(("127.0.0.1", 0)) as silent:
            address = f"127.0.0.1:{silent.getsockname()[1]}"
            self.must_refuse(farvec("status", address, "--timeout-seconds", 0.5), address, "0.5 s")

    @unittest.skipIf(MISSING, MISSING)
    def test_a_change_between_two_answers(self):
        """A node that attaches, or takes a newer index over, as soon as it has answered once."""
        subprocess.run(["protoc", "-I", PROTOCOLS, f"--python_out={self.folder}",
                        PROTOCOLS / "compute_node.proto"], check=True, timeout=TIMEOUT_S)
        with mock.patch.object(sys, "path", [str(self.folder), *sys.path]):
            messages = importlib.import_module("compute_node_pb2")
        older = ({"attached": True, "layout": "older", "generation": 5},
                 {"attached": True, "generation": 5})
        newer = ({"attached": True, "layout": "newer", "generation": 6},
                 {"attached": True, "generation": 6, "switches": 1})
        for number, before in enumerate((older, ({}, {}))):
            answered = []

            def answer(kind, before=before, answered=answered):
                answered.append(kind)
                state = before if len(answered) == 1 else newer
                make = (messages.DescribeResponse, messages.StatsResponse)[kind]
                return make(**state[kind])

            handlers = grpc.method_handlers_generic_handler(
                "farvec.compute_node.v1.ComputeNode",
                {name: grpc.unary_unary_rpc_method_handler(
                    lambda _request, _context, kind=kind, answer=answer: answer(kind),
                    response_serializer=lambda message: message.SerializeToString())
                 for kind, name in enumerate(("Describe", "Stats"))})
            server = grpc.server(concurrent.futures.ThreadPoolExecutor(1), handlers=[handlers])
            address = f"unix:{self.folder}/fake{number}"
            server.add_insecure_port(address)
            server.start()
            try:
                facts = json.loads(self.must_pass(farvec("status", address, "--json")).stdout)
            finally:
                server.stop(None).wait()
            self.assertEqual(sorted(answered), [0, 0, 1, 1])
            self.assertEqual((facts["switches"], facts["index"]["layout"]), (1, "newer"))


class Top(Nodes):
    def setUp(self):
        super().setUp()
        self.start_both()
        self.facts(self.compute)
        self.absent = f"unix:{self.folder}/absent"

    def watch(self, *options):
        return subprocess.Popen([BIN / "farvec", "top", self.compute, self.memory, self.absent,
                                 *map(str, options)], stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True)

    def test_rates_of_what_is_done(self):
        queries = write_vectors(self.folder / "queries", self.rows(QUERIES))
        every, rounds = 0.2, 15
        watch = self.watch("--every", every, "--rounds", rounds, "--json")
        lines = [json.loads(next(watch.stdout)) for _ in range(3)]  # it has looked twice
        self.must_pass(farvec("search", "--connect", self.compute, "--queries", queries,
                              "--list", LIST))
        lines += [json.loads(line) for line in watch.communicate(timeout=TIMEOUT_S)[0].splitlines()]
        self.assertEqual(watch.returncode, 0)
        self.assertEqual(len(lines), 3 * rounds)
        compute, memory, absent = lines[::3], lines[1::3], lines[2::3]
        self.assertEqual({facts["address"] for facts in compute}, {self.compute})
        self.assertEqual({(facts["node"], facts["state"]) for facts in compute},
                         {("compute", "serving")})
        done = sum(facts["queries_per_s"] * facts["seconds"] for facts in compute)
        self.assertAlmostEqual(done, QUERIES, places=3)
        # Of the queries of each look alone: a look without any has none.
        for facts in compute:
            self.assertEqual(facts["p99_us"] is None, facts["queries_per_s"] == 0)
        all_of_them = self.facts(self.compute)["latency_p99_us"]
        took = [facts["p99_us"] for facts in compute if facts["p99_us"] is not None]
        self.assertAlmostEqual(max(took) / all_of_them, 1, delta=1 / 32)
        reads = sum(facts["reads_per_s"] * facts["seconds"] for facts in compute)
        self.assertGreater(reads, QUERIES * LIST / 2)
        self.assertEqual({(facts["state"], facts["leases"]) for facts in memory}, {("serving", 1)})
        self.assertEqual({facts["state"] for facts in absent}, {"silent"})
        self.assertIn("absent", absent[0]["failure"])

    def test_people_see_a_table_and_end_it(self):
        watch = self.watch("--every", 0.1)
        head, *rows = [next(watch.stdout) for _ in range(4)]
        watch.send_signal(signal.SIGINT)
        _, error = watch.communicate(timeout=TIMEOUT_S)
        self.assertEqual(watch.returncode, 0, error)
        self.assertEqual(head.split()[:3], ["node", "state", "queries/s"])
        for row, state in zip(rows, ("serving", "serving", "silent")):
            self.assertIn(state, row)

    def test_a_narrow_terminal_has_lines_that_fit(self):
        columns = 50
        ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
        with subprocess.Popen([BIN / "farvec", "top", self.compute, self.memory, "--every", "0.1",
                               "--rounds", "1"], stdout=theirs) as watch:
            self.assertEqual(watch.wait(TIMEOUT_S), 0)
        os.close(theirs)
        shown = os.read(ours, 1 << 16).decode().rpartition("\033[2J")[2].splitlines()
        os.close(ours)
        self.assertEqual(shown[0], f"{self.compute} serving")
        self.assertIn(f"{self.memory} serving", shown)
        facts = [line for line in shown if line.startswith(" ")]
        self.assertGreater(len(facts), 3)
        self.assertLessEqual(max(map(len, facts)), columns)
        for title in ("queries/s", "in flight", "leases"):
            self.assertIn(title, "\n".join(facts))

    def test_what_is_no_address_is_refused(self):
        result = farvec("top", "nonsense")
        self.assertNotEqual(result.returncode, 0)
        self.assertIn("nonsense", result.stderr)


if __name__ == "__main__":
    unittest.main()
