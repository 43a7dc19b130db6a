"""Updates that leave the vector as it was: rows share it in the engine, and no vertex is made."""
import os
import pathlib
import signal
import struct
import unittest

from engine_base import ROWS, EngineTest, is_running, wait_until
from index_base import BY_INDEX, CLASSES

HEADER = struct.Struct("<QQQQQ80s")


class UpdatesTest(EngineTest):
    def make(self, rows=500, columns=""):
        """Updates of `n` are updates of an index, so that no version stays in its place."""
        self.make_items(rows)
        self.sql("ALTER TABLE items ADD n int DEFAULT 0, ADD price int DEFAULT 0;"
                 "CREATE INDEX items_n ON items (n);")
        if columns:
            self.sql(f"DROP INDEX items_v; CREATE INDEX items_v ON items USING farvec (v vector_l2_ops{columns});")

    def aliases(self):
        """(rows that share a vector, vertices that are there for these alone, and rows that have values
        of their own), as they were saved."""
        file = self.one("SELECT pg_relation_filenode('items_v');")
        folder = next(pathlib.Path(self.server.folder / "farvec").glob(f"*-*-{file}-*"))
        return HEADER.unpack_from((folder / "aliases").read_bytes())[1:4]

    def wait_for_aliases(self, holds):
        """The engine saves what it knows every few seconds."""
        wait_until("the file says what is wanted", lambda: holds(*self.aliases()[:2]))

    def wait_for_values(self, holds):
        wait_until("the file says what is wanted", lambda: holds(*self.aliases()))

    def vacuum(self):
        self.patiently("VACUUM items;")

    def compare(self, index="items_v", where="true"):
        self.assert_sound(index)
        for limit in (5, 50, 100_000):
            self.both(f"SELECT v <-> '[0.1,0.2,-0.4,0.1]' FROM items WHERE {where} "
                      f"ORDER BY v <-> '[0.1,0.2,-0.4,0.1]' LIMIT {limit};")
        self.both("SELECT id, n FROM (SELECT id, n FROM items "
                  f"WHERE {where} ORDER BY v <-> '[0,0,0,0]' LIMIT 100000) rows ORDER BY id;")


class Updates(UpdatesTest):
    def test_rows_share_the_vector_until_it_goes(self):
        self.make(2000)
        self.vacuum()
        self.wait_for_aliases(lambda rows, gone: (rows, gone) == (0, 0))
        self.sql("UPDATE items SET n = n + 1;")
        self.assert_answers()
        self.compare()
        self.vacuum()
        self.wait_for_aliases(lambda rows, gone: (rows, gone) == (2000, 2000))
        self.assert_answers()
        self.compare()
        self.sql("UPDATE items SET n = n + 1 WHERE id % 2 = 0; DELETE FROM items WHERE id % 5 = 0;")
        self.compare()
        self.vacuum()
        self.compare()
        self.wait_for_aliases(lambda rows, gone: rows == 1600)
        self.sql("UPDATE items SET v = '[1,2,3,4]' WHERE id <= 1000; UPDATE items SET n = 5 WHERE id <= 20;")
        self.compare()
        self.vacuum()
        self.compare()
        self.sql("DELETE FROM items;")
        self.vacuum()
        self.vacuum()
        self.wait_for_aliases(lambda rows, gone: (rows, gone) == (0, 0))
        self.assertEqual(self.one("SELECT farvec_stats('items_v')->'store'->>'stored';"), "0")
        self.compare()

    def test_each_snapshot_sees_its_own_version(self):
        self.make()
        self.wait_for_plan()
        rows = "SELECT count(*), sum(n) FROM (SELECT n FROM items ORDER BY v <-> '[0,0,0,0]' LIMIT 100000) rows;"
        waiting = "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'advisory';"
        holder = self.begin("SELECT pg_advisory_lock(1); SELECT pg_sleep(600);")
        wait_until("the lock is held", lambda: self.one("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' "
                                                        "AND granted;") == "1")
        old = self.begin(BY_INDEX + f"BEGIN ISOLATION LEVEL REPEATABLE READ; {rows} "
                         f"SELECT pg_advisory_lock(1); {rows} COMMIT;")
        wait_until("the other one waits", lambda: self.one(waiting) == "1")
        self.sql("UPDATE items SET n = n + 1; UPDATE items SET n = n + 1 WHERE id <= 10;")
        self.vacuum()
        self.assertEqual(self.sql(BY_INDEX + rows), ["500|510"])
        self.one("SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND granted;")
        output, errors = old.communicate(timeout=60)
        self.assertEqual(errors, "")
        self.assertEqual([line for line in output.split() if "|" in line], ["500|0", "500|0"])
        holder.communicate(timeout=60)
        self.vacuum()
        self.compare()

    def test_transactions_that_are_rolled_back(self):
        self.make()
        update = "UPDATE items SET n = n + 1 WHERE id BETWEEN {0} AND {1};"
        self.sql(f"BEGIN; {update.format(1, 100)} ROLLBACK;")
        self.sql(f"BEGIN; {update.format(1, 50)} SAVEPOINT a; {update.format(1, 200)} ROLLBACK TO a; "
                 f"{update.format(40, 60)} SAVEPOINT b; {update.format(45, 70)} RELEASE b; COMMIT;")
        self.compare()
        lines = self.sql(BY_INDEX + f"BEGIN; {update.format(1, 10)} SELECT count(*), sum(n) FROM (SELECT n FROM "
                         "items ORDER BY v <-> '[0,0,0,0]' LIMIT 100000) rows; ROLLBACK;")
        self.assertEqual(lines[-1].split("|")[0], "500")
        self.sql(f"BEGIN; {update.format(100, 200)} PREPARE TRANSACTION 'kept'; COMMIT PREPARED 'kept';"
                 f"BEGIN; {update.format(150, 300)} PREPARE TRANSACTION 'not'; ROLLBACK PREPARED 'not';")
        self.compare()
        self.vacuum()
        self.compare()

    def test_other_ways_to_update(self):
        self.make()
        self.sql("INSERT INTO items SELECT id, v FROM items WHERE id < 50 ON CONFLICT (id) DO UPDATE SET n = 7;"
                 "INSERT INTO items VALUES (3, '[5,5,5,5]') ON CONFLICT (id) DO UPDATE SET v = excluded.v;"
                 "MERGE INTO items USING (SELECT generate_series(100, 150) AS id) s ON items.id = s.id "
                 "WHEN MATCHED THEN UPDATE SET n = 9;"
                 "COPY items (id, v) FROM PROGRAM 'printf \"9001\\t[1,1,1,1]\\n9002\\t[1,1,1,1]\\n\"';"
                 "UPDATE items SET n = 1 WHERE id > 9000; UPDATE items SET v = v, n = 2 WHERE id < 20;"
                 "UPDATE items SET v = NULL WHERE id = 30; UPDATE items SET n = 3 WHERE id IN (29, 30, 31);")
        self.compare()
        self.vacuum()
        self.compare()
        # One version after the other in one place, as no index has the column.
        self.sql("DROP INDEX items_n; ALTER TABLE items SET (fillfactor = 50);")
        self.patiently("VACUUM FULL items;")
        for _ in range(5):
            self.sql("UPDATE items SET n = n + 1;")
        self.compare()
        self.vacuum()
        self.compare()

    def test_one_row_that_is_updated_again_and_again(self):
        self.make(200)
        again = "DO $$ BEGIN FOR i IN 1..{0} LOOP UPDATE items SET n = i WHERE id = 7; END LOOP; END $$;"
        self.sql(again.format(3000))
        self.compare()
        self.sql(BY_INDEX + "SELECT id FROM items ORDER BY v <-> (SELECT v FROM items WHERE id = 7) LIMIT 10;")
        self.assertLess(int(self.one("SELECT farvec_last_scan()->>'rest';")), 200)
        self.vacuum()
        self.compare()
        self.wait_for_aliases(lambda rows, gone: rows <= 3)
        self.sql(again.format(10))
        self.compare()

    def test_many_rows_of_one_vector(self):
        self.make(3000)
        self.sql("UPDATE items SET v = '[1,2,3,4]';")
        self.vacuum()
        for _ in range(3):
            self.sql("UPDATE items SET n = n + 1;")
            self.compare()
        self.vacuum()
        self.compare()

    def test_vectors_in_toast(self):
        self.sql("DROP TABLE IF EXISTS long; CREATE TABLE long (id int PRIMARY KEY, n int, v vector(768));"
                 "INSERT INTO long SELECT i, 0, (SELECT array_agg(sin(i * k)::real ORDER BY k) FROM "
                 "generate_series(1, 768) k)::vector FROM generate_series(1, 300) i; CREATE INDEX ON long (n);")
        self.patiently("CREATE INDEX long_v ON long USING farvec (v vector_cosine_ops);")
        nearest = "SELECT id FROM long ORDER BY v <=> (SELECT v FROM long WHERE id = 7) LIMIT 20;"
        for _ in range(3):
            self.sql("UPDATE long SET n = n + 1;")
            self.both(nearest, "SET farvec.search_list = 1000;")
            self.assert_sound("long_v")
        self.patiently("VACUUM long;")
        self.both(nearest, "SET farvec.search_list = 1000;")
        self.assert_sound("long_v")

    def test_every_class_of_operators(self):
        for name, (kind, operator, _, _) in CLASSES.items():
            with self.subTest(name):
                bits = kind == "bit"
                rows = ("SELECT i, (i * 7919 % 65536)::bit(16) FROM generate_series(1, 300) i"
                        if bits else ROWS.format(1, 300))
                query = "B'1011001110001111'" if bits else "'[1,2,3,4]'"
                self.sql("DROP TABLE IF EXISTS kinds;"
                         f"CREATE TABLE kinds (id int, v {kind}({16 if bits else 4}), n int);"
                         f"INSERT INTO kinds {rows}; CREATE INDEX ON kinds (n);")
                self.patiently(f"CREATE INDEX kinds_v ON kinds USING farvec (v {name});")
                self.sql("UPDATE kinds SET n = 1; UPDATE kinds SET n = 2 WHERE id < 100;")
                order = f"ORDER BY v {operator} {query}"
                for vacuum in ("", "VACUUM kinds;"):
                    self.patiently(vacuum or "SELECT 1;")
                    self.both(f"SELECT v {operator} {query} FROM kinds {order} LIMIT 20;")
                    self.both(f"SELECT id, n FROM (SELECT id, n FROM kinds {order} LIMIT 1000) r ORDER BY id;")
                    self.assert_sound("kinds_v")


class Filters(UpdatesTest):
    def test_values_of_filters_are_those_of_each_version(self):
        self.make(1000, ", price")
        self.sql("UPDATE items SET price = id % 10;")
        self.vacuum()
        self.sql("UPDATE items SET n = n + 1;")
        self.vacuum()
        self.wait_for_aliases(lambda rows, gone: rows == 1000)
        for where in ("price < 3", "price = 7", "price IS NULL", "n = 1 AND price > 5"):
            self.compare(where=where)
        # The old version of each row has its own price until it is vacuumed away.
        self.sql("UPDATE items SET price = 3 WHERE price = 7; UPDATE items SET n = 2 WHERE price = 3;"
                 "UPDATE items SET price = NULL WHERE price = 1;")
        for _ in range(2):
            for where in ("price = 3", "price = 7", "price IS NULL", "price IN (1, 2, 3) AND n = 2"):
                self.compare(where=where)
            self.vacuum()
        self.sql("UPDATE items SET price = 7 WHERE id <= 300; UPDATE items SET price = 8 WHERE id <= 300;"
                 "UPDATE items SET price = 7 WHERE id <= 300; UPDATE items SET n = 3 WHERE id <= 300;")
        for where in ("price = 7", "price = 8"):
            self.compare(where=where)

    def test_an_update_of_a_filter_makes_no_vertex(self):
        self.make(2000, ", price")
        self.vacuum()
        for turn in range(3):
            self.sql("UPDATE items SET price = id % 10 + 10 * (SELECT max(n) + 1 FROM items), n = n + 1;")
            for price in (0, 17, 27, 37):
                self.compare(where=f"price = {price}")
            rows = 2000 if turn == 0 else 4000  # with the former versions
            self.wait_for_values(lambda *counts, now=(rows, 2000 * (turn > 0), rows): counts == now)
            self.vacuum()
            for price in (0, 17, 27, 37):
                self.compare(where=f"price = {price}")

    def test_a_search_for_values_that_rows_had_reads_nothing(self):
        self.make(2000, ", price")
        self.sql("UPDATE items SET price = 1;")
        self.vacuum()
        # The engine gives the vertices their rows' values when it saves what it knows.
        search = "SELECT id FROM items WHERE price = {0} ORDER BY v <-> '[1,2,3,4]' LIMIT 5;"
        reads = BY_INDEX + search.format(0) + "SELECT farvec_last_scan()->>'distances';"
        wait_until("the vertices have other values", lambda: self.patiently(reads)[-1] == "0")
        self.both(search.format(1))
        self.sql("UPDATE items SET price = 2 WHERE id <= 1500;")
        for price in (0, 1, 2):
            self.compare(where=f"price = {price}")

    def test_all_columns_of_filters(self):
        self.make_items(800)
        self.sql("ALTER TABLE items ADD n int, ADD tags text[], ADD name text, ADD at timestamptz, ADD ok boolean;"
                 "DROP INDEX items_v; CREATE INDEX items_v ON items USING farvec (v vector_l2_ops, n, tags, name, at, ok);")
        wheres = ("n < 100", "tags @> '{b}'", "name = 'x5'", "at > '2024-02-01'", "ok", "tags IS NULL", "NOT ok OR n > 700")
        self.sql("UPDATE items SET n = id, ok = id % 2 = 0 WHERE id % 3 > 0;"
                 "UPDATE items SET tags = ARRAY['a', 'b', 'x' || id % 5], name = 'x' || id % 7 WHERE id % 3 < 2;"
                 "UPDATE items SET at = '2024-01-01'::timestamptz + id * interval '1 hour', name = repeat('y', id) "
                 "WHERE id > 400;")
        for vacuum in (False, True):
            if vacuum:
                self.vacuum()
            for where in wheres:
                self.compare(where=where)


class Killed(UpdatesTest):
    def kill(self, how=signal.SIGKILL):
        engine = self.engine()
        os.kill(engine, how)
        wait_until("it has ended", lambda: not is_running(engine))


class EndsOfValues(Killed):
    """Has a server of its own: each kill makes the next start wait twice as long."""

    def test_values_are_there_after_kills(self):
        self.make(1000, ", price")
        self.sql("UPDATE items SET price = id % 10;")
        self.vacuum()
        for turn in range(4):
            self.sql(f"UPDATE items SET price = price + 1 WHERE id % 4 <> {turn};")
            all_rows = 1750 if turn % 2 == 0 else 2500  # with former versions
            self.wait_for_values(lambda rows, gone, own, now=all_rows: rows == now and own >= 750)
            if turn % 2 == 1:
                self.vacuum()
            self.kill()
            self.assert_answers()
            for where in ("price = 3", "price = 4", "price > 9"):
                self.compare(where=where)
            if turn % 2 == 1:
                self.restart("immediate")
                self.assert_answers()
                self.compare(where="price = 5")


class Ends(Killed):
    def test_what_was_saved_is_not_told_again(self):
        self.make(1000)
        self.sql("UPDATE items SET n = n + 1;")
        self.vacuum()
        self.wait_for_aliases(lambda rows, gone: (rows, gone) == (1000, 1000))
        self.kill()
        stored = "SELECT farvec_stats('items_v')->'store'->>'stored';"
        wait_until("the engine has the rows", lambda: self.patiently(stored) == ["1000"])
        self.assert_answers()
        self.compare()
        self.wait_for_aliases(lambda rows, gone: (rows, gone) == (1000, 1000))

    def test_an_engine_that_is_killed_while_rows_are_updated(self):
        self.make(600)
        for turn in range(7):  # each kill makes the next start wait twice as long
            updates = "".join(f"UPDATE items SET n = n + 1 WHERE id % 7 = {part};" for part in range(7))
            session = self.begin(updates + updates)
            if turn % 3 == 2:
                self.patiently("VACUUM items;")
            self.kill()
            self.assertEqual(session.communicate(timeout=100)[1], "", "an update does not need the engine")
            self.assert_answers()
            self.compare()
        self.vacuum()
        self.compare()

    def test_a_server_that_is_killed_while_rows_are_updated(self):
        self.make(600)
        for turn in range(3):
            self.sql("UPDATE items SET n = n + 1;")
            if turn == 1:
                self.vacuum()
            self.sql("UPDATE items SET n = n + 1 WHERE id % 2 = 0;")
            self.restart("immediate")
            self.assert_answers()
            self.compare()
            self.sql("UPDATE items SET n = n + 1 WHERE id % 3 = 0;")
            self.restart("fast")
            self.assert_answers()
            self.compare()


if __name__ == "__main__":
    unittest.main()
