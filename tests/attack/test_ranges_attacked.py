"""Attacks on releases with ranges: fits against counts by hand, and all of them run."""

from fractions import Fraction

import numpy as np
import polars as pl
import pytest

import incrowd as ic
from attack.worlds import scene
from incrowd.attacks.catalog import ATTACKS
from incrowd.attacks.downcoding import around
from incrowd.attacks.minimality import splits
from incrowd.hierarchy.costs import RULES
from incrowd.hierarchy.labels import ends
from incrowd.hierarchy.ranges import Ranges


def people(rows: int, seed: int) -> pl.DataFrame:
    """People with an age, a town and a secret."""
    rng = np.random.default_rng(seed)
    return pl.DataFrame(
        {
            "age": rng.integers(20, 60, rows).astype(str),
            "town": rng.choice(list("xyz"), rows),
            "s": rng.choice(list("uvw"), rows),
        }
    )


ASKED = {"k": 3, "sensitive": "s", "hierarchies": {"age": "range:round=5,most=30"}}


def test_who_fits_which_class_and_at_what_cost() -> None:
    """Tests fits, their costs and hidden cells against the texts of the release."""
    table, others = people(60, 1), people(40, 2)
    release = ic.anonymize(table, order="keep", **ASKED)
    found = scene(release.data, table, others, **ASKED)
    family = found.seen.trees[0]
    labels = release.data.select("age", "town").unique()
    assert len(labels) == len(found.seen.sizes)
    places = [float(value) for value in table["age"]] + [float(value) for value in others["age"]]
    widest = Fraction(-(-max(map(int, places)) // 5) * 5 - min(map(int, places)) // 5 * 5)
    fits = found.fits_of_others
    for person, (age, town, _) in enumerate(others.rows()):
        expected = []
        for shown, place in labels.rows():
            low, dash, high = shown.partition("-")
            inside = shown == "*" or (int(low) <= int(age) <= int(high) if dash else shown == age)
            if inside and place in ("*", town):
                cost = Fraction(int(high) - int(low)) / widest if dash else Fraction(shown == "*")
                expected.append(float(cost + (place == "*")))
        mine = fits.person == person
        assert sorted(fits.cost[mine] / family.dearest) == pytest.approx(sorted(expected), abs=1e-5)
    hidden = {(a, b) for a, b in labels.rows() if "-" in a or a == "*"}
    assert found.seen.hidden[:, 0].sum() >= len(hidden) - 1  # a range may hold one value alone


def test_a_member_stands_in_a_class_that_fits() -> None:
    """Tests, in order and shuffled, that the class found for each member is one of those."""
    table = people(60, 3)
    release = ic.anonymize(table, order="keep", **ASKED)
    for data in (release.data, release.data.sample(fraction=1, shuffle=True, seed=1)):
        found = scene(data, table, **ASKED)
        assert found.members.place is not None
        pairs = set(zip(found.fits.person.tolist(), found.fits.place.tolist(), strict=True))
        assert all(pair in pairs for pair in enumerate(found.members.place.tolist()))


def test_all_attacks_are_made() -> None:
    """Tests that each attack that needs no second release ends with a rate."""
    table, others = people(90, 4), people(60, 5)
    release = ic.anonymize(table, order="keep", **ASKED)
    asked = {name: value for name, value in ASKED.items() if name != "k"}
    both = pl.concat([table, others])
    found = ic.attack(release.data, original=table, people=others, register=both, k=3, **asked)
    right = found["register"].outcome.attack.success
    assert right == pytest.approx(found["journalist"].outcome.attack.success)
    made = {each["name"] for each in found.record()["attacks"]}
    assert {attack.name for attack in ATTACKS if not attack.other} <= made
    assert all(0 <= each["rate"] <= 1 for each in found.record()["attacks"] if each["rate"])


def test_intervals_moved_by_lot_hold_their_value() -> None:
    """Tests that each has its length and its value, and that a missing value gets the star."""
    rng = np.random.default_rng(6)
    values = [str(v) for v in range(20)] + [None]
    family, _ = Ranges().family("age", values, RULES["level"])
    size = len(family.leaves)
    low = rng.integers(0, 10, 500)
    nodes = low * size + low + rng.integers(1, 10, 500)
    codes = rng.integers(0, size, 500)
    levels, moved = around(family, np.ones(500, np.int64), nodes, codes, rng)
    first, end = ends(family, levels, moved)
    missing = codes == size - 1
    assert (levels == np.where(missing, 2, 1)).all()
    before = np.subtract(*ends(family, np.ones(500, np.int64), nodes)[::-1])
    assert ((end - first)[~missing] == before[~missing]).all()
    assert ((first <= codes) & (codes < end)).all()
    assert (end[~missing] < size).all()


def test_splits_of_a_range_are_its_cuts() -> None:
    """Tests that a class with a range could be split at each value, k rows on both sides."""
    table = pl.DataFrame({"age": list("123456"), "town": ["x"] * 6, "s": list("uvuvuv")})
    shown = table.with_columns(age=pl.lit("1-6"))
    asked = {"k": 2, "sensitive": "s", "hierarchies": {"age": "range"}}
    found = scene(shown, table, **asked)
    parts = splits(found.seen, 0, found.members.codes)
    assert sorted(map(int, parts.sum(axis=1))) == [2, 3, 4]
