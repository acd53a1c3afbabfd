"""Costs, bounds and gaps as floats and as text: no bound reads as more than it is."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incrowd.checker import published
from incrowd.cli.proven import hundredths
from incrowd.frontiers.points import Point
from incrowd.proof.statement import statement
from incrowd.run.stop import Stop
from incrowd.text.units import gap_of, in_units, shown, shown_gap, shown_share

units = st.integers(0, 2**62) | st.integers(0, 2000)
scales = st.integers(1, 2**40) | st.integers(1, 120) | st.just(10**6)


@st.composite
def points(draw: st.DrawFn) -> Point:
    """A cost, a bound on it, the worst cost and a scale."""
    bound, cost, worst = sorted(draw(st.tuples(units, units, units)))
    facts = {"k": 2, "method": "", "classes": 0, "smallest_class": 0, "scale": draw(scales)}
    return Point(cost_units=cost, bound_units=bound, worst_units=worst, **facts)


def read(text: str) -> Fraction:
    """A number as people read it: in text, JSON or a frame."""
    percent = text.endswith("%")
    number = Fraction(text.removesuffix("%").replace(",", ""))
    return number / 100 if percent else number


@given(points())
def test_no_bound_is_more_than_it_is(point: Point) -> None:
    """Tests all that is made of a bound: floats, texts, shares, gaps; those of the checker too."""
    cost, bound, worst, scale = (
        *(point.cost_units, point.bound_units, point.worst_units, point.scale),
    )
    for told in (repr(point.lower_bound), shown(point.lower_bound), hundredths(bound, scale)):
        assert 0 <= read(told) <= Fraction(bound, scale)
    if worst:
        share = Fraction(bound, worst)
        for told in (repr(point.bound_fraction), shown_share(point.bound_fraction)):
            assert 0 <= read(told) <= share
    if cost:
        gap = 1 - Fraction(bound, cost)
        for told in (repr(point.gap), shown_gap(point.gap), repr(published.gap_of(cost, bound))):
            assert gap <= read(told) <= 1
        assert point.gap == published.gap_of(cost, bound) == gap_of(cost, bound)


@given(points())
def test_little_is_lost(point: Point) -> None:
    """Tests that floats are nearest but for one step, and texts cut no more than they have to."""
    bound = Fraction(point.bound_units, point.scale)
    assert point.lower_bound == pytest.approx(float(bound), rel=1e-15)
    assert float(bound) - read(shown(point.lower_bound)) < Fraction(1, 100) + bound / 10**15
    assert read(shown_gap(point.gap)) - Fraction(point.gap) < Fraction(1, 9_999)
    if point.bound_units == point.cost_units:
        assert point.lower_bound == point.cost
        assert point.gap == 0


@given(points(), st.floats(0, 1), st.integers(0, 100))
def test_a_search_ends_at_the_gap_that_is_asked_for(
    point: Point, asked: float, percent: int
) -> None:
    """Tests that it ends with no larger gap, neither exactly nor as told, and with any other."""
    cost, bound = point.cost_units, point.bound_units
    for gap in (asked, percent / 100):
        within = cost == 0 or 1 - Fraction(bound, cost) <= Fraction(repr(gap))
        assert Stop(gap=gap).satisfied(cost, bound) == within
        assert not within or point.gap <= gap


@pytest.mark.parametrize(
    ("number", "scale", "text"),
    [
        (1234, 1, "1,234"),
        (171, 10, "17.10"),
        (351, 20, "17.55"),
        (7_999_999, 10**6, "7.99"),
        (5, 3, "1.66"),
        (1, 1000, "0.00"),
        (123456789, 100, "1,234,567.89"),
    ],
)
def test_costs_are_cut(number: int, scale: int, text: str) -> None:
    """Tests that decimals stay what they are, and others lose what is behind two of them."""
    assert shown(in_units(number, scale)) == text
    assert repr(in_units(171, 10)) == "17.1"
    assert (shown_gap(1 / 18), shown_gap(0.0), shown_gap(1e-9)) == ("5.56%", "0.00%", "0.01%")


def test_the_statement_tells_no_smaller_gap(tmp_path) -> None:
    """Tests the gap of a statement: 1/3 is more than the nearest float's decimal."""
    proof = tmp_path / "proof"
    proof.write_bytes(b"")
    facts = {
        "incrowd": "0",
        "release": {"sha256": "0"},
        "original": {"sha256": "0"},
        "salt": "00",
        "roles": {"qi": []},
        "models": [],
        "hierarchies": {},
        "suppressed_rows": 0,
        "scale": 7,
        "cost": 3,
        "bound": 2,
    }
    assert Fraction(repr(statement(facts, proof)["gap"])) >= Fraction(1, 3)
