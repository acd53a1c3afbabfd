"""Tests that proofs of averages say nothing that is false: forged facts, cells, classes, prices."""

import random
from collections.abc import Callable
from decimal import Decimal
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import polars as pl
import pytest
from click.testing import CliRunner

from averages.plain import optimum
from dial import few

pytest.importorskip("pyarrow")

from forging.bases import table_like
from forging.bundle import Bundle, Table, opened
from forging.trying import verdict_of

from incrowd.checker.verify import Verdict
from incrowd.cli import cli

ROWS, DIGITS = 7, 3
ARABIC = str.maketrans("0123456789", "\u0660\u0661\u0662\u0663\u0664\u0665\u0666\u0667\u0668\u0669")
RULES = {
    "mean": {"a": "mean"},
    "two": {"a": "mean", "b": "mean"},
    "mixed": {"a": "median", "b": "mean"},
    "centroid": {"a": "centroid", "b": "centroid"},
}


def drawn(seed: int) -> Table:
    """A small table of numbers, a kept column, and what is left out."""
    draw = random.Random(seed)
    columns: dict[str, list[Any]] = {
        name: [str(draw.randrange(9)) for _ in range(ROWS)] for name in "ab"
    }
    columns["note"] = [f"n{draw.randrange(3)}" for _ in range(ROWS)]
    columns["id"] = [f"i{row}" for row in range(ROWS)]
    return Table(columns)


@cache
def honest(name: str, seed: int = 0, k: int = 2) -> Bundle:
    """A proof that incrowd makes of a drawn table."""
    table = drawn(seed)
    with TemporaryDirectory() as folder:
        home = Path(folder)
        paths = home / "release.csv", home / "original.csv", home / "out.proof"
        paths[1].write_bytes(table.write())
        rules = [
            x for c, rule in RULES[name].items() for x in ("--hierarchy", f"{c}={rule}:digits=3")
        ]
        keep = ",".join(["note", *(c for c in "ab" if c not in RULES[name])])
        words = ["anonymize", paths[1], "-o", paths[0], "--proof", paths[2], "-k", k, "--seed", 1]
        words += [*rules, "--id", "id", "--keep", keep, "-q"]
        run = CliRunner().invoke(cli, list(map(str, words)))
        assert not run.exit_code, run.output
        return opened(name, paths, (table_like(paths[0].read_bytes(), table), table), {})


def base(name: str, seed: int = 0, k: int = 2) -> Bundle:
    """An honest proof, to be changed."""
    return honest(name, seed, k).copy()


def part(bundle: Bundle, **columns: list[int]) -> None:
    """Put other numbers into the table of rows."""
    rows = bundle.parts["rows.parquet"]
    new = [pl.Series(name, numbers, dtype=pl.Int64) for name, numbers in columns.items()]
    bundle.parts["rows.parquet"] = rows.with_columns(new)


def numbers(bundle: Bundle, column: str) -> list[int]:
    """Return a column of the table of rows."""
    return bundle.parts["rows.parquet"][column].to_list()


@pytest.mark.parametrize("name", RULES)
def test_honest_proofs(name: str, tmp_path: Path) -> None:
    """Tests that what incrowd writes is accepted."""
    assert verdict_of(base(name), tmp_path).accepted


def fact(**facts: Any) -> Callable[[Bundle], Any]:
    return lambda b: b.facts.update(facts)


def source(**known: Any) -> Callable[[Bundle], Any]:
    return lambda b: b.facts["hierarchies"]["a"].update(known)


def rule(**known: Any) -> Callable[[Bundle], Any]:
    return lambda b: b.facts["hierarchies"]["a"]["average"].update(known)


def cell(column: str, text: str | None) -> Callable[[Bundle], Any]:
    return lambda b: b.release.columns[column].__setitem__(0, text)


def all_cells(column: str, change: Callable[[str], str | None]) -> Callable[[Bundle], Any]:
    def edit(bundle: Bundle) -> None:
        cells = bundle.release.columns[column]
        bundle.release.columns[column] = [change(text) for text in cells]

    return edit


def first_of(column: str, change: Callable[[str], str]) -> Callable[[Bundle], Any]:
    def edit(bundle: Bundle) -> None:
        cells = bundle.release.columns[column]
        bundle.release.columns[column] = [change(x) if x == cells[0] else x for x in cells]

    return edit


def hidden(bundle: Bundle) -> None:
    """Call the kept column one of pseudonyms, and write into it what one likes."""
    bundle.facts["roles"]["keep"].remove("note")
    bundle.facts["roles"]["pseudonym"] = ["note"]
    bundle.release.columns["note"] = ["another text"] * ROWS


def row_twice(bundle: Bundle) -> None:
    """Use an original row twice."""
    origin = numbers(bundle, "original")
    part(bundle, original=[origin[1], *origin[1:]])


def alone(bundle: Bundle) -> None:
    """Part a class, its rows' cells as they are."""
    classes = numbers(bundle, "class")
    part(bundle, **{"class": [max(classes) + 1, *classes[1:]]})


def numbered(bundle: Bundle, number: int) -> None:
    """Give a class a number of its own."""
    classes = numbers(bundle, "class")
    part(bundle, **{"class": [number if one == classes[0] else one for one in classes]})


FORGERIES: dict[str, Callable[[Bundle], Any]] = {
    "an average changed": cell("a", "1.001"),
    "an average missing": cell("a", None),
    "an average starred": cell("a", "*"),
    "all starred": all_cells("a", lambda _: "*"),
    "averages of other decimals": all_cells("a", lambda text: text + "0001"),
    "averages with zeros behind": all_cells("a", lambda text: f"{Decimal(text):.4f}"),
    "an average with a zero behind": first_of("a", lambda text: f"{Decimal(text):.3f}0"),
    "averages with spaces": all_cells("a", lambda text: text + " \t"),
    "averages in digits of another script": all_cells("a", lambda text: text.translate(ARABIC)),
    "averages with powers of ten": all_cells("a", lambda text: f"{Decimal(text) * 1000}e-3"),
    "averages with a sign": all_cells("a", lambda text: f"+{text}"),
    "averages with zeros before": all_cells("a", lambda text: f"0{text}"),
    "a kept cell changed": cell("note", "n9"),
    "a kept column under pseudonyms that are none": hidden,
    "another kind of average": rule(kind="median"),
    "an average of another name": source(origin="median:digits=3"),
    "an average without its decimals in its name": source(origin="mean"),
    "an unknown kind": rule(kind="mode"),
    "other decimals": rule(digits=2),
    "decimals that are none": rule(digits=True),
    "more than a rule": rule(round=5),
    "a rule that is none": source(average=[]),
    "no rule": source(average=None),
    "other averaged columns": fact(averaged=["a", "b"]),
    "an averaged column twice": fact(averaged=["a", "a"]),
    "averaged columns as a text": fact(averaged="a"),
    "no averaged column": fact(averaged=[]),
    "averages of nothing": fact(averaged=None),
    "a larger k": fact(models=[{"model": "k-anonymity", "k": 9}]),
    "k as text": fact(models=[{"model": "k-anonymity", "k": "2"}]),
    "k as truth": fact(models=[{"model": "k-anonymity", "k": True}]),
    "another model": fact(models=[{"model": "distinct", "l": 1, "column": "note"}]),
    "rows left out": fact(suppressed_rows=1, suppress_rows=1),
    "deleted rows": fact(deleted_rows=1),
    "deleted rows at a price": fact(delete_rows={"price": 0, "most": 1}, deleted_rows=0),
    "a row used twice": row_twice,
    "a class of one row": alone,
    "a class of a huge number": lambda b: numbered(b, 2**40),
    "a class of a number beyond the rows": lambda b: numbered(b, ROWS),
    "a class below nothing": lambda b: numbered(b, -1),
    "a lower cost": lambda b: b.facts.update(cost=b.facts["cost"] - 1),
    "a higher cost": lambda b: b.facts.update(cost=b.facts["cost"] + 1),
    "a higher bound": lambda b: b.facts.update(bound=b.facts["bound"] + 1),
    "a row less": lambda b: b.release.take(list(range(1, ROWS))),
    "a row more": lambda b: b.release.take([*range(ROWS), 0]),
    "values missing that are not": source(missing=["0", "1", "2", "3", "4", "5", "6", "7", "8"]),
    "missing values of no kind": source(missing={"1": 2}),
}


@pytest.mark.parametrize("name", FORGERIES)
def test_forgeries_are_rejected(name: str, tmp_path: Path) -> None:
    """Tests each lie, all hashes made to fit."""
    bundle = base("mean")
    FORGERIES[name](bundle)
    verdict = verdict_of(bundle, tmp_path)
    assert not verdict.accepted
    assert verdict.reason


def sizes(*given: Any) -> Callable[[Bundle], Any]:
    """Say that there are prices for so many rows, 0 where there are none yet."""

    def edit(bundle: Bundle) -> None:
        bundle.facts["sizes"] = [*given]
        rows = bundle.parts["rows.parquet"].select("original", "class", "price", "price_of_2")
        for b in given:
            if f"price_of_{b}" not in rows.columns:
                rows = rows.with_columns(pl.lit(0).alias(f"price_of_{b}"))
        bundle.parts["rows.parquet"] = rows

    return edit


OF_FEWER: dict[str, Callable[[Bundle], Any]] = {
    "prices for one row": sizes(1, 2),
    "prices for as many rows as a class has": sizes(2, 3),
    "prices for more rows": sizes(2, 4),
    "prices for two rows twice": sizes(2, 2),
    "prices for a number that is none": sizes(2, True),
    "prices that are not named": lambda b: b.facts.pop("sizes"),
    "prices that are named in a text": fact(sizes="2"),
    "prices that are not there": fact(sizes=[2, 3]),
    "a price for two rows too high": lambda b: part(
        b, price_of_2=[4 * x + 10**9 for x in numbers(b, "price_of_2")]
    ),
}


@pytest.mark.parametrize("name", OF_FEWER)
def test_forged_prices_for_fewer_rows_are_rejected(name: str, tmp_path: Path) -> None:
    """Tests prices by which others are checked: lies about them, all hashes made to fit."""
    bundle = base("two", k=3)
    assert bundle.facts["sizes"] == [2] and verdict_of(bundle.copy(), tmp_path).accepted
    OF_FEWER[name](bundle)
    verdict = verdict_of(bundle, tmp_path)
    assert not verdict.accepted
    assert verdict.reason


def test_prices_for_fewer_rows_are_of_averages_alone(tmp_path: Path) -> None:
    """Tests a proof without averages that has such columns: nothing would look at them."""
    bundle = base("two", k=3)
    bundle.facts.pop("averaged")
    verdict = verdict_of(bundle, tmp_path)
    assert "sizes of sets" in str(verdict.reason)


@pytest.mark.parametrize("seed", range(few(2, 1)))
def test_prices_for_fewer_rows_as_high_as_believed(seed: int) -> None:
    """Tests prices for two rows and for three raised until rejected: no bound too high."""
    bundle, draw = base("two", seed, 3), random.Random(seed)
    table = {c: list(map(int, bundle.original.columns[c])) for c in "ab"}
    most = int(optimum(table, RULES["two"], {}, 3) * bundle.facts["scale"])
    whole = bundle.facts["scale"] * bundle.facts["quantum"]
    names = ["price_of_2", "price"]
    bundle.facts["bound"] = proven = 0
    part(bundle, **{name: [0] * ROWS for name in names})
    for step in (whole // 2, whole // 8, whole // 32):
        for row, name in draw.sample([(r, n) for r in range(ROWS) for n in names], 2 * ROWS):
            tried = bundle.copy()
            prices = numbers(tried, name)
            prices[row] += step
            part(tried, **{name: prices})
            verdict = believed(tried)
            if verdict is not None:
                bundle, proven = tried, verdict.facts["proven"]
                assert proven <= most
    assert proven > 0


def believed(bundle: Bundle) -> Verdict | None:
    """What the checker says of a bundle; None where it rejects it."""
    with TemporaryDirectory() as folder:
        verdict = verdict_of(bundle, Path(folder))
    return verdict if verdict.accepted else None


@pytest.mark.parametrize("name", [name for name in RULES if len(RULES[name]) > 1])
@pytest.mark.parametrize("seed", range(few(2, 1)))
def test_prices_as_high_as_believed(name: str, seed: int) -> None:
    """Tests prices raised until the checker rejects them: no bound above the optimum."""
    bundle, draw = base(name, seed), random.Random(seed)
    table = {c: list(map(int, bundle.original.columns[c])) for c in RULES[name]}
    best = optimum(table, RULES[name], {}, 2)
    most = int(best * bundle.facts["scale"])
    whole = bundle.facts["scale"] * bundle.facts["quantum"]  # the price of a star
    bundle.facts["bound"] = proven = 0
    part(bundle, price=[0] * ROWS)
    for step in (whole // 2, whole // 8, whole // 32):
        for row in draw.sample(range(ROWS), ROWS):
            tried = bundle.copy()
            prices = numbers(tried, "price")
            prices[row] += step
            part(tried, price=prices)
            verdict = believed(tried)
            if verdict is not None:
                bundle, proven = tried, verdict.facts["proven"]
                assert proven <= most
    assert proven > 0


def test_texts_that_count_as_missing_are_named(tmp_path: Path, monkeypatch: Any) -> None:
    """Tests that a verdict names what averages leave out, where the verifier does not say it."""
    monkeypatch.chdir(tmp_path)
    Path("t.csv").write_text("a\n1\n2\n3\n-9\n-9\n")
    words = "anonymize t.csv -o o.csv -k 2 --hierarchy a=mean --na=-9 --proof p.proof -q"
    assert CliRunner().invoke(cli, words.split()).exit_code == 0
    asked = "verify o.csv --original t.csv --proof p.proof"
    for more, told in (("", True), (" --na=-9", False)):
        done = CliRunner().invoke(cli, (asked + more).split())
        assert done.exit_code == 0, done.output
        assert ("count as missing" in done.output) == told
    assert CliRunner().invoke(cli, f"{asked} --na=-99".split()).exit_code == 1
