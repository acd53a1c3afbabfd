"""Data frames of every library: codes out, an edit in, the same type back."""

import datetime
import io
import pickle
import subprocess
import sys
from decimal import Decimal
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import incrowd as ic
from incrowd.checker.files import as_text
from incrowd.errors import InputError
from incrowd.tables import Edit, Replacement, from_native, texts
from incrowd.tables.base import Column, FewerRows
from incrowd.tables.native import as_polars
from incrowd.tables.packed import packed_table

COLUMNS = {
    "name": ["x", None, "y", "x"],
    "n": [3, 1, 2, 1],
    "share": [0.5, 2.25, 1.0, 0.5],
    "yes": [True, False, True, True],
    "day": [datetime.date(2020, 1, d) for d in (1, 2, 1, 3)],
}
TEXTS = {
    "name": ["x", None, "y", "x"],
    "n": ["3", "1", "2", "1"],
    "share": ["0.5", "2.25", "1", "0.5"],
    "yes": ["True", "False", "True", "True"],
    "day": ["2020-01-01", "2020-01-02", "2020-01-01", "2020-01-03"],
}


def offset(hours):
    """A time zone so many hours east."""
    return datetime.timezone(datetime.timedelta(hours=hours))


def plain(frame):
    """Any frame as columns of Python values, missing as None."""
    table = from_native(frame)
    return {name: texts(table, [name])[name].to_list() for name in table.columns}


def test_values_as_text(constructor):
    """Tests that the text of a value does not depend on the library."""
    assert plain(constructor(COLUMNS)) == TEXTS


def test_an_edit_gives_the_same_type_back(constructor):
    """Tests type, order of rows and columns, and the types of columns that did not change."""
    frame = constructor(COLUMNS)
    table = from_native(frame)
    star = Replacement(("*",), np.array([-1, -1, 0, -1], np.int32))
    none = Replacement(("*",), np.full(4, -1, np.int32))
    released = table.edited(Edit(("name", "n", "share", "day"), {"name": star, "n": none}))
    back = released.native()
    assert type(back) is type(frame)
    kept = {name: TEXTS[name] for name in ("n", "share", "day")}
    assert plain(back) == {"name": ["x", None, "*", "x"], **kept}
    unchanged = from_native(back)._frame["n"].dtype
    assert unchanged == table._frame["n"].dtype


def test_a_changed_column_becomes_text(constructor):
    """Tests that a number column with a star holds text, missing cells still missing."""
    frame = constructor({"n": [3, None, 2, 1]})
    star = Replacement(("*", "1-2"), np.array([0, -1, 1, -1], np.int32))
    back = from_native(frame).edited(Edit(("n",), {"n": star})).native()
    assert plain(back) == {"n": ["*", None, "1-2", "1"]}


def test_a_new_order(constructor):
    """Tests that rows move together."""
    order = np.array([2, 0, 3, 1])
    back = from_native(constructor(COLUMNS)).edited(Edit(("n", "name"), {}, order)).native()
    assert plain(back) == {"n": ["2", "3", "1", "1"], "name": ["y", "x", "x", None]}


def test_pandas_keeps_its_index():
    """Tests that a duplicated index with gaps stays, and goes when the order is shuffled."""
    frame = pd.DataFrame({"a": [1, 2, 3], "b": ["x", "y", None]}, index=["p", "p", "q"])
    star = Replacement(("*",), np.array([0, -1, -1], np.int32))
    back = from_native(frame).edited(Edit(("a", "b"), {"a": star})).native()
    assert back.index.tolist() == ["p", "p", "q"]
    assert back["a"].tolist() == ["*", "2", "3"]
    assert frame["a"].tolist() == [1, 2, 3], "the original must not change"
    moved = from_native(frame).edited(Edit(("a",), {}, np.array([2, 0, 1]))).native()
    assert moved.index.tolist() == [0, 1, 2]
    assert moved["a"].tolist() == [3, 1, 2]


@pytest.mark.parametrize(
    ("index", "may"), [([0, 1, 2], False), ([7, 5, 6], False), ([7, 7, 8], True), ("abc", True)]
)
def test_an_index_that_may_name_rows(index: Any, may: bool) -> None:
    """Tests that numbers which repeat are no plain numbering, as of people with several rows."""
    frame = pd.DataFrame({"a": ["x"] * 3}, index=list(index))
    told = [one for one in ic.anonymize(frame, 2).warnings if "no plain numbering" in one]
    assert from_native(frame).names_rows == may == bool(told)


def test_views_of_text_are_picked():
    """Tests that a new order of pyarrow's views of text leaves their type and no other text."""
    long = [f"a text longer than a view holds, {i}" for i in range(3)]
    table = pa.table({"a": pa.array(long, pa.string_view()), "b": pa.array([b"1", b"2", None])})
    table = table.cast(pa.schema([("a", pa.string_view()), ("b", pa.binary_view())]))
    back = from_native(table).edited(Edit(("a", "b"), {}, np.array([2, 0]))).native()
    assert back.schema == table.schema
    assert back.to_pydict() == {"a": [long[2], long[0]], "b": [None, b"1"]}
    held = b"".join(b.to_pybytes() for b in back["a"].chunk(0).buffers() if b is not None)
    assert long[0].encode() in held
    assert long[1].encode() not in held


def test_numbers_of_pyarrow_in_pandas_keep_nan_apart():
    """Tests that NaN stays beside missing cells, which a release took for another value."""
    cells = pa.chunked_array([pa.array([float("nan"), float("nan"), None, -0.0, 0.0])])
    frame = pd.DataFrame({"a": pd.arrays.ArrowExtensionArray(cells)})
    back = ic.anonymize(frame, 1, qi=["a"]).data["a"].array.__arrow_array__()
    assert list(map(str, back.to_pylist())) == ["nan", "nan", "None", "0.0", "0.0"]


def test_halves_of_pyarrow_in_pandas_are_their_own_text():
    """Tests numbers of half precision beside NaN and missing cells; they were texts of bits."""
    cells = pa.array([1.5, float("nan"), None, 2.0]).cast(pa.float16())
    frame = pd.DataFrame({"a": pd.arrays.ArrowExtensionArray(pa.chunked_array([cells]))})
    column = from_native(frame).encode("a")
    assert [column.values[code] for code in column.codes] == ["1.5", "nan", None, "2"]


def test_zeros_of_a_dictionary_look_one_way():
    """Tests that words −0.0 and 0.0 of a dictionary do not tell rows apart."""
    cells = pa.array([-0.0, 0.0, 1.5, 1.5]).dictionary_encode()
    back = ic.anonymize(pa.table({"a": cells}), 2, qi=["a"]).data["a"]
    assert back.type == cells.type
    assert list(map(str, back.to_pylist())) == ["0.0", "0.0", "1.5", "1.5"]


def _zeros(ordered: bool) -> pa.ChunkedArray:
    """Two chunks of a dictionary with words -0.0 and 0.0 in one of them."""
    kind = pa.dictionary(pa.int8(), pa.float64(), ordered)
    parts = [[-0.0, 1.5, -0.0, 0.0], [1.5]]
    return pa.chunked_array([pa.array(part).dictionary_encode().cast(kind) for part in parts])


@pytest.mark.parametrize("k", [1, 2])
def test_zeros_of_a_dictionary_in_several_chunks(k: int):
    """Tests that words −0.0 and 0.0 are one value, where polars makes categories of several."""
    done = ic.anonymize(pa.table({"a": _zeros(False)}), k, qi=["a"])
    assert done.cost == 0
    assert list(map(str, done.data["a"].to_pylist())) == ["0.0", "1.5", "0.0", "0.0", "1.5"]


@pytest.mark.parametrize("order", ["keep", "shuffle"])
def test_ordered_numbers_keep_the_order_of_their_words(order: str):
    """Tests that an order that is meant stays; it was the order of the rows."""
    words = pa.array([9.0, 1.5, -0.0, 0.0, 3.0])
    codes = pa.array([1, 4, 3, 2, 0], pa.int8())
    cells = pa.DictionaryArray.from_arrays(codes, words, ordered=True)
    back = ic.anonymize(pa.table({"a": cells}), 1, qi=["a"], order=order, seed=1).data["a"]
    assert back.type == cells.type
    assert list(map(str, back.chunk(0).dictionary.to_pylist())) == ["9.0", "1.5", "0.0", "3.0"]


def test_views_of_text_in_pandas_are_refused():
    """Tests that a type that pandas can neither print nor pick rows of is named when it is read."""
    cells = pd.arrays.ArrowExtensionArray(pa.chunked_array([pa.array(["x"] * 2, pa.string_view())]))
    frame = pd.DataFrame({"a": ["x", "x"], "b": pd.Series(cells)})
    with pytest.raises(InputError, match=r"'b' is of type string_view\[pyarrow\]"):
        ic.anonymize(frame, 2, qi=["a"], keep=["b"], order="shuffle")


@pytest.mark.parametrize("pandas", [False, True])
@pytest.mark.parametrize("role", ["qi", "keep"])
def test_more_words_together_than_codes_are_refused(pandas: bool, role: str):
    """Tests chunks whose words outnumber the codes of their type, and that shared words do not."""
    kind = pa.dictionary(pa.int8(), pa.int64())

    def framed(*starts: int):
        chunks = [pa.array(range(s, s + 100)).dictionary_encode().cast(kind) for s in starts]
        cells = pa.chunked_array(chunks)
        if pandas:
            return pd.DataFrame({"a": pd.Series(pd.arrays.ArrowExtensionArray(cells)), "b": "x"})
        return pa.table({"a": cells, "b": ["x"] * len(cells)})

    qi = ["a", "b"] if role == "qi" else ["b"]
    asked = {"qi": qi, "keep": [] if role == "qi" else ["a"], "seed": 1, "order": "shuffle"}
    with pytest.raises(InputError, match="'a' is of type dictionary"):
        ic.anonymize(framed(0, 28), 1, **asked)
    if role == "keep" or not pandas:
        assert len(ic.anonymize(framed(0, 27, 0), 1, **asked).data) == 300


def test_words_that_are_null_in_several_chunks_are_refused():
    """Tests a dictionary that pyarrow itself cannot bring together."""
    part = pa.DictionaryArray.from_arrays(pa.array([0, 1], pa.int8()), pa.array(["x", None]))
    other = pa.DictionaryArray.from_arrays(pa.array([0, 1], pa.int8()), pa.array(["y", None]))
    cells = pa.chunked_array([part, other])
    with pytest.raises(InputError, match="'a' is of type dictionary"):
        ic.anonymize(pa.table({"a": cells}), 2, qi=["a"], order="shuffle")
    held = pd.DataFrame({"a": pd.arrays.ArrowExtensionArray(cells)})
    with pytest.raises(InputError, match="'a' is of type dictionary"):
        ic.anonymize(held, 2, qi=["a"])


def test_kept_decimals_of_negative_scale_are_shuffled():
    """Tests a type of pyarrow that narwhals has no name for, under a new order."""
    kept = pa.array([Decimal(100), Decimal(300)], pa.decimal128(5, -2))
    table = pa.table({"a": ["x", "x"], "b": kept})
    back = ic.anonymize(table, 2, qi=["a"], keep=["b"], order="shuffle", seed=1).data
    assert back.schema == table.schema
    assert sorted(back["b"].to_pylist()) == [100, 300]


def test_pandas_notes_stay_behind():
    """Tests that what ``attrs`` says of the original is not in the release, nor lost there."""
    frame = pd.DataFrame({"a": [1, 2], "b": ["x", "y"]})
    frame.attrs["people"] = ["Ada", "Ben"]
    frame.columns.name = "Ada"
    for order in (None, np.array([1, 0])):
        found = from_native(frame).edited(Edit(("a", "b"), {}, order)).native()
        assert found.attrs == {} and found.columns.name is None
    assert frame.attrs == {"people": ["Ada", "Ben"]} and frame.columns.name == "Ada"


def test_pandas_missing_values_are_one():
    """Tests that None, NaN, NA and NaT are all missing, and whole numbers stay whole."""
    frame = pd.DataFrame(
        {
            "object": pd.Series(["a", None, float("nan"), pd.NA], dtype=object),
            "float": [1.0, None, 3.0, float("nan")],
            "nullable": pd.Series([1, None, 3, None], dtype="Int64"),
            "time": pd.to_datetime(["2020-01-02", None, "2020-01-01", None]),
            "category": pd.Categorical(["b", None, "a", None], categories=["unused", "b", "a"]),
        }
    )
    assert plain(frame) == {
        "object": ["a", None, None, None],
        "float": ["1", None, "3", None],
        "nullable": ["1", None, "3", None],
        "time": ["2020-01-02", None, "2020-01-01", None],
        "category": ["b", None, "a", None],
    }
    assert from_native(frame).encode("category").values == (None, "a", "b")


def test_polars_types():
    """Tests categories, decimals, times and NaN, which is a value in polars."""
    frame = pl.DataFrame(
        {
            "category": pl.Series(["b", None, "a"], dtype=pl.Categorical),
            "enum": pl.Series(["b", None, "a"], dtype=pl.Enum(["b", "a"])),
            "nan": [1.5, float("nan"), None],
            "time": [datetime.datetime(2020, 1, 1, h) for h in (1, 2, 3)],
            "decimal": pl.Series(["1.50", None, "2.00"]).cast(pl.Decimal(10, 2)),
        }
    )
    assert plain(frame) == {
        "category": ["b", None, "a"],
        "enum": ["b", None, "a"],
        "nan": ["1.5", "nan", None],
        "time": ["2020-01-01 01:00:00", "2020-01-01 02:00:00", "2020-01-01 03:00:00"],
        "decimal": ["1.50", None, "2"],
    }


NOON = datetime.datetime(2020, 1, 2, 12)


@pytest.mark.parametrize("other", [1.5, float("nan"), Decimal("1.5"), NOON])
def test_the_form_of_a_cell_is_its_own(other, constructor):
    """Tests that no other cell, which a release may hide, shows in how a cell is written."""
    same = {datetime.datetime: NOON.replace(hour=0), Decimal: Decimal("2.0")}.get(type(other), 2.0)
    for cells in ([same, same, same], [same, same, other]):
        frame = constructor({"a": cells})
        texts = plain(frame)["a"][:2]
        assert texts == (["2020-01-02"] * 2 if other is NOON else ["2", "2"])
        assert as_text(pl.Series(cells)).to_list()[:2] == texts


MIXED = [
    ([1, "SECRET"], "mixes text and whole numbers"),
    ([1, True], "mixes true/false and whole numbers"),
    ([1, 1.5], "mixes decimal numbers and whole numbers"),
    ([b"SECRET"], "bytes values"),
    ([["SECRET"]], "list values"),
    (["SECRET", "\udc80"], "half a character"),
]


@pytest.mark.parametrize(("values", "part"), MIXED, ids=[case[1] for case in MIXED])
def test_refuses_mixed_columns(values, part):
    """Tests that a column of several kinds is named, its cells are not."""
    frame = pd.DataFrame({"a": pd.Series(values, dtype=object)})
    with pytest.raises(InputError) as caught:
        from_native(frame).encode("a")
    assert part in str(caught.value)
    assert "SECRET" not in str(caught.value)


@pytest.mark.parametrize("values", [[[1]], [b"x"], [{"a": 1}]], ids=["list", "binary", "struct"])
def test_refuses_nested_columns(values):
    """Tests that a column without a text form is named with its type."""
    with pytest.raises(InputError, match="column 'a' is of type"):
        from_native(pl.DataFrame({"a": values})).encode("a")


@pytest.mark.parametrize("cells", [pa.array([[1]]), pa.array([{"a": 1}])], ids=["list", "struct"])
def test_refuses_nested_columns_of_pandas(cells):
    """Tests types of pyarrow in pandas, which numbers no such values."""
    frame = pd.DataFrame({"a": pd.Series(cells, dtype=pd.ArrowDtype(cells.type))})
    with pytest.raises(InputError, match="'a' holds values that cannot be compared; make it text"):
        from_native(frame).encode("a")


NO_FRAMES = [
    ([1, 2], "expected a data frame"),
    (pd.Series([1]), "expected a data frame"),
    (np.zeros((2, 2)), "expected a data frame"),
    (pd.DataFrame([[1, 2, 3]], columns=["a", "b", "a"]), "has 'a' more than once"),
    (pa.table([[1], [2]], names=["a", "a"]), "has 'a' more than once"),
    (
        pd.DataFrame([[1]], columns=pd.Index(["\udc80"], dtype=object)),
        "name holds half a character",
    ),
    (pd.DataFrame([[1, 2]]), "column names must be text"),
    (pd.DataFrame([[1]], columns=pd.MultiIndex.from_tuples([(1, 2)])), "names must be text"),
]


@pytest.mark.parametrize(("data", "part"), NO_FRAMES, ids=range(len(NO_FRAMES)))
def test_refuses_what_is_no_frame(data, part):
    """Tests that the message says what is allowed."""
    with pytest.raises(InputError, match=part):
        from_native(data)


def test_a_narwhals_frame_comes_back_as_one():
    """Tests that an already wrapped frame stays wrapped."""
    import narwhals as nw

    frame = nw.from_native(pl.DataFrame({"a": [1]}))
    assert isinstance(from_native(frame).edited(Edit(("a",))).native(), nw.DataFrame)


def test_frames_without_rows(constructor):
    """Tests that no rows is no trouble."""
    arrow = pa.table({"a": pa.array([], pa.string())})
    frame = {"arrow_table": lambda: arrow, "pandas_frame": arrow.to_pandas}.get(
        constructor.__name__, lambda: pl.from_arrow(arrow)
    )()
    table = from_native(frame)
    assert table.rows == 0
    assert table.encode("a").values in ((), (None,))
    assert from_native(table.edited(Edit(("a",))).native()).rows == 0


def test_columns_merge_equal_values():
    """Tests the numbering of values given twice."""
    column = Column.of(["b", None, "b", "a"], np.array([0, 1, 2, 3]))
    assert column.values == (None, "a", "b")
    assert column.codes.tolist() == [2, 0, 2, 1]


@pytest.mark.parametrize("name", ["*", "^a$", "^.*$", "a b", ""])
def test_names_that_mean_something_to_a_library(constructor, name):
    """Tests that a column is found by its name alone."""
    if name == "" and constructor.__name__ == "duckdb_relation":
        pytest.skip("duckdb has no column without a name")
    frame = constructor({"a": ["x", "y"], name: ["1", "2"], "z": ["p", "q"]})
    star = Replacement(("*",), np.array([-1, 0], np.int32))
    back = from_native(frame).edited(Edit((name, "z"), {name: star})).native()
    assert plain(back) == {name: ["1", "*"], "z": ["p", "q"]}
    assert as_polars(from_native(back)).columns == [name, "z"]


def test_a_column_without_a_name_is_written_and_added_to(tmp_path):
    """Tests pyarrow's, as of a CSV file with row numbers: polars called it ``column_0``."""
    table = pa.table({"": ["1", "1", "2"], "z": ["p", "p", "q"]})
    release = ic.anonymize(table, 1)
    release.write(tmp_path / "out.parquet")
    assert pl.read_parquet_schema(tmp_path / "out.parquet").names() == ["", "z"]
    more = ic.anonymize(table, 1, existing=release.data)
    assert more.data.equals(pa.concat_tables([table, table]))


STEPS = [-1001, -1, 0, 1, 999, 1000, 1_577_872_800_000_000_001, None]
ZONE = pl.Datetime("ns", "Asia/Kolkata")
FINE = [
    (pl.Datetime("ns"), "1970-01-01 00:00:00.000000001", "1970-01-01 00:00:00.000001"),
    (ZONE, "1970-01-01 05:30:00.000000001+05:30", "1970-01-01 05:30:00.000001+05:30"),
    (pl.Duration("ns"), "0:00:00.000000001", "0:00:00.000001"),
    (pl.Time, "00:00:00.000000001", "00:00:00.000001"),
]


@pytest.mark.parametrize(("dtype", "one", "thousand"), FINE, ids=[str(f[0]) for f in FINE])
def test_nanoseconds_are_read(dtype, one, thousand):
    """Tests that times that differ by a nanosecond differ as text, for the checker too."""
    steps = STEPS[2:6] if dtype == pl.Time else STEPS
    series = pl.Series("a", steps, dtype=pl.Int64).cast(dtype)
    found = plain(series.to_frame())["a"]
    assert len(set(found)) == len(steps)
    assert found[steps.index(1)] == one
    assert found[steps.index(1000)] == thousand
    assert as_text(series).to_list() == found
    assert plain(series.to_frame().to_arrow())["a"] == found


def test_nanoseconds_of_pandas_are_read():
    """Tests midnights with nanoseconds, which are no dates, and times of day held by pyarrow."""
    times = pd.Series(pd.to_datetime([0, 1, 2], unit="ns"))
    clocks = pd.Series(pd.array([0, 1, 2], dtype=pd.ArrowDtype(pa.time64("ns"))))
    found = plain(pd.DataFrame({"time": times, "clock": clocks}))
    assert found["time"][:2] == ["1970-01-01", "1970-01-01 00:00:00.000000001"]
    assert found["clock"] == ["00:00:00", "00:00:00.000000001", "00:00:00.000000002"]


def test_numbers_that_no_file_has_a_type_for(tmp_path):
    """Tests whole numbers beyond 64 bits, as pandas holds them: text can say them."""
    frame = pd.DataFrame({"a": [10**40, 10**40, 5, 5], "b": list("xxyy")})
    release = ic.anonymize(frame, k=2, qi=["a", "b"])
    with pytest.raises(InputError, match="have no type for"):
        release.write(tmp_path / "o.parquet")
    release.write(tmp_path / "o.csv")
    assert (tmp_path / "o.csv").read_text().splitlines()[1] == f"{10**40},x"


ALIKE = {
    "zeros": pd.Series([0.0, -0.0, 0.0]),
    "nullable": pd.Series([0.0, -0.0, 0.0], dtype="Float64"),
    "pyarrow": pd.Series([0.0, -0.0, 0.0], dtype=pd.ArrowDtype(pa.float32())),
    "nan": pd.Series([np.nan, np.copysign(np.nan, -1), np.nan]),
    "decimals": pd.Series([Decimal("1"), Decimal("1.0"), Decimal("1.00")]),
    "missing": pd.Series([None, float("nan"), pd.NA], dtype=object),
    "zones": pd.Series(
        [datetime.datetime(2020, 1, 1, h, tzinfo=offset(h)) for h in range(3)], dtype=object
    ),
}


@pytest.mark.parametrize("name", ALIKE)
def test_equal_values_are_published_alike(name):
    """Tests that an unchanged pandas column holds one and the same cell where the text is one."""
    frame = pd.DataFrame({"a": ALIKE[name]})
    back = from_native(frame).edited(Edit(("a",))).native()["a"]
    assert back.dtype == frame["a"].dtype
    bits = back.to_numpy(dtype=float).view("u8") if back.dtype == float else map(repr, back)
    assert len(set(bits)) == 1


@pytest.mark.parametrize("library", ["polars", "packed", "pyarrow"])
@pytest.mark.parametrize("dtype", [pl.Float32, pl.Float64])
def test_zero_and_nan_are_published_one_way(library, dtype):
    """Tests the bits of an unchanged column of fractions."""
    nan = np.copysign(np.nan, np.array([1, -1]))
    series = pl.Series("^a$", [0.0, -0.0, *nan, 1.5, None], dtype=dtype)
    if library == "packed":
        table = packed_table(["^a$"], lambda _: series)
    else:
        table = from_native(series.to_frame() if library == "polars" else pl_to_arrow(series))
    back = table.edited(Edit(("^a$",))).native()
    found = pl.DataFrame(back)["^a$"].alias("a")
    assert found.dtype == dtype
    assert found.is_null().to_list() == [False] * 5 + [True]
    bits = found.drop_nulls().to_numpy().view("u4" if dtype == pl.Float32 else "u8").tolist()
    assert len(set(bits)) == 3


SIGNS = {name: [False, True, True, False] for name in ("polars", "packed", "pyarrow", "pandas")}
SIGNS["nullable"] = [False, True, False, False]


@pytest.mark.parametrize("library", SIGNS)
def test_kept_numbers_stay_to_the_bit(library):
    """Tests −0.0 and an odd NaN in a column that is published as it is, and fewer of its rows."""
    series = pl.Series("a", [0.0, -0.0, np.copysign(np.nan, -1), 1.5])
    frame: Any = {"polars": series.to_frame(), "pyarrow": pl_to_arrow(series)}.get(library)
    if library == "packed":
        table = packed_table(["a"], lambda _: series)
    elif library == "nullable":
        table = from_native(pd.DataFrame({"a": pd.Series([0.0, -0.0, 2.0, 1.5], dtype="Float64")}))
    else:
        table = from_native(pd.DataFrame({"a": series}) if frame is None else frame)
    for rows in (np.arange(4), np.array([1, 2])):
        edit = Edit(("a",), kept=frozenset(["a"]))
        back: Any = FewerRows(table, rows).edited(edit).native()
        cells = np.array(back["a"].to_numpy(), dtype=float)
        assert np.signbit(cells).tolist() == [SIGNS[library][row] for row in rows]
    back = table.edited(edit).native()
    assert np.signbit(np.array(back["a"].to_numpy(), dtype=float)).tolist() == SIGNS[library]


def pl_to_arrow(series):
    """A series as a pyarrow table."""
    return pa.table({series.name: series.to_arrow()})


NAMED = pl.Series("a", ["gone", "b", None, "a"], dtype=pl.Enum(["b", "gone", "a"]))


def released_words(library, order):
    """The categories of an unchanged column whose rows ``order`` are published."""
    edit = Edit(("a",), {}, np.array(order))
    if library == "packed":
        back: Any = packed_table(["a"], lambda _: NAMED).edited(edit)
        return back.native()["a"].dtype.categories
    frame: Any = NAMED.to_frame()
    if library == "pandas":
        cells = frame.to_pandas()["a"].cat.set_categories(["b", "gone", "a"], ordered=True)
        back = from_native(cells.to_frame()).edited(edit).native()["a"].cat
        assert back.ordered
        return back.categories
    if library == "pyarrow":
        words = pa.DictionaryArray.from_arrays([1, 0, None, 2], ["b", "gone", "a"], ordered=True)
        back = from_native(pa.table({"a": words})).edited(edit).native().column("a")
        assert back.type == words.type
        return back.unify_dictionaries().chunk(0).dictionary.to_pylist()
    if library == "pandas of pyarrow":
        cells = NAMED.to_frame().to_pandas(use_pyarrow_extension_array=True)
        words = pa.DictionaryArray.from_arrays([1, 0, None, 2], ["b", "gone", "a"], ordered=True)
        cells["a"] = type(cells["a"].array)(pa.chunked_array([words]))
        back = from_native(cells.set_index(pd.Index([5, 5, 2, 1]))).edited(edit).native()["a"]
        assert back.dtype == cells["a"].dtype
        assert back.index.tolist() == list(range(len(order)))
        return back.array.__arrow_array__().unify_dictionaries().chunk(0).dictionary.to_pylist()
    back = from_native(frame).edited(edit).native()["a"].dtype
    assert back == pl.Enum(back.categories)
    return back.categories


@pytest.mark.parametrize("library", ["polars", "packed", "pandas", "pyarrow", "pandas of pyarrow"])
def test_categories_of_rows_left_out_are_dropped(library):
    """Tests that a type does not tell values of rows that are not published."""
    assert list(released_words(library, [1, 2, 3])) == ["b", "a"]
    assert list(released_words(library, [3, 2, 1, 0])) == ["b", "gone", "a"]


@pytest.mark.parametrize("rows", [[3, 1, 0, 2], [3, 1, 2]])
def test_categories_of_shuffled_rows_tell_no_order(rows):
    """Tests that they are sorted where they have no order: rows of the original had given it."""
    words = pa.array(["zeta", "mu", "alpha", "mu"]).dictionary_encode()
    table = pa.table({"a": words})
    mixed = pd.DataFrame({"a": pd.Categorical(["b", 2, "a", 2], categories=["b", 2, "a"])})
    for frame in (table, table.to_pandas(), table.to_pandas(types_mapper=pd.ArrowDtype), mixed):
        back = from_native(frame).edited(Edit(("a",), {}, np.array(rows))).native()["a"]
        cells = frame["a"].to_pylist() if frame is table else frame["a"].tolist()
        assert (back.to_pylist() if frame is table else back.tolist()) == [cells[i] for i in rows]
        if hasattr(back, "cat"):
            shown = back.cat.categories.tolist()
        else:
            whole = back if frame is table else back.array.__arrow_array__()
            shown = whole.unify_dictionaries().chunk(0).dictionary.to_pylist()
        assert shown == sorted({cells[i] for i in rows}, key=str)


UNREADABLE = {
    "decimal256": lambda: pa.table({"a": pa.array([Decimal("1.1")], pa.decimal256(60, 2))}),
    "month_day_nano_interval": lambda: pa.table(
        {"a": pa.array([(1, 2, 3)], pa.month_day_nano_interval())}
    ),
    "run_end_encoded": lambda: pa.table({"a": pa.RunEndEncodedArray.from_arrays([1], ["x"])}),
    "sparse_union": lambda: pa.table(
        {"a": pa.UnionArray.from_sparse(pa.array([0], pa.int8()), [pa.array([1])])}
    ),
    "UNION": lambda: duckdb.sql("SELECT union_value(x := 1) a"),
    "INTERVAL": lambda: duckdb.sql("SELECT INTERVAL 1 MONTH a"),
    "TIME WITH TIME ZONE": lambda: duckdb.sql("SELECT '10:00:00+02'::TIMETZ a"),
}


@pytest.mark.parametrize("kind", UNREADABLE)
def test_refuses_what_polars_cannot_take(kind):
    """Tests types that would end in an error of a library, or would lose their offset."""
    with pytest.raises(InputError, match=f"column 'a' is of type {kind}"):
        from_native(UNREADABLE[kind]())


def test_refuses_times_that_python_cannot_tell():
    """Tests a time in the far future, whose text is asked for."""
    frame = pl.DataFrame({"a": pl.Series([2**62]).cast(pl.Duration("ms"))})
    with pytest.raises(InputError, match="'a' holds times that Python cannot tell"):
        from_native(frame).encode("a")


def kept_in_memory(frame: pl.DataFrame) -> bytes:
    """What a file of the frame holds, between its cells too."""
    file = io.BytesIO()
    frame.write_ipc(file)
    return file.getvalue() + pickle.dumps(frame)


@pytest.mark.parametrize("wrap", [from_native, lambda f: packed_table(f.columns, f.get_column)])
def test_a_release_does_not_drag_hidden_cells_along(wrap) -> None:
    """Tests that long texts that were replaced or left out are gone, and their order."""
    jobs = ["a nurse of the hospital", "a doctor of the hospital", "THE ONLY PRESIDENT OF ALL"]
    notes = ["the second of the notes", "the first of the notes", "A NOTE THAT IS LEFT OUT"]
    listed = [[note] for note in notes]
    frame = pl.DataFrame({"job": jobs, "note": notes, "listed": listed})
    hide = Replacement(("*",), np.array([-1, -1, 0], np.int32))
    whole = wrap(frame).edited(Edit(("job",), {"job": hide}, np.array([2, 1, 0])))
    assert whole.native()["job"].to_list() == ["*", *jobs[1::-1]]
    assert b"PRESIDENT" not in kept_in_memory(whole.native())
    part = wrap(frame).edited(Edit(("note", "listed"), {}, np.array([1, 0]))).native()
    assert part.equals(frame[[1, 0]].select("note", "listed"))
    held = kept_in_memory(part)
    assert b"LEFT OUT" not in held
    assert held.index(b"the first") < held.index(b"the second")


NESTED = pl.DataFrame(
    {
        "q": [1, 1, 2, 3],
        "list": [[1], [1], [2], None],
        "bytes": [b"x", b"\xff", None, b""],
        "struct": [{"x": 1}, {"x": 2}, {"x": 1}, None],
    }
)


@pytest.mark.parametrize("back", [pl.DataFrame.to_pandas, pl.DataFrame.to_arrow, pl.DataFrame.lazy])
def test_kept_columns_without_a_text_form(back, tmp_path):
    """Tests that lists and bytes that are kept go through, to Parquet too, and are compared."""
    release = ic.anonymize(back(NESTED), k=2, keep=["list", "bytes", "struct"])
    assert release.verify()
    release.write(tmp_path / "o.parquet")
    found = pl.read_parquet(tmp_path / "o.parquet")
    assert found["list"].to_list() == [[1], [1], [2], None]
    with pytest.raises(ic.InputError, match="text form; make it text, or leave it out"):
        release.write(tmp_path / "o.csv")
    assert not (tmp_path / "o.csv").exists()


def test_kept_columns_of_pandas_without_a_text_form(tmp_path):
    """Tests lists and structs of pyarrow in pandas, which numbers no such values."""
    table = NESTED.to_arrow()
    frame = pd.DataFrame(
        {
            name: pd.Series(table[name].combine_chunks(), dtype=pd.ArrowDtype(table[name].type))
            for name in table.column_names
        }
    )
    release = ic.anonymize(frame, k=2, keep=["list", "bytes", "struct"])
    assert release.verify()
    release.write(tmp_path / "o.parquet")
    assert pl.read_parquet(tmp_path / "o.parquet")["list"].to_list() == [[1], [1], [2], None]


@pytest.mark.parametrize("library", [pd, pl])
def test_cells_that_are_not_compared(library):
    """Tests that kept Python objects are named, not taken for others."""
    frame = library.DataFrame({"q": [1, 1], "kept": [object(), object()]})
    with pytest.raises(ic.InputError, match="'kept' holds values that files"):
        ic.anonymize(frame, k=2, keep="kept").verify()


def test_cells_that_no_file_holds(tmp_path):
    """Tests that kept Python objects are named when a file is to hold them."""
    frame = pd.DataFrame({"q": [1, 1], "kept": [object(), object()]})
    release = ic.anonymize(frame, k=2, keep="kept")
    with pytest.raises(ic.InputError, match="'kept' holds values that files"):
        release.write(tmp_path / "o.parquet")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("made", "use", "said"),
    [
        ("duckdb.sql('select 1 as q')", "from_native(frame)", "of duckdb"),
        (
            "pd.DataFrame({'q': ['a']}, dtype='string')",
            "as_polars(from_native(frame))",
            "of pandas",
        ),
        (
            "pd.DataFrame({'q': ['a']}, dtype='string')",
            "from_native(frame).take('q', slice(1))",
            "of pandas",
        ),
    ],
)
def test_a_missing_pyarrow_is_named(made, use, said):
    """Tests frames that polars takes by way of pyarrow, where that is not installed."""
    program = (
        "from importlib.machinery import PathFinder\n"
        "find = PathFinder.find_spec\n"
        "PathFinder.find_spec = lambda name, *at: None if name == 'pyarrow' else find(name, *at)\n"
        "import duckdb, pandas as pd\n"
        "from incrowd.errors import MissingExtraError\n"
        "from incrowd.tables.native import as_polars, from_native\n"
        f"frame = {made}\n"
        f"try: {use}\n"
        "except MissingExtraError as error: print(error)\n"
    )
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", program], capture_output=True, text=True
    )
    assert said in done.stdout, done.stderr
    assert "'pyarrow', which is not installed: pip install pyarrow\n" in done.stdout
