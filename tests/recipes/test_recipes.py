"""The recipes of CONTRIBUTING, followed: what one file and one row bring everywhere."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import IO, ClassVar

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner
from numpy.typing import NDArray

import incrowd as ic
from incrowd.bounds.prices import Prices
from incrowd.checker.verify import check
from incrowd.cli import cli
from incrowd.problem.instance import Instance
from incrowd.problem.problem import Problem
from incrowd.problem.solution import Solution
from incrowd.proof.prove import prove
from incrowd.solvers import catalog
from incrowd.solvers.base import Context, Outcome, Scope, refuse_other_models
from incrowd.tables import formats
from incrowd.tables.base import Source, Table, texts
from incrowd.tables.formats import Form, Format
from incrowd.tables.native import from_native
from oracle import optimum
from solvers.small_tables import Shape, random_table

PEOPLE = pl.DataFrame(
    {"age": [30, 30, 31, 31, 40, 41, 40], "zip": ["a", "b", "a", "a", "c", "c", "c"]}
)


@dataclass(frozen=True, kw_only=True)
class Pairs:
    """A solver as the recipe has it: sorted rows in runs of k, and no bound."""

    id: ClassVar[str] = "pairs"
    guarantee: ClassVar[str] = "none"
    scope: ClassVar[Scope] = Scope()
    source: ClassVar[str] = "rows in their order, cut into runs"

    def refuse(self, problem: Problem) -> str | None:
        """Serve k-anonymity."""
        return refuse_other_models(problem)

    def run(self, problem: Problem, context: Context) -> Outcome:
        """Cut the copies into runs of k; the last one takes the rest."""
        rows, k = problem.instance.rows, problem.smallest_class
        runs = np.minimum(np.arange(rows) // k, max(rows // k - 1, 0))
        return Outcome(Solution.of(problem.instance, runs))


def test_a_solver_is_one_value_and_one_row(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Tests that a method serves Python as a value, and by name once it is in the catalog."""
    release = ic.anonymize(PEOPLE, k=2, method=Pairs())
    assert release.method == "pairs" and release.smallest_class >= 2
    with pytest.raises(ic.OutOfScopeError, match="pairs"):
        ic.anonymize(PEOPLE, k=2, sensitive="zip", l=2, method=Pairs())

    monkeypatch.setattr(catalog, "SOLVERS", (*catalog.SOLVERS, Pairs()))
    listed = CliRunner().invoke(cli, ["methods", "--json"])
    known = {each["id"]: each for each in json.loads(listed.stdout)["methods"]}
    assert known["pairs"]["source"] == Pairs.source
    PEOPLE.write_csv(tmp_path / "t.csv")
    asked = ["anonymize", str(tmp_path / "t.csv"), "-o", str(tmp_path / "o.csv"), "-k", "2"]
    done = CliRunner().invoke(cli, [*asked, "--method", "pairs", "--json"])
    assert done.exit_code == 0 and json.loads(done.stdout)["cost"] == release.cost


def rare_rows(instance: Instance, k: int) -> Prices:
    """A bound as the recipe has it.

    Claim: a row with fewer than k copies costs at least its cheapest change.  Argument: its class
    holds a row that differs, so some cell of its pattern is changed.  Source: this test.
    """
    price = np.zeros(instance.distinct, np.int64)
    cheapest = np.full(instance.distinct, np.iinfo(np.int64).max)
    for j, tree in enumerate(instance.trees):
        found = tree.cost[:, instance.codes[:, j]]
        found = np.where(found > 0, found, np.iinfo(np.int64).max).min(axis=0)
        cheapest = np.minimum(cheapest, found)
    rare = instance.counts < k
    price[rare] = cheapest[rare]
    return Prices(price, 1)


@dataclass(frozen=True, kw_only=True)
class Priced(Pairs):
    """The solver with that bound."""

    id: ClassVar[str] = "priced"

    def run(self, problem: Problem, context: Context) -> Outcome:
        """Return the runs, and the prices behind the bound."""
        prices = rare_rows(problem.instance, problem.smallest_class)
        found = Pairs().run(problem, context)
        return Outcome(found.solution, prices.bound(problem.instance.counts), prices=prices)


def test_a_bound_is_a_choice_of_prices(tmp_path: Path):
    """Tests that prices never exceed the optimum, and that driver, proof and checker take them."""
    from incrowd.privacy.k_anonymity import KAnonymity

    rng = np.random.default_rng(5)
    higher = 0
    for _ in range(40):
        instance = random_table(rng, Shape(rows=(2, 8), columns=(1, 3), values=(2, 3), trees=False))
        best = optimum(instance, KAnonymity(2))
        bound = rare_rows(instance, 2).bound(instance.counts)
        assert best is None or bound <= best
        higher += bound > 0
    assert higher

    original, written, proof = (tmp_path / name for name in ("t.csv", "o.csv", "o.proof"))
    PEOPLE.write_csv(original)
    release = ic.anonymize(original, k=2, method=Priced())
    assert 0 < release.bound_units <= release.cost_units
    release.write(written)
    facts = prove(release, original, written, proof)
    verdict = check(written, original, proof)
    assert verdict.accepted and verdict.facts["bound"] == facts["bound"] == release.bound_units


def lines(magic: bytes) -> Format:
    """A format as the recipe has it: JSON, a line for each row, behind a word."""

    def read(data: bytes, name: str, form: Form) -> Source:
        return from_native(pl.read_ndjson(data.removeprefix(magic)))

    def write(table: Table, file: IO[bytes], form: Form) -> None:
        file.write(magic)
        texts(table, table.columns).write_ndjson(file)

    return Format(
        id="lines",
        name="lines of JSON",
        suffixes=(".rows",),
        begins=lambda data, suffix: data.startswith(magic),
        read=read,
        write=write,
    )


def test_a_format_is_one_row(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Tests that a format in the table is read by its bytes and written by its name."""
    monkeypatch.setattr(formats, "FORMATS", (lines(b"ROWS\n"), *formats.FORMATS))
    table, output = tmp_path / "t.bin", tmp_path / "o.rows"
    table.write_bytes(b"ROWS\n" + PEOPLE.write_ndjson().encode())
    ic.anonymize(table, k=2).write(output)
    again = pl.read_ndjson(output.read_bytes().removeprefix(b"ROWS\n"))
    cost = ic.anonymize(PEOPLE, k=2).cost
    assert again.height == PEOPLE.height and stars(again) == cost
    done = CliRunner().invoke(
        cli, ["anonymize", str(table), "-o", str(output), "-k", "2", "--json"]
    )
    assert done.exit_code == 0 and json.loads(done.stdout)["cost"] == cost
    named_as_text = tmp_path / "t.csv"
    named_as_text.write_bytes(table.read_bytes())
    with pytest.raises(ic.InputError, match="its bytes are lines of JSON"):
        ic.anonymize(named_as_text, k=2)


def stars(table: pl.DataFrame) -> int:
    """How many cells are suppressed."""
    marks: NDArray[np.bool_] = (table.to_numpy() == "*").astype(bool)
    return int(marks.sum())
