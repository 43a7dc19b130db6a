"""An engine whose disk is full: statements say so, nothing is lost, and with room it goes on as it is."""
import os
import pathlib
import signal
import subprocess
import tempfile
import unittest

from engine_base import BY_INDEX, BY_TABLE, ENGINE, EngineTest, wait_until
from postgres_server import SqlError

FULL = "53100"
DIMENSION = 1000
FILL = ("INSERT INTO long SELECT i, (SELECT array_agg(sin(i * 0.7 + d * d) + i % 11 / 10.0) "
        f"FROM generate_series(1, {DIMENSION}) d)::real[]::vector FROM generate_series({{0}}, {{1}}) i;")
QUERY = "SELECT id FROM long ORDER BY v <-> (SELECT v FROM long WHERE id = {0}) LIMIT 5;"
CREATE = "CREATE INDEX long_v ON long USING farvec (v vector_l2_ops) WITH (m = 8, ef_construction = 32);"


class SmallDisk:
    """A file system in memory, which root alone can make."""

    def __init__(self, test, megabytes):
        self.path = pathlib.Path(tempfile.mkdtemp(prefix="farvec-small-disk-"))
        test.addClassCleanup(self.path.rmdir)
        made = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={megabytes}m,mode=0777", "tmpfs", self.path],
                              check=False, capture_output=True, text=True)
        if made.returncode != 0:
            raise unittest.SkipTest(f"cannot mount: {made.stderr.strip()}")
        test.addClassCleanup(subprocess.run, ["umount", "--lazy", self.path], check=True)
        self.filler = self.path / "filler"

    def fill(self, left=0):
        """Takes all that is free but some bytes, and keeps what it has."""
        with open(self.filler, "ab", buffering=0) as file:
            try:
                while True:
                    file.write(b"x" * 4096)
            except OSError:
                pass
            if left:
                file.truncate(max(file.seek(0, os.SEEK_END) - left, 0))

    def free(self):
        self.filler.unlink()


class SmallDiskTest(EngineTest):
    """Rows of 4 kB: the 32 MB of the engine's memory are some hundred rows in each memtable."""

    @classmethod
    def setUpClass(cls):
        if not ENGINE.exists():
            raise unittest.SkipTest(f"no {ENGINE}")
        cls.disk = SmallDisk(cls, 24)
        cls.settings = {"farvec.engine_memory": "32MB", **cls.settings_on(cls.disk.path)}
        super().setUpClass()

    def setUp(self):
        self.sql("DROP TABLE IF EXISTS long; CREATE TABLE long (id int PRIMARY KEY, v vector(1000));"
                 "ALTER TABLE long ALTER v SET STORAGE PLAIN;" + FILL.format(1, 300))
        wait_until("former indexes are gone", lambda: not self.names())

    def tearDown(self):
        if self.disk.filler.exists():
            self.disk.free()
        self.sql("DROP TABLE long;")

    def assert_same(self):
        for number in (1, 77, 151):
            query = QUERY.format(number)
            self.assertEqual(self.patiently(BY_INDEX + query), self.sql(BY_TABLE + query), query)

    def assert_goes_on(self):
        """With room, without another start."""
        engine = self.engine()
        self.disk.free()
        wait_until("it answers", self.answers)
        self.assert_same()
        self.assert_sound("long_v")
        self.assertEqual(self.engine(), engine)

    def answers(self):
        """Whether a search answers; where it does not, it says that the disk is full, and what to do."""
        query = QUERY.format(1)
        try:
            self.assertEqual(self.patiently(BY_INDEX + query), self.sql(BY_TABLE + query))
            return True
        except SqlError as error:
            self.assertEqual(error.state, FULL, error.text)
            self.assertIn("Make room", error.text)
            return False


class FullDisk(SmallDiskTest):
    @staticmethod
    def settings_on(path):
        return {"farvec.engine_folder": path / "farvec"}

    def names(self):
        folder = self.disk.path / "farvec"
        return [path.name for path in folder.iterdir() if path.is_dir()] if folder.exists() else []

    def fill_until_it_does_not_answer(self):
        """Answers the last id. What is removed meanwhile (a gone index whose files the engine still
        had open) leaves room, so the disk is filled again before each insert."""
        for last in range(1000, 12000, 700):
            self.disk.fill()
            self.sql(FILL.format(last - 699, last), timeout=120)
            if not self.answers():
                return last
        return self.fail("the engine's memory is never full")

    def test_a_build_leaves_nothing_and_can_be_tried_again(self):
        self.patiently(CREATE)
        self.assert_same()
        first = set(self.names())
        for left in (0, 20_000, 1_000_000):
            self.disk.fill(left)
            text = self.refused(CREATE.replace("long_v", "other"), FULL)
            self.assertIn("Make room", text)
            self.refused("REINDEX INDEX long_v;", FULL)
            self.assert_same()
            self.disk.free()
            wait_until("nothing is left", lambda: set(self.names()) == first)
        self.sql("REINDEX INDEX long_v;")
        self.assert_same()
        self.assert_sound("long_v")

    def test_rows_are_in_the_table_and_come_when_there_is_room(self):
        self.patiently(CREATE)
        last = self.fill_until_it_does_not_answer()
        self.assertEqual(self.one("SELECT count(*) FROM long;"), str(last))
        self.sql("DELETE FROM long WHERE id % 2 = 0 AND id > 300; VACUUM long;")
        self.sql(FILL.format(last + 1, last + 10))
        self.assert_goes_on()

    def test_a_merge_without_room(self):
        self.patiently(CREATE)
        for first in range(301, 1500, 200):
            self.sql(FILL.format(first, first + 199))
            self.assert_same()
        self.disk.fill(100_000)
        self.sql(FILL.format(1501, 1600) + "DELETE FROM long WHERE id % 3 = 0; VACUUM long;")
        self.answers()
        self.assert_goes_on()

    def test_an_engine_that_is_killed(self):
        self.patiently(CREATE)
        self.disk.fill()
        self.sql(FILL.format(301, 2500), timeout=120)
        for _ in range(2):
            os.kill(self.engine(), signal.SIGKILL)
            self.answers()
        self.assert_goes_on()


class FullTablespace(SmallDiskTest):
    """The server's pages of an index and the engine's files share a disk."""

    @staticmethod
    def settings_on(path):
        del path
        return {}

    def names(self):
        return [path.name for path in self.disk.path.iterdir()]

    def insert_until(self, first, is_over):
        """Inserts rows that succeed or fail as a whole, and answers the first id that did not come."""
        for begin in range(first, 20000, 100):
            try:
                self.sql(FILL.format(begin, begin + 99))
            except SqlError as error:
                self.assertEqual(error.state, FULL, error.text)
                return begin
            if is_over():
                return begin + 100
        self.fail("the disk is never full")

    def test_statements_fail_or_are_whole(self):
        place = self.disk.path / "place"
        place.mkdir()
        self.server.own(place)
        self.sql(f"CREATE TABLESPACE small LOCATION '{place}';")
        self.disk.fill()
        self.refused(CREATE.replace(";", " TABLESPACE small;"), FULL)
        self.disk.free()
        self.patiently(CREATE.replace(";", " TABLESPACE small;"))
        self.assert_same()
        self.disk.fill()
        first = self.insert_until(301, lambda: not self.answers())
        self.assertEqual(self.one("SELECT count(*) FROM long;"), str(first - 1))
        self.assert_goes_on()
        self.sql(FILL.format(first, first + 9))
        self.assert_same()
        self.sql("DROP INDEX long_v; DROP TABLESPACE small;")
        self.assertEqual(list(place.iterdir()), [])
        place.rmdir()


if __name__ == "__main__":
    unittest.main()
