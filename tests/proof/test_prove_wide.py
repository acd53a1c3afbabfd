"""Tests of proofs of tables too wide to look at every pattern, from the search to the verdict."""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner

from incrowd._api import anonymize
from incrowd.bounds import column_groups
from incrowd.bounds.lawful_tree import LawfulTree
from incrowd.checker.limits import BEYOND, allowed
from incrowd.checker.verify import Verdict, check
from incrowd.cli import cli
from incrowd.proof import confirm
from incrowd.proof.certificate import plain_prices
from incrowd.proof.confirm import proves_about
from incrowd.proof.prove import prove
from incrowd.solvers.engine.engine import Engine

ASKED: dict[str, dict[str, Any]] = {
    "engine": {"method": Engine(visits=0), "keep": ["ill"]},
    "engine, no time": {"method": Engine(visits=0), "keep": ["ill"], "time_limit": 1e-9},
    "sensitive engine": {"method": Engine(visits=0), "sensitive": "ill", "l": 2},
    "closeness": {"method": Engine(visits=0), "sensitive": "ill", "t": "0.4"},
    "a method without prices": {"method": "mondrian", "keep": ["ill"]},
    "such a method of sensitive models": {"method": "mondrian", "sensitive": "ill", "l": 2},
    "rows left out": {"method": Engine(visits=0), "keep": ["ill"], "suppress_rows": 1},
}


@pytest.fixture
def narrow(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small tables count as wide, and make several groups if they are not priced by sets."""
    monkeypatch.setattr(column_groups, "FIRST", 2)
    monkeypatch.setattr(column_groups, "VISITS", 60)
    monkeypatch.setattr(column_groups, "VISITS_A_SECOND", 60)
    monkeypatch.setattr("incrowd.bounds.best.affordable", lambda *_: 0)


def written(file: Path, rows: int, columns: int) -> pl.DataFrame:
    """A table of columns with two or three values."""
    rng = np.random.default_rng(3)
    cells = {f"q{j}": rng.integers(0, 2 + j % 2, rows).astype(str) for j in range(columns)}
    table = pl.DataFrame(cells | {"ill": rng.choice(list("xyz"), rows)})
    table.write_csv(file)
    return table


@pytest.mark.parametrize("by", ["rows", "groups"])
@pytest.mark.parametrize("name", ASKED)
def test_wide_tables_are_proven(by: str, name: str, narrow: None, tmp_path: Path) -> None:
    """Tests that the bound is that of sets of rows, or of groups, as the checker confirms."""
    paths = [tmp_path / n for n in ("release.csv", "original.csv", "out.proof")]
    written(paths[1], 30, 7)
    with pytest.MonkeyPatch.context() as without:
        if by == "groups":
            without.setattr("incrowd.bounds.wide.LARGE", 0)
        release = anonymize(str(paths[1]), 3, **ASKED[name])
        release.write(paths[0])
        facts = prove(release, paths[1], paths[0], paths[2])
    limited = "time_limit" in ASKED[name]  # how far groups come then is the clock's to say
    in_time = by == "rows" and not limited
    assert facts.get("search") == ("rows" if in_time else None) and not facts["pricing"]
    assert in_time or limited or len(facts["groups"]) > 1
    assert facts["bound"] == release.bound_units or ASKED[name]["method"] == "mondrian"
    verdict = check(*paths)
    assert verdict.accepted, verdict.reason
    assert 0 < verdict.facts["bound"] == facts["bound"] <= release.cost_units


def test_no_lawful_prices_where_their_search_is_too_long(tmp_path: Path, monkeypatch) -> None:
    """Tests a table too wide for lawful prices and not for those of k rows, and the time limit."""
    paths = [tmp_path / n for n in ("release.csv", "original.csv", "out.proof")]
    written(paths[1], 12, 3)
    asked = ASKED["such a method of sensitive models"]
    release = anonymize(str(paths[1]), 2, **asked, time_limit=1e6)
    release.write(paths[0])
    limits = []

    def tree(*known: Any) -> LawfulTree:
        limits.append(known[-1].time_limit)
        return LawfulTree(*known)

    monkeypatch.setattr("incrowd.proof.lawful.LawfulTree", tree)
    assert prove(release, paths[1], paths[0], paths[2])["pricing"]
    assert limits == [1e6]
    monkeypatch.setattr("incrowd.proof.lawful.affordable", lambda *_, **__: 0)
    assert not prove(release, paths[1], paths[0], paths[2])["pricing"]
    assert check(*paths).accepted


@pytest.mark.parametrize("limit", [(), ("--time-limit", 0.5)])
def test_forty_columns_end(limit: tuple[Any, ...], tmp_path: Path, monkeypatch) -> None:
    """Tests that a table with more patterns than anyone could try has a bound, and a proof."""
    monkeypatch.setattr(column_groups, "VISITS", 3000)
    table, out, proof = (tmp_path / n for n in ("t.csv", "o.csv", "o.proof"))
    written(table, 20, 40)

    def incrowd(*arguments: Any) -> Any:
        done = CliRunner().invoke(cli, [str(a) for a in arguments])
        assert done.exit_code == 0, done.output
        return json.loads(done.stdout)

    bound = incrowd("bound", table, "-k", 5, "--keep", "ill", *limit, "--json")["lower_bound"]
    # beyond uniqueness, which is all that half a second may prove on a busy machine
    least = 20 if limit else 21
    assert bound >= least
    asked = ("-o", out, "-k", 5, "--keep", "ill", "--proof", proof, "--method", "mondrian")
    released = incrowd("anonymize", table, *asked, *limit, "--json")
    assert bound <= released["cost"]
    verdict = check(out, table, proof)
    assert verdict.accepted and verdict.facts["bound"] >= least


@pytest.mark.parametrize(
    ("by", "rows"), [("sets of rows", 16), ("sets of rows", 11), ("nothing", 16)]
)
def test_proofs_stay_within_the_limits_of_the_checker(
    rows: int, by: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tests prices of pairs with more patterns than the checker looks at; with odd sets for 11.

    Other prices are looked for only where these will not do, and within the time limit.
    """
    paths = [tmp_path / n for n in ("release.csv", "original.csv", "out.proof")]
    written(paths[1], rows, 16)
    release = anonymize(str(paths[1]), 2, keep=["ill"], method="simplex-matching", time_limit=1e6)
    release.write(paths[0])
    limits = []

    def other(problem: Any, stop: Any) -> Any:
        limits.append(stop.time_limit)
        return release.solved.prices if by == "nothing" else plain_prices(problem, stop)

    monkeypatch.setattr("incrowd.proof.confirm.plain_prices", other)
    for home in ("checker.inequality", "proof.confirm"):
        monkeypatch.setattr(f"incrowd.{home}.STEPS", 1)
    if by == "nothing":
        monkeypatch.setattr("incrowd.checker.crowds.STEPS", 0)
    facts = prove(release, paths[1], paths[0], paths[2])
    verdict = check(*paths)
    assert verdict.accepted, verdict.reason
    assert (facts["bound"] == 0) == (by == "nothing")
    assert limits == ([] if by == "sets of rows" and rows == 16 else [1e6])
    if by == "sets of rows":
        assert facts["search"] == "rows"
        assert rows == 11 or facts["bound"] == release.cost_units


@pytest.mark.parametrize(
    ("rows", "needed", "chosen"),
    [
        (16, {"patterns": 2**-8, "rows": 1.0}, "patterns"),
        (16, {"patterns": 1.0, "rows": 2**-8}, "rows"),
        (11, {"odd sets": 1.0, "patterns": 2**-12}, "odd sets"),  # which alone prove it optimal
        (11, {"odd sets": 2.0, "patterns": 1.0, "rows": 2**-12}, "rows"),
    ],
)
def test_of_equal_prices_those_looked_at_quickly_are_written(
    rows: int,
    needed: dict[str, float],
    chosen: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Tests which form is chosen where each needs another share of the checker's effort.

    One that was too much for the checker took it minutes, before another took it no second.
    """
    paths = [tmp_path / n for n in ("release.csv", "original.csv", "out.proof")]
    written(paths[1], rows, 16)
    release = anonymize(str(paths[1]), 2, keep=["ill"], method="simplex-matching")
    release.write(paths[0])
    tried = []

    def checked(evidence: Any, *_: Any) -> Verdict:
        prices = evidence.prices
        tried.append("odd sets" if prices.odd_sets else "rows" if prices.by_rows else "patterns")
        enough = needed[tried[-1]] * 10**6 <= allowed(10**6)
        return Verdict(enough, None if enough else f"too many{BEYOND}")

    monkeypatch.setattr(confirm, "STEPS", 1)
    monkeypatch.setattr(confirm, "checked", checked)
    prove(release, paths[1], paths[0], paths[2])
    assert tried[-1] == chosen


def test_prices_that_prove_about_as_much() -> None:
    """Tests a five-hundredth of the cost less, and none less where the best prove it optimal."""

    def of(bound: int) -> Any:
        solution = SimpleNamespace(instance=SimpleNamespace(counts=None), cost=1000)
        return SimpleNamespace(solution=solution, prices=SimpleNamespace(bound=lambda _: bound))

    assert next(x for x in range(900, 1001) if proves_about(of(x), of(950))) == 948
    assert not proves_about(of(999), of(1000))


def test_too_long_texts_are_refused_before_the_search(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tests that nobody searches for a release whose proof the checker would not read."""
    paths = [tmp_path / n for n in ("release.csv", "original.csv", "out.proof")]
    paths[1].write_text("a,b\n" + f"{'x' * 400},1\n" * 3 + "y,1\n" * 3)
    for name in ("TEXT", "SMALL"):
        monkeypatch.setattr(f"incrowd.checker.files.{name}", 100)
    call = ["anonymize", str(paths[1]), "-o", str(paths[0]), "-k", "3", "--proof", str(paths[2])]
    written = CliRunner().invoke(cli, call)
    assert written.exit_code == 0, written.output
    assert "too long texts" in str(check(*paths).reason)
    for name in ("TEXT", "SMALL"):
        monkeypatch.setattr(f"incrowd.tables.files.{name}", 100)
    monkeypatch.setattr("incrowd._api.release_of", None)  # no search
    refused = CliRunner().invoke(cli, call)
    assert refused.exit_code == 2
    assert "at most 700 bytes" in refused.output and "'a' has too much" in refused.output
