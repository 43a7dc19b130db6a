"""Both daemons and the tool with certificates, and everybody who has none or the wrong one."""
import pathlib
import subprocess
import time
import unittest

import numpy as np

from farvec_tool import TIMEOUT_S, DaemonTest, farvec, free_port, read_neighbours, write_vectors

MAKE_CERTS = pathlib.Path(__file__).resolve().parents[2] / "scripts/tls/make-certs.sh"
QUERIES, K, LIST = 9, 5, 20


class Tls(DaemonTest):
    def setUp(self):
        super().setUp()
        self.queries = write_vectors(self.folder / "queries", self.rows(QUERIES))
        self.must_pass(self.build(write_vectors(self.folder / "base", self.rows(400))))
        self.memory = f"127.0.0.1:{free_port()}"
        self.compute = f"127.0.0.1:{free_port()}"
        self.make_certs("ours")

    def make_certs(self, folder, *options):
        subprocess.run([MAKE_CERTS, self.folder / folder, *options], check=True, timeout=TIMEOUT_S,
                       stdout=subprocess.DEVNULL)

    def files(self, name, folder="ours"):
        stem = self.folder / folder
        return ("--tls-cert", stem / f"{name}.crt", "--tls-key", stem / f"{name}.key",
                "--tls-ca", stem / "ca.crt")

    def start_memory(self, *options):
        return self.start("farvec-memory-node", "--index", self.folder / "index", "--listen",
                          self.memory, "--grant", self.folder / "grant", *options)

    def start_compute(self, *options):
        return self.start("farvec-compute-node", "--memory-node", self.memory, "--listen",
                          self.compute, *options)

    def search(self, *options):
        return farvec("search", "--queries", self.queries, "--k", K, "--list", LIST, *options)

    def ask(self, *options):
        return self.search("--connect", self.compute, *options)

    def wait_until_it_answers(self, ask):
        end = time.monotonic() + TIMEOUT_S
        while (result := ask()).returncode != 0 and time.monotonic() < end:
            time.sleep(0.05)
        return self.must_pass(result)

    def test_the_right_certificates_work_end_to_end_and_others_do_not(self):
        self.start_memory(*self.files("node"))
        self.start_compute(*self.files("node"))
        found, local = self.folder / "found.ibin", self.folder / "local.ibin"
        self.wait_until_it_answers(lambda: self.ask("--out", found, *self.files("client")))
        self.must_pass(self.search("--index", self.folder / "index", "--out", local))
        np.testing.assert_array_equal(read_neighbours(found)[0], read_neighbours(local)[0])

        self.must_refuse(self.ask(), self.compute, "demands TLS", "--tls-cert")
        self.make_certs("foreign")
        self.must_refuse(self.ask(*self.files("client", "foreign")), "not accepted", "--tls-ca")
        self.make_certs("ours", "--client", "expired", "--days", "-1")
        self.must_refuse(self.ask(*self.files("expired")), "expired.crt expired on")
        self.must_refuse(self.ask(*self.files("client")[:4]), "--tls-ca is missing")

        verbs = ("--index", self.folder / "index", "--tier", f"verbs:{self.memory}")
        self.must_refuse(self.search(*verbs), self.memory, "demands TLS")
        # The node lets it in, and then has no device to offer.
        self.must_refuse(self.search(*verbs, *self.files("client")), "serves no RDMA")

    def test_publishing_without_the_right_to_is_denied(self):
        self.start_memory(*self.files("node"), "--publisher", "somebody-else")
        publish = ("publish", "--memory-node", self.memory, "--index", self.folder / "index",
                   "--quiet", *self.files("client"))
        self.must_refuse(farvec(*publish), "PERMISSION_DENIED", "may not publish", "--publisher")

    def test_a_compute_node_without_certificate_says_what_it_lacks(self):
        self.start_memory(*self.files("node"))
        compute = self.start_compute("--attach-seconds", "1")
        self.assertEqual(compute.wait(timeout=TIMEOUT_S), 1)
        log = (self.folder / "farvec-compute-node.log").read_text()
        self.assertIn(f"memory node {self.memory}", log)
        self.assertIn("it demands TLS", log)

    def test_plain_daemons_do_not_serve_a_client_that_wants_tls(self):
        self.start_memory()
        self.start_compute()
        self.wait_until_it_answers(self.ask)
        self.must_refuse(self.ask(*self.files("client")), self.compute, "does not speak TLS")

    def test_open_addresses_need_certificates_or_insecure(self):
        for name, options in {
                "farvec-memory-node": ("--index", self.folder / "index"),
                "farvec-compute-node": ("--index", self.folder / "index")}.items():
            process = self.start(name, *options, "--listen", "0.0.0.0:0")
            self.assertEqual(process.wait(timeout=TIMEOUT_S), 1)
            log = (self.folder / f"{name}.log").read_text()
            self.assertIn("--tls-cert", log)
            self.assertIn("--insecure", log)
        self.compute = f"0.0.0.0:{free_port()}"
        self.start("farvec-compute-node", "--index", self.folder / "index", "--listen",
                   self.compute, *self.files("node"))
        self.compute = self.compute.replace("0.0.0.0", "localhost")
        self.wait_until_it_answers(lambda: self.ask(*self.files("client")))


if __name__ == "__main__":
    unittest.main()
