"""Averages of a column that came as numbers are numbers in every form that has types."""

import random
import sqlite3
from contextlib import closing
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from click.testing import CliRunner

import incrowd as ic
from dial import few
from incrowd.cli import cli
from incrowd.errors import VerificationError
from incrowd.tables.base import Edit, Replacement
from incrowd.tables.files import open_table as read
from incrowd.tables.numbers import as_numbers, numbers_of

AGES, SIZES = [31, 35, 38, 52, 57, 58], [1.25, 1.5, 3.1, 4.25, 2.0, 2.75]
RULES = {"age": "mean", "size": "mean"}
FRAMES = {
    "polars": pl.DataFrame,
    "lazy": pl.LazyFrame,
    "pandas": pd.DataFrame,
    "nullable": lambda columns: pd.DataFrame(columns).convert_dtypes(),
    "pandas of arrow": lambda c: pd.DataFrame(c).convert_dtypes(dtype_backend="pyarrow"),
    "arrow": pa.table,
}


def typed(data):
    """A released frame as polars."""
    if isinstance(data, pl.LazyFrame):
        return data.collect()
    return pl.from_pandas(data) if isinstance(data, pd.DataFrame) else pl.DataFrame(data)


@pytest.mark.parametrize("kind", FRAMES)
@pytest.mark.parametrize("digits", [None, 1])
def test_frames(kind, digits):
    """Tests that the same frame comes back with numbers: whole ones where the rule makes them."""
    frame = FRAMES[kind]({"age": AGES, "size": SIZES})
    rules = RULES if digits is None else {**RULES, "age": f"mean:digits={digits}"}
    release = ic.anonymize(frame, 3, hierarchies=rules, order="keep")
    assert release.verify() and type(release.data) is type(frame)
    data = typed(release.data)
    assert data.dtypes == [pl.Float64 if digits else pl.Int64, pl.Float64]
    assert data["size"].to_list() == [1.95] * 3 + [3.0] * 3
    assert data["age"].to_list() == ([34.7] * 3 + [55.7] * 3 if digits else [35] * 3 + [56] * 3)


def test_pandas_keeps_its_own_types_and_index():
    """Tests that narrow and nullable types and the index stay, and missing cells are missing."""
    frame = pd.DataFrame(
        {"a": pd.array([1, 2, None, None], "Int8"), "b": np.array([1, 3, 9, 11], np.int16)},
        index=list("wxyz"),
    )
    data = ic.anonymize(frame, 2, hierarchies={"a": "mean", "b": "mean"}, order="keep").data
    assert [str(kind) for kind in data.dtypes] == ["Int8", "int16"]
    assert data["a"].isna().tolist() == [False, False, True, True]
    assert data["b"].tolist() == [2, 2, 10, 10] and list(data.index) == list("wxyz")
    whole = pd.DataFrame({"a": [1.0, 2.0, np.nan, np.nan]})
    data = ic.anonymize(whole, 2, hierarchies={"a": "mean"}, order="keep").data
    assert data["a"].dtype == "float64" and data["a"].isna().sum() == 2


def test_text_and_what_no_type_holds_stay_text():
    """Tests a column of text, and averages with more digits than doubles or decimals have."""
    rules = {"age": "mean"}
    text = pl.DataFrame({"age": [str(age) for age in AGES]})
    assert ic.anonymize(text, 3, hierarchies=rules).data["age"].dtype == pl.String
    ends = pl.DataFrame({"age": [0.1, 0.2, 0.4, 7e18, 7e18, 8e18]})
    data = ic.anonymize(ends, 3, hierarchies={"age": "mean:digits=18"}).data
    assert data["age"].dtype == pl.String
    large = pl.DataFrame({"age": [2**62, 2**62 + 1, 2**62 + 2, 2**62 + 5]})
    data = ic.anonymize(large, 2, hierarchies={"age": "mean:digits=1"}, order="keep").data
    assert data["age"].dtype == pl.Decimal(38, 1)
    assert data["age"].to_list() == [2**62 + Decimal("0.5")] * 2 + [2**62 + Decimal("3.5")] * 2


def test_measured_doubles_are_averaged_as_finely_as_doubles_go():
    """Tests that columns of long fractions become doubles again, of fifteen digits by default."""
    rng = random.Random(2)
    frame = pl.DataFrame({"size": [rng.uniform(10, 99) for _ in range(30)]})
    release = ic.anonymize(frame, 3, hierarchies={"size": "mean"})
    assert release.data["size"].dtype == pl.Float64 and release.verify()
    assert [axis.digits for axis in release.averaged.axes] == [13]
    assert abs(release.data["size"].mean() - frame["size"].mean()) < 1e-11


def holds(kind, number):
    """Whether a type has exactly this number, from what the type is."""
    if kind.is_integer():
        bits = {pl.Int8: 7, pl.Int64: 63}[kind.base_type()]
        return number == int(number) and -(2**bits) <= number < 2**bits
    if kind == pl.Float32:
        return Decimal(float(np.float32(float(number)))) == number
    if kind == pl.Float64:
        return Decimal(repr(float(number))) == number
    return abs(number) < 10 ** (kind.precision - kind.scale) and number == round(number, kind.scale)


@pytest.mark.parametrize("seed", range(few(40)))
def test_the_first_type_that_holds_all(seed):
    """Tests types and cells of random texts against their definition."""
    rng = random.Random(seed)
    kind = rng.choice([pl.Int8(), pl.Int64(), pl.Float64(), pl.Float32(), pl.Decimal(6, 2)])
    places, size = rng.choice([0, 0, 1, 5, 17]), rng.choice([100, 1000, 2**53, 2**64])
    numbers = [Decimal(rng.randrange(-size, size)).scaleb(-places) for _ in range(5)]
    tried = [kind, pl.Decimal(38, max(places, 2 if kind.is_decimal() else 0))]
    if kind.is_integer():
        tried[1:1] = [pl.Int64(), pl.Float64()]
    if kind.is_float():
        tried[1:] = [pl.Float64()]
    wanted = next((one for one in tried if all(holds(one, x) for x in numbers)), None)
    found = as_numbers([None, *(f"{x:f}" for x in numbers)], kind)
    if wanted is None:
        assert found is None
        return
    assert found.dtype == wanted and found[0] is None
    assert [Decimal(str(cell)) for cell in found[1:].to_list()] == numbers


def test_cells_that_no_row_shows_have_no_say():
    """Tests that a type follows from shown cells alone: hidden ones would be told by it."""
    table = read(pl.DataFrame({"age": [2**60 + 1, 7, 7]}))
    column = table.encode("age")
    for order in (None, np.array([2, 1])):
        ids = np.array([0, 0, 0] if order is None else [-1, 0, 0])
        edit = Edit(
            ("age",), {"age": Replacement(("7.5",), ids)}, order, numbers=frozenset({"age"})
        )
        texts, index = [*column.values, "7.5"], np.where(ids >= 0, 2, column.codes)
        found = numbers_of(table, edit, "age", texts, index)
        assert found.dtype == pl.Float64 and found.to_list() == [None, None, 7.5]
        assert numbers_of(table, Edit(("age",)), "age", texts, index) is None


@pytest.mark.parametrize("suffix", ["parquet", "arrow"])
def test_files_with_proof(tmp_path, suffix):
    """Tests numbers in files: written, read back, re-checked, proved and measured."""
    rng = np.random.default_rng(3)
    table = pl.DataFrame(
        {"age": rng.integers(20, 60, 60), "size": rng.normal(size=60).round(2) / 1e4}
    )
    source, out, proof = (tmp_path / name for name in (f"in.{suffix}", f"out.{suffix}", "p.proof"))
    (table.write_parquet if suffix == "parquet" else table.write_ipc)(source)
    run = CliRunner().invoke
    asked = ["-k", "3", "--hierarchy", "age=mean", "--hierarchy", "size=mean", "--seed", "1"]
    done = run(cli, ["anonymize", str(source), *asked, "-o", str(out), "--proof", str(proof)])
    assert done.exit_code == 0, done.output
    read = pl.read_parquet(out) if suffix == "parquet" else pl.read_ipc(out)
    assert read.dtypes == [pl.Int64, pl.Float64]
    done = run(cli, ["verify", str(out), "--original", str(source), "--proof", str(proof)])
    assert done.exit_code == 0, done.output
    done = run(cli, ["measure", str(out), "--qi", "age,size", "--require-k", "3"])
    assert done.exit_code == 0, done.output
    wrong = read.with_columns(size=pl.col("size") + 1e-6)
    (wrong.write_parquet if suffix == "parquet" else wrong.write_ipc)(out)
    assert (
        run(cli, ["verify", str(out), "--original", str(source), "--proof", str(proof)]).exit_code
        != 0
    )


def released_as(table, out, *more):
    """Run the command line on a frame or a path; columns age and size are averaged."""
    asked = [
        "-k",
        "3",
        "--hierarchy",
        "age=mean:digits=1",
        "--hierarchy",
        "size=mean",
        "--seed",
        "1",
    ]
    done = CliRunner().invoke(cli, ["anonymize", str(table), *asked, "-o", str(out), *more])
    assert done.exit_code == 0, done.output


@pytest.fixture
def source(tmp_path):
    """A Parquet file of ages and sizes."""
    path = tmp_path / "in.parquet"
    pl.DataFrame({"age": AGES, "size": SIZES}).write_parquet(path)
    return path


SHOWN = [(34.7, 1.95)] * 3 + [(55.7, 3.0)] * 3


def test_a_database(source, tmp_path):
    """Tests that columns of a new table are numbers."""
    released_as(source, f"sqlite:///{tmp_path}/r.db/out")
    with closing(sqlite3.connect(tmp_path / "r.db")) as base:
        cells = base.execute("select age, size, typeof(age), typeof(size) from out").fetchall()
    assert sorted(cells) == [(*pair, "real", "real") for pair in SHOWN]


@pytest.mark.parametrize("form", ["xlsx", "ods"])
def test_workbooks(source, tmp_path, form):
    """Tests that cells of a sheet are numbers, read back as such."""
    released_as(source, tmp_path / f"out.{form}")
    data = read(tmp_path / f"out.{form}").native()
    assert data.dtypes == [pl.Float64] * 2 and sorted(data.rows()) == SHOWN
    released_as(tmp_path / f"out.{form}", tmp_path / f"again.{form}")
    assert sorted(read(tmp_path / f"again.{form}").native().rows()) == SHOWN


def test_several_files(source, tmp_path):
    """Tests that all files of a folder have the same types."""
    parts, out = tmp_path / "parts", tmp_path / "out"
    parts.mkdir()
    table = pl.read_parquet(source)
    table[:2].write_parquet(parts / "a.parquet")
    table[2:].write_parquet(parts / "b.parquet")
    released_as(parts, out)
    found = [pl.read_parquet(out / name) for name in ("a.parquet", "b.parquet")]
    assert {tuple(one.dtypes) for one in found} == {(pl.Float64, pl.Float64)}
    assert sorted(pl.concat(found).rows()) == SHOWN


@pytest.mark.parametrize("form", ["sav", "dta", "xpt"])
def test_statistics_packages(source, tmp_path, form):
    """Tests that numeric variables stay numeric, and that a declared missing value is none."""
    library = pytest.importorskip("pyreadstat")
    table = pl.read_parquet(source).to_pandas()
    write = {"sav": library.write_sav, "dta": library.write_dta, "xpt": library.write_xport}[form]
    write(table, tmp_path / f"in.{form}")
    released_as(tmp_path / f"in.{form}", tmp_path / f"out.{form}")
    reading = {"sav": library.read_sav, "dta": library.read_dta, "xpt": library.read_xport}[form]
    data, _ = reading(tmp_path / f"out.{form}")
    assert [kind.kind for kind in data.dtypes] == ["f", "f"]
    assert sorted(zip(*(data[name] for name in data), strict=True)) == SHOWN
    if form == "sav":
        write(table, tmp_path / "in.sav", missing_ranges={"age": [34.7], "size": [99]})
        released_as(tmp_path / "in.sav", tmp_path / "out.sav")
        data, _ = reading(tmp_path / "out.sav", user_missing=True)
        assert set(data["age"]) == {"34.7", "55.7"} and data["size"].dtype.kind == "f"


def test_csv_is_as_before(tmp_path):
    """Tests that text files hold what they held: the averages' own texts."""
    table, out = tmp_path / "in.csv", tmp_path / "out.csv"
    pl.DataFrame({"age": AGES, "size": SIZES}).write_csv(table)
    released_as(table, out, "--order", "keep")
    assert out.read_bytes() == b"age,size\n" + b"34.7,1.95\n" * 3 + b"55.7,3\n" * 3


def test_a_changed_number_is_found():
    """Tests that the re-check holds numbers against their definition, as it does texts."""
    rules = {"age": "mean:digits=1"}
    release = ic.anonymize(pl.DataFrame({"age": AGES}), 3, hierarchies=rules, order="keep")
    assert release.verify()
    wrong = release.data.with_columns(pl.Series("age", [34.7] * 3 + [55.6] * 3))
    object.__setattr__(release, "data", wrong)
    with pytest.raises(VerificationError, match=r"row 4, column 'age'.*not its class's average"):
        release.verify()
