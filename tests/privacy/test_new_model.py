"""The recipe of CONTRIBUTING, "Add a privacy model": a model in one file, run through everything.

The model is frequency 2-diversity of the first sensitive attribute, written anew: as a predicate
alone, with one optional part at a time, and with all of them.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import incrowd
from incrowd.checker.verify import check
from incrowd.cli.output import release_record
from incrowd.cli.summary import summary
from incrowd.errors import OutOfScopeError, VerificationError
from incrowd.privacy.base import Group
from incrowd.privacy.frequency_diversity import FrequencyDiversity
from incrowd.privacy.law import Law, shares
from incrowd.privacy.linear import Linear
from incrowd.privacy.model import Model, Values
from incrowd.privacy.pricing import Part, frequency_part
from incrowd.proof.prove import prove, write_statement
from incrowd.published.verification import verify_release
from incrowd.tables.files import open_table

ROWS = 160
QI = ["a", "b", "c"]
SENSITIVE = ["ill", "pay"]


@dataclass(frozen=True)
class Bare(Model):
    """No illness fills more than half of a class; closed under union, value by value."""

    name = "half at most"
    closed_under_union = True
    compares_with_table = False

    def smallest_class(self, table: Group) -> int:
        """Two rows."""
        return 2

    def lawful(self, group: Group, table: Group) -> bool:
        """The most frequent illness."""
        return 2 * int(group.histograms[0].max()) <= group.rows


class WithLaw(Bare):
    """For the search's kernels."""

    stays_lawful = True

    def law(self, table: Group) -> Sequence[Law]:
        """At most 1/2 of a class for every value."""
        half = [Fraction(1, 2)] * table.sizes[0]
        kind, data = shares(self.name, table.rows, 2, half)
        return (Law(kind, 0, data),)


class WithPricing(Bare):
    """For a bound of its own."""

    def pricing(self, table: Group, k: int, sizes: int = 0) -> Sequence[Part]:
        """Frequency 2-diversity with at least k rows."""
        return (frequency_part(2, k, 0, table.sizes[0]),)


class WithClaim(Bare):
    """For the proof."""

    def claim(self, values: Values) -> list[dict[str, Any]]:
        """As docs/reference/proof-format.md has it."""
        return [{"model": "frequency", "l": 2, "column": next(iter(values))}]


class Twin(WithLaw, WithPricing, WithClaim):
    """All of them, and its place in integer programs."""

    def linear(self, table: Group) -> Linear:
        """1/2 of the first attribute."""
        return Linear(frequency=((2, 0),))


EACH = [Bare(), WithLaw(), WithPricing(), WithClaim(), Twin()]
IDS = [type(model).__name__ for model in EACH]


@pytest.fixture(scope="module")
def table() -> pl.DataFrame:
    rng = np.random.default_rng(5)
    kin = rng.integers(0, 4, ROWS)
    columns = {
        "a": kin + rng.integers(0, 3, ROWS),
        "b": rng.integers(0, 3, ROWS),
        "c": 2 * kin + rng.integers(0, 4, ROWS),
        "ill": rng.choice(4, ROWS, p=[0.45, 0.3, 0.15, 0.1]),
        "pay": rng.integers(0, 3, ROWS),
    }
    return pl.DataFrame({name: column.astype(str) for name, column in columns.items()})


def release_of(data: Any, model: Model, **more: Any) -> incrowd.Release:
    return incrowd.anonymize(data, 2, qi=QI, sensitive=SENSITIVE, models=model, seed=3, **more)


@pytest.fixture(scope="module")
def builtin(table: pl.DataFrame) -> incrowd.Release:
    return release_of(table, FrequencyDiversity(2, 0))


@pytest.fixture(scope="module")
def mondrian(table: pl.DataFrame) -> incrowd.Release:
    return release_of(table, Bare(), method="mondrian")


@pytest.fixture(scope="module")
def plain(table: pl.DataFrame) -> incrowd.Release:
    return incrowd.anonymize(table, 2, qi=QI, sensitive=SENSITIVE, seed=3, method="engine")


def test_a_twin_with_all_parts_is_served_as_the_original(
    table: pl.DataFrame, builtin: incrowd.Release
) -> None:
    """Tests that nothing depends on the class: the same release, cost and bound, by each method."""
    for method in ("auto", "two-diversity", "mondrian"):
        twin = release_of(table, Twin(), method=method)
        known = (
            builtin
            if method == "auto"
            else release_of(table, FrequencyDiversity(2, 0), method=method)
        )
        assert twin.method == known.method
        assert (twin.cost, twin.lower_bound) == (known.cost, known.lower_bound)
        assert twin.data.equals(known.data)


@pytest.mark.parametrize("model", EACH, ids=IDS)
def test_every_part_is_optional(
    model: Model,
    table: pl.DataFrame,
    builtin: incrowd.Release,
    mondrian: incrowd.Release,
    plain: incrowd.Release,
) -> None:
    """Tests the engine's search, a bound that holds, measure, and both re-checks."""
    release = release_of(table, model)
    assert release.method == "engine"
    assert builtin.lower_bound <= release.cost < mondrian.cost
    least = plain.lower_bound if type(model).pricing is Model.pricing else builtin.lower_bound
    assert least * 0.99 <= release.lower_bound <= builtin.cost
    assert release.verify()
    measured = incrowd.measure(release.data, qi=QI, sensitive=SENSITIVE)
    assert measured.sensitive[0].frequency_l >= 2
    verdict = verify_release(open_table(table), open_table(release.data), release.policy)
    assert verdict.lawful


def test_a_predicate_alone_is_searched_nearly_as_well(
    table: pl.DataFrame, builtin: incrowd.Release, mondrian: incrowd.Release
) -> None:
    """Tests that most of what the kernels' law saves is saved by calling the predicate back."""
    bare = release_of(table, Bare())
    assert bare.cost - builtin.cost <= (mondrian.cost - builtin.cost) / 10


@pytest.mark.parametrize("model", EACH, ids=IDS)
@pytest.mark.usefixtures("undrawn")
def test_proofs_say_what_they_do_not_certify(
    model: Model, table: pl.DataFrame, builtin: incrowd.Release, tmp_path: Path
) -> None:
    """Tests release, summary, JSON, proof, statement and verdict of known and unknown models."""
    source, out, proof, told = (tmp_path / n for n in ("in.csv", "out.csv", "proof", "told.json"))
    table.write_csv(source)
    release = release_of(str(source), model)
    release.write(out)
    facts = prove(release, source, out, proof)
    with told.open("wb") as file:
        write_statement(facts, proof, file)
    verdict = check(out, source, proof, statement=told)
    assert verdict.accepted, verdict
    assert 0 < verdict.facts["bound"] <= verdict.facts["cost"]
    known = type(model).claim is not Model.claim
    unchecked = [] if known else ["half at most"]
    assert list(release.unchecked) == verdict.facts["unchecked"] == unchecked
    assert release_record(release, None, None).get("unchecked", []) == unchecked
    page = tmp_path / "page.html"
    release.report(page)
    assert ("half at most: by its own definition alone" in page.read_text()) != known
    assert ("half at most: by its own definition alone" in summary(release)) != known
    for text in (facts, json.loads(told.read_text())):
        assert text.get("unchecked", []) == unchecked
        assert ({"model": "frequency", "l": 2, "column": "ill"} in text["models"]) == known
    if known:
        assert verdict.facts["bound"] >= release.lower_bound * release.scale * 0.99
    altered = json.loads(told.read_text()) | {"unchecked": ["something else"]}
    told.write_text(json.dumps(altered))
    assert not check(out, source, proof, statement=told).accepted


@dataclass(frozen=True)
class Never(Model):
    """A model that no class obeys."""

    name = "never"
    closed_under_union = True

    def smallest_class(self, table: Group) -> int:
        """One row is not enough either."""
        return 1

    def lawful(self, group: Group, table: Group) -> bool:
        """No."""
        return False


def test_the_re_check_asks_models_that_the_checker_lacks(builtin: incrowd.Release) -> None:
    """Tests that a release which breaks one is an error, not passed over."""
    assert builtin.verify()
    with pytest.raises(VerificationError, match="classes break never"):
        replace(builtin, coded=replace(builtin.coded, model=builtin.model & Never())).verify()


@dataclass(frozen=True)
class Pairs(Model):
    """Every class holds three different pairs of illness and pay."""

    name = "three pairs"
    closed_under_union = True
    compares_with_table = False

    def smallest_class(self, table: Group) -> int:
        """Three rows."""
        return 3

    def lawful(self, group: Group, table: Group) -> bool:
        """Pairs, which no histogram of one attribute shows."""
        return len(np.unique(group.values, axis=0)) >= 3


def test_a_predicate_sees_all_attributes_at_once(table: pl.DataFrame) -> None:
    """Tests a search by a predicate over pairs of values, beside a model that has a law."""
    release = release_of(table, Pairs() & FrequencyDiversity(2, 1))
    assert release.method == "engine" and release.verify()
    assert release.unchecked == ("three pairs",)
    assert 0 < release.lower_bound <= release.cost
    held = release.data.group_by(QI).agg(pl.struct(SENSITIVE).n_unique().alias("pairs"))
    assert held["pairs"].min() >= 3
    poor = release_of(table, Pairs() & FrequencyDiversity(2, 1), method="mondrian")
    assert release.cost < poor.cost


@dataclass(frozen=True)
class Open(Bare):
    """A model that is not closed under union."""

    closed_under_union = False


def test_models_not_closed_under_union_are_refused(table: pl.DataFrame) -> None:
    """Tests that the search, which merges classes, does not take them."""
    with pytest.raises(OutOfScopeError, match="not closed under union"):
        release_of(table, Open(), method="engine")
