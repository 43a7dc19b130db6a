"""Where an index lies in the server's engine: each tier and layout gives the rows of a sequential scan,
through changes, kills and restarts; what cannot be is refused by name."""
import json
import os
import signal
import subprocess
import unittest

from engine_base import BY_INDEX, BY_TABLE, EngineTest, is_running, wait_until

ROWS = 700
FILL = """INSERT INTO places SELECT i, i % 9, ARRAY[sin(i), cos(i * 1.7), sin(i * 0.3), cos(i * 0.9),
          sin(i * 0.11), cos(i * 2.3), sin(i * 3.1), cos(i * 0.07)]::real[]::vector FROM generate_series({0}, {1}) i;"""
SEARCH = "SET farvec.search_list = 1000;"

# name: what is in WITH, the tier and the layout that farvec_stats() tells
PLACES = {
    "packed": ("layout = 'packed'", "dram", "packed"),
    "inline": ("layout = 'inline'", "dram", "inline"),
    "codes": ("layout = 'csr', code_bits = 4", "dram", "csr"),
    "shm": ("tier = 'shm'", "shm", "csr"),
    "numa": ("tier = 'numa:0'", "numa:0", "csr"),
    "cxl": ("tier = 'emulated:cxl', layout = 'packed'", "emulated:cxl", "packed"),
    "rdma": ("tier = 'emulated:rdma'", "emulated:rdma", "csr"),
    "ssd": ("tier = 'ssd'", "ssd", "csr"),
    "ssd_packed": ("tier = 'ssd', layout = 'packed'", "ssd", "packed"),
    "ssd_inline": ("tier = 'ssd', layout = 'inline'", "ssd", "inline"),
    "pages": ("tier = 'ssd', layout = 'slotted'", "ssd", "slotted"),
    "pool": ("tier = 'ssd', layout = 'slotted', pool = '1MB'", "ssd", "slotted"),
}


class PlacesTest(EngineTest):
    def make(self, options, rows=ROWS):
        self.sql("DROP TABLE IF EXISTS places; CREATE TABLE places (id int, part int, v vector(8)) "
                 "WITH (fillfactor = 60);" + FILL.format(1, rows) + "ANALYZE places;")
        self.patiently("CREATE INDEX places_v ON places USING farvec (v vector_l2_ops, part)" +
                       (f" WITH ({options});" if options else ";"))

    def stats(self, index="places_v"):
        return json.loads(self.patiently(f"SELECT farvec_stats('{index}');")[0])["store"]

    def assert_same(self):
        """Rows by the index are those of the table, with and without conditions."""
        wait_until("the index is planned", lambda: "Index Scan using places_v" in "".join(
            self.sql(BY_INDEX + "EXPLAIN SELECT id FROM places ORDER BY v <-> '[0,0,0,0,0,0,0,0]' LIMIT 5;")))
        for first in (-0.9, 0.1, 0.8):
            for condition in ("true", "part = 3", "part < 5 AND id % 2 = 0", "id = 7"):
                query = (f"SELECT id FROM places WHERE {condition} ORDER BY "
                         f"v <-> '[{first},0.2,-0.4,0.1,0,0,1,0.5]' LIMIT 20;")
                self.assertEqual(self.patiently(SEARCH + BY_INDEX + query), self.sql(BY_TABLE + query), query)

    def kill_engine(self):
        engine = self.engine()
        os.kill(engine, signal.SIGKILL)
        wait_until("it has ended", lambda: not is_running(engine))

    def said(self, statements):
        """What a psql of its own answers, with its notices."""
        ran = subprocess.run(self.server.command("postgres", "--command", statements), text=True,
                             capture_output=True, env=self.server.environment({}), timeout=60, check=True)
        return ran.stdout + ran.stderr


class EachPlace(PlacesTest):
    def test_rows_are_those_of_the_table_through_a_life(self):
        for name, (options, tier, layout) in PLACES.items():
            with self.subTest(name):
                self.restart("fast")  # an engine that ends often is started after a pause, and this one is new
                self.make(options)
                stats = self.stats()
                self.assertEqual((stats["tier"], stats["layout"]), (tier, layout))
                self.assertEqual((stats["modelled"] or "").startswith("emulated("), tier.startswith("emulated"))
                self.assert_same()
                self.sql(FILL.format(ROWS + 1, ROWS + 100))
                self.sql("DELETE FROM places WHERE id % 5 = 0; UPDATE places SET part = 3 WHERE id % 7 = 0;"
                         "UPDATE places SET v = '[9,9,9,9,9,9,9,9]' WHERE id < 30;")
                self.assert_same()
                self.sql("VACUUM places;")
                self.assert_same()
                self.kill_engine()
                self.assert_same()
                self.assertEqual(self.stats()["tier"], tier)
                self.sql("REINDEX INDEX places_v;")
                self.assert_same()
                self.assert_sound("places_v")

    def test_a_restarted_server_has_its_indexes_where_they_were(self):
        self.make("tier = 'ssd', layout = 'slotted'")
        self.sql("CREATE TABLE others AS SELECT * FROM places; CREATE INDEX others_v ON others "
                 "USING farvec (v vector_l2_ops) WITH (tier = 'emulated:cxl');")
        for mode in ("fast", "immediate"):
            self.restart(mode)
            self.assert_same()
            self.assertEqual(self.stats()["layout"], "slotted")
            self.assertEqual(self.stats("others_v")["tier"], "emulated:cxl")
        self.assert_sound("places_v")
        self.sql("DROP TABLE others;")

    def test_bits_and_halves_in_each_layout(self):
        for kind, name, rows, query in (
                ("bit(32)", "bit_hamming_ops", "(i::bigint * 2654435761 % 4294967296)::bit(32)", "<~> B'" + "10" * 16 + "'"),
                ("halfvec(4)", "halfvec_cosine_ops", "ARRAY[sin(i), cos(i), sin(i * 0.3), 1]::real[]::halfvec(4)",
                 "<=> '[1,0.5,0.2,-1]'")):
            for options in ("layout = 'packed'", "tier = 'ssd'", "tier = 'ssd', layout = 'slotted'"):
                with self.subTest(f"{kind} {options}"):
                    self.sql(f"DROP TABLE IF EXISTS kinds; CREATE TABLE kinds (id int, v {kind});"
                             f"INSERT INTO kinds SELECT i, {rows} FROM generate_series(1, 400) i;")
                    self.patiently(f"CREATE INDEX kinds_v ON kinds USING farvec (v {name}) WITH ({options});")
                    found = self.both(f"SELECT round((v {query})::numeric, 3) FROM kinds ORDER BY v {query} LIMIT 15;",
                                      SEARCH)
                    self.assertEqual(len(found), 15)


class Small(PlacesTest):
    settings = {"farvec.engine_memory": "6MB"}

    def make_wide(self, options):
        self.sql("DROP TABLE IF EXISTS wide; CREATE TABLE wide (id int, v vector(256)); "
                 "ALTER TABLE wide ALTER v SET STORAGE PLAIN;"
                 "INSERT INTO wide SELECT i, (SELECT array_agg(sin(i * j * 0.37 + i) ORDER BY j) "
                 "FROM generate_series(1, 256) j)::real[]::vector FROM generate_series(1, 19000) i;")
        self.patiently("CREATE INDEX wide_v ON wide USING farvec (v vector_l2_ops) "
                       f"WITH (degree = 12, build_list = 20{options});")

    def test_it_lies_on_the_disk_and_not_in_memory(self):
        for options in (", tier = 'ssd'", ", tier = 'ssd', layout = 'slotted', pool = '1MB'"):
            with self.subTest(options):
                self.make_wide(options)
                stats = self.stats("wide_v")
                self.assertGreater(stats["bytes"], 3 * (6 << 20))
                self.assertLess(stats["loaded"], 6 << 20)
                self.assertGreater(stats["segments"], 2)
                self.find_themselves()
                self.sql("INSERT INTO wide SELECT id + 100000, v FROM wide WHERE id <= 500;"
                         "DELETE FROM wide WHERE id BETWEEN 1000 AND 2000; VACUUM wide;")
                self.find_themselves()
                self.kill_engine()
                self.find_themselves()
                self.assert_sound("wide_v")
        with self.subTest("in memory there is no room"):
            self.sql("DROP INDEX wide_v;")
            text = self.refused("CREATE INDEX wide_v ON wide USING farvec (v vector_l2_ops) "
                                "WITH (degree = 12, build_list = 20);", "53000")
            self.assertIn("tier", text)

    def find_themselves(self):
        for row in (501, 3000, 12345, 18999):
            found = self.patiently(BY_INDEX + "SET farvec.search_list = 3000; SELECT id FROM wide ORDER BY v <-> "
                                   f"(SELECT v FROM wide WHERE id = {row}) LIMIT 1;")
            self.assertEqual(found, [str(row)])


class Moves(PlacesTest):
    def test_an_index_moves_to_another_tier(self):
        self.make("")
        self.assert_same()
        for tier in ("ssd", "emulated:rdma", "shm", "dram"):
            with self.subTest(tier):
                self.sql(f"ALTER INDEX places_v SET (tier = '{tier}');")
                self.assert_same()
                self.assertEqual(self.stats()["tier"], tier)
                self.sql(FILL.format(ROWS + 1, ROWS + 20) + f"DELETE FROM places WHERE id > {ROWS};")
                self.kill_engine()
                self.assert_same()
                self.assertEqual(self.stats()["tier"], tier)
        self.sql("ALTER INDEX places_v RESET (tier);")
        self.assert_same()
        self.assert_sound("places_v")

    def test_a_session_that_has_searched_it_before_is_moved_along(self):
        self.make("")
        self.assert_same()
        self.said("ALTER INDEX places_v SET (tier = 'ssd');")
        self.assert_same()
        self.assertEqual(self.stats()["tier"], "ssd")

    def test_a_move_that_is_rolled_back(self):
        self.make("tier = 'shm'")
        self.sql("BEGIN; ALTER INDEX places_v SET (tier = 'ssd'); " + BY_INDEX +
                 "SELECT id FROM places ORDER BY v <-> '[0,0,0,0,0,0,0,0]' LIMIT 1; ROLLBACK;")
        self.assert_same()
        self.server.end_sessions()
        self.assert_same()
        self.assertEqual(self.stats()["tier"], "shm")

    def test_a_layout_is_that_of_the_index_when_it_is_made_again(self):
        self.make("tier = 'ssd', layout = 'slotted'")
        self.sql("ALTER INDEX places_v SET (tier = 'dram', layout = 'packed');")
        self.assert_same()
        stats = self.stats()
        self.assertEqual((stats["tier"], stats["layout"]), ("ssd", "slotted"))
        self.sql("REINDEX INDEX places_v;")
        self.assert_same()
        stats = self.stats()
        self.assertEqual((stats["tier"], stats["layout"], stats["pool"]), ("dram", "packed", 0))

    def test_a_model_is_named_where_a_plan_is_explained(self):
        query = "SELECT id FROM places ORDER BY v <-> '[0,0,0,0,0,0,0,0]' LIMIT 5;"
        self.make("tier = 'emulated:latency=3us,bandwidth=10GB/s,rate=50M/s'")
        self.assert_same()
        told = self.said(BY_INDEX + "EXPLAIN (COSTS OFF) " + query)
        self.assertIn("lies on a modelled device: emulated(", told)
        self.assertIn(self.stats()["modelled"], told)
        self.assertNotIn("modelled", self.said(BY_TABLE + "EXPLAIN " + query))
        self.assertNotIn("modelled", self.said(BY_INDEX + query))
        self.make("tier = 'ssd'")
        self.assert_same()
        self.assertNotIn("modelled", self.said(BY_INDEX + "EXPLAIN " + query))


class Refused(PlacesTest):
    def test_what_cannot_be(self):
        self.make("")
        self.sql("CREATE TABLE IF NOT EXISTS bits (v bit(16)); TRUNCATE bits; INSERT INTO bits VALUES (B'1010101010101010');")
        for options, state, part in (
                ("tier = 'tape'", "22023", "There are dram"),
                ("tier = 'numa:x'", "22023", "There are dram"),
                ("tier = 'numa:999'", "22023", "no NUMA node"),
                ("tier = 'emulated:slow'", "22023", "slow"),
                ("tier = 'emulated:latency=5us'", "22023", ""),
                (f"tier = 'emulated:{'x' * 200}'", "22023", "at most"),
                ("tier = 'file:/tmp/x'", "0A000", "WITH (node"),
                ("tier = 'devdax:/dev/dax0.0'", "0A000", "WITH (node"),
                ("tier = 'pmem:/mnt/x'", "0A000", "WITH (node"),
                ("tier = 'ssd:/tmp'", "0A000", "WITH (node"),
                ("tier = 'verbs:host:7700'", "0A000", "WITH (node"),
                ("tier = 'fabric:tcp:host:7700'", "0A000", "WITH (node"),
                ("layout = 'round'", "22023", "There are csr"),
                ("layout = 'grouped'", "0A000", "WITH (node"),
                ("layout = 'slotted'", "22023", "tier = 'ssd'"),
                ("tier = 'dram', layout = 'slotted'", "22023", "tier = 'ssd'"),
                ("tier = 'ssd', pool = '1MB'", "22023", "layout slotted"),
                ("tier = 'ssd', layout = 'slotted', pool = 'much'", "22023", "64MB"),
                ("tier = 'ssd', layout = 'slotted', pool = '0'", "22023", "64MB"),
                ("tier = 'ssd', layout = 'slotted', pool = '1kB'", "53000", "a pool of 1024 bytes"),
                ("code_bits = 9", "22023", "8"),
                ("layout = 'inline', code_bits = 0", "22023", "code_bits"),
                ("node = 'localhost:1', tier = 'ssd'", "22023", "has a node"),
                ("node = 'localhost:1', layout = 'packed'", "22023", "has a node"),
                ("node = 'localhost:1', code_bits = 2", "22023", "has a node")):
            with self.subTest(options):
                text = self.refused("CREATE INDEX no ON places USING farvec (v vector_l2_ops) "
                                    f"WITH ({options});", state)
                self.assertIn(part, text)
        for options, part in (("layout = 'inline'", "bits"), ("code_bits = 2", "bits")):
            text = self.refused(f"CREATE INDEX no ON bits USING farvec (v bit_hamming_ops) WITH ({options});",
                                "22023")
            self.assertIn(part, text)
        self.refused("ALTER INDEX places_v SET (tier = 'tape');", "22023")
        self.refused("ALTER INDEX places_v SET (layout = 'slotted');", "22023")
        self.assert_same()


if __name__ == "__main__":
    unittest.main()
