"""Tests of columns of a type of somebody's own: its parameters stay with the original."""

from pathlib import Path

import polars as pl
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as parquet
import pytest
from click.testing import CliRunner

import incrowd as ic
from incrowd.cli import cli

PRIVATE = b"made of the file of Ada"


def table(name: str) -> pa.Table:
    """A table whose first column says that it is of an extension type."""
    plain = pa.table({"a": ["1", "1", "2", "2", "3", "4"], "s": ["f", "g"] * 3})
    said = {"ARROW:extension:name": name, "ARROW:extension:metadata": PRIVATE, "note": PRIVATE}
    own = plain.schema[0].with_metadata(said)
    return plain.cast(pa.schema([own, plain.schema[1]], metadata={"note": PRIVATE}))


@pytest.mark.parametrize("form", ["parquet", "arrow"])
@pytest.mark.parametrize("name", ["some.own", "arrow.json", "arrow.bool8", ""])
def test_files(form: str, name: str, tmp_path: Path) -> None:
    """Tests that both ways to verify take the release, which says nothing of the type."""
    original, release, proof = (tmp_path / f"{n}.{form}" for n in ("in", "out", "proof"))
    if form == "parquet":
        parquet.write_table(table(name), original)
    else:
        feather.write_feather(table(name), str(original), compression="uncompressed")
    words = ["anonymize", str(original), "-o", str(release), "-k", "2", "--sensitive", "s"]
    done = CliRunner().invoke(cli, [*words, "--proof", str(proof), "-q"])
    assert done.exit_code == 0, done.output
    verify = ["verify", str(release), "--original", str(original)]
    for more in (["--proof", str(proof)], ["-k", "2", "--sensitive", "s"]):
        done = CliRunner().invoke(cli, [*verify, *more])
        assert done.exit_code == 0, done.output
    assert PRIVATE not in release.read_bytes()
    read = pl.read_parquet if form == "parquet" else pl.read_ipc
    assert read(release).schema == {"a": pl.String, "s": pl.String}


def test_frames() -> None:
    """Tests that a polars frame's released column is of the type that its cells are stored as."""
    frame = pl.DataFrame(pl.from_arrow(table("some.own")))
    for k in (1, 2):  # as it is, and with stars in it
        assert ic.anonymize(frame, k, sensitive="s").data.schema["a"] == pl.String
