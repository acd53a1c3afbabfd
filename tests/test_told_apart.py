"""Tests that ``verify`` without a proof says no where equal cells of a release look different."""

from pathlib import Path

import polars as pl
import pytest

import incrowd as ic

ORIGINAL = "name,age,ill\nAda,34,flu\nBen,35,flu\nCy,36,cold\nDi,37,cold\n"
HEAD = "age,ill\n"
ASKED = {"k": 2, "id": "name", "sensitive": "ill"}
FINE = {
    "as it is": HEAD + "*,flu\n*,flu\n*,cold\n*,cold\n",
    "all in quotes": '"age","ill"\n"*","flu"\n"*","flu"\n"*","cold"\n"*","cold"\n',
    "a column in quotes": HEAD + '"*",flu\n"*",flu\n"*",cold\n"*",cold\n',
    "no end of the last line": HEAD + "*,flu\n*,flu\n*,cold\n*,cold",
    "ends of two bytes": (HEAD + "*,flu\n*,flu\n*,cold\n*,cold\n").replace("\n", "\r\n"),
}
APART = {
    "a quasi-identifier in quotes": HEAD + '"*",flu\n*,flu\n"*",cold\n*,cold\n',
    "a sensitive cell in quotes": HEAD + '*,flu\n*,"flu"\n*,cold\n*,cold\n',
    "blank lines at the end": HEAD + "*,flu\n*,flu\n*,cold\n*,cold\n\n\n",
    "two ends of lines": HEAD + "*,flu\r\n*,flu\n*,cold\r\n*,cold\n",
}


@pytest.mark.parametrize("name", [*FINE, *APART])
def test_text(name: str, tmp_path: Path) -> None:
    """Tests text that reads the same, and is written in two ways or one."""
    paths = tmp_path / "release.csv", tmp_path / "original.csv"
    paths[0].write_bytes((FINE | APART)[name].encode())
    paths[1].write_bytes(ORIGINAL.encode())
    answer = ic.verify(*paths, **ASKED)
    assert answer.lawful == (name in FINE), answer.reasons
    assert name in FINE or len(answer.reasons) == 1


@pytest.mark.parametrize("form", ["parquet", "frame"])
@pytest.mark.parametrize("kept", [False, True])
def test_zeros(form: str, kept: bool, tmp_path: Path) -> None:
    """Tests −0.0 and 0.0: two rows of a class, unless they are the original's own and kept."""
    whole = pl.DataFrame({"name": list("abcd"), "age": [1] * 4, "size": [0.0, 0.0, 1.5, 1.5]})
    own = whole.with_columns(size=pl.Series([0.0, -0.0, 1.5, 1.5]))
    asked = {"k": 2, "id": "name", **({"keep": "size"} if kept else {})}
    told = {}
    for name, original in (("other", whole), ("own", own)):
        tables = own.drop("name"), original
        if form == "parquet":
            paths = tmp_path / f"{name}.parquet", tmp_path / f"{name} of.parquet"
            for table, path in zip(tables, paths, strict=True):
                table.write_parquet(path)
            tables = paths
        told[name] = ic.verify(*tables, **asked).lawful
    assert told == {"other": False, "own": kept}
