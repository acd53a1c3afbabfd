"""Tests that what Spark writes holds no hidden cell, and tells no order of the table's rows."""

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import polars as pl
import pytest

pytest.importorskip("pyspark")
pytest.importorskip("pyarrow")

from click.testing import CliRunner
from tests.hidden import files_of, found_in, marked
from tests.spark.test_spark_proof import place as place

from incrowd.cli import cli
from incrowd.tables import read, texts

TABLE = marked(60, 60)


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_a_marked_table(place: Path, form: str) -> None:
    """Tests every byte of the folder, the reports, the statement, and what is said."""
    source, target = place / f"in.{form}", place / f"out.{form}"
    frame = pl.DataFrame(TABLE)
    frame.write_csv(source) if form == "csv" else frame.write_parquet(source)
    beside = {option: place / option for option in ("report", "statement", "proof")}
    words = ["anonymize", source, "-o", target, "-k", "4", "--id", "name", "--sensitive", "ill"]
    words += ["--engine", "spark", "--scratch", place / "scratch", "--json"]
    words += [word for option, path in beside.items() for word in (f"--{option}", path)]
    done = CliRunner().invoke(cli, [*map(str, words)])
    assert done.exit_code == 0, done.output
    released = texts(read(str(target)))
    shown = {cell for column in released.iter_columns() for cell in column}
    hidden = {cell for cells in TABLE.values() for cell in cells} - shown
    assert {*TABLE["name"], *TABLE["town"]} <= hidden and json.loads(done.stdout)["cost"]
    told = files_of(target) | {"said": done.output.encode()}
    told |= {name: beside[name].read_bytes() for name in ("report", "statement")}
    assert not any(found_in(data, hidden) for data in told.values())
    assert not files_of(place / "scratch")
    order = [TABLE["ill"].index(cell) for cell in released["ill"]]
    forward = sum(one < other for one, other in pairwise(order))
    assert 10 < forward < 50  # of 59 neighbours; by chance half of them, give or take 2.3


def test_an_order_by_lot(spark: Any) -> None:
    """Tests that two shuffles of the same rows differ, maps among their cells as well."""
    from incrowd.policy import Policy
    from incrowd.spark.making import in_order

    rows = spark.createDataFrame([(i, {"a": i}) for i in range(40)], "n int, m map<string, int>")
    found = [in_order(rows, Policy(order="shuffle")) for _ in range(2)]
    one, other = ([row.n for row in each.collect()] for each in found)
    assert one != other and sorted(one) == sorted(other) == list(range(40))
    assert found[0].columns == ["n", "m"]
    assert [row.n for row in in_order(rows, Policy()).collect()] == list(range(40))


def test_notes_of_columns(spark: Any, tmp_path: Path) -> None:
    """Tests metadata of columns, such as the values that an indexer lists, also of no row."""
    from incrowd.checker.beside import notes_of
    from incrowd.spark import anonymize

    rows = [(f"n{i}", "A" if i < 6 else f"B{i}", "uv"[i % 2], "k") for i in range(12)]
    frame = spark.createDataFrame(rows, "name string, zip string, ill string, job string")
    for column in ("zip", "ill", "job"):
        frame = frame.withMetadata(column, {"ml_attr": {"vals": ["zqsecret"]}})
    for number, some in enumerate((frame, frame.where("zip = 'C'"))):
        data = anonymize(some, 2, id="name", sensitive="ill", keep="job")
        assert not any(field.metadata for field in data.schema.fields)
        data.write.parquet(str(tmp_path / str(number)))
        for name, held in files_of(tmp_path / str(number)).items():
            assert not name.endswith(".parquet") or notes_of(held) is None
            assert not found_in(held, ["zqsecret"])
