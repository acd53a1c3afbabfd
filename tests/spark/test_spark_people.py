"""Tests that releases on Spark count people where a column names them."""

from typing import Any

import numpy as np
import polars as pl
import pytest

import incrowd as ic

pytest.importorskip("pyspark")
pytest.importorskip("pyarrow")

from click.testing import CliRunner
from tests.spark.test_spark import plain, rows_of

import incrowd.spark
from incrowd.bounds.lawful_price import first_prices, safe_prices
from incrowd.bounds.lawful_tree import LawfulTree
from incrowd.bounds.pricing import pricing_of
from incrowd.cli import cli
from incrowd.encoding.encoded import coded
from incrowd.policy import Policy
from incrowd.privacy.people import People
from incrowd.problem.instance import from_codes
from incrowd.problem.problem import Problem
from incrowd.tables.native import from_native


def visits(people: int = 60, seed: int = 0) -> pl.DataFrame:
    """One to four visits of each of some people: ward and year vary, sex and born do not."""
    rng = np.random.default_rng(seed)
    who = np.repeat(np.arange(people), rng.integers(1, 5, people))
    return pl.DataFrame(
        {
            "born": rng.integers(0, 6, people)[who] + 1950,
            "sex": rng.choice(["f", "m"], people)[who],
            "ward": rng.choice(list("ABC"), len(who)),
            "no": np.arange(len(who)),
            "patient": [f"P{i}" for i in who],
            "illness": rng.choice(["flu", "gout", "cold"], len(who)),
        }
    )


QI = ["born", "sex", "ward"]
ASKED: dict[str, Any] = {"qi": QI, "keep": "no", "sensitive": "illness", "person": "patient"}


def fewest_people(release: Any, table: pl.DataFrame) -> int:
    """People of the class with the fewest, by the number of each row, which is published."""
    whose = dict(zip(map(str, table["no"]), table["patient"], strict=True))
    held: dict[tuple[Any, ...], set[str]] = {}
    for row in release.data.collect():
        held.setdefault(tuple(row[name] for name in QI), set()).add(whose[row["no"]])
    return min(map(len, held.values()))


def test_people_are_counted_as_on_one_machine(spark: Any, scratch: str | None) -> None:
    """Tests cost, bound and people; rows alone would be lawful at a lower cost."""
    table = visits()
    here = ic.anonymize(table.select(pl.all().cast(pl.String)), 3, l=2, **ASKED)
    there = incrowd.spark.release(plain(spark, table), 3, l=2, scratch=scratch, **ASKED)
    assert (there.cost, there.lower_bound) == (here.cost, here.lower_bound)
    assert (there.people, there.fewest_people) == (here.people, here.fewest_people)
    assert fewest_people(there, table) == there.fewest_people
    assert fewest_people(there, table) >= 3
    assert there.data.columns == [name for name in table.columns if name != "patient"]
    assert sorted(row["no"] for row in there.data.collect()) == sorted(map(str, table["no"]))


def test_blocks_hold_people(spark: Any, scratch: str | None) -> None:
    """Tests that blocks give classes of k people, below a bound, the same on any partitions."""
    table, results = visits(60, 1), []
    for partitions in (1, 3):
        mixed = table.sample(fraction=1, shuffle=True, seed=partitions)
        frame = plain(spark, mixed, partitions)
        found = incrowd.spark.release(frame, 8, block_rows=45, scratch=scratch, **ASKED)
        assert found.blocks and found.rows == table.height
        assert fewest_people(found, table) == found.fewest_people
        assert fewest_people(found, table) >= 8
        results.append(rows_of(found.data))
    assert results[0] == results[1]
    here = ic.anonymize(table.select(pl.all().cast(pl.String)), 8, **ASKED)
    assert 0 < found.lower_bound <= here.cost and here.lower_bound <= found.cost


def test_the_bound_of_the_largest_tables(
    spark: Any, scratch: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tests the bound that no task sees whole: a row that fewer than k people have must change."""
    monkeypatch.setattr("incrowd.spark.blocks.BOUND_ROWS", 10)
    table = visits(100, 2)
    frame = plain(spark, table)
    found = incrowd.spark.release(frame, 9, block_rows=60, scratch=scratch, **ASKED)
    held = table.group_by(QI).agg(pl.col("patient").n_unique().alias("n"), pl.len().alias("rows"))
    assert found.lower_bound == held.filter(pl.col("n") < 9)["rows"].sum() > 0
    assert found.lower_bound <= found.cost


def test_several_columns_name_a_person(spark: Any, scratch: str | None) -> None:
    """Tests hospital and number together, and rows without either."""
    table = visits(40, 3).with_columns(
        pl.col("patient").str.slice(1, 1).alias("hospital"),
        pl.when(pl.col("no") % 9 == 0).then(None).otherwise(pl.col("patient")).alias("patient"),
    )
    frame = plain(spark, table)
    asked: dict[str, Any] = {**ASKED, "person": ["hospital", "patient"]}
    with pytest.raises(ic.InputError, match=rf"{(table['no'] % 9 == 0).sum()} rows have no value"):
        incrowd.spark.release(frame, 3, scratch=scratch, **asked)
    asked["missing_person"] = "drop"
    here = ic.anonymize(table.select(pl.all().cast(pl.String)), 3, **asked)
    there = incrowd.spark.release(frame, 3, scratch=scratch, **asked)
    assert (there.cost, there.people, there.rows) == (here.cost, here.people, here.rows)
    assert there.rows_without_person == here.rows_without_person > 0


def test_what_is_not_served_is_named(spark: Any, scratch: str | None) -> None:
    """Tests refusals: other models, rows that are people of their own, pseudonyms, strict."""
    table = visits(20)
    frame = plain(spark, table)
    refused: list[tuple[dict[str, Any], str]] = [
        ({"t": 0.5}, "with person only k"),
        ({"l": 2, "l_kind": "frequency"}, "with person only k"),
        ({"missing_person": "own"}, "coalesce"),
        ({"strict": True}, "strict is not served"),
    ]
    for more, words in refused:
        with pytest.raises(ic.OutOfScopeError, match=words):
            incrowd.spark.release(frame, 2, scratch=scratch, **{**ASKED, **more})
    with pytest.raises(ic.NoLawfulReleaseError, match=r"number of people in the table, 20"):
        incrowd.spark.release(frame, 21, scratch=scratch, **ASKED)
    named = frame.na.fill("x").replace("P3", "NA", "patient")
    with pytest.raises(ic.InputError, match=r"'patient' names people, but .* \(--na\)"):
        incrowd.spark.release(named, 2, scratch=scratch, na="NA", **ASKED)
    empty = incrowd.spark.release(frame.limit(0), 2, scratch=scratch, **ASKED)
    assert (empty.rows, empty.data.count()) == (0, 0)


def test_the_recheck_counts_the_columns(spark: Any, scratch: str | None) -> None:
    """Tests that a class with too few people is refused, whatever the search believed."""
    from incrowd.errors import VerificationError
    from incrowd.spark.check import Facts, people_hold

    frame = spark.createDataFrame(
        [("A", "*"), ("A", "*"), ("B", "*"), ("C", "x")], "p0 string, r0 string"
    )
    facts = Facts(4, 2, 1, 0, (0,), 0)
    with pytest.raises(VerificationError, match="a class holds 1 people"):
        people_hold(facts, frame, ["r0"], ["p0"], 2)
    held = people_hold(facts, frame.where("r0 = '*'"), ["r0"], ["p0"], 2)
    assert (held.people, held.fewest_people) == (2, 2)


def test_command_line(spark: Any, tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests --person with --engine spark: the summary and JSON count people."""
    import json

    monkeypatch.setattr("incrowd.cli.spark.session", lambda: spark)
    source = tmp_path / "visits.csv"
    visits(30).drop("no").write_csv(source)
    done = CliRunner().invoke(
        cli,
        ["anonymize", str(source), "-o", str(tmp_path / "out"), "--person", "patient", "-k", "3",
         "--sensitive", "illness", "--engine", "spark", "--scratch", str(tmp_path / "s"), "--json"],
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    assert "people   30, at least" in done.stderr
    record = json.loads(done.stdout)
    assert record["people"] == 30 and record["fewest_people"] >= 3


def test_blocks_of_people_prove_more_than_supports(spark: Any, scratch: str | None) -> None:
    """Tests prices of blocks, repaired in the whole, against supports alone and one machine."""
    table = visits(110, 4)
    frame = plain(spark, table)
    found = incrowd.spark.release(frame, 6, block_rows=75, scratch=scratch, **ASKED)
    here = ic.anonymize(table.select(pl.all().cast(pl.String)), 6, **ASKED)
    assert found.blocks
    coded_ = coded(from_native(table), Policy(k=6, **ASKED))
    tree = LawfulTree(coded_.instance, *pricing_of(coded_.problem))
    support = safe_prices(tree, first_prices(tree)[0]).bound(coded_.instance.counts)
    assert support < found.lower_bound <= here.cost


def test_prices_of_blocks_are_repaired() -> None:
    """Tests the theorem: prices of blocks of small tables, against every class of k people."""
    rng = np.random.default_rng(3)
    for _ in range(20):
        rows, k = int(rng.integers(4, 9)), int(rng.integers(2, 4))
        codes = rng.integers(0, 2, (rows, 2)).astype(np.int32)
        who = rng.integers(0, 4, rows)
        if len({*who}) < k:
            continue
        block = rng.integers(0, 2, rows)
        price = np.zeros(rows)
        for b in (0, 1):
            inside = np.flatnonzero(block == b)
            if len({*who[inside]}) < k:
                continue
            part, copy = from_codes(codes[inside], None, who[inside])
            tree = LawfulTree(part, *pricing_of(Problem(part, People(k, 0))))
            prices = safe_prices(tree, first_prices(tree)[0])
            price[inside] = (prices.price / prices.quantum)[part.copies[copy]]
        whole, copy = from_codes(codes, None, who)
        guess = np.zeros(whole.distinct)
        guess[whole.copies[copy]] = price
        tree = LawfulTree(whole, *pricing_of(Problem(whole, People(k, 0))))
        found = safe_prices(tree, guess)
        safe = (found.price / found.quantum)[whole.copies[copy]]
        for mask in range(1, 1 << rows):
            members = [i for i in range(rows) if mask >> i & 1]
            if len({*who[members]}) >= k:
                cost = sum(len({*codes[members, j]}) > 1 for j in range(2))
                assert safe[members].sum() <= len(members) * cost + 1e-9
