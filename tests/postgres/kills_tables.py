"""Tables that are changed while servers are killed: what clients do to them, and how a table is
compared with its indexes. Everything random comes from the generator that is given."""
import json
import math

from index_base import BY_INDEX, BY_TABLE

DIMENSION = 8
BITS = 64
SECTIONS = ("libs", "doc", "net", "web", "mail")
MOST_ROWS = 1500  # a table that has more is cut when a round begins
MOST_FOUND = 1000  # a node allows no longer search
# What statements may end with while a server ends, an engine is away, and others hold locks.
# 01000: a vacuum that could not tell the store.
ALLOWED = {"01000", "08006", "08003", "57P01", "57P02", "57P03", "40P01", "55P03", "23505", "25P02", "55000",
           "42704", "42P07", "42710", "57014", "3B001", "25P01"}


class Table:
    """A table with one index that is compared. `kind` is the type of its column, `place` what
    follows the columns of the index; `filters` are its columns after the vector."""

    def __init__(self, name, kind, operator, classes, options="", filters="", place="", where=""):
        self.name, self.kind, self.operator, self.classes = name, kind, operator, classes
        self.options, self.filters, self.place, self.where = options, filters, place, where

    @property
    def index(self):
        return f"{self.name}_v"

    def index_statement(self, name=None, how=""):
        return (f"CREATE INDEX {how} {name or self.index} ON {self.name} USING farvec "
                f"(v {self.classes}{self.filters}) {self.place}"
                f"{' WHERE ' + self.where if self.where else ''};")

    def create(self):
        size = BITS if self.kind == "bit" else DIMENSION
        return (f"CREATE {self.options} TABLE {self.name} (id bigint PRIMARY KEY, section text, "
                f"price int, note text, v {self.kind}({size})) WITH (fillfactor = 70);"
                + self.index_statement())

    def vector(self, expression):
        """A vector that is made of a whole number in SQL."""
        if self.kind == "bit":
            return f"('x' || md5(({expression})::text))::bit({BITS})"
        parts = ", ".join(f"sin(({expression}) * {1.1 + 0.37 * i:.2f})" for i in range(DIMENSION))
        return f"ARRAY[{parts}]::real[]::{self.kind}"

    def query(self, generator):
        if self.kind == "bit":
            return "B'" + "".join(generator.choice("01") for _ in range(BITS)) + "'"
        return "'[" + ",".join(f"{math.sin(generator.uniform(0, 99)):.5f}"
                               for _ in range(DIMENSION)) + "]'"

    def insert(self, first, count, generator):
        vector = self.vector("i")
        if generator.random() < 0.2:
            rare = "NULL" if self.kind == "bit" else generator.choice(
                ("NULL", f"array_fill(0::real, ARRAY[{DIMENSION}])::{self.kind}"))
            vector = f"CASE WHEN i % 7 = 0 THEN {rare} ELSE {vector} END"
        section = f"(ARRAY{list(SECTIONS)})[1 + i % {len(SECTIONS)}]"
        return (f"INSERT INTO {self.name} SELECT i, {section}, i % 100, 'new', {vector} "
                f"FROM generate_series({first}, {first + count - 1}) i")


class Client:
    """Random statements of one client. Ids of rows that it inserts are its own."""

    def __init__(self, tables, number, first_id, generator):
        self.tables, self.number, self.next_id, self.generator = tables, number, first_id, generator
        self.prepared = 0
        self.makes_unlogged = True

    def some(self, table, share=20):
        r = self.generator
        return f"id % {r.randint(3, share)} = {r.randrange(3)}" if r.random() < 0.5 else \
            f"id IN (SELECT id FROM {table.name} ORDER BY id LIMIT {r.randint(1, 20)} " \
            f"OFFSET {r.randrange(200)})"

    def insert(self, table):
        count = self.generator.choice((1, 1, 3, 20, 20, 150, 1200))
        self.next_id += count
        # Rows that may be taken back go to the store one by one.
        conflicts = " ON CONFLICT DO NOTHING" if count < 100 and self.generator.random() < 0.4 else ""
        return table.insert(self.next_id - count, count, self.generator) + conflicts

    def insert_again(self, table):
        first = max(1, self.next_id - 20)
        return table.insert(first, 10, self.generator) + \
            " ON CONFLICT (id) DO UPDATE SET v = excluded.v, note = 'again'"

    def change(self, table):
        """A statement that changes rows."""
        r = self.generator
        return r.choice((
            self.insert, self.insert, self.insert, self.insert_again,
            lambda t: f"DELETE FROM {t.name} WHERE {self.some(t)}",
            lambda t: f"UPDATE {t.name} SET v = {t.vector(f'id + {r.randrange(1000)}')} "
                      f"WHERE {self.some(t)}",
            lambda t: f"UPDATE {t.name} SET note = note || 'x' WHERE {self.some(t)}",
            lambda t: f"UPDATE {t.name} SET price = price + 1, section = 'web' WHERE {self.some(t)}",
        ))(table)

    def search(self, table):
        r = self.generator
        where = r.choice(("", f" WHERE price < {r.randrange(100)}",
                          f" WHERE section = '{r.choice(SECTIONS)}'"))
        return (f"SELECT id FROM {table.name}{where} ORDER BY v {table.operator} {table.query(r)} "
                f"LIMIT {r.choice((1, 10, 10, 300))}")

    def transaction(self, table):
        r = self.generator
        parts = ["BEGIN"]
        for _ in range(r.randint(1, 4)):
            parts.append(self.change(table))
            if r.random() < 0.3:
                parts += ["SAVEPOINT s", self.change(table), self.search(table),
                          r.choice(("ROLLBACK TO s", "RELEASE s"))]
        parts.append(r.choice(("COMMIT", "COMMIT", "ROLLBACK")))
        return "; ".join(parts)

    def two_phases(self, table):
        self.prepared += 1
        name = f"'two-{self.number}-{self.prepared}'"
        end = self.generator.choice((f"COMMIT PREPARED {name}", f"ROLLBACK PREPARED {name}", "SELECT 1"))
        return f"BEGIN; {self.change(table)}; PREPARE TRANSACTION {name}; {end}"

    def maintain(self, table):
        r = self.generator
        if table.options and not self.makes_unlogged:
            return f"VACUUM {table.name}"
        if table.place:  # two indexes cannot share a collection
            return r.choice((f"VACUUM {table.name}", f"REINDEX INDEX {table.index}"))
        return r.choice((f"REINDEX INDEX {table.index}", f"TRUNCATE {table.name}",
                         f"VACUUM FULL {table.name}", f"VACUUM {table.name}",
                         f"DROP INDEX IF EXISTS {table.name}_more;"
                         + table.index_statement(f"{table.name}_more").rstrip(";"),
                         f"DROP INDEX IF EXISTS {table.name}_more",
                         f"DROP INDEX IF EXISTS {table.name}_slow;"
                         + table.index_statement(f"{table.name}_slow", "CONCURRENTLY").rstrip(";")))

    def statement(self):
        r = self.generator
        table = r.choice(self.tables)
        kinds = ((40, self.change), (15, self.search), (15, self.transaction), (6, self.two_phases),
                 (12, lambda t: f"VACUUM {t.name}"), (3, lambda t: "CHECKPOINT"), (5, self.maintain))
        [one] = r.choices([kind for _, kind in kinds], [weight for weight, _ in kinds])
        return one(table) + ";"

    def script(self, count):
        sets = f"SET synchronous_commit = {self.generator.choice(('on', 'off'))};" + BY_INDEX
        return "\n".join([sets, *(self.statement() for _ in range(count))]) + "\n"


class Comparison:
    """Compares tables with their indexes over a server, and tells each difference as a text."""

    def __init__(self, sql, generator):
        self.sql, self.generator = sql, generator

    def indexes(self):
        """(index, table) of each index that is valid."""
        lines = self.sql("SELECT i.indexrelid::regclass, i.indrelid::regclass FROM pg_index i JOIN pg_class c "
                         "ON c.oid = i.indexrelid JOIN pg_am a ON a.oid = c.relam WHERE a.amname = 'farvec' "
                         "AND i.indisvalid ORDER BY 1;")
        return [line.split("|") for line in lines]

    def check(self, tables):
        faults = []
        names = {table.name for table in tables}
        for index, table in self.indexes():
            if table not in names:
                continue
            said = self.sql(f"SELECT farvec_check('{index}');")
            if json.loads(said[0])["sound"] is not True:
                faults.append(f"{index} of {table}: {said[0]}")
        for table in tables:
            faults += self.compare(table)
        return faults

    def ids(self, table, how, where, limit, more="", by_distance=False):
        distance = f"v {table.operator} {self.asked}"
        conditions = " AND ".join(part for part in (table.where, where) if part) or "true"
        shown = f"{distance}" if by_distance else "id"
        return self.sql(f"{how} SET extra_float_digits = 0; SELECT {shown} FROM {table.name} "
                        f"WHERE {conditions} ORDER BY {distance} LIMIT {limit};{more}")

    def compare(self, table):
        """All rows come once, the nearest are the nearest, and conditions give the same rows."""
        r = self.generator
        self.asked = table.query(r)
        faults = []
        conditions = ("", f"price < {r.randrange(1, 100)}",
                      f"section IN ('{r.choice(SECTIONS)}', '{r.choice(SECTIONS)}') AND price >= {r.randrange(50)}")
        wide = BY_INDEX + "SET farvec.search_list = 1000;"
        for where in conditions:
            expected = sorted(self.ids(table, BY_TABLE, where, 100_000))
            found = sorted(self.ids(table, wide, where, 100_000))
            if found != expected:
                faults.append(f"{table.name} where '{where}': {difference(expected, found)}")
            expected = self.ids(table, BY_TABLE, where, 10, by_distance=True)
            found = self.ids(table, wide, where, 10, by_distance=True)
            if found != expected:
                faults.append(f"{table.name} where '{where}', the nearest: {expected} and by the index {found}")
        return faults + self.compare_store(table, wide)

    def compare_store(self, table, wide):
        """What the store gives alone: rows of the table, each once. On a primary nearly all of them
        come, as a graph finds nearly all; on a standby the store may have many old versions of rows."""
        is_primary = self.sql("SELECT pg_is_in_recovery();") == ["f"]
        if is_primary:
            self.sql(f"VACUUM {table.name};")
        can = f"v IS NOT NULL AND (v {table.operator} {self.asked}) <> 'NaN'::float8"
        expected = set(self.ids(table, BY_TABLE, can, 100_000))
        *found, scan = self.ids(table, wide + "SET farvec.iterative_scan = off; "
                                f"SET farvec.search_list = {MOST_FOUND};", can, 100_000, "SELECT farvec_last_scan();")
        # Vectors whose entries were lost with unwritten WAL stay in a store, and take places.
        most = MOST_FOUND - json.loads(scan or '{"dead": 0}')["dead"]
        faults = []
        if len(set(found)) != len(found) or not set(found) <= expected:
            faults.append(f"{table.name}: the store gives rows that are not there: "
                          f"{difference(sorted(expected), sorted(found))}")
        if is_primary and len(found) < 0.9 * min(len(expected), most):
            faults.append(f"{table.name}: the store gives {len(found)} of {len(expected)} rows: {scan}")
        return faults


def difference(expected, found):
    twice = sorted({row for row in found if found.count(row) > 1})
    missing, more = sorted(set(expected) - set(found)), sorted(set(found) - set(expected))
    return (f"{len(expected)} rows are there and {len(found)} were found; missing {missing[:5]}, "
            f"too many {more[:5]}, twice {twice[:5]}")
