"""Odd tables under random options: a lawful release that verifies, or an error in plain words.

Seeds are fixed. Classes are counted by the standard library's reader, not by incrowd.
"""

import csv
import io
import json
import random
from collections import Counter
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from click.testing import CliRunner

import incrowd as ic
from dial import few
from incrowd.cli import cli
from incrowd.errors import InputError
from incrowd.tables.files import read

CELLS = [
    ["1", "2", "3", "4", "10", "-3", "007"],
    ["a", " a", "A", "é", "e\u0301", "😀"],
    ["x,y", 'q"q', "l\nm", "", "=1", "-x", "'z"],
    ["2020-01-01", "2020-02-29", "1999-12-31", ""],
    ["1.5", "1e3", "0", "-0", "+7", "1.50"],
    ["NA", "-99", "5", "6", ""],
    ["const"],
]
RULES = [
    ["interval:2,4", "range:most=3", "mean", "round:5", "range:show=[{low};{high}]", "codes:<3,5+"],
    ["none"],
    ["none"],
    ["date", "range"],
    ["interval:1", "range:cost=values", "median"],
    ["interval:5", "range"],
    ["none"],
]
NAMES = ["a", "b c", "x,y", 'q"', "n\nl", "é", "class", "row", "*", "", "len", "level_0"]
MORE = [["--na", "NA,-99"], ["--cost", "ncp"], ["--cost", "stars"], ["--spreadsheet-safe"]]
MORE += [["--delete-rows", "price=1,most=50%"], ["--suppress-rows", "1"], ["--veil", "0.3"]]
MORE += [["--order", "keep"], ["--star", "?"], []]
OF_SECRETS = [["--l", "2"], ["--t", "0.6"], ["--model", "alpha=0.6,k=2"]]


def table(draw: random.Random) -> tuple[list[str], list[int], str, str]:
    """Names, the kind of each column, a delimiter, and the text of a CSV file."""
    names = draw.sample(NAMES, draw.randrange(1, 6))
    kinds = [draw.randrange(len(CELLS)) for _ in names]
    rows = [[draw.choice(CELLS[kind]) for kind in kinds] for _ in range(draw.choice([1, 4, 9, 20]))]
    out, end, delimiter = io.StringIO(newline=""), draw.choice(["\n", "\r\n"]), draw.choice(",;")
    csv.writer(out, delimiter=delimiter, lineterminator=end).writerows([names, *rows])
    return names, kinds, delimiter, out.getvalue()


def quoted(name: str) -> str:
    """A column's name as a list of names has it."""
    return '"' + name.replace('"', '""') + '"'


def options(draw: random.Random, names: list[str], kinds: list[int]) -> tuple[list[str], list[str]]:
    """Return roles with hierarchies, and the quasi-identifiers."""
    words, qi = [], []
    for name, kind in zip(names, kinds, strict=True):
        role = draw.choice(["qi", "qi", "qi", "sensitive", "id", "keep"])
        plain = name and not {*name} & {*',"=\n'}
        if role != "qi":
            words += [f"--{role}", quoted(name)]
        elif plain and draw.random() < 0.6:
            words += ["--hierarchy", f"{name}={draw.choice(RULES[kind])}"]
        qi += [name] if role == "qi" else []
    secret = "--sensitive" in words
    return [*words, *draw.choice(MORE), *(draw.choice(OF_SECRETS) if secret else [])], qi


def invoked(words: list[Any]) -> Any:
    """Run incrowd, which ends as documented and prints JSON or nothing."""
    done = CliRunner().invoke(cli, list(map(str, words)))
    assert done.exit_code in (0, 1, 2, 3), (words, done.exception)
    assert "unexpected error" not in done.stderr, done.stderr
    return done, json.loads(done.stdout) if done.stdout else {}


@pytest.mark.parametrize("seed", range(few(24)))
def test_odd_tables(seed: int, tmp_path: Path) -> None:
    """Tests rows, classes and header of what is written, and that its proof says yes."""
    draw = random.Random(seed)
    names, kinds, delimiter, text = table(draw)
    k = draw.choice([1, 2, 2, 3])
    given, qi = options(draw, names, kinds)
    there = {name: tmp_path / name for name in ("in.csv", "out.csv", "proof", "statement")}
    there["in.csv"].write_text(text, encoding="utf-8", newline="")
    files = ["--proof", there["proof"], "--statement", there["statement"]]
    words = ["anonymize", there["in.csv"], "-o", there["out.csv"], "-k", k, *files, "--json"]
    done, record = invoked([*words, *given])
    if done.exit_code:
        assert done.stderr.startswith("incrowd: ") and not there["out.csv"].exists()
        return
    with there["out.csv"].open(encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file, delimiter=delimiter)
    place = [(header or [""]).index(name) for name in qi]
    sizes = Counter(tuple((row or [""])[j] for j in place) for row in rows)
    assert min(sizes.values(), default=k) >= k
    assert record["rows"] == len(rows)
    asked = ["verify", there["out.csv"], "--original", there["in.csv"], *files, "--json"]
    answer, told = invoked(asked)
    assert answer.exit_code == 0 and told["lawful"], (given, answer.output)


MARK = "\ufeff"


def made(tmp_path: Path, names: list[str], *words: str) -> tuple[Any, list[str]]:
    """Anonymize eight rows whose last columns have these names, the first one left out."""
    lines = [["id", *names], *([str(i), *("1",) * len(names)] for i in range(8))]
    text = "".join(",".join(line) + "\n" for line in lines)
    (tmp_path / "in.csv").write_text(text, encoding="utf-8", newline="")
    files = [str(tmp_path / name) for name in ("in.csv", "out.csv")]
    given = ["anonymize", files[0], "-o", files[1], "-k", "2", "--id", "id", "-q", *words]
    return CliRunner().invoke(cli, given), files


@pytest.mark.parametrize("name", [f"{MARK}age", f'"{MARK}age"', f"a{MARK}ge", f"{MARK}{MARK}age"])
def test_names_that_begin_like_a_byte_order_mark(name: str, tmp_path: Path) -> None:
    """Tests that the first name of a release is read again as it was, and proven."""
    proof = str(tmp_path / "proof")
    done, files = made(tmp_path, [name, "sex"], "--proof", proof)
    assert done.exit_code == 0, done.output
    assert read(files[1]).columns == (name.strip('"'), "sex")
    asked = ["verify", files[1], "--original", files[0], "--proof", proof]
    assert CliRunner().invoke(cli, asked).exit_code == 0


@pytest.mark.parametrize("names", [["PAR1", "sex"], ["<stata_dta>"], ["$FL2", "sex"], [""]])
def test_first_names_that_begin_another_format(names: list[str], tmp_path: Path) -> None:
    """Tests that a header which readers take for something else is refused before the search."""
    done, files = made(tmp_path, names)
    assert done.exit_code == 2 and "first column would be called" in done.stderr
    assert not Path(files[1]).exists()


@pytest.mark.parametrize("name", ["PAR1", "<stata_dta>"])
def test_python_tells_of_such_a_name(name: str, tmp_path: Path) -> None:
    """Tests that a release in Python is not written as text that begins another format."""
    release = ic.anonymize(pl.DataFrame({"id": list("abcd"), name: ["1"] * 4}), 2, id="id")
    with pytest.raises(InputError, match="first column would be called"):
        release.write(tmp_path / "out.csv")
    release.write(tmp_path / "out.parquet")
    assert [path.name for path in tmp_path.iterdir()] == ["out.parquet"]


@pytest.mark.parametrize("name", ["a\0ge", "age\x1b", '"a\x07ge"', "a\rge", MARK])
def test_names_that_the_checker_does_not_read(name: str, tmp_path: Path) -> None:
    """Tests control characters in a name: no proof, with the reason before the search."""
    done, files = made(tmp_path, ["sex", name], "--proof", str(tmp_path / "proof"))
    assert done.exit_code == 2 and "that of column 3 has one" in done.stderr, done.stderr
    assert not Path(files[1]).exists()
    assert made(tmp_path, ["sex", name])[0].exit_code == 0
    assert (
        made(tmp_path, ["sex", '"a\tg\r\ne"'], "--proof", str(tmp_path / "proof"))[0].exit_code == 0
    )
