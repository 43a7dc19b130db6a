"""Attributes in the structs of Arrow's C interfaces, made here byte by byte: what pyarrow and others
would never give is refused, and nothing is read out of a buffer's bounds."""

import ctypes
import struct

import numpy as np
import pytest

import attributes_module
import farvec

SCHEMA = {"u": "u64", "i": "i64", "f": "f64", "b": "bool", "t": "timestamp", "s": "string",
          "l": "set", "p": "bytes"}


class Schema(ctypes.Structure):
    pass


class Array(ctypes.Structure):
    pass


class Stream(ctypes.Structure):
    pass


RELEASE = {kind: ctypes.CFUNCTYPE(None, ctypes.POINTER(kind)) for kind in (Schema, Array, Stream)}
GIVE_SCHEMA = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(Stream), ctypes.POINTER(Schema))
GIVE_ARRAY = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(Stream), ctypes.POINTER(Array))
SAY = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.POINTER(Stream))
int64, pointer = ctypes.c_int64, ctypes.c_void_p

Schema._fields_ = [("format", ctypes.c_char_p), ("name", ctypes.c_char_p), ("metadata", pointer),
                   ("flags", int64), ("n_children", int64),
                   ("children", ctypes.POINTER(ctypes.POINTER(Schema))),
                   ("dictionary", ctypes.POINTER(Schema)), ("release", RELEASE[Schema]),
                   ("private_data", pointer)]
Array._fields_ = [("length", int64), ("null_count", int64), ("offset", int64),
                  ("n_buffers", int64), ("n_children", int64),
                  ("buffers", ctypes.POINTER(pointer)),
                  ("children", ctypes.POINTER(ctypes.POINTER(Array))),
                  ("dictionary", ctypes.POINTER(Array)), ("release", RELEASE[Array]),
                  ("private_data", pointer)]
Stream._fields_ = [("get_schema", GIVE_SCHEMA), ("get_next", GIVE_ARRAY), ("get_last_error", SAY),
                   ("release", RELEASE[Stream]), ("private_data", pointer)]

RELEASED = []


def releaser(kind):
    def release(value):
        RELEASED.append(kind)
        ctypes.memset(ctypes.addressof(value.contents) + kind.release.offset, 0, 8)
    return RELEASE[kind](release)


RELEASERS = {kind: releaser(kind) for kind in RELEASE}


def capsule(value, name):
    make = ctypes.pythonapi.PyCapsule_New
    make.restype, make.argtypes = ctypes.py_object, [pointer, ctypes.c_char_p, pointer]
    return make(ctypes.addressof(value), name, None)


class Column:
    """An array. Buffers are bytes, or None; `children` and `dictionary` are others of these."""

    def __init__(self, format, length, *buffers, offset=0, children=(), dictionary=None, name=b"c",
                 nulls=0):
        self.parts = [ctypes.create_string_buffer(b, max(len(b), 1)) if b is not None else None
                      for b in buffers]
        places = (pointer * max(len(buffers), 1))(
            *[ctypes.addressof(part) if part is not None else None for part in self.parts])
        kinds = (ctypes.POINTER(Schema) * max(len(children), 1))(
            *[ctypes.pointer(child.schema) for child in children])
        arrays = (ctypes.POINTER(Array) * max(len(children), 1))(
            *[ctypes.pointer(child.array) for child in children])
        self.kept = [places, kinds, arrays, children, dictionary]
        self.schema = Schema(format=format, name=name, n_children=len(children), children=kinds,
                             release=RELEASERS[Schema])
        self.array = Array(length=length, null_count=nulls, offset=offset, n_buffers=len(buffers),
                           n_children=len(children), buffers=places, children=arrays,
                           release=RELEASERS[Array])
        if dictionary is not None:
            self.schema.dictionary = ctypes.pointer(dictionary.schema)
            self.array.dictionary = ctypes.pointer(dictionary.array)

    def __arrow_c_array__(self, requested_schema=None):
        return capsule(self.schema, b"arrow_schema"), capsule(self.array, b"arrow_array")


class Table:
    """A stream of batches, which are Columns of format +s; `error` is what comes after them."""

    def __init__(self, *batches, error=0, text=None):
        left = list(batches)

        def give_schema(_, out):
            out[0] = batches[0].schema
            return 0

        def give_array(_, out):
            out[0] = left.pop(0).array if left else Array()
            return error if not left and error else 0

        self.text = ctypes.create_string_buffer(text) if text is not None else None
        self.kept = [GIVE_SCHEMA(give_schema), GIVE_ARRAY(give_array),
                     SAY(lambda _: ctypes.addressof(self.text) if self.text else None), batches]
        self.stream = Stream(*self.kept[:3], RELEASERS[Stream], None)

    def __arrow_c_stream__(self, requested_schema=None):
        return capsule(self.stream, b"arrow_array_stream")


def ints(*values):
    return struct.pack(f"<{len(values)}q", *values)


def places(*values):
    return struct.pack(f"<{len(values)}i", *values)


def back(name, column, rows):
    return attributes_module.round_trip(SCHEMA, {name: column}, rows)[name]


def refusal(name, column, rows=1):
    with pytest.raises(farvec.InvalidArgument) as error:
        back(name, column, rows)
    assert str(error.value).startswith("attributes: ")
    return str(error.value)


def text(*values, format=b"u", **more):
    ends = np.cumsum([0] + [len(value) for value in values]).astype("i4" if format == b"u" else "i8")
    return Column(format, len(values), None, ends.tobytes(), b"".join(values), **more)


def listed(labels):
    """One row, the set of these labels."""
    return Column(b"+l", 1, None, places(0, labels.array.length), children=[labels])


def test_numbers_with_nulls_and_offsets():
    assert back("i", Column(b"l", 3, b"\x05", ints(1, 2, -3)), 3) == [1, None, -3]
    assert back("i", Column(b"l", 2, b"\x05", ints(1, 2, -3), offset=1), 2) == [None, -3]
    assert back("u", Column(b"C", 3, None, b"\x00\x80\xff"), 3) == [0, 128, 255]
    assert back("i", Column(b"c", 3, None, b"\x00\x80\xff"), 3) == [0, -128, -1]
    assert back("b", Column(b"b", 9, None, b"\xfe\x01"), 9) == [False] + [True] * 8
    assert back("b", Column(b"b", 7, None, b"\xfe\x01", offset=2), 7) == [True] * 7
    halves = np.array([0.1, -2.5, 6e-8, 0, np.inf], "f2")
    assert back("f", Column(b"e", 5, None, halves.tobytes()), 5) == halves.astype(float).tolist()
    assert back("s", Column(b"n", 2), 2) == [None, None]


def test_texts_in_three_forms():
    assert back("s", text(b"ab", b"", b"c"), 3) == ["ab", "", "c"]
    assert back("s", text(b"ab", b"", b"c", format=b"U"), 3) == ["ab", "", "c"]
    view = struct.pack("<i12s", 2, b"ab") + struct.pack("<i4sii", 13, b"0123", 0, 1)
    assert back("s", Column(b"vu", 2, None, view, b"x0123456789abcy", ints(15)), 2) == [
        "ab", "0123456789abc"]


def test_lists_and_dictionaries():
    lists = Column(b"+l", 3, b"\x05", places(0, 2, 2, 3), children=[text(b"b", b"a", b"c")])
    assert back("l", lists, 3) == [["a", "b"], None, ["c"]]
    inner = text(b"skipped", b"x", b"y")
    inner.array.offset, inner.array.length = 1, 2
    assert back("l", Column(b"+L", 1, None, ints(0, 2), children=[inner]), 1) == [["x", "y"]]
    words = Column(b"c", 4, b"\x0b", b"\x01\x00\x63\x01", dictionary=text(b"a", b"b"))
    assert back("s", words, 4) == ["b", "a", None, "b"]


@pytest.mark.parametrize("format, kind", [(b"c", "i1"), (b"C", "u1"), (b"s", "i2"), (b"S", "u2"), (b"i", "i4"),
                                          (b"I", "u4"), (b"l", "i8"), (b"L", "u8")])
def test_lists_of_a_dictionary(format, kind):
    numbers = Column(format, 6, None, np.array([9, 2, 0, 2, 1, 0], kind).tobytes(),
                     dictionary=text(b"a", b"bc", b"d"))
    numbers.array.offset, numbers.array.length = 1, 5
    assert back("l", Column(b"+l", 4, b"\x0d", places(0, 3, 3, 5, 5), children=[numbers]), 4) == [
        ["a", "d"], None, ["a", "bc"], []]
    assert back("l", Column(b"+L", 1, None, ints(2, 4), children=[numbers]), 1) == [["bc", "d"]]


def test_batches_come_one_after_the_other():
    batches = [Column(b"+s", len(numbers), None, children=[
        Column(b"l", len(numbers), None, ints(*numbers), name=b"i"),
        text(*[str(number).encode() for number in numbers], name=b"s")])
        for numbers in ([1, 2], [], [3])]
    RELEASED.clear()
    result = attributes_module.round_trip(SCHEMA, Table(*batches), 3)
    assert (result["i"], result["s"], result["u"]) == ([1, 2, 3], ["1", "2", "3"], [None] * 3)
    assert sorted(map(str, RELEASED)) == sorted(map(str, [Schema, Array, Array, Array, Stream]))


def test_a_batch_has_an_offset_too():
    column = Column(b"l", 4, None, ints(0, 1, 2, 3, 4), offset=1, name=b"i")
    batch = Column(b"+s", 2, None, children=[column], offset=2)
    assert attributes_module.round_trip(SCHEMA, Table(batch), 2)["i"] == [3, 4]
    batch = Column(b"+s", 3, None, children=[column], offset=2)
    with pytest.raises(farvec.InvalidArgument, match="a length or an offset that cannot be"):
        attributes_module.round_trip(SCHEMA, Table(batch), 3)


def test_a_stream_that_fails_says_why():
    batch = Column(b"+s", 1, None, children=[Column(b"l", 1, None, ints(1), name=b"i")])
    for said, message in ((b"a disk is full", "stream fails: a disk is full"), (None, "fails: Inp")):
        with pytest.raises(farvec.InvalidArgument, match=message):
            attributes_module.round_trip(SCHEMA, Table(batch, error=5, text=said), 1)
    again = Table(batch)
    assert attributes_module.round_trip(SCHEMA, again, 1)["i"] == [1]
    with pytest.raises(farvec.InvalidArgument, match="arrow_array_stream has been read"):
        attributes_module.round_trip(SCHEMA, again, 1)


@pytest.mark.parametrize("length, offset", [(-1, 0), (1, -1), (2**62, 0), (1, 2**62), (-2**63, 0)])
@pytest.mark.parametrize("format", [b"l", b"n", b"u", b"b", b"e", b"tsu:", b"vu"])
def test_lengths_that_cannot_be(format, length, offset):
    column = Column(format, length, None, ints(1, 1), b"x", ints(1), offset=offset)
    assert "has a length or an offset that cannot be" in refusal("s", column)


@pytest.mark.parametrize("name, column, message", [
    ("i", Column(b"l", 1, None), "lacks buffers"),
    ("i", Column(b"l", 1, None, None), "lacks a buffer"),
    ("s", Column(b"u", 1, None, places(0, 1), None), "lacks a buffer"),
    ("s", Column(b"u", 1, None, places(0, 1)), "lacks buffers"),
    ("s", Column(b"u", 1, None, places(5, 1), b"abcde"), "has offsets that go back"),
    ("s", Column(b"u", 1, None, places(-1, 1), b"abcde"), "has offsets that go back"),
    ("s", Column(b"U", 1, None, ints(-2**63, 2**63 - 1), b"abcde"), "has offsets that go back"),
    ("s", Column(b"vu", 1, None, struct.pack("<iiii", -1, 0, 0, 0), ints()), "negative length"),
    ("s", Column(b"vu", 1, None, struct.pack("<iiii", 13, 0, 0, 0), ints()), "that is not there"),
    ("s", Column(b"vu", 1, None, struct.pack("<iiii", 13, 0, 1, 0), b"x" * 13, ints(13)),
     "that is not there"),
    ("s", Column(b"vu", 1, None, struct.pack("<iiii", 13, 0, -1, 0), b"x" * 13, ints(13)),
     "that is not there"),
    ("s", Column(b"vu", 1, None, struct.pack("<iiii", 13, 0, 0, 1), b"x" * 13, ints(13)),
     "ends after its buffer"),
    ("s", Column(b"vu", 1, None, struct.pack("<iiii", 13, 0, 0, -1), b"x" * 13, ints(13)),
     "ends after its buffer"),
    ("s", Column(b"c", 1, None, b"\x02", dictionary=text(b"a", b"b")), "out of its dictionary"),
    ("s", Column(b"c", 1, None, b"\xff", dictionary=text(b"a", b"b")), "out of its dictionary"),
    ("s", Column(b"u", 1, None, places(0, 0), b"", dictionary=text(b"a")), "are no integers"),
    ("l", Column(b"+l", 1, None, places(0, 2), children=[text(b"a")]), "ends after its elements"),
    ("l", Column(b"+l", 1, None, places(1, 0), children=[text(b"a")]), "offsets that go back"),
    ("l", Column(b"+l", 1, None, places(0, 1)), "is a list without elements"),
    ("l", Column(b"+l", 1, None, places(0, 1), children=[Column(b"l", 1, None, ints(1))]),
     "is a list of what is not str"),
    ("l", Column(b"+l", 1, None, places(0, 1), children=[Column(b"u", 1, b"\0", places(0, 0), b"")]),
     "a label of column 'l' is null"),
    ("l", listed(Column(b"c", 1, None, b"\x01", dictionary=text(b"a"))), "out of its dictionary"),
    ("l", listed(Column(b"c", 1, None, b"\xff", dictionary=text(b"a"))), "out of its dictionary"),
    ("l", listed(Column(b"L", 1, None, ints(-1), dictionary=text(b"a"))), "out of its dictionary"),
    ("l", listed(Column(b"c", 1, None, b"\0", dictionary=text())), "out of its dictionary"),
    ("l", listed(Column(b"c", 1, b"\0", b"\0", dictionary=text(b"a"))), "a label of column 'l' is null"),
    ("l", listed(Column(b"c", 1, None, b"\0", dictionary=Column(b"u", 1, b"\0", places(0, 0), b""))),
     "a label of column 'l' is null"),
    ("l", listed(Column(b"c", 1, None, b"\0", dictionary=text(b""))), "a label of column 'l' is empty"),
    ("l", listed(Column(b"c", 1, None, b"\0", dictionary=text(b"\xff"))), "is no UTF-8"),
    ("l", listed(Column(b"c", 1, None, dictionary=text(b"a"))), "lacks buffers"),
    ("l", listed(Column(b"u", 1, None, places(0, 0), b"", dictionary=text(b"a"))), "are no integers"),
    ("l", listed(Column(b"c", 1, None, b"\0", dictionary=Column(b"l", 1, None, ints(1)))),
     "is a list of what is not str"),
    ("l", listed(Column(b"c", 1, None, b"\0", dictionary=Column(b"c", 1, None, b"\0", dictionary=text(b"a")))),
     "is a list of what is not str"),
    ("i", Column(b"+s", 1, None), "has the format '+s', which no column takes"),
    ("i", Column(b"d:5,2", 1, None, ints(1, 0)), "has the format 'd:5,2', which no column takes"),
    ("i", Column(None, 1, None, ints(1)), "has no format"),
    ("i", Column(b"", 1, None, ints(1)), "has the format '', which no column takes"),
    ("i", Column(b"g", 1, None, struct.pack("<d", 1.5)), "row 0: column 'i' is i64, and the value is"),
    ("u", Column(b"l", 1, None, ints(-1)), "row 0: column 'u' is u64, and the value is -1"),
    ("s", text(b"\xff"), "row 0: the string of column 's' is no UTF-8"),
    ("s", text(b"a", format=b"z"), "column 's' is string, and the value is bytes"),
    ("t", Column(b"tsn:", 1, None, ints(1)), "row 0: column 't' is timestamp, in microseconds, and"),
    ("t", Column(b"tss:", 1, None, ints(2**62)), "is out of the years 0001 to 9999"),
    ("t", Column(b"tss:UTC", 1, None, ints(-2**63)), "is out of the years 0001 to 9999"),
    ("t", Column(b"l", 1, None, ints(0)), "row 0: column 't' is timestamp, and the value is 0"),
])
def test_arrays_that_cannot_be(name, column, message):
    assert message in refusal(name, column)


def test_tables_that_cannot_be():
    def message(batch, rows=1):
        with pytest.raises(farvec.InvalidArgument) as error:
            attributes_module.round_trip(SCHEMA, Table(batch), rows)
        return str(error.value)

    column = Column(b"l", 1, None, ints(1), name=b"i")
    other = Column(b"l", 1, None, ints(1), name=b"x")
    unnamed = Column(b"l", 1, None, ints(1), name=None)
    assert "there is no column 'x': the schema is" in message(Column(b"+s", 1, None, children=[other]))
    assert "there is no column '':" in message(Column(b"+s", 1, None, children=[unnamed]))
    assert "'i' is there twice" in message(Column(b"+s", 1, None, children=[column, column]))
    assert "has no columns: give a table" in message(column)
    assert "more than 1 rows" in message(Column(b"+s", 2, None, children=[column]))
    assert "has 1 rows for 2 rows" in message(Column(b"+s", 1, None, children=[column]), 2)
    batch = Column(b"+s", 1, b"\0", children=[column], nulls=1)
    assert "null as a whole" in message(batch)
    batch = Column(b"+s", 1, None, children=[column])
    batch.array.n_children = 0
    assert "does not fit its schema" in message(batch)
    batch = Column(b"+s", -1, None, children=[column])
    assert "does not fit its schema" in message(batch)


def test_what_gives_something_else_is_refused():
    class Gives:
        def __arrow_c_stream__(self, requested_schema=None):
            return 7

    with pytest.raises(farvec.InvalidArgument, match="gives no arrow_array_stream"):
        attributes_module.round_trip(SCHEMA, Gives(), 1)


def test_an_update_has_the_columns_of_the_stream(tmp_path):
    schema = {"i": "i64", "s": "string not null", "f": "f64"}
    farvec.Collection.create(tmp_path / "set", 2, schema=schema)
    with farvec.Collection(tmp_path / "set", durability="none") as collection:
        collection.insert([1, 2, 3], np.ones((3, 2), np.float32),
                          attributes={"i": [1, 2, 3], "s": ["a"] * 3, "f": [0.5] * 3})

        def table(*numbers, texts=None, name=b"i"):
            column = Column(b"l", len(numbers), b"\x05", ints(*numbers), name=name)
            texts = texts or text(*[b"new"] * len(numbers), name=b"s")
            return Column(b"+s", len(numbers), None, children=[texts, column])

        told = collection.update([1, 3, 9], Table(table(10), table(30, 90)))
        assert (told.done, told.missing) == (2, 1)
        found = collection.attributes([1, 2, 3])
        assert found == {"i": [10, 2, 30], "s": ["new", "a", "new"], "f": [0.5] * 3}
        for wrong, word in [(table(1), "1 rows for 2"), (table(1, 2, 3), "more than 2"),
                            (table(1, 2, name=b"j"), "no column 'j'"),
                            (table(1, 2, name=b"s"), "'s' is there twice"),
                            (table(1, 2, texts=Column(b"n", 2, name=b"s")), "'s' is null")]:
            with pytest.raises(farvec.InvalidArgument, match=word):
                collection.update([1, 3], Table(wrong))
        with pytest.raises(farvec.errors.WrongType, match="with a filter"):
            collection.update(filter="true", attributes=Table(table(1)))
        assert collection.attributes([1, 2, 3]) == found
