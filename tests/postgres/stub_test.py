"""The extension over a library that answers what real nodes do not: lies, odd bytes, its own waits."""
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

from postgres_server import ROOT, TIMEOUT_S, Postgres, SqlError, build_folder


class OverAStub(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if build_folder() is None:
            raise unittest.SkipTest("no PostgreSQL: CMake found no pg_config with headers")
        compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
        if compiler is None:
            raise unittest.SkipTest("no C compiler for the library of this test")
        folder = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory(prefix="farvec-stub-")))
        for pattern in ("farvec.so", "farvec.control", "farvec--*.sql"):
            for file in build_folder().glob(pattern):
                shutil.copy2(file, folder)
        source = pathlib.Path(__file__).with_name("stub_library.c")
        subprocess.run([compiler, "-shared", "-fPIC", "-I", ROOT, "-o", folder / "libfarvec.so.0", source],
                       check=True, timeout=TIMEOUT_S)
        cls.server = Postgres(os.environ["FARVEC_PG_CONFIG"], folder)
        cls.addClassCleanup(cls.server.close)
        cls.server.sql("CREATE EXTENSION farvec;")

    def refused(self, statements, state, **options):
        with self.assertRaises(SqlError) as caught:
            self.server.sql(statements, **options)
        self.assertEqual(caught.exception.state, state, caught.exception.text)
        return caught.exception.text

    def test_a_deadline_is_for_all_steps(self):
        # The library connects and describes for 50 ms each.
        for query, whole in (("SELECT * FROM farvec_search('left', '[1]', deadline => '60 s');", 60_000),
                             ("SELECT farvec_node('left');", 10_000)):
            self.server.end_sessions()
            said = self.refused(query, "38000")
            left = int(re.search(r"left: (\d+)", said).group(1))
            self.assertTrue(0 < left <= whole - 100, said)
        # The search itself has the least time, where its steps took all.
        self.server.end_sessions()
        said = self.refused("SELECT * FROM farvec_search('left', '[1]', deadline => '10 ms');", "38000")
        self.assertIn("left: 1\n", said)

    def test_a_call_has_no_longer_than_its_statement(self):
        for timeout in (40_000, 20_000):
            self.server.end_sessions()
            said = self.refused(f"SET statement_timeout = {timeout}; "
                                "SELECT * FROM farvec_search('left', '[1]', deadline => '60 s');", "38000")
            left = int(re.search(r"left: (\d+)", said).group(1))
            self.assertTrue(0 < left <= timeout + 500, said)

    def test_distances_that_are_none(self):
        self.assertEqual(self.server.one("SELECT distance FROM farvec_search('2.25', '[1]');"), "1.5")
        self.assertEqual(self.server.one("SELECT distance FROM farvec_search('inf', '[1]');"), "Infinity")
        for lie in ("-1e-9", "-4", "-inf", "nan"):
            self.refused(f"SELECT distance FROM farvec_search('{lie}', '[1]');", "XX001")

    def test_a_library_that_gives_up_by_itself(self):
        said = self.refused("SELECT * FROM farvec_search('cancelled', '[1]', deadline => '10 min');",
                            "57014")
        self.assertIn("nobody asked for that", said)

    def test_messages_that_the_database_cannot_have(self):
        query = "SELECT * FROM farvec_search('foreign', '[1]');"
        self.assertIn("foreign: ?? ??? ??? ? 1", self.refused(query, "38000"))
        for name, shown in (("latin1", "foreign: é ? ? ? 1"), ("sql_ascii", "foreign: ?? ??? ??? ? 1")):
            self.server.sql(f"CREATE DATABASE {name} TEMPLATE template0 ENCODING '{name}' "
                            "LC_COLLATE 'C' LC_CTYPE 'C';")
            self.server.sql("CREATE EXTENSION farvec;", database=name)
            said = self.refused(query, "38000", database=name, settings={"client_encoding": "UTF8"})
            self.assertIn(shown, said)


if __name__ == "__main__":
    unittest.main()
