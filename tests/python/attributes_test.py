"""Schemas, and attributes as numpy, lists and dicts have them: they come back the same, or are refused
by row and column."""

import datetime
import math
import random

import numpy as np
import pytest

import attributes_module
import farvec

SCHEMA = {"u": "u64", "i": "i64", "f": "f64", "b": "bool", "t": "timestamp", "s": "string",
          "l": "set", "p": "bytes"}


def back(column, values, rows=None):
    rows = len(values) if rows is None else rows
    return attributes_module.round_trip(SCHEMA, {column: values}, rows)[column]


def refusal(attributes, rows=1, schema=SCHEMA):
    with pytest.raises(farvec.InvalidArgument) as error:
        attributes_module.round_trip(schema, attributes, rows)
    return str(error.value)


def test_a_schema_is_a_dict_or_a_text():
    text = "price: i64, section: string not null, tags: set"
    for schema in (text, {"price": "i64", "section": "string not null", "tags": " set "}):
        assert attributes_module.schema_text(schema) == text
    for schema in (None, {}, "", " "):
        assert attributes_module.schema_text(schema) == ""


@pytest.mark.parametrize("schema, message", [
    ({"price": "int"}, "schema: column 'price': 'int' is no type of a column: it is u64, i64"),
    ({"price": ""}, "schema: column 'price': '' is no type"),
    ({"price": "i64, b: u64"}, "schema: column 'price': 'i64, b: u64' is more than one type"),
    ({"price": int}, "schema: the type of column 'price' is no str"),
    ({1: "i64"}, "schema: the name of a column is no str"),
    ({"a: i64, b": "i64"}, "schema: the name 'a: i64, b' of a column is not a letter"),
    ({"id": "u64"}, "schema: a column cannot be called 'id'"),
    ({"x" * 65: "u64"}, "of a column has 65 bytes"),
    ({f"c{i}": "u64" for i in range(257)}, "schema: a schema of 257 columns"),
    ("price", "schema: the column 'price' has no type"),
    (["price"], "schema: neither a dict"),
    (7, "schema: neither a dict"),
])
def test_other_schemas_are_refused(schema, message):
    with pytest.raises(farvec.InvalidArgument, match=message.replace("(", r"\(")):
        attributes_module.schema_text(schema)


@pytest.mark.parametrize("dtype", ["u1", "u2", "u4", "u8", "i1", "i2", "i4", "i8", ">u4", ">i8"])
def test_integers_of_every_width_stay_what_they_are(dtype):
    info = np.iinfo(dtype)
    array = np.array([0, 1, info.max, max(info.min, 0)], dtype)
    assert back("u", array) == array.tolist()
    assert back("u", array[::-2]) == array[::-2].tolist()
    if dtype != "u8":
        array = np.array([info.min, 0, info.max], dtype)
        assert back("i", array) == array.tolist()
    small = np.array([5, 7], dtype)
    assert back("f", small) == [5.0, 7.0] and isinstance(back("f", small)[0], float)


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", ">f4"])
def test_floats_of_every_width_stay_what_they_are(dtype):
    array = np.array([0.1, -2.5, 6e4, np.inf, -np.inf], dtype)
    assert back("f", array) == array.astype(float).tolist()


def test_bools_are_bools():
    assert back("b", np.array([True, False])) == [True, False]
    assert back("b", [True, None, np.False_]) == [True, None, False]


def test_objects_of_lists_stay_what_they_are():
    assert back("u", [0, 2**64 - 1, None, np.uint8(3), np.int64(4)]) == [0, 2**64 - 1, None, 3, 4]
    assert back("i", [-2**63, 2**63 - 1, None]) == [-2**63, 2**63 - 1, None]
    assert back("i", range(3)) == [0, 1, 2]
    assert back("f", [1.5, 2, None, np.float32(0.1)]) == [1.5, 2.0, None, float(np.float32(0.1))]
    assert back("s", ["é", "", None, np.str_("x"), "a'\"\n"]) == ["é", "", None, "x", "a'\"\n"]
    assert back("p", [b"\0\xff", b"", "é", None]) == [b"\0\xff", b"", "é".encode(), None]
    assert back("l", [["b", "a", "b"], (), {"x"}, frozenset(["y"]), None, np.array(["q"])]) == [
        ["a", "b"], [], ["x"], ["y"], None, ["q"]]


def test_arrays_of_text_and_of_objects():
    assert back("s", np.array(["a", "bc"])) == ["a", "bc"]
    assert back("s", np.array(["a", None], object)) == ["a", None]
    assert back("i", np.array([1, None, 3], object)) == [1, None, 3]
    assert back("l", np.array([["a"], None], object)) == [["a"], None]


def test_masks_and_missing_columns_are_null():
    masked = np.ma.array([1, -2, 3], mask=[False, True, False])
    assert back("u", masked) == [1, None, 3]
    texts = np.ma.array(["a", "b"], mask=[True, False])
    assert back("s", texts) == [None, "b"]
    times = np.ma.array(np.array(["NaT", "2024-05-01", "2024-05-02"], "M8[D]"),
                        mask=[False, True, False])
    assert np.isnat(back("t", times)).tolist() == [True, True, False]
    nothing = attributes_module.round_trip(SCHEMA, None, 2)
    assert list(nothing) == list(SCHEMA)
    assert all(values == [None, None] for name, values in nothing.items() if name != "t")
    assert np.isnat(nothing["t"]).all()
    assert attributes_module.round_trip(SCHEMA, {}, 2)["s"] == [None, None]
    assert attributes_module.round_trip({}, {}, 2) == {}


@pytest.mark.parametrize("unit", ["Y", "M", "W", "D", "h", "m", "s", "ms", "us", "ns"])
def test_times_of_every_unit_are_exact(unit):
    array = np.array(["1970-01-01", "1969-12-31", "2000-02-29", "NaT"], "M8[D]").astype(f"M8[{unit}]")
    result = back("t", array)
    assert result.dtype == np.dtype("M8[us]")
    np.testing.assert_array_equal(result, array.astype("M8[us]"))


def test_times_of_finer_units_are_exact():
    for unit, digits in (("ps", 6), ("fs", 9), ("as", 12)):
        array = np.array([10**digits, -3 * 10**digits], f"M8[{unit}]")
        assert back("t", array).astype(int).tolist() == [1, -3]
        assert "microseconds" in refusal({"t": array + 1}, 2)


def test_times_have_many_forms():
    utc = datetime.timezone.utc
    east = datetime.timezone(datetime.timedelta(hours=2))
    items = ["2024-05-01T12:00:00Z", datetime.datetime(2024, 5, 1, 12), np.datetime64("2024-05-01T12"),
             datetime.datetime(2024, 5, 1, 12, tzinfo=utc), np.datetime64("2024-05-01T12:00:00", "ns"),
             datetime.datetime(2024, 5, 1, 14, tzinfo=east), None, np.datetime64("NaT")]
    noon = np.datetime64("2024-05-01T12:00:00", "us")
    assert back("t", items).tolist() == [noon.item()] * 6 + [None] * 2
    assert back("t", np.array(items[:1])).tolist() == [noon.item()]
    assert back("t", [datetime.date(2024, 5, 1)]).tolist() == [datetime.datetime(2024, 5, 1)]
    ends = np.array(["0001-01-01T00:00:00", "9999-12-31T23:59:59.999999"], "M8[us]")
    np.testing.assert_array_equal(back("t", ends), ends)


def test_what_comes_back_can_be_given_again():
    given = {"u": [1, None], "f": [None, 0.5], "t": np.array(["NaT", "2024-05-01"], "M8[us]"),
             "l": [["a"], None], "p": [b"\xff", None], "s": ["x", None], "b": [None, True]}
    once = attributes_module.round_trip(SCHEMA, given, 2)
    again = attributes_module.round_trip(SCHEMA, once, 2)
    np.testing.assert_array_equal(once.pop("t"), again.pop("t"))
    assert once == again
    assert {name: once[name] for name in given if name != "t"} == {
        name: values for name, values in given.items() if name != "t"}


def test_rows_may_be_dicts():
    rows = [{"i": 1, "s": "a"}, {}, {"l": ["x"], "i": None}]
    result = attributes_module.round_trip(SCHEMA, rows, 3)
    assert (result["i"], result["s"], result["l"], result["u"]) == (
        [1, None, None], ["a", None, None], [None, None, ["x"]], [None] * 3)
    assert refusal([{}, {"x": 1}], 2).startswith("attributes: row 1: there is no column 'x'")
    assert refusal([{}], 2) == "attributes: 1 dicts for 2 rows"
    assert refusal([{"i": 1}, {"i": 1.5}], 2) == (
        "attributes: row 1: column 'i' is i64, and the value is 1.5")
    with pytest.raises(farvec.WrongType, match="row 1 is int, not a dict"):
        attributes_module.round_trip(SCHEMA, [{}, 1], 2)


@pytest.mark.parametrize("column, values, message", [
    ("i", [1, 1.5], "row 1: column 'i' is i64, and the value is 1.5"),
    ("i", [1, 1.0], "row 1: column 'i' is i64, and the value is 1.0"),
    ("i", np.array([1.5, 2]), "row 0: column 'i' is i64, and the value is 1.5"),
    ("i", np.array([2.0]), "row 0: column 'i' is i64, and the value is 2.0"),
    ("i", [True], "row 0: column 'i' is i64, and the value is true"),
    ("i", np.array([True]), "row 0: column 'i' is i64, and the value is true"),
    ("i", ["1"], "row 0: column 'i' is i64, and the value is '1'"),
    ("i", [2**63], "row 0: column 'i' is i64, and the value is 9223372036854775808"),
    ("i", [2**64], "row 0: column 'i' is i64, and the value is an int of more than 64 bits"),
    ("i", [-2**70], "row 0: column 'i' is i64, and the value is an int of more than 64 bits"),
    ("i", np.array([2**63], "u8"), "row 0: column 'i' is i64, and the value is 9223372036854775808"),
    ("u", [0, -1], "row 1: column 'u' is u64, and the value is -1"),
    ("u", np.array([-1]), "row 0: column 'u' is u64, and the value is -1"),
    ("f", [2**53 + 1], "row 0: column 'f' is f64, and no f64 is exactly 9007199254740993"),
    ("f", np.array([2**53 + 1]), "row 0: column 'f' is f64, and no f64 is exactly"),
    ("f", [math.nan], "row 0: column 'f' is NaN: leave it null"),
    ("f", np.array([0, np.nan]), "row 1: column 'f' is NaN: leave it null"),
    ("b", [1], "row 0: column 'b' is bool, and the value is 1"),
    ("b", np.array([1], "u1"), "row 0: column 'b' is bool, and the value is 1"),
    ("s", [1], "row 0: column 's' is string, and the value is 1"),
    ("s", [b"x"], "row 0: column 's' is string, and the value is bytes"),
    ("s", ["a\0"], "row 0: the string of column 's' has a zero byte"),
    ("s", ["\ud800"], "row 0: the text of column 's' is no UTF-8"),
    ("s", [["a"]], "row 0: column 's' is string, and the value is list"),
    ("s", ["x" * 70_000], "row 0: the attributes of the row have"),
    ("l", ["a"], "row 0: column 'l' is set, and the value is 'a'"),
    ("l", [["a", 1]], "row 0: a label of column 'l' is int '1': labels are str"),
    ("l", [["a", None]], "row 0: a label of column 'l' is NoneType 'None': labels are str"),
    ("l", [[""]], "row 0: a label of column 'l' is empty"),
    ("l", [{"a": 1}], "row 0: column 'l' is set, and the value is dict"),
    ("p", [1], "row 0: column 'p' is bytes, and the value is 1"),
    ("t", [0], "row 0: column 't' is timestamp, and the value is 0"),
    ("t", np.array([0]), "row 0: column 't' is timestamp, and the value is 0"),
    ("t", ["yesterday"], "row 0: column 't' is timestamp, and the value is 'yesterday'"),
    ("t", np.array([0, 1], "M8[ns]"), "row 1: column 't' is timestamp, in microseconds, and the"),
    ("t", [None, np.datetime64(1, "ns")], "row 1: column 't' is timestamp, in microseconds, and"),
    ("t", np.array([300_000], "M8[Y]"), "row 0: column 't' is timestamp, in microseconds, and the"),
    ("t", np.array([9000], "M8[Y]"), "row 0: column 't' is timestamp, and the value is +10970-01-01"),
    ("t", np.array([0]).view("M8"), "column 't' is datetime64 without a unit"),
    ("i", np.array([0], "M8[us]"), "row 0: column 'i' is i64, and the value is datetime64 1970-01"),
    ("i", [np.datetime64(0, "ns")], "row 0: column 'i' is i64, and the value is datetime64"),
    ("i", np.array([0], "m8[us]"), "column 'i' is an array of timedelta64[us], which no column takes"),
    ("f", np.array([1j]), "column 'f' is an array of complex128, which no column takes"),
    ("p", np.array([b"x"]), "column 'p' is an array of |S1, which no column takes"),
    ("i", np.zeros((1, 2)), "column 'i' has 2 dimensions, not one"),
    ("i", np.array(1), "column 'i' has 0 dimensions, not one"),
])
def test_nothing_is_cast(column, values, message):
    rows = len(values) if np.ndim(values) or isinstance(values, list) else 1
    assert refusal({column: values}, rows).startswith("attributes: " + message)


def test_names_and_lengths_have_to_fit():
    assert refusal({"I": [1]}) == (
        "attributes: there is no column 'I': the schema is u: u64, i: i64, f: f64, b: bool, "
        "t: timestamp, s: string, l: set, p: bytes")
    assert refusal({"i": [1]}, schema={}) == "attributes: there is no column 'i': the schema has none"
    assert refusal({1: [1]}) == "attributes: the name of a column is no str"
    assert refusal({"i": [1, 2]}, 1) == "attributes: column 'i' has 2 values for 1 rows"
    assert refusal({"i": np.arange(2)}, 3) == "attributes: column 'i' has 2 values for 3 rows"
    assert refusal({"s": [None]}, schema={"s": "string not null"}) == (
        "attributes: row 0: column 's' is null, which it may not be")
    assert refusal({}, schema={"s": "string not null"}) == (
        "attributes: row 0: column 's' is null, which it may not be")


@pytest.mark.parametrize("values", ["a", b"a", {"a"}, 7, object()])
def test_a_column_has_a_value_for_each_row(values):
    with pytest.raises(farvec.WrongType, match="attributes: column 's' is "):
        attributes_module.round_trip(SCHEMA, {"s": values}, 1)


@pytest.mark.parametrize("attributes", ["a", 7, np.arange(3), {1}])
def test_attributes_are_a_dict_or_dicts(attributes):
    with pytest.raises(farvec.WrongType, match="attributes: .* is neither a dict of columns"):
        attributes_module.round_trip(SCHEMA, attributes, 1)


def test_random_rows_come_back():
    chance = random.Random(1)
    makers = {"u": lambda: chance.randrange(2**64), "i": lambda: chance.randrange(-2**63, 2**63),
              "f": lambda: chance.uniform(-1e9, 1e9), "b": lambda: chance.random() < 0.5,
              "s": lambda: "".join(chance.choices("aé\U0001f680\n\"", k=chance.randrange(9))),
              "l": lambda: sorted({str(chance.randrange(9)) for _ in range(chance.randrange(5))}),
              "p": lambda: chance.randbytes(chance.randrange(9))}
    rows = [{name: make() for name, make in makers.items() if chance.random() < 0.8}
            for _ in range(500)]
    for given in (rows, {name: [row.get(name) for row in rows] for name in makers}):
        result = attributes_module.round_trip(SCHEMA, given, 500)
        for name in makers:
            assert result[name] == [row.get(name) for row in rows]
