"""Changes of tables with farvec indexes: inserts, updates, vacuum, transactions, and what DDL does."""
import contextlib
import json
import random
import threading
import unittest

import index_base
from index_base import BY_INDEX, BY_TABLE
from postgres_server import SqlError

DIMENSION = 3
VALUE = "array[{0} % 97, {0} % 13, {0} % 7]"


class ChangesTest(index_base.IndexTest):
    def make(self, name, rows=0, kind="vector_l2_ops", what="v", how="", options=""):
        node = self.collection(name, DIMENSION, kind)
        self.sql(f"CREATE {options} TABLE {name} (id int PRIMARY KEY, v vector({DIMENSION}));"
                 f"INSERT INTO {name} SELECT i, {VALUE.format('i')} FROM generate_series(1, {rows}) i;"
                 f"CREATE INDEX {name}_index ON {name} USING farvec ({what} {kind}) "
                 f"WITH (node = '{node}') {how};")
        return node

    def start_again(self, **settings):
        self.server.start({"fsync": "off", **self.preload, **settings})

    def add(self, name, first, last):
        self.sql(f"INSERT INTO {name} SELECT i, {VALUE.format('i')} FROM generate_series({first}, {last}) i;")

    def compare(self, name, where="true"):
        """The same rows by index and by table, and nothing wrong with the index."""
        for limit in (5, 100_000):
            self.both(f"SELECT v <-> '[1,2,3]' FROM {name} WHERE {where} ORDER BY v <-> '[1,2,3]' "
                      f"LIMIT {limit};", "SET farvec.search_list = 1000;")
        ids = f"SELECT id FROM (SELECT id FROM {name} WHERE {where} ORDER BY v <-> '[0,0,0]' LIMIT 99999) t " \
              "ORDER BY id;"
        self.both(ids)
        self.assert_sound(f"{name}_index")

    def stats(self, name):
        return json.loads(self.one(f"SELECT farvec_stats('{name}_index');"))


class Rows(ChangesTest):
    def test_transactions(self):
        self.make("kept", 50)
        self.sql("BEGIN; INSERT INTO kept VALUES (100, '[1,2,3]'); ROLLBACK;")
        self.sql("BEGIN; INSERT INTO kept VALUES (101, '[1,2,3]'); SAVEPOINT a; INSERT INTO kept VALUES "
                 "(102, '[1,2,3]'); ROLLBACK TO a; INSERT INTO kept VALUES (103, '[1,2,3]'); COMMIT;")
        self.compare("kept")
        lines = self.sql(BY_INDEX + "BEGIN; INSERT INTO kept VALUES (104, '[1,2,3]'); SELECT id FROM kept "
                         "WHERE id > 99 ORDER BY v <-> '[1,2,3]', id; ROLLBACK;")
        self.assertEqual(lines, ["101", "103", "104"])
        self.sql("INSERT INTO kept VALUES (101, '[5,5,5]') ON CONFLICT (id) DO UPDATE SET v = excluded.v; "
                 "INSERT INTO kept VALUES (101, '[6,6,6]') ON CONFLICT DO NOTHING;")
        self.sql("COPY kept FROM PROGRAM 'printf \"200\\t[1,1,1]\\n201\\t\\\\N\\n\"';")
        self.compare("kept")
        self.sql("DELETE FROM kept WHERE id < 40; VACUUM kept;")
        self.compare("kept")

    def test_rows_that_wait_for_the_end_of_a_transaction(self):
        self.make("waiting", 10)
        insert = "INSERT INTO waiting SELECT i, array[i % 97, i, 2] FROM generate_series({0}, {1}) i;"
        many = insert.format(100, 3300)  # some batches, and a rest
        savepoints = "".join(f"SAVEPOINT a; {insert.format(first, first + 5)} {what} ROLLBACK TO a; "
                             for first, what in ((4000, ""), (4100, "TRUNCATE waiting;"),
                                                 (4200, "REINDEX INDEX waiting_index;"),
                                                 (4300, "SELECT count(*) FROM (SELECT 1 FROM waiting ORDER "
                                                        "BY v <-> '[1,2,3]') t;")))
        lines = self.sql(BY_INDEX + f"BEGIN; {many} {savepoints} SAVEPOINT a; {insert.format(5000, 5009)} "
                         f"RELEASE a; {insert.format(6000, 6001)} SELECT count(*) FROM (SELECT 1 FROM waiting "
                         "ORDER BY v <-> '[1,2,3]') t; COMMIT;")
        self.assertEqual(lines, ["3217", "3223"])
        self.compare("waiting")
        self.sql(f"BEGIN; {insert.format(7000, 7009)} TRUNCATE waiting; {insert.format(1, 9)} COMMIT;")
        self.compare("waiting")
        self.sql(f"BEGIN; {insert.format(7000, 7009)} REINDEX INDEX waiting_index; {insert.format(11, 19)} "
                 "COMMIT;")
        self.compare("waiting")
        self.sql(f"BEGIN; {insert.format(8000, 8009)} PREPARE TRANSACTION 'two'; ")
        self.compare("waiting")
        self.sql("COMMIT PREPARED 'two';")
        self.compare("waiting")
        self.sql("CREATE FUNCTION nearest() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO said "
                 "SELECT id FROM waiting ORDER BY v <-> '[500,500,500]' LIMIT 1; RETURN NULL; END $$; "
                 "CREATE TABLE said (id int); CREATE TRIGGER t AFTER INSERT ON waiting FOR EACH STATEMENT "
                 "EXECUTE FUNCTION nearest();")
        self.assertEqual(self.sql(BY_INDEX + "INSERT INTO waiting VALUES (9999, '[500,500,500]'); "
                                  "SELECT id FROM said;"), ["9999"])
        self.sql("DROP TRIGGER t ON waiting;")
        self.sql(f"BEGIN; {insert.format(9000, 9009)} DROP INDEX waiting_index; COMMIT;")
        self.sql("DROP TABLE waiting;")

    def test_rows_that_wait_when_their_index_is_emptied_again(self):
        self.make("emptied", 10)
        insert = "INSERT INTO emptied SELECT i, array[i, {0}, 2] FROM generate_series(1, 9) i;"
        # The second TRUNCATE keeps the file, and the rows after it have the places of those before it.
        self.sql(f"BEGIN; TRUNCATE emptied; {insert.format(1)} TRUNCATE emptied; {insert.format(50)} COMMIT;")
        self.compare("emptied")

    def test_rows_that_wait_are_seen_by_functions_in_parallel_workers(self):
        self.make("shared", 50)
        self.sql("CREATE FUNCTION near_it() RETURNS int LANGUAGE plpgsql STABLE PARALLEL SAFE COST 1000000 SET "
                 "enable_seqscan = off AS $$ BEGIN RETURN (SELECT id FROM shared ORDER BY v <-> '[500,0,0]' "
                 "LIMIT 1); END $$; CREATE TABLE askers AS SELECT i FROM generate_series(1, 3) i;")
        lines = self.sql("SET parallel_setup_cost = 0; SET min_parallel_table_scan_size = 0; "
                         "SET parallel_leader_participation = off; BEGIN; "
                         "INSERT INTO shared VALUES (100, '[500,0,0]'); "
                         "EXPLAIN (COSTS off) SELECT near_it() FROM askers; "
                         "SELECT near_it() FROM askers; ROLLBACK;")
        self.assertEqual(lines[0], "Gather", lines)
        self.assertEqual(lines[-3:], ["100"] * 3, lines)

    def test_on_conflict_of_clients(self):
        self.make("hit", 5)
        work = ("DO $$ BEGIN FOR i IN 1..300 LOOP INSERT INTO hit VALUES (i, array[i, {0}, 0]) ON CONFLICT (id) "
                "DO UPDATE SET v = excluded.v; COMMIT; END LOOP; END $$;")
        clients = [self.begin(work.format(client)) for client in range(4)]
        for client in clients:
            self.assertEqual(client.communicate(timeout=100)[1], "")
        self.compare("hit")

    def test_pages_are_used_again(self):
        self.make("filled", 1500)
        before = self.stats("filled")
        self.sql("DELETE FROM filled WHERE id <= 1400; VACUUM filled;")
        self.assertEqual(self.stats("filled")["live"], 100)
        # What is known of the node may be a second old.
        self.sql("SELECT pg_sleep(1.2);")
        self.assertEqual(self.stats("filled")["store"]["stored"], 100)
        for first in (2000, 3500, 5000):
            self.sql(f"INSERT INTO filled SELECT i, {VALUE.format('i')} FROM "
                     f"generate_series({first}, {first + 1400}) i;")
            self.compare("filled")
            self.sql('DELETE FROM filled WHERE id > 1500; VACUUM filled;')
        after = self.stats("filled")
        self.assertLessEqual(after["pages"], before["pages"] + 3)
        self.assertGreater(after["generation"], before["generation"])

    def test_clients_at_the_same_time(self):
        self.make("busy", 10)
        work = ("DO $$ BEGIN FOR i IN 1..60 LOOP INSERT INTO busy VALUES ({0} * 1000 + i, array[i, i % 5, {0}]);"
                " COMMIT; IF i % 3 = 0 THEN UPDATE busy SET v = '[9,9,9]' WHERE id = {0} * 1000 + i - 1; "
                "DELETE FROM busy WHERE id = {0} * 1000 + i - 2; COMMIT; END IF; END LOOP; END $$;")
        clients = [self.begin(work.format(client)) for client in range(1, 6)]
        vacuums = threading.Thread(target=lambda: [self.server.sql("VACUUM busy;") for _ in range(10)])
        vacuums.start()
        for client in clients:
            output, errors = client.communicate(timeout=100)
            self.assertEqual((client.returncode, errors), (0, ""), output)
        vacuums.join()
        self.compare("busy")
        self.sql("VACUUM busy;")
        self.compare("busy")


class Definitions(ChangesTest):
    def test_partial_and_expression(self):
        self.make("partly", 200, how="WHERE id % 2 = 0")
        self.add("partly", 300, 350)
        self.compare("partly", "id % 2 = 0")
        self.make("computed", 200, what="(l2_normalize(v)::vector(3))")
        self.add("computed", 300, 350)
        self.both("SELECT l2_normalize(v)::vector(3) <-> '[1,0,0]' FROM computed ORDER BY "
                  "l2_normalize(v)::vector(3) <-> '[1,0,0]' LIMIT 50;")
        self.assert_sound("computed_index")

    def test_built_again(self):
        self.make("again", 300)
        self.sql("DELETE FROM again WHERE id < 50;")
        for what in ("REINDEX INDEX again_index;", "VACUUM FULL again;", "REINDEX TABLE again;"):
            self.sql(what)
            self.compare("again")
            self.add("again", *{"R": (1000, 1010), "V": (2000, 2010)}.get(what[0], (0, 0))
                     if "INDEX again_index" in what or what[0] == "V" else (3000, 3010))
            self.compare("again")
        self.sql("TRUNCATE again;")
        self.compare("again")
        self.add("again", 1, 40)
        self.compare("again")

    def test_rolled_back(self):
        """The collection has been another's meanwhile: it is filled again."""
        self.make("back", 120)
        for what in ("REINDEX INDEX back_index", "TRUNCATE back", "DROP INDEX back_index", "DROP TABLE back"):
            self.sql(f"BEGIN; {what}; ROLLBACK;")
            self.compare("back")
        self.add("back", 1000, 1020)
        self.sql("BEGIN; REINDEX INDEX back_index; ROLLBACK;")
        self.add("back", 1100, 1120)
        self.compare("back")

    def test_other_tablespaces_and_dropped_indexes(self):
        node = self.make("elsewhere", 80)
        self.sql("CREATE TABLESPACE other LOCATION '';")
        self.sql("ALTER INDEX elsewhere_index SET TABLESPACE other;")
        self.add("elsewhere", 100, 110)
        self.compare("elsewhere")
        self.sql("DROP INDEX elsewhere_index;")
        self.sql("CREATE INDEX elsewhere_index ON elsewhere USING farvec (v vector_l2_ops) WITH (node = "
                 f"'{node}');")
        self.compare("elsewhere")

    def test_partitions(self):
        """Each partition has an index of its own, so each needs a collection."""
        self.sql("CREATE TABLE parts (id int, v vector(3)) PARTITION BY RANGE (id); CREATE TABLE low PARTITION "
                 "OF parts FOR VALUES FROM (0) TO (100); CREATE TABLE high PARTITION OF parts FOR VALUES FROM "
                 "(100) TO (1000);")
        self.add("parts", 1, 200)
        for name in ("low", "high"):
            node = self.collection(name, DIMENSION)
            self.sql(f"CREATE INDEX {name}_index ON {name} USING farvec (v vector_l2_ops) WITH (node = '{node}');")
        self.both("SELECT v <-> '[1,2,3]' FROM parts ORDER BY v <-> '[1,2,3]' LIMIT 40;")
        self.add("parts", 50, 150)
        for name in ("low", "high"):
            self.assert_sound(f"{name}_index")

    def test_a_build_is_cancelled_and_tells_its_progress(self):
        node = self.collection("long", DIMENSION)
        self.sql("CREATE TABLE long (id int, v vector(3)); CREATE FUNCTION late(v vector) RETURNS vector "
                 "LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN PERFORM pg_sleep(0.001); RETURN v; END $$;")
        self.add("long", 1, 60_000)
        building = self.begin("CREATE INDEX long_index ON long USING farvec ((late(v)::vector(3)) "
                                     f"vector_l2_ops) WITH (node = '{node}');")
        progress = "SELECT pid FROM pg_stat_progress_create_index WHERE tuples_done >= 1000;"
        for _ in range(600):
            found = self.sql(progress)
            if found:
                break
            self.sql("SELECT pg_sleep(0.05);")
        self.sql(f"SELECT pg_cancel_backend({found[0]});")
        self.assertIn("57014", building.communicate(timeout=60)[1])
        self.sql("DELETE FROM long WHERE id > 100; CREATE INDEX long_index ON long USING farvec "
                 f"(v vector_l2_ops) WITH (node = '{node}');")
        self.compare("long")

    def test_concurrently(self):
        node = self.collection("slow", DIMENSION)
        self.sql("CREATE TABLE slow (id int, v vector(3));")
        self.add("slow", 1, 200)
        self.sql("CREATE INDEX CONCURRENTLY slow_index ON slow USING farvec (v vector_l2_ops) "
                 f"WITH (node = '{node}');")
        self.add("slow", 300, 320)
        self.compare("slow")
        self.refused("REINDEX INDEX CONCURRENTLY slow_index;", "55006")
        self.sql("DROP INDEX slow_index_ccnew;")
        self.compare("slow")

    def test_old_versions_of_rows_had_other_vectors(self):
        node = self.collection("hot", DIMENSION)
        self.sql("CREATE TABLE hot (id int, v vector(3)) WITH (fillfactor = 20);")
        self.add("hot", 1, 100)
        self.sql("UPDATE hot SET v = '[50,50,50]' WHERE id < 30; UPDATE hot SET v = '[60,60,60]' WHERE id < 9;"
                 f"CREATE INDEX hot_index ON hot USING farvec (v vector_l2_ops) WITH (node = '{node}');")
        self.compare("hot")

    def test_unlogged_and_temporary(self):
        self.make("loose", 100, options="UNLOGGED")
        self.add("loose", 200, 220)
        self.compare("loose")
        node = self.collection("short", DIMENSION)
        query = "SELECT id FROM short ORDER BY v <-> '[1,1,1]' LIMIT 9;"
        lines = self.sql("CREATE TEMP TABLE short (id int, v vector(3)); INSERT INTO short SELECT i, array[i,i,i]"
                         " FROM generate_series(1,9) i; CREATE INDEX ON short USING farvec (v vector_l2_ops) "
                         f"WITH (node = '{node}'); INSERT INTO short VALUES (10, '[0,0,0]'); "
                         f"DELETE FROM short WHERE id = 4; {BY_INDEX} {query}")
        self.assertEqual(sorted(map(int, lines)), [1, 2, 3, 5, 6, 7, 8, 9, 10])

    def test_wide_transactions_see_what_they_should(self):
        self.make("seen", 30)
        old = self.begin(BY_INDEX + "BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM seen; "
                                "SELECT pg_sleep(1.5); SELECT count(*) FROM (SELECT 1 FROM seen ORDER BY "
                                "v <-> '[1,2,3]') t;")
        self.server.sql("SELECT pg_sleep(0.5); DELETE FROM seen WHERE id > 5;")
        self.sql("VACUUM seen;")
        self.assertEqual(old.communicate(timeout=60)[0].split(), ["30", "30"])
        self.compare("seen")

    def test_a_damaged_page_is_told(self):
        self.make("hurt", 100)
        [path] = self.sql("SELECT pg_relation_filepath('hurt_index');")
        self.sql("CHECKPOINT;")
        self.server.end_sessions()
        self.server.stop()
        with open(self.server.folder / path, "r+b") as file:
            file.seek(8192 + 24)
            file.write(bytes([255] * 8))
        self.start_again()
        checksums = self.one("SHOW data_checksums;") == "on"  # then PostgreSQL itself sees it
        said = self.refused(BY_INDEX + "SELECT id FROM hurt ORDER BY v <-> '[1,2,3]' LIMIT 100;",
                            "XX001" if checksums else "XX002")
        self.assertIn("invalid page" if checksums else "REINDEX", said)
        self.sql("REINDEX INDEX hurt_index;")
        self.compare("hurt")

    def test_random_damage_ends_no_server(self):
        """Whatever bytes a page has, a statement answers or ends with an error."""
        generator = random.Random(index_base.SEED)
        self.make("bitten", 1100)
        [path] = self.sql("SELECT pg_relation_filepath('bitten_index');")
        self.sql("CHECKPOINT;")
        self.server.end_sessions()
        self.server.stop()
        file = self.server.folder / path
        sound = file.read_bytes()
        for _ in range(8):
            damaged = bytearray(sound)
            for _ in range(generator.choice((1, 1, 4, 40))):
                page = generator.randrange(len(sound) // 8192) * 8192
                where = generator.choice((generator.randrange(8192), generator.randrange(12, 120),
                                          8192 - generator.randrange(1, 24)))
                damaged[page + where] = generator.choice((0, 1, 255, generator.randrange(256)))
            file.write_bytes(damaged)
            self.start_again(restart_after_crash="off")
            for statement in (BY_INDEX + "SELECT count(*) FROM (SELECT id FROM bitten ORDER BY v <-> '[1,2,3]') t;",
                              "SELECT farvec_check('bitten_index'), farvec_stats('bitten_index');",
                              "INSERT INTO bitten SELECT i + 10000, array[i, i, i] FROM generate_series(1, 1200) i;",
                              "DELETE FROM bitten WHERE id > 5000;", "VACUUM bitten;"):
                with contextlib.suppress(SqlError):
                    self.sql(statement)
            self.assertEqual(self.one("SELECT count(*) FROM bitten;"), "1100")
            self.server.end_sessions()
            self.server.stop()
            self.assertNotIn("terminated by signal", self.server.log.read_text())
        file.write_bytes(sound)
        self.start_again()
        self.sql("REINDEX INDEX bitten_index;")
        self.compare("bitten")

    def test_a_server_without_preload(self):
        self.make("alone", 10)
        self.server.end_sessions()
        self.server.stop()
        self.server.start({"fsync": "off"})
        try:
            query = "SELECT id FROM alone ORDER BY v <-> '[1,2,3]' LIMIT 1;"
            self.assertEqual(len(self.sql(BY_TABLE + query)), 1)
            # The planner takes the table.
            self.assertEqual(len(self.sql(BY_INDEX + query)), 1)
            for statement in ("INSERT INTO alone VALUES (11, '[1,2,3]');", "REINDEX INDEX alone_index;",
                              "VACUUM alone;", "SELECT farvec_check('alone_index');"):
                said = self.refused(statement, "55000")
                self.assertIn("shared_preload_libraries", said)
        finally:
            self.server.end_sessions()
            self.server.stop()
            self.start_again()
        self.compare("alone")


if __name__ == "__main__":
    unittest.main()
