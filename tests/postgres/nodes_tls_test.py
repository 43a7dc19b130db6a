"""Indexes on compute nodes that demand TLS: with the right certificates they are as any other, and
without them every statement says what is missing and loses nothing."""
import pathlib
import shutil
import subprocess
import time
import unittest

import index_base
from farvec_tool import BIN, TIMEOUT_S, farvec, free_port
from index_base import BY_INDEX, BY_TABLE
from postgres_server import ROOT
from search_test import passed

QUERY = "SELECT v <-> '[1,2,3]' FROM guarded ORDER BY v <-> '[1,2,3]' LIMIT 5;"
ROWS = "INSERT INTO guarded SELECT i, array[i % 97, i % 13, i % 7] FROM generate_series({0}, {1}) i;"


class Tls(index_base.IndexTest):
    @classmethod
    def start_server(cls, pg_config, folder):
        super().start_server(pg_config, folder)
        cls.address = f"127.0.0.1:{free_port()}"
        for name, options in (("ours", ()), ("foreign", ()), ("expired", ("--client", "old", "--days", "-1"))):
            cls.make_certificates(name, *options)
        collection = cls.nodes.folder / "guarded"
        passed(farvec("collection", "create", "--collection", collection, "--metric", "l2", "--type", "f32",
                      "--dimension", 3))
        cls.serve_guarded(collection)

    @classmethod
    def make_certificates(cls, name, *options):
        """Files that the server, which is another user, can read. Those of "expired" are of our authority."""
        folder = cls.nodes.folder / name
        if name == "expired":
            shutil.copytree(cls.nodes.folder / "ours", folder)
        subprocess.run([ROOT / "scripts/tls/make-certs.sh", folder, *options], check=True, timeout=TIMEOUT_S,
                       stdout=subprocess.DEVNULL)
        for path in [folder, *folder.iterdir()]:
            cls.server.own(path)

    @classmethod
    def files(cls, name="ours", client="client"):
        folder = cls.nodes.folder / name
        return {"certificate": folder / f"{client}.crt", "key": folder / f"{client}.key",
                "authority": folder / "ca.crt"}

    @classmethod
    def sets(cls, **files):
        return "".join(f"SET farvec.tls_{what} = '{path}';" for what, path in files.items())

    @classmethod
    def serve_guarded(cls, collection):
        node = cls.nodes.folder / "ours"
        log = open(cls.nodes.folder / "guarded.log", "a")
        cls.addClassCleanup(log.close)
        process = subprocess.Popen(
            [str(BIN / "farvec-compute-node"), "--collection", str(collection), "--listen", cls.address,
             "--threads", "1", "--tls-cert", str(node / "node.crt"), "--tls-key", str(node / "node.key"),
             "--tls-ca", str(node / "ca.crt"), "--changer", "client"], stdout=log, stderr=log)
        cls.addClassCleanup(process.wait, timeout=TIMEOUT_S)
        cls.addClassCleanup(process.kill)
        end = time.monotonic() + TIMEOUT_S
        options = ("--tls-cert", node / "client.crt", "--tls-key", node / "client.key", "--tls-ca", node / "ca.crt")
        while farvec("status", cls.address, "--json", *options).returncode != 0:
            if time.monotonic() > end or process.poll() is not None:
                raise AssertionError(pathlib.Path(log.name).read_text())
            time.sleep(0.05)

    def in_a_new_session(self, statements):
        """Settings hold for connections that are made after them."""
        self.server.end_sessions()
        return self.sql(statements)

    def refused_in_a_new_session(self, statements, state):
        self.server.end_sessions()
        return self.refused(statements, state)

    def test_certificates_decide(self):
        create = (f"CREATE INDEX guarded_v ON guarded USING farvec (v vector_l2_ops) WITH (node = '{self.address}');")
        self.sql("CREATE TABLE guarded (id int, v vector(3));" + ROWS.format(1, 100))
        ours = self.sets(**self.files())
        with self.subTest("none"):
            self.assertIn("TLS", self.refused_in_a_new_session(create, "08006"))
        with self.subTest("another authority's"):
            self.refused_in_a_new_session(self.sets(**self.files("foreign")) + create, "08006")
        with self.subTest("expired"):
            self.assertIn("expired", self.refused_in_a_new_session(
                self.sets(**self.files("expired", "old")) + create, "22023"))
        with self.subTest("no such file"):
            self.assertIn("/nowhere", self.refused_in_a_new_session(
                self.sets(**{**self.files(), "key": "/nowhere/key"}) + create, "22023"))
        with self.subTest("half of them"):
            self.refused_in_a_new_session(self.sets(certificate=self.files()["certificate"]) + create, "22023")
        self.in_a_new_session(ours + create)
        self.assertEqual(self.sql(BY_INDEX + QUERY), self.sql(BY_TABLE + QUERY))
        self.server.end_sessions()
        # An insert does not need the node, and a search does.
        self.sql(ROWS.format(101, 150))
        self.assertIn("TLS", self.refused_in_a_new_session(BY_INDEX + QUERY, "08006"))
        found = self.in_a_new_session(ours + BY_INDEX + QUERY)
        self.assertEqual(found, self.sql(BY_TABLE + QUERY))
        self.assertEqual(self.in_a_new_session(ours + "SELECT farvec_check('guarded_v')->>'sound';"), ["true"])
        # A connection that is there stays, whatever the settings become.
        self.assertEqual(self.in_a_new_session(
            ours + BY_INDEX + QUERY + self.sets(**self.files("foreign")) + QUERY), 2 * found)

    def test_no_user_but_a_superuser_sets_them(self):
        self.sql("CREATE ROLE plain LOGIN;")
        for what, path in self.files().items():
            self.refused(f"SET ROLE plain; LOAD 'farvec'; SET farvec.tls_{what} = '{path}';", "42501")


if __name__ == "__main__":
    unittest.main()
