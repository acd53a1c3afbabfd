"""Tests that what Spark releases can be proved, and that nothing false is."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from dial import crossed, few

pytest.importorskip("pyspark")
pytest.importorskip("pyarrow")

from click.testing import CliRunner
from tests.spark.test_spark import people
from tests.spark.test_spark_people import visits

import incrowd as ic
from incrowd.bounds.prices import ColumnGroup, Prices, WeightedSet
from incrowd.checker.verify import check
from incrowd.cli import cli
from incrowd.encoding.encoded import coded
from incrowd.policy import Policy
from incrowd.proof.certificate import Certificate
from incrowd.spark.assignment import Dealt, Shown, dealt
from incrowd.spark.certificates import packed, unpacked
from incrowd.tables import from_native, read


@pytest.fixture
def place(spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder, where the command line finds the tests' Spark."""
    monkeypatch.setattr("incrowd.cli.spark.session", lambda: spark)
    return tmp_path


def table(seed: int = 0, rows: int = 160) -> pl.DataFrame:
    """People as text; many rows are alike but for what is kept, so copies go several ways."""
    frame = people(rows, seed).select("id", pl.col("age") // 10 * 10, "a.b", "born", "illness")
    return frame.cast(pl.String)


def anonymized(source: Path, target: Path, *more: str) -> Any:
    """Run the command line on Spark with a proof beside the target."""
    words = ["anonymize", str(source), "-o", str(target), "-k", "4", "-q", "--engine", "spark"]
    words += ["--id", "id", "--sensitive", "illness", "--scratch", str(target.parent / "scratch")]
    words += ["--proof", str(target.parent / "proof"), "--json"]
    return CliRunner().invoke(cli, [*words, *more])


def verified(source: Path, target: Path, *more: str) -> Any:
    """Ask the command line whether the proof holds."""
    words = ["verify", str(target), "--original", str(source), "--json"]
    return CliRunner().invoke(cli, [*words, "--proof", str(target.parent / "proof"), *more])


@pytest.mark.parametrize(("form", "rows"), crossed(["csv", "parquet"], [10_000, 40]))
def test_a_proof_that_the_checker_accepts(place: Path, form: str, rows: int) -> None:
    """Tests cost and bound at once and in blocks, against the same made on one machine."""
    source, target, frame = place / f"in.{form}", place / "out", table()
    write(frame, source)
    statement = place / "statement"
    done = anonymized(source, target, "--block-rows", str(rows), "--statement", str(statement))
    assert done.exit_code == 0, done.output
    told = json.loads(done.stdout)
    found = check(target, source, place / "proof", statement=statement)
    assert found.accepted, found.reason
    scale = found.facts["scale"]
    assert found.facts["cost"] == told["cost"] * scale
    here = ic.anonymize(source, 4, id="id", sensitive="illness")
    assert 0 < found.facts["bound"] <= here.cost * scale
    assert found.facts["bound"] <= found.facts["proven"]
    if rows > 160:
        assert found.facts["bound"] >= here.lower_bound * scale == told["lower_bound"] * scale
    else:
        assert found.facts["bound"] == told["lower_bound"] * scale
    answer = verified(source, target, "-k", "4", "--sensitive", "illness", "--id", "id")
    assert answer.exit_code == 0, answer.output


def write(frame: pl.DataFrame, path: Path) -> None:
    """Write a table in the form of its name."""
    (frame.write_csv if path.suffix == ".csv" else frame.write_parquet)(path)


@pytest.mark.parametrize("model", [["--l", "2"], ["--t", "0.4"]])
def test_models(place: Path, model: Sequence[str]) -> None:
    """Tests that prices for lawful classes reach the proof, with their rules."""
    source, target = place / "in.csv", place / "out"
    write(table(1), source)
    done = anonymized(source, target, *model)
    assert done.exit_code == 0, done.output
    found = check(target, source, place / "proof")
    assert found.accepted, found.reason
    assert len(found.facts["models"]) == 2
    bound = found.facts["bound"] / found.facts["scale"]
    told = json.loads(done.stdout)
    assert bound == pytest.approx(told.get("proof_bound", told["lower_bound"]))


def test_hierarchies_and_ranges(place: Path) -> None:
    """Tests a rule and intervals; and rows that none but themselves price."""
    source, target = place / "in.csv", place / "out"
    write(table(2, 80), source)
    rules = ["--hierarchy", "age=range", "--hierarchy", "born=prefix:2,5", "--block-rows", "30"]
    done = anonymized(source, target, *rules)
    assert done.exit_code == 0, done.output
    found = check(target, source, place / "proof")
    assert found.accepted, found.reason
    assert 0 < found.facts["bound"] <= found.facts["cost"]


def test_rows_priced_alone(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests the proof of a table too large for one task to bound: of unique rows alone."""
    monkeypatch.setattr("incrowd.spark.blocks.BOUND_ROWS", 10)
    source, target = place / "in.csv", place / "out"
    write(table(3), source)
    done = anonymized(source, target, "--block-rows", "40")
    assert done.exit_code == 0, done.output
    found = check(target, source, place / "proof")
    assert found.accepted, found.reason
    assert 0 < found.facts["bound"] == json.loads(done.stdout)["lower_bound"] * found.facts["scale"]


def test_a_folder_in(place: Path) -> None:
    """Tests an original in several files, of which one is hidden; each part counts, as does order.

    The answer is no where a file is gone, changed, or stands elsewhere.
    """
    source, target, frame = place / "in", place / "out", table(4)
    source.mkdir()
    write(frame[:100], source / "a.csv")
    write(frame[100:], source / "b.csv")
    (source / "_SUCCESS").touch()
    done = anonymized(source, target)
    assert done.exit_code == 0, done.output
    assert check(target, source, place / "proof").accepted
    (source / "a.csv").rename(source / "c.csv")
    assert not check(target, source, place / "proof").accepted
    (source / "c.csv").rename(source / "a.csv")
    part = next(target.glob("*.csv"))
    part.write_bytes(part.read_bytes().replace(b"flu", b"fly", 1))
    told = check(target, source, place / "proof")
    assert not told.accepted and "hash" in str(told.reason)
    (target / "more").mkdir()
    told = check(target, source, place / "proof")
    assert "folder of something else" in str(told.reason)


def test_refusals(place: Path) -> None:
    """Tests what is refused before anything is made, by name."""
    source, target = place / "in.csv", place / "out"
    write(table(5), source)
    done = anonymized(source, target, "--metadata", "m.json")
    assert done.exit_code == 2 and "--metadata" in done.output
    deep = place / "deep"
    (deep / "year=1").mkdir(parents=True)
    done = anonymized(deep, target)
    assert done.exit_code == 2 and "folders in it" in done.output
    done = anonymized(source, place / "no" / "out")
    assert done.exit_code == 2
    assert not target.exists() and not (place / "proof").exists()


def test_nothing_appears_without_its_proof(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that prices which prove too much are refused, and then nothing is published."""

    def dearer(text: str) -> Certificate:
        known = unpacked(text)
        price = known.prices.price + known.prices.quantum
        return Certificate(Prices(price, known.prices.quantum), known.rules)

    monkeypatch.setattr("incrowd.spark.readback.unpacked", dearer)
    source, target = place / "in.csv", place / "out"
    write(table(6), source)
    done = anonymized(source, target)
    assert done.exit_code != 0 and "the independent checker refuses" in done.output
    assert not target.exists() and not (place / "proof").exists()


def test_certificates_travel_whole() -> None:
    """Tests that nothing of a certificate is lost on its way."""
    rng = np.random.default_rng(0)
    price = rng.integers(-(2**60), 2**60, 50)
    sets = (WeightedSet(np.arange(5), 7), WeightedSet(np.array([1, 4]), 2**49, 3))
    groups = (ColumnGroup((0, 2), price - 1), ColumnGroup((1,), np.ones(50, np.int64), 4))
    for known in (
        Certificate(Prices(price, 10**6, odd_sets=sets)),
        Certificate(Prices(price, 3, groups=groups, by_rows=True), [{"rule": "distinct", "l": 2}]),
    ):
        found = unpacked(packed(known))
        for name in ("quantum", "charge", "by_rows"):
            assert getattr(found.prices, name) == getattr(known.prices, name)
        assert (found.prices.price == price).all() and [*found.rules] == [*known.rules]
        for a, b in zip(found.prices.odd_sets, known.prices.odd_sets, strict=True):
            assert (a.copies == b.copies).all() and a[1:] == b[1:]
        for a, b in zip(found.prices.groups, known.prices.groups, strict=True):
            assert a.columns == b.columns and a.k == b.k and (a.price == b.price).all()


def test_rows_are_dealt_in_the_ways_there_are() -> None:
    """Tests 200 tables: each original row once, in a way that there is, other columns alike."""
    for seed in range(few(200)):
        rng = np.random.default_rng(seed)
        ways = np.unique(rng.integers(0, 5, (9, 2)), axis=0)
        count = int(rng.integers(1, 30))
        row, label = ways[rng.integers(0, len(ways), count)].T
        key, order = rng.integers(0, 3, count), rng.permutation(count)
        args = key, row, key[order], label[order]
        origin = dealt(*args, (ways[:, 0], ways[:, 1]))
        assert sorted(origin.tolist()) == [*range(count)]
        assert (key[origin] == key[order]).all()
        allowed = {*map(tuple, ways.tolist())}
        assert {*zip(row[origin].tolist(), label[order].tolist(), strict=True)} <= allowed
        with pytest.raises(ic.VerificationError, match="no released row of their own"):
            dealt(key, row, key[order] + 3, label[order], (ways[:, 0], ways[:, 1]))


@pytest.mark.usefixtures("undrawn")
@pytest.mark.parametrize(
    ("rows", "names"), crossed([10_000, 60], [["patient"], ["hospital", "patient"]])
)
def test_people(place: Path, rows: int, names: list[str]) -> None:
    """Tests proofs of releases that count people, at once and in blocks.

    Many rows of different people look alike, so rows are dealt out as Spark did it; some rows say
    of nobody whose they are, and some cells are empty.
    """
    frame = visits(75, 4).with_columns(
        pl.col("patient").str.slice(1, 1).alias("hospital"),
        pl.when(pl.col("no") % 17 == 0).then(None).otherwise(pl.col("patient")).alias("patient"),
        pl.when(pl.col("no") % 5 == 0).then(None).otherwise(pl.col("ward")).alias("ward"),
    )
    frame = frame.select("born", "sex", "ward", "illness", "hospital", "patient").cast(pl.String)
    source, target, proof = place / "in.csv", place / "out", place / "proof"
    frame.write_csv(source)
    words = ["anonymize", str(source), "-o", str(target), "-k", "4", "-q", "--engine", "spark"]
    words += ["--sensitive", "illness", "--scratch", str(place / "scratch"), "--json"]
    words += ["--proof", str(proof), "--missing-person", "drop", "--block-rows", str(rows)]
    words += ["--report-internal", str(place / "report.html"), "--person", ",".join(names)]
    words += [] if "hospital" in names else ["--id", "hospital"]
    done = CliRunner().invoke(cli, words)
    assert done.exit_code == 0, done.output
    told = json.loads(done.stdout)
    found = check(target, source, proof)
    assert found.accepted, found.reason
    assert found.facts["cost"] == told["cost"] * found.facts["scale"]
    assert 0 < found.facts["bound"] <= told["lower_bound"] * found.facts["scale"] + 1e-6
    assert found.facts["bound"] >= 0.9 * told["lower_bound"] * found.facts["scale"]
    assert "people" in (place / "report.html").read_text("utf-8")


def test_other_rows_are_told(place: Path) -> None:
    """Tests an original that is another than the one that Spark read, where people are counted."""
    frame = visits(40, 5).drop("no").cast(pl.String)
    source = place / "in.parquet"
    frame.write_parquet(source)
    table = coded(read(source), Policy(k=3, person="patient", sensitive="illness"))
    rows = frame.select("born", "sex", "ward", "illness", "patient", *(
        pl.lit("*").alias(name) for name in ("x", "y", "z")
    )).to_arrow()  # fmt: skip
    released = frame.select(pl.lit("*").alias("born"), pl.lit("*").alias("sex"),
                            pl.lit("*").alias("ward"), "illness").reverse()  # fmt: skip
    shown = Shown.of(from_native(released), table.roles.qi)
    origin = Dealt(rows).origin(table, from_native(released), shown)
    assert (frame["illness"].gather(origin) == released["illness"]).all()
    other = frame.with_columns(patient=pl.lit("P0"))
    other.write_parquet(source)
    wrong = coded(read(source), Policy(k=1, person="patient", sensitive="illness"))
    with pytest.raises(ic.VerificationError, match="other rows"):
        Dealt(rows).origin(wrong, from_native(released), shown)
