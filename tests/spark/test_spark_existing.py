"""Tests that rows are added to an earlier release on Spark as on one machine."""

from collections import Counter
from functools import cache
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
from incrowd.existing.of_table import ExtendedRelease
from incrowd.spark.result import SparkExtendedRelease

QI = ["age", "a.b", "born"]
ROLES: dict[str, Any] = {"qi": QI, "sensitive": "illness", "id": "id"}
LEVELS = {"age": "interval:10,20"}


def people(rows: int, seed: int) -> pl.DataFrame:
    """A small table with missing cells, an awkward name, and duplicates, as text."""
    rng = np.random.default_rng(seed)
    ages = [None if age % 9 == 0 else str(age) for age in rng.integers(20, 50, rows).tolist()]
    return pl.DataFrame(
        {
            "id": [str(i) for i in range(rows)],
            "age": ages,
            "a.b": rng.choice(["x", "y", "z"], rows),
            "born": rng.choice(["1970", "1971"], rows),
            "illness": [
                *map({"flu": "flu", "cold": "cold"}.get, rng.choice(["flu", "cold", ""], rows))
            ],
        }
    )


def plain(spark: Any, frame: pl.DataFrame, partitions: int = 2) -> Any:
    """The same as a Spark frame of texts."""
    import pyarrow as pa

    schema = pa.schema([(name, pa.string()) for name in frame.columns])
    text = frame.select(pl.all().cast(pl.String)).to_arrow().cast(schema)
    return spark.createDataFrame(text).repartition(partitions)


def counted(frame: Any) -> Counter[tuple[Any, ...]]:
    """The rows of a frame of Spark or polars, counted."""
    rows = frame.rows() if isinstance(frame, pl.DataFrame) else frame.collect()
    return Counter(tuple(row) for row in rows)


def extend(frame: Any, k: int, **asked: Any) -> SparkExtendedRelease:
    """The release of new rows beside an earlier release, on Spark."""
    found = incrowd.spark.release(frame, k, **asked)
    assert isinstance(found, SparkExtendedRelease)
    return found


def extend_here(new: pl.DataFrame, k: int, **asked: Any) -> ExtendedRelease:
    """The same on one machine."""
    found = ic.anonymize(new, k, **asked)
    assert isinstance(found, ExtendedRelease)
    return found


@cache
def earlier(k: int = 3, rows: int = 150, **asked: Any) -> pl.DataFrame:
    """An earlier release, as text."""
    made = ic.anonymize(people(rows, 1), k, hierarchies=LEVELS, **ROLES, **asked)
    return made.data.select(pl.all().cast(pl.String))


@pytest.mark.parametrize("asked", [{}, {"l": 2}])
def test_result_is_that_of_one_machine(
    spark: Any, scratch: str | None, asked: dict[str, Any]
) -> None:
    """Tests cost, bound, rows of both, what is warned of, and that earlier rows stay."""
    before, new = earlier(**asked), people(40, 2)
    here = extend_here(new, 3, existing=before, hierarchies=LEVELS, **ROLES, **asked)
    there = extend(
        plain(spark, new), 3, existing=plain(spark, before), scratch=scratch,
        hierarchies=LEVELS, **ROLES, **asked,
    )  # fmt: skip
    assert (there.cost, there.lower_bound, there.joined) == (
        here.cost,
        here.lower_bound,
        here.joined,
    )
    assert (there.classes, there.smallest_class) == (here.classes, here.smallest_class)
    assert (there.rows, there.written_rows, there.existing.rows) == (40, 190, 150)
    assert there.changed == here.changed
    assert there.warnings == here.warnings
    assert "subtracts the earlier release" in " ".join(there.warnings)
    rows = counted(there.data.select("age", "`a.b`", "born", "illness"))
    texts = here.data.select(pl.col(*QI, "illness").cast(pl.String))
    without = [tuple(row[:-1]) for row in rows.elements()]
    assert Counter(without) == Counter(tuple(row[:-1]) for row in texts.rows())
    assert not counted(before.select(*QI, "illness")) - rows
    assert Counter(row[-1] for row in rows.elements()) == Counter(texts["illness"])


def test_blocks(spark: Any, scratch: str | None) -> None:
    """Tests many blocks: lawful, bounded by what one machine finds, the same on any partitions."""
    before, new = earlier(), people(90, 4)
    here = extend_here(new, 3, existing=before, hierarchies=LEVELS, **ROLES)
    found = [
        incrowd.spark.release(
            plain(spark, new, partitions), 3, existing=plain(spark, before), block_rows=30,
            scratch=scratch, hierarchies=LEVELS, **ROLES,
        )
        for partitions in (1, 3)
    ]  # fmt: skip
    first, second = found
    assert first.blocks and first.smallest_class >= 3
    assert 0 < first.lower_bound <= here.cost
    assert here.lower_bound <= first.cost <= 1.5 * here.cost
    rows = counted(first.data)
    assert rows == counted(second.data) and sum(rows.values()) == 240
    assert min(Counter(row[:-1] for row in rows.elements()).values()) == first.smallest_class


def test_ranges(spark: Any, scratch: str | None) -> None:
    """Tests that rows join published ranges whose ends are no values of theirs."""
    rule: dict[str, Any] = {"age": "range"}
    old = pl.DataFrame({"age": ["20", "29"] * 3 + ["40", "41", "47"], "c": ["x"] * 9})
    before = ic.anonymize(old, 3, hierarchies=rule).data
    new = pl.DataFrame({"age": ["21", "22", "27", "45", "50", "51", "52"], "c": ["x"] * 7})
    here = extend_here(new, 3, existing=before, hierarchies=rule)
    there = extend(
        plain(spark, new), 3, existing=plain(spark, before), scratch=scratch, hierarchies=rule
    )
    assert (there.cost, there.lower_bound, there.joined) == (
        here.cost,
        here.lower_bound,
        here.joined,
    )
    assert there.joined > 0 and there.warnings == here.warnings
    assert counted(there.data) == counted(here.data)


def test_types(spark: Any, scratch: str | None) -> None:
    """Tests that a column of numbers stays one where nothing changed, and is text elsewhere."""
    old = [(20, 1), (20, 1), (30, 2), (30, 2)]
    before = spark.createDataFrame(old, "age bigint, n bigint")
    same = spark.createDataFrame([(20, 1), (30, 2)], "age bigint, n bigint")
    asked: dict[str, Any] = {"existing": before, "scratch": scratch}
    found = incrowd.spark.release(same, 2, **asked)
    assert found.cost == 0 and dict(found.data.dtypes) == {"age": "bigint", "n": "bigint"}
    assert counted(found.data) == Counter({(20, 1): 3, (30, 2): 3})
    other = spark.createDataFrame([(20, 1), (50, 2), (51, 2)], "age bigint, n bigint")
    found = incrowd.spark.release(other, 2, **asked)
    assert dict(found.data.dtypes) == {"age": "string", "n": "bigint"}
    assert counted(found.data) == Counter({("20", 1): 3, ("30", 2): 2, ("*", 2): 2})


def test_refusals(spark: Any, scratch: str | None) -> None:
    """Tests what is said where rows cannot be added."""
    before, new = earlier(), people(20, 3)
    old, frame = plain(spark, before), plain(spark, new)
    asked: dict[str, Any] = ROLES | {"hierarchies": LEVELS, "scratch": scratch, "existing": old}

    def refused(kind: type[Exception], says: str, df: Any = frame, k: int = 3, **more: Any) -> None:
        with pytest.raises(kind, match=says):
            incrowd.spark.release(df, k, **asked | more)

    refused(ic.InputError, "not lawful itself", k=60)
    refused(ic.InputError, "not lawful itself.* distinct 3-diversity", l=3, k=2)
    refused(ic.InputError, "there are no new rows", frame.limit(0))
    refused(ic.InputError, "with 'born', which the earlier", existing=old.drop("born"))
    refused(ic.InputError, "expected a Spark frame", existing=before)
    refused(ic.InputError, "method is not served with existing", method="engine")
    refused(
        ic.InputError,
        "'illness' is of type",
        existing=old.withColumn("illness", old.age.cast("int")),
    )
    refused(ic.OutOfScopeError, "compares every class with the whole table", t=0.9)
    refused(ic.OutOfScopeError, "person is not served with existing on Spark", person="id", id=None)
    refused(ic.OutOfScopeError, "hold_back is not served", hold_back=True)
    refused(ic.OutOfScopeError, "proofs and reports", whole=True)
    refused(ic.OutOfScopeError, "blocks do not see it", l=2, block_rows=2)
    lone = plain(spark, new.head(1).with_columns(age=pl.lit("99"), born=pl.lit("1800")))
    refused(ic.NoLawfulReleaseError, "fit no published class", lone, existing=only(old))


def only(old: Any) -> Any:
    """An earlier release of one class that few rows can join."""
    from pyspark.sql import functions as sf

    return old.withColumn("age", sf.lit("20")).withColumn("born", sf.lit("1970"))


def test_command_line(spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests --existing with --engine spark, from files to a folder that holds both."""
    monkeypatch.setattr("incrowd.cli.spark.session", lambda: spark)
    before, new = earlier().select(*QI, "illness"), people(60, 2)
    new, names = new.drop("id"), [tmp_path / "before.csv", tmp_path / "new.csv"]
    before.write_csv(names[0])
    new.write_csv(names[1])
    roles = ["--sensitive", "illness", "-k", "3", "--hierarchy", "age=interval:10,20"]
    more = ["--existing", str(names[0]), "--engine", "spark"]
    out = ["anonymize", str(names[1]), "-o", str(tmp_path / "out"), *roles, *more]
    done = CliRunner().invoke(cli, [*out, "--scratch", str(tmp_path / "scratch")])
    assert done.exit_code == 0, done.output
    assert "beside 150 published" in done.output
    assert "subtracts the earlier release" in done.output
    parts = [pl.read_csv(p, infer_schema=False) for p in (tmp_path / "out").glob("*.csv")]
    written = pl.concat(parts)
    assert written.height == 210
    assert not counted(before) - counted(written.select(before.columns))
    assert min(Counter(written.select(QI).rows()).values()) >= 3
    refused = CliRunner().invoke(cli, [*out, "--report", "r.html"])
    assert refused.exit_code == 2 and "--report: not served with --existing" in refused.output
