"""Tests that releases on Spark are lawful, those of one machine, and the same on any partitions."""

import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import incrowd as ic

pytest.importorskip("pyspark")
pytest.importorskip("pyarrow")

from click.testing import CliRunner

import incrowd.spark
from incrowd.cli import cli


def people(rows: int = 150, seed: int = 0) -> pl.DataFrame:
    """A small table with missing cells, several types, awkward names, and duplicates."""
    rng = np.random.default_rng(seed)
    ages = rng.integers(20, 60, rows)
    frame = pl.DataFrame(
        {
            "id": np.arange(rows),
            "age": ages,
            "a.b": rng.choice(["x", "y", "z"], rows),
            "*": rng.choice([1.5, 2.0, float("nan")], rows),
            "born": pl.Series(rng.choice(4, rows)).cast(pl.Int32).cast(pl.Date),
            "illness": rng.choice(["flu", "cold", "gout"], rows),
        }
    )
    return frame.with_columns(
        pl.when(pl.col("age") % 7 == 0).then(None).otherwise(pl.col("age")).alias("age")
    )


def plain(spark: Any, frame: pl.DataFrame, partitions: int = 2) -> Any:
    """The same with all columns as text, which every server takes alike."""
    import pyarrow as pa

    text = frame.select(pl.all().cast(pl.String)).to_arrow()
    schema = pa.schema([(name, pa.string()) for name in frame.columns])
    return spark.createDataFrame(text.cast(schema)).repartition(partitions)


def rows_of(frame: Any) -> Counter[tuple[Any, ...]]:
    """The rows of a Spark frame, counted."""
    return Counter(tuple(row) for row in frame.collect())


def sizes_of(frame: Any, names: list[str]) -> Counter[tuple[Any, ...]]:
    """The classes of a Spark frame."""
    at = [frame.columns.index(name) for name in names]
    return Counter(tuple(row[i] for i in at) for row in frame.collect())


QI = ["age", "a.b", "*", "born"]
ROLES: dict[str, Any] = {"qi": QI, "sensitive": "illness", "id": "id"}


def test_marks_of_missing_values(spark: Any, scratch: str | None) -> None:
    """Tests that marks count as on one machine, and that what is not served is refused by name."""
    table = people().select(pl.col("age").cast(pl.String).fill_null("NA"), "a.b", "illness")
    asked: dict[str, Any] = {"sensitive": "illness", "hierarchies": {"age": "interval:5,20"}}
    here = ic.anonymize(table, 4, na="NA", **asked)
    there = incrowd.spark.release(plain(spark, table), 4, scratch=scratch, na="NA", **asked)
    assert (there.cost, there.lower_bound) == (here.cost, here.lower_bound)
    for name, value in (("derive", {"n": "years(age, 2024-12-31)"}), ("protect", "age:3")):
        with pytest.raises(ic.InputError, match=name):
            incrowd.spark.release(plain(spark, table), 4, **{name: value})


def test_result_is_that_of_one_machine(spark: Any, scratch: str | None) -> None:
    """Tests that cost and bound are those of the engine alone, and every row is there once."""
    table = people()
    here = ic.anonymize(table.select(pl.all().cast(pl.String)), 4, **ROLES)
    there = incrowd.spark.release(plain(spark, table), 4, scratch=scratch, **ROLES)
    assert (there.cost, there.lower_bound) == (here.cost, here.lower_bound)
    assert there.data.columns == [name for name in table.columns if name != "id"]
    assert min(sizes_of(there.data, QI).values()) == there.smallest_class >= 4
    assert len(sizes_of(there.data, QI)) == there.classes
    illness = Counter(row["illness"] for row in there.data.collect())
    assert illness == Counter(table["illness"].to_list())
    assert there.changed_cells == sum(there.changed.values()) > 0


def test_partitions_do_not_matter(spark: Any, scratch: str | None) -> None:
    """Tests that the same rows come out, sensitive values included, on 1, 3 and 5 partitions."""
    table = people(150, 1)
    results = []
    for partitions in (1, 3, 5):
        frame = plain(spark, table.sample(fraction=1, shuffle=True, seed=partitions), partitions)
        results.append(rows_of(incrowd.spark.anonymize(frame, 3, scratch=scratch, **ROLES)))
    assert results[0] == results[1] == results[2]


def test_typed_columns(spark: Any, scratch: str | None) -> None:
    """Tests numbers, dates, missing cells, intervals; an unchanged column keeps its type."""
    table = people(120, 2).select("age", "born", "a.b").drop_nulls()
    frame = spark.createDataFrame(
        [tuple(row) for row in table.rows()], "age bigint, born date, `a.b` string"
    )
    found = incrowd.spark.release(
        frame, 3, scratch=scratch, hierarchies={"age": "interval:5,10,20"}, weights={"born": 1000}
    )
    assert min(rows_of(found.data).values()) >= 3
    types = dict(found.data.dtypes)
    assert (types["age"] == "string") == (found.changed["age"] > 0)
    assert (types["born"] == "date") == (found.changed["born"] == 0)
    here = ic.anonymize(table, 3, hierarchies={"age": "interval:5,10,20"}, weights={"born": 1000})
    assert found.cost == here.cost


@pytest.mark.parametrize("rows", [1000, 25])
def test_ranges(spark: Any, scratch: str | None, rows: int) -> None:
    """Tests that each class shows its least and greatest value, at once and in blocks."""
    table = people(45, 5).with_columns(pl.col("age").fill_null(30))
    rules = {"age": "range", "born": "range:most=2"}
    asked: dict[str, Any] = ROLES | {"qi": ["age", "a.b", "born"], "keep": "*"}
    frame = plain(spark, table)
    found = incrowd.spark.release(
        frame, 3, block_rows=rows, scratch=scratch, hierarchies=rules, **asked
    )
    here = ic.anonymize(table.select(pl.all().cast(pl.String)), 3, hierarchies=rules, **asked)
    assert found.blocks == (rows == 25)
    if not found.blocks:
        assert (found.cost, found.lower_bound) == (here.cost, here.lower_bound)
    assert found.lower_bound <= here.cost
    counted = sizes_of(found.data, ["age", "a.b", "born"])
    assert min(counted.values()) >= 3 and len(counted) == found.classes
    days = pl.date(1970, 1, 1) + pl.duration(days=pl.Series([0, 1, 2, 3]))
    known = set(pl.select(days.cast(pl.String)).to_series())
    for row in found.data.collect():
        low, _, high = row["age"].partition("-")
        assert 20 <= int(low) <= int(high or low) <= 60
        low, _, high = row["born"].partition("..")
        assert row["born"] == "*" or {low, high or low} <= known
    assert any("-" in row["age"] for row in found.data.collect())


def test_a_width_that_tells_hidden_values_is_warned_of(spark: Any, scratch: str | None) -> None:
    """Tests the least and the greatest number, hidden and shown, alone and beside earlier rows."""
    frame = spark.createDataFrame([("20",), ("22",), ("500",), ("900",)], "pay string")
    asked: dict[str, Any] = {"scratch": scratch, "hierarchies": {"pay": "range:most=10"}}
    found = incrowd.spark.release(frame, 2, **asked)
    assert rows_of(found.data) == Counter({("20-22",): 2, ("*",): 2})
    (told,) = found.warnings
    assert "the least or the greatest value of 'pay' is hidden" in told
    added = incrowd.spark.release(frame, 2, existing=found.data, **asked)
    assert told in added.warnings
    same = incrowd.spark.release(frame.where("pay < 99"), 2, existing=found.data, **asked)
    assert told not in (*same.warnings, *incrowd.spark.release(frame, 4, **asked).warnings)


def test_equal_numbers_are_one_cell(spark: Any, scratch: str | None) -> None:
    """Tests that −0.0, which is equal to 0.0, does not tell a row of an unchanged column apart."""
    cells = [0.0, -0.0, 0.0, 1.5, 1.5, 1.5, None, None, None] + [float("nan")] * 3
    frame = spark.createDataFrame([(x, x) for x in cells], "a double, b float")
    found = incrowd.spark.release(frame, 3, scratch=scratch)
    assert found.cost == 0
    assert dict(found.data.dtypes) == {"a": "double", "b": "float"}
    shown = Counter((repr(row["a"]), repr(row["b"])) for row in found.data.collect())
    assert shown == dict.fromkeys([(x, x) for x in ("0.0", "1.5", "nan", "None")], 3)


def test_blocks_are_lawful_and_bounded(spark: Any, scratch: str | None) -> None:
    """Tests many small blocks: lawful, no row lost, the bound below the best release known."""
    table = people(400, 3)
    frame = plain(spark, table)
    found = incrowd.spark.release(frame, 3, block_rows=60, scratch=scratch, **ROLES)
    assert found.blocks
    assert min(sizes_of(found.data, QI).values()) >= 3
    assert found.rows == 400 == sum(rows_of(found.data).values())
    here = ic.anonymize(table.select(pl.all().cast(pl.String)), 3, **ROLES)
    assert 0 < found.lower_bound <= here.cost
    assert here.lower_bound <= found.cost <= 1.5 * here.cost


@pytest.mark.parametrize("rows", [1000, 60])
def test_a_time_limit_with_scratch(spark: Any, rows: int, tmp_path: Path) -> None:
    """Tests that blocks end in time, and that what they found is what is released."""
    frame = plain(spark, people(400, 3))
    found = incrowd.spark.release(
        frame, 3, block_rows=rows, scratch=str(tmp_path / "s"), time_limit=1, **ROLES
    )
    assert found.blocks == (rows == 60)
    counted = sizes_of(found.data, QI)
    assert min(counted.values()) == found.smallest_class >= 3
    assert len(counted) == found.classes
    assert found.rows == 400 == sum(counted.values())


def test_diversity(spark: Any, scratch: str | None) -> None:
    """Tests that a model of sensitive values holds, and that blocks refuse it."""
    table = people(150, 4)
    frame = plain(spark, table)
    found = incrowd.spark.release(frame, 3, l=2, scratch=scratch, **ROLES)
    held: dict[tuple[Any, ...], set[str]] = {}
    for row in found.data.collect():
        held.setdefault(tuple(row[:-1]), set()).add(row["illness"])
    assert min(map(len, held.values())) >= 2
    with pytest.raises(ic.OutOfScopeError, match=r"of 'illness' looks at the whole .* block_rows"):
        incrowd.spark.release(frame, 3, t=0.9, block_rows=20, scratch=scratch, **ROLES)


def test_refusals(spark: Any, scratch: str | None) -> None:
    """Tests what is said when nothing can be done, also when a worker says it."""
    frame = plain(spark, people(10))
    with pytest.raises(ic.NoLawfulReleaseError, match="larger than the table"):
        incrowd.spark.anonymize(frame, 11, **ROLES)
    with pytest.raises(ic.NoLawfulReleaseError, match=r"even the whole table .* for 'illness' the"):
        incrowd.spark.anonymize(frame, 2, l=4, scratch=scratch, **ROLES)
    with pytest.raises(ic.InputError, match="time limit needs a folder"):
        incrowd.spark.anonymize(frame, 2, time_limit=5, **ROLES)
    with pytest.raises(ic.InputError, match="suppress_rows is not served on Spark"):
        incrowd.spark.anonymize(frame, 2, suppress_rows=3, **ROLES)
    with pytest.raises(ic.InputError, match="expected a Spark frame, not DataFrame"):
        incrowd.spark.anonymize(people(10), 2, **ROLES)  # type: ignore[arg-type]
    with pytest.raises(ic.InputError, match="block_rows must be a whole number"):
        incrowd.spark.anonymize(frame, 2, block_rows=2.5, **ROLES)  # type: ignore[arg-type]
    with pytest.raises(ic.InputError, match="no role"):
        incrowd.spark.anonymize(frame, 2, qi="age")
    empty = incrowd.spark.release(frame.limit(0), 2, **ROLES)
    assert (empty.rows, empty.data.count()) == (0, 0)
    asked = {"l": 2, "t": 0.5, "method": "engine"}
    empty = incrowd.spark.release(frame.limit(0), 2, scratch=scratch, **asked, **ROLES)
    assert (empty.rows, empty.data.columns) == (0, [*QI, "illness"])
    assert (empty.method, len(empty.models)) == ("engine", 3)
    assert empty.models[-1] == "0.5-closeness (equal distance) of 'illness'"


def test_what_failed_leaves_nothing_in_scratch(spark: Any, tmp_path: Path) -> None:
    """Tests that distinct rows, which are private, do not stay when there is no release."""
    folder = tmp_path / "scratch"
    frame = plain(spark, people(40))
    failures: tuple[dict[str, Any], ...] = ({"l": 4}, {"k": 41}, {"star": "x"})
    for asked in failures:
        with pytest.raises(ic.IncrowdError):
            incrowd.spark.release(frame, scratch=str(folder), **{**ROLES, "k": 2, **asked})
        assert not list(folder.iterdir())
    _ = incrowd.spark.release(frame.limit(0), 2, scratch=str(folder), **ROLES)
    assert not list(folder.iterdir())


def test_scratch_that_cannot_be_written(spark: Any, tmp_path: Path) -> None:
    """Tests that the folder is named, and that a local one is left as it was."""
    (tmp_path / "file").write_text("here")
    with pytest.raises(
        ic.InputError, match=r"--scratch, scratch=\), .*/file/below, cannot be written"
    ):
        incrowd.spark.anonymize(
            plain(spark, people(30)), 2, scratch=f"{tmp_path}/file/below", **ROLES
        )
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_a_row_that_came_later_is_not_lost_silently(spark: Any, tmp_path: Path) -> None:
    """Tests that a table that grew after the release was made is an error, not a leak or a loss."""
    table = people(60, 5).select("a.b", "illness").rename({"a.b": "a"})
    path = str(tmp_path / "t")
    plain(spark, table, 1).write.parquet(path)
    made = incrowd.spark.anonymize(
        spark.read.parquet(path), 3, qi="a", sensitive="illness", scratch=str(tmp_path / "s")
    )
    more = pl.DataFrame({"a": ["new"], "illness": ["flu"]})
    plain(spark, more, 1).write.mode("append").parquet(path)
    rows = [row["a"] for row in safely(made)]
    assert "new" not in rows


def safely(frame: Any) -> list[Any]:
    """Collect, or nothing when Spark says that the table changed or lost its files."""
    try:
        return frame.collect()
    except Exception as error:
        assert "changed" in str(error) or "exist" in str(error)
        return []


def test_command_line(spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests --engine spark from CSV to a folder of CSV, which appears whole or not at all."""
    monkeypatch.setattr("incrowd.cli.spark.session", lambda: spark)
    source, target = tmp_path / "in.csv", tmp_path / "out"
    table = people(80, 6).select(["age", "a.b", "illness"])
    table.write_csv(source)
    roles = ["--sensitive", "illness", "-k", "3", "-q", "--engine", "spark"]
    scratch = ["--scratch", str(tmp_path / "scratch")]
    done = CliRunner().invoke(
        cli, ["anonymize", str(source), "-o", str(target), *roles, *scratch, "--json"]
    )
    assert done.exit_code == 0, done.output
    written = pl.concat([pl.read_csv(p, infer_schema=False) for p in target.glob("*.csv")])
    assert written.height == 80
    assert written.columns == table.columns
    assert written.group_by("age", "a.b").len()["len"].min() >= 3  # type: ignore[operator]
    assert sorted(written["illness"]) == sorted(table["illness"])
    assert not list(tmp_path.glob(".*"))
    assert not list((tmp_path / "scratch").iterdir())
    (target / "_SUCCESS").unlink(missing_ok=True)
    again = CliRunner().invoke(cli, ["anonymize", str(source), "-o", str(target), *roles])
    assert again.exit_code == 2
    assert "is there already" in again.output
    report = CliRunner().invoke(
        cli, ["anonymize", str(source), "-o", str(target), *roles, "--metadata", "m.json"]
    )
    assert report.exit_code == 2
    assert "--metadata" in report.output


def test_driver_needs_no_numba() -> None:
    """Tests that the driver's modules load where numba is not installed."""
    program = (
        "import sys; sys.modules['numba'] = None\n"
        "import incrowd.spark.front, incrowd.spark.columns, incrowd.spark.blocks\n"
        "import incrowd.spark.rows, incrowd.spark.check, incrowd.cli.spark, incrowd.cli.summary\n"
    )
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", program], capture_output=True)
    assert done.returncode == 0, done.stderr.decode()


def test_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests the exact line to install what is lacking."""
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(ic.MissingExtraError, match=r'pip install "incrowd\[spark\]"'):
        incrowd.spark.anonymize(object(), 2)  # type: ignore[arg-type]
