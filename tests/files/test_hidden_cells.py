"""Tests, byte by byte, that no form of file holds a cell that the release hides."""

import pickle
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from click.testing import CliRunner

import incrowd as ic
from hidden import found_in, marked
from incrowd.cli import cli
from incrowd.tables import texts

TABLE = marked(40, 4)
FORMS = ("csv", "tsv", "parquet", "arrow", "xlsx", "db", "duckdb")
NEEDS = {"xlsx": "openpyxl", "db": "adbc_driver_sqlite", "duckdb": "duckdb"}
ADDRESSES = {"db": "sqlite:///{}/release", "duckdb": "duckdb:///{}/release"}


@pytest.mark.parametrize("form", FORMS)
def test_a_marked_table(form: str, tmp_path: Path) -> None:
    """Tests the release and what is said; that shown cells are found says that hidden ones were."""
    if form in NEEDS:
        pytest.importorskip(NEEDS[form])
    pl.DataFrame(TABLE).write_csv(tmp_path / "in.csv")
    target = tmp_path / f"out.{form}"
    place = ADDRESSES.get(form, "{}").format(target)
    words = ["anonymize", str(tmp_path / "in.csv"), "-o", place, "-k", "4", "--id", "name"]
    done = CliRunner().invoke(cli, [*words, "--sensitive", "ill", "--json"])
    assert done.exit_code == 0, done.output
    hidden = {*TABLE["name"], *TABLE["town"], *TABLE["code"][20:]}
    data = target.read_bytes()
    assert found_in(data, TABLE["ill"]) == {*TABLE["ill"]}
    assert found_in(data + done.output.encode(), hidden) == set()


def test_what_a_release_says_of_itself() -> None:
    """Tests its text, its figures, what debuggers print of its parts, and pickles of its data."""
    release = ic.anonymize(pl.DataFrame(TABLE), 4, id="name", sensitive="ill")
    shown = {cell for column in texts(release.table).iter_columns() for cell in column}
    hidden = {cell for cells in TABLE.values() for cell in cells} - shown
    told: list[Any] = [repr(release), str(release), repr(release.table), release.warnings]
    told += [release.changed, release.claims, repr(release.coded), repr(release.edit)]
    for one in told:
        assert not found_in(str(one).encode(), hidden)
    for protocol in (2, 5):
        assert not found_in(pickle.dumps(release.data, protocol), hidden)
