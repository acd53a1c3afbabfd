"""Tests of linkage against counts by hand and by brute force."""

import numpy as np
import polars as pl
import pytest

import incrowd as ic
from attack.worlds import drawn, scene, starred
from incrowd.attacks.findings import Findings


def attacked(*arguments, **options) -> Findings:
    """Attack by linkage only."""
    return ic.attack(*arguments, attacks="linkage", **options)


def test_marketer_is_classes_by_rows():
    """Tests it on a release of random people."""
    frame = drawn(200, 1)
    release = ic.anonymize(frame, k=4, sensitive="s")
    found = attacked(release)["marketer"]
    classes = release.data.select("a", "b", "c", "d").n_unique()
    assert found.outcome.attack.rate == pytest.approx(classes / 200)
    assert found.risk == pytest.approx((classes / 200 - 1 / 200) / (1 - 1 / 200))
    assert found.low < found.risk < found.high


def test_by_hand():
    """Tests all four on six people in three classes, one of them above all."""
    frame = pl.DataFrame({"a": list("xxyyxy"), "b": list("112212")})
    release = starred(frame, {4: "ab", 5: "ab"})
    found = attacked(release, frame, k=2)
    # x1 fits its own two rows and the starred two, as y2 does: six people, four rows each
    assert found["prosecutor"].outcome.attack.rate == pytest.approx(1 / 4)
    # registers: three people fit x1, three y2, all six the stars
    assert found["journalist"].outcome.attack.rate == pytest.approx((4 / 3 + 2 / 6) / 6)
    assert found["marketer"].outcome.attack.success == pytest.approx(3)
    # all take the class without stars; two of the six stand elsewhere
    assert found["cheapest-class"].outcome.attack.rate == pytest.approx(4 / 6 / 2)
    assert found["cheapest-class"].outcome.more["own_among_cheapest"] == pytest.approx(4 / 6)


def test_against_brute_force():
    """Tests the classes that fit, and the cheapest, on people in and out of a release."""
    frame, others = drawn(150, 2), drawn(90, 3)
    names = ["a", "b", "c", "d"]
    release = ic.anonymize(frame, k=5, sensitive="s").data
    found = scene(release, frame, others, sensitive="s", k=5)
    labels = sorted({*release.select(names).rows()})
    sizes = {label: release.select(names).rows().count(label) for label in labels}
    for people, fits in ((frame, found.fits), (others, found.fits_of_others)):
        for i, person in enumerate(people.select(names).rows()):
            above = [
                x for x in labels if all(a in (b, "*") for a, b in zip(x, person, strict=True))
            ]
            assert fits.counts[i] == len(above)
            assert fits.rows(found.seen.sizes)[i] == sum(sizes[x] for x in above)
            stars = sorted((x.count("*"), -sizes[x]) for x in above)
            cost = fits.cost[fits.person == i]
            if above:
                assert cost[0] == stars[0][0] == cost.min()
                assert found.seen.sizes[fits.cheapest[i]] == -stars[0][1]
                assert (fits.least[fits.person == i] == (cost == cost.min())).all()
            else:
                assert fits.cheapest[i] == -1


def test_hierarchies():
    """Tests that classes of groups fit those in the groups, and their costs count levels."""
    frame = pl.DataFrame({"age": ["31", "33", "38", "52", "57"], "b": ["1"] * 5})
    release = pl.DataFrame({"age": ["30-34", "30-34", "30-39", "50-59", "50-59"], "b": ["1"] * 5})
    options = {"hierarchies": {"age": "interval:5,10"}}
    found = scene(release, frame, k=1, **options)
    assert found.fits.counts.tolist() == [2, 2, 1, 1, 1]
    assert (found.fits.cheapest == found.members.place).all()
    assert found.seen.hidden[:, 0].tolist() == [True, True, True]
    assert not found.seen.hidden[:, 1].any()


def test_an_order_that_nobody_knows():
    """Tests that rows are matched where they are shuffled, and that a proof settles it."""
    frame = drawn(120, 4)
    release = ic.anonymize(frame, k=3, sensitive="s").data
    kept = attacked(release, frame, sensitive="s", k=3)
    mixed = attacked(release.sample(fraction=1, shuffle=True, seed=1), frame, sensitive="s", k=3)
    assert not kept.notes
    assert "shuffled" in mixed.notes[0]
    assert mixed["cheapest-class"].approximate
    assert not mixed["prosecutor"].approximate
    one, two = (found["prosecutor"].outcome.attack.success for found in (kept, mixed))
    assert one == pytest.approx(two)


def test_shuffled_release_knows_its_order():
    """Tests that a Release attacked as a value is attacked by its true order."""
    frame = drawn(120, 5)
    kept, mixed = (ic.anonymize(frame, k=3, sensitive="s", order=o) for o in ("keep", "shuffle"))
    one, two = (attacked(release)["cheapest-class"] for release in (kept, mixed))
    assert not two.approximate
    first, second = one.outcome.attack, two.outcome.attack
    assert first.tries == second.tries
    # sums of shares, of rows in another order in each run: their last digits differ
    assert first.success == pytest.approx(second.success)
    assert np.isclose(one.risk, two.risk)
