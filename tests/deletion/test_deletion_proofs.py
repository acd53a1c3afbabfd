"""Tests of releases that lack rows, end to end: command, proof, checker, and what is refused."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner

import incrowd as ic
from forged import forged
from incrowd.checker.verify import check
from incrowd.cli import cli
from incrowd.errors import InputError, OutOfScopeError

RNG = np.random.default_rng(7)
FRAME = pl.DataFrame(
    {name: [f"{name}{v}" for v in RNG.integers(0, 4, 40)] for name in ("a", "b", "c", "d")}
).with_columns(pl.Series("number", [f"row {i}" for i in range(40)]))


def run(*words: str) -> Any:
    """Run the program."""
    return CliRunner().invoke(cli, list(words))


def made(folder: Path, asked: str, *more: str) -> list[Path]:
    """Write original, release, proof and statement; return release, original, proof, statement."""
    release, original, proof, statement = (folder / n for n in ("o.csv", "i.csv", "p", "s.json"))
    FRAME.write_csv(original)
    words = ["anonymize", str(original), "-o", str(release), "-k", "3", "--delete-rows", asked]
    words += ["--keep", "number", "--proof", str(proof), "--statement", str(statement), "--json"]
    done = run(*words, "-q", *more)
    assert done.exit_code == 0, (done.output, done.exception)
    return [release, original, proof, statement]


@pytest.mark.parametrize(
    ("asked", "order"),
    [
        ("price=2", "keep"),
        ("price=2.5,most=10%", "shuffle"),
        ("most=1", "keep"),
        ("price=3.25,most=0", "shuffle"),
    ],
)
def test_proven(asked: str, order: str, tmp_path: Path) -> None:
    """Tests that the checker confirms cost, bound and deletions, and counts as the test does."""
    paths = made(tmp_path, asked, "--order", order)
    verdict = check(*paths[:3], statement=paths[3])
    assert verdict.accepted, verdict
    facts, released = verdict.facts, pl.read_csv(paths[0])
    gone = 40 - released.height
    assert facts["deleted_rows"] == gone <= facts["most_deleted"] and facts["rows"] == 40 - gone
    price = dict(part.split("=") for part in asked.split(",")).get("price", "4")
    stars = sum((released[c] == "*").sum() for c in "abcd")
    assert facts["cost"] == round((stars + float(price) * gone) * facts["scale"])
    assert 0 < facts["bound"] <= facts["cost"]
    assert released.group_by("a", "b", "c", "d").len()["len"].min() >= 3  # pyright: ignore
    numbers = [int(text.split()[1]) for text in released["number"].to_list()]
    assert (numbers == sorted(numbers)) == (order == "keep")
    said = json.loads(paths[3].read_text())
    assert said["deleted_rows"] == gone
    words = ["verify", str(paths[0]), "--original", str(paths[1]), "--keep", "number"]
    answer = run(*words, "--proof", str(paths[2]), "--delete-rows", asked)
    assert answer.exit_code == 0, answer.output
    assert f"{gone} more deleted at " in answer.output, answer.output
    assert run(*words, "--proof", str(paths[2]), "--delete-rows", "price=9").exit_code == 1
    assert run(*words, "-k", "3", "--delete-rows", asked).exit_code == 0
    assert (run(*words, "-k", "3").exit_code == 0) == (gone == 0)
    words += ["--proof", str(paths[2])]
    for most in {0, max(0, gone - 1), gone}:  # of rows left out, for whatever reason
        code = run(*words, "--suppress-rows", str(most)).exit_code
        assert code == (0 if gone <= most else 1)


def lifted(facts: dict[str, Any], rows: pl.DataFrame) -> pl.DataFrame:
    """A higher bound than the deletions leave."""
    facts["bound"] += 1
    return rows


def dearer(facts: dict[str, Any], rows: pl.DataFrame) -> pl.DataFrame:
    """Another price of a deleted row."""
    facts["delete_rows"] = facts["delete_rows"] | {"price": facts["delete_rows"]["price"] + 1}
    return rows


def fewer(facts: dict[str, Any], rows: pl.DataFrame) -> pl.DataFrame:
    """A lower limit than rows are deleted."""
    facts["delete_rows"] = facts["delete_rows"] | {"most": facts["deleted_rows"] - 1}
    return rows


def silent(facts: dict[str, Any], rows: pl.DataFrame) -> pl.DataFrame:
    """Nothing of deletions."""
    del facts["delete_rows"], facts["deleted_rows"]
    return rows


def twice(facts: dict[str, Any], rows: pl.DataFrame) -> pl.DataFrame:
    """One row deleted in place of another that is released."""
    original = rows["original"].to_list()
    original[-1] = original[0]
    return rows.with_columns(pl.Series("original", original))


def free(facts: dict[str, Any], rows: pl.DataFrame) -> pl.DataFrame:
    """A price that is no number."""
    facts["delete_rows"] = facts["delete_rows"] | {"price": True}
    return rows


def other(facts: dict[str, Any], rows: pl.DataFrame) -> pl.DataFrame:
    """Deletions under a model beside k-anonymity."""
    facts["models"] = [*facts["models"], {"model": "distinct", "l": 1, "column": "number"}]
    return rows


def text(facts: dict[str, Any], rows: pl.DataFrame) -> pl.DataFrame:
    """Deletions that are no mapping."""
    facts["delete_rows"] = "price=2"
    return rows


def suppressed(facts: dict[str, Any], rows: pl.DataFrame) -> pl.DataFrame:
    """Other rows left out beside the deleted ones, which the statement repeats."""
    facts["suppressed_rows"] = 5
    return rows


def more(facts: dict[str, Any], rows: pl.DataFrame) -> pl.DataFrame:
    """What the statement would repeat beside price and limit."""
    facts["delete_rows"] = facts["delete_rows"] | {"approved": 1}
    return rows


CHANGES = [lifted, dearer, fewer, silent, twice, free, other, text, suppressed, more]


@pytest.fixture(scope="module")
def honest(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Release, original and proof, with rows deleted."""
    paths = made(tmp_path_factory.mktemp("honest"), "price=2,most=10%")[:3]
    facts = check(*paths).facts
    assert facts["deleted_rows"] > 0 and facts["bound"] < facts["cost"]
    return paths


@pytest.mark.parametrize("change", CHANGES)
def test_forged(change: Any, honest: list[Path]) -> None:
    """Tests that what deletes rows otherwise than it says is refused."""
    verdict = check(*honest[:2], forged(honest[2], change))
    assert not verdict.accepted and verdict.reason, change


def test_fixed_columns_are_held_against_the_rows_that_are_left(tmp_path: Path) -> None:
    """Tests a proof of deletions beside --fixed: of a column that is as it was, and of another."""
    release, original, proof, _ = made(tmp_path, "price=2")
    before, after = pl.read_csv(original), pl.read_csv(release)
    assert after.height < before.height
    same = after.join(before, on="number", how="left")
    words = ["verify", str(release), "--original", str(original), "--proof", str(proof), "--fixed"]
    codes = {c: int(not (same[c] == same[f"{c}_right"]).all()) for c in "abcd"}
    assert {*codes.values()} == {0, 1} or {*codes.values()} == {1}
    for column, code in codes.items():
        done = run(*words, column)
        assert done.exit_code == code, done.output


def test_python(tmp_path: Path) -> None:
    """Tests the call, its figures, and that rows keep their order."""
    asked = {"price": 2, "most": "20%"}
    release = ic.anonymize(FRAME, k=3, qi=["a", "b", "c", "d"], keep="number", delete_rows=asked)
    assert release.policy.delete_rows == "price=2,most=20%"
    gone = 40 - len(release.data)
    assert 0 < gone <= 12 and release.deleted is not None and len(release.deleted.rows) == gone
    kept = FRAME.filter(~pl.int_range(40).is_in(release.deleted.rows.tolist()))
    assert release.data["number"].to_list() == kept["number"].to_list()
    stars = sum((release.data[c] == "*").sum() for c in "abcd")
    assert release.cost == stars + 2 * gone >= release.lower_bound > 0
    assert release.summary()["deleted_rows"].to_list() == [gone]
    release.report(tmp_path / "report.html")
    assert f"{gone} rows were deleted, which costs 2" in (tmp_path / "report.html").read_text()
    assert "delete-rows price=2,most=20%" in release.policy.command("i.csv", "o.csv")


@pytest.mark.parametrize("text", ["", "9", "price=0", "most=-1", "most=1.5", "price=x", "most=101%",
                                  "price=1,price=2", "cost=3"])  # fmt: skip
def test_nonsense(text: str) -> None:
    """Tests that what is no price and no limit is named."""
    with pytest.raises(InputError, match="delete_rows"):
        ic.Policy(delete_rows=text)


@pytest.mark.parametrize("given", [{"person": "number", "missing_person": "drop"},
                                   {"person": "number", "linked_rows": True},
                                   {"person": "number", "constant_alike": True},
                                   {"suppress_rows": 2}, {"fixed": ["a"]}, {"caps": {"a": 0.5}},
                                   {"veil": 0.1}, {"pseudonym": "number"}])  # fmt: skip
def test_refused(given: dict[str, Any]) -> None:
    """Tests that what is not served beside it is named."""
    with pytest.raises(InputError, match="delete_rows is not served with"):
        ic.Policy(delete_rows="price=2", **given)


def test_refused_elsewhere() -> None:
    """Tests the other ways to releases and bounds."""
    with pytest.raises(InputError, match="frontier"):
        ic.frontier(FRAME, [2], delete_rows="price=2")
    with pytest.raises(InputError, match="existing"):
        ic.anonymize(FRAME, k=2, existing=FRAME, delete_rows="price=2")
    with pytest.raises(OutOfScopeError, match="most"):
        ic.anonymize(FRAME, k=2, method="forest", delete_rows="price=2,most=3")
    with pytest.raises(OutOfScopeError, match="closeness"):
        ic.anonymize(FRAME, k=2, keep="number", sensitive="d", t=0.5, delete_rows="price=2")


MODELS = {
    "people": ["--person", "who"],
    "people and diversity": ["--person", "who", "--sensitive", "s", "--l", "2"],
}


@pytest.fixture(scope="module", params=MODELS)
def modelled(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Release, original, proof and what was asked, under a model of classes, with rows deleted."""
    folder, rng = tmp_path_factory.mktemp("models"), np.random.default_rng(3)
    release, original, proof = (str(folder / n) for n in ("o.csv", "i.csv", "p"))
    FRAME.drop("number").with_columns(
        pl.Series("who", [f"P{v}" for v in rng.integers(0, 30, 40)]),
        pl.Series("s", [f"s{v}" for v in rng.integers(0, 3, 40)]),
    ).write_csv(original)
    words = ["-k", "3", "--delete-rows", "price=1,most=20%", *MODELS[request.param]]
    words += [] if "--sensitive" in words else ["--keep", "s"]
    done = run("anonymize", original, "-o", release, *words, "--proof", proof, "-q", "--json")
    assert done.exit_code == 0, (done.output, done.exception)
    return release, original, proof, words, json.loads(done.stdout)


def test_proven_under_models(modelled: Any) -> None:
    """Tests that the checker confirms classes, cost and a bound, and verify without a proof too."""
    release, original, proof, words, told = modelled
    verdict = check(release, original, proof)
    assert verdict.accepted, verdict
    facts, released = verdict.facts, pl.read_csv(release)
    gone, qi = 40 - released.height, ["a", "b", "c", "d"]
    assert 0 < gone == facts["deleted_rows"] == told["deleted_rows"] <= 8
    stars = sum((released[c] == "*").sum() for c in qi)
    assert facts["cost"] == (stars + gone) * facts["scale"]
    assert 0 < facts["bound"] <= told["lower_bound"] * facts["scale"] <= facts["cost"]
    groups = released.group_by(qi).agg(pl.len(), pl.col("s").n_unique().alias("values"))
    assert groups["len"].min() >= 3  # pyright: ignore
    assert "--keep" in words or groups["values"].min() >= 2  # pyright: ignore
    assert run("verify", release, "--original", original, "--proof", proof, *words).exit_code == 0
    assert run("verify", release, "--original", original, *words).exit_code == 0
    none = [word.replace("most=20%", "most=0") for word in words]
    assert run("verify", release, "--original", original, *none).exit_code == 1
    more = [word.replace("3", "9") if word == "3" else word for word in words]
    assert run("verify", release, "--original", original, *more).exit_code == 1


def shares(facts: dict[str, Any], rows: pl.DataFrame) -> pl.DataFrame:
    """A model whose smallest class depends on the values that are left."""
    facts["models"] = [*facts["models"], {"model": "alpha-k", "alpha": "1", "k": 1, "column": "s"}]
    return rows


def ruled(facts: dict[str, Any], rows: pl.DataFrame) -> pl.DataFrame:
    """Prices for lawful classes of the rows that are left."""
    facts["pricing"] = [{"rule": "distinct", "l": 1, "column": "s"}]
    return rows


def united(facts: dict[str, Any], rows: pl.DataFrame) -> pl.DataFrame:
    """A law on all rows of a person, of whom some are deleted."""
    one = {"model": "people", "k": 1, "columns": ["who"], "linked": True}
    facts["models"] = [*facts["models"], one]
    return rows


@pytest.mark.parametrize("change", [lifted, dearer, fewer, shares, ruled, united])
def test_forged_under_models(change: Any, modelled: Any) -> None:
    """Tests that other models, rules and bounds are refused."""
    verdict = check(*modelled[:2], forged(Path(modelled[2]), change))
    assert not verdict.accepted and verdict.reason, change


def test_people_are_those_of_the_rows_that_are_left() -> None:
    """Tests the people that a release counts, and the report that tells of classes of them."""
    frame = pl.DataFrame({"who": [*list("aabbccdd"), "z"], "q": ["x"] * 8 + ["y"]})
    release = ic.anonymize(frame, k=3, person="who", delete_rows="price=1/2")
    assert len(release.data) == 8 and release.people == 4 and release.fewest_people == 4
    assert release.verify()
