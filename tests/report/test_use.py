"""What the internal report says of means, variances, regressions and histograms."""

import itertools
import random
from functools import cache

import numpy as np
import polars as pl
import pytest

import incrowd as ic
from dial import few
from incrowd.report.distribution import compared
from incrowd.report.make import external_report, internal_report
from incrowd.report.use import (
    Histogram,
    Line,
    ends_told,
    lines_of,
    numbers_of,
    unchanged,
    variance_bounds,
)

pytestmark = pytest.mark.usefixtures("undrawn")


def people(rows=60):
    """Two numbers that go together, with some missing and a word that stands for that."""
    rng = random.Random(1)
    age = [str(rng.randrange(20, 70)) for _ in range(rows)]
    pay = [str(int(a) * 40 + rng.randrange(900)) for a in age]
    return pl.DataFrame({"age": [None, None, None, *age], "pay": ["NA", "NA", "NA", *pay]})


@cache
def released(**rules):
    """A release with these hierarchies, each made once; no test changes it."""
    return ic.anonymize(people(), 3, hierarchies=rules, na={"pay": ["NA"]}, seed=1, gap=0.9)


@pytest.mark.parametrize("seed", range(few(6, 3)))
def test_variance_bounds(seed):
    """Tests against all corners and a grid that the bounds hold, and that the least one is met."""
    rng = random.Random(seed)
    low = [rng.randrange(10) for _ in range(5)]
    high = [x + rng.randrange(5) for x in low]
    least, most = variance_bounds(np.array(low, float), np.array(high, float))
    corners = max(np.var(x, ddof=1) for x in itertools.product(*zip(low, high, strict=True)))
    grid = (np.linspace(a, b, 5) for a, b in zip(low, high, strict=True))
    inside = min(np.var(x, ddof=1) for x in itertools.product(*grid))
    assert corners <= most + 1e-9 and least <= inside + 1e-9
    centre = min(np.linspace(0, 15, 1501), key=lambda c: np.clip(c, low, high).var())
    assert least == pytest.approx(np.clip(centre, low, high).var(ddof=1), abs=1e-2)


@pytest.mark.parametrize(
    "rule",
    [
        *("range", "range:round=5", "range:most=8", "interval:5,10,20", "interval:2.5,7.5"),
        *("bands:20,30,45,60+", "round:5,10", "codes:<25,60+"),
    ],
)
def test_intervals_hold_the_original(rule):
    """Tests that each original number lies between its ends, and each figure between its bounds."""
    columns = numbers_of(released(age=rule, pay="range"))
    assert set(columns) == {"age", "pay"}
    for c in columns.values():
        assert len(c.rows) == 60 and not c.averages
        assert (c.low <= c.before).all() and (c.before <= c.high).all() and (c.low < c.high).any()
        least, most = variance_bounds(c.low, c.high)
        assert all(least <= np.var(x, ddof=1) <= most for x in (c.before, c.middle))
        found = Histogram.of(c)
        assert found.before.sum() == found.middle.sum() == 60
        assert (found.sure <= found.before).all() and (found.before <= found.most).all()
        assert (found.sure <= found.middle).all() and (found.middle <= found.most).all()


def test_averages_keep_means():
    """Tests the mean of averages published finely, and that they are less spread."""
    columns = numbers_of(released(age="mean:digits=6", pay="mean:digits=6"))
    for c in columns.values():
        assert c.averages and c.middle.mean() == pytest.approx(c.before.mean(), abs=1e-5)
        assert c.middle.var() < c.before.var()


def both(release, name):
    """A column before and after."""
    return release.source.encode(name), release.table.encode(name)


@pytest.mark.parametrize("rule", ["mean", "median:digits=2"])
def test_averages_are_counted_as_numbers(rule):
    """Tests that bins and bars of averages hold all rows, and that none is called more general."""
    release = released(age=rule, pay=rule)
    before, after = both(release, "age")
    assert {*after.values} - {*before.values} and len(before.values) > 20
    bars = compared(before, after, "*", release.trees[0])
    assert "more general" not in {bar.label for bar in bars}
    assert sum(bar.after for bar in bars) == release.rows == sum(bar.before for bar in bars)
    page = internal_report(release)
    assert "more general" not in page and "other general values" not in page


def test_few_averages_are_not_called_general():
    """Tests a column of few values: averages are no general values."""
    table = pl.DataFrame({"q": [1, 3, 11, 13, 21, 23, 31, 33, 41, 43, 51, 53]})
    release = ic.anonymize(table, 2, hierarchies={"q": "mean"}, seed=1)
    bars = compared(*both(release, "q"), "*", release.trees[0])
    assert "other values" in {bar.label for bar in bars}
    assert "general" not in "".join(str(bar.label) for bar in bars)


def test_averages_have_no_ends():
    """Tests that two averaged columns get a line before and one after, and no bounds."""
    ((_, _, fits),) = lines_of(numbers_of(released(age="mean", pay="median")))
    assert None not in fits[:2] and fits[2:] == [None, None]
    ((_, _, fits),) = lines_of(numbers_of(released(age="range", pay="range")))
    assert None not in fits


def test_lines():
    """Tests a line against numpy's, and that a column of one value has none."""
    x, y = np.array([1.0, 2, 4, 7]), np.array([2.0, 1, 5, 9])
    found = Line.through(x, y)
    assert found is not None and found.slope == pytest.approx(np.polyfit(x, y, 1)[0])
    assert found.share == pytest.approx(np.corrcoef(x, y)[0, 1] ** 2)
    assert Line.through(x, np.ones(4)) is None


@pytest.mark.parametrize("rule", ["range", "mean"])
def test_the_internal_report_alone_has_it(rule):
    """Tests that the section, which knows the original, is in no page for the public."""
    release = released(age=rule, pay=rule)
    page = internal_report(release)
    assert 'id="use"' in page and "Means, before and after" in page and "pay" in page
    assert "all at the low ends" in page
    assert 'id="use"' not in external_report(release)
    assert 'id="use"' not in internal_report(released(age="none", pay="prefix:1"))


def test_labels_tell_their_ends():
    """Tests each form that rules write, with a decimal comma too; others are no intervals."""
    texts = ["30-39", "-5--1", "35±2.5", "80+", "<18", "[1.5,2.0)", "7", "3*", None]
    low, high = ends_told(texts, ".")
    nan = np.nan
    np.testing.assert_equal(low, [30, -5, 32.5, 80, nan, 1.5, 7, nan, nan])
    np.testing.assert_equal(high, [39, -1, 37.5, nan, 18, 2, 7, nan, nan])
    low, high = ends_told(["[1,5;2,0)", "35±2,5", "7,5"], ",")
    assert (*low, *high) == (1.5, 32.5, 7.5, 2, 37.5, 7.5)


def test_regressions_on_columns_published_as_they_are():
    """Tests a line of a kept number on a range; codes, texts and pairs of kept ones have none."""
    data = people().with_columns(
        hours=pl.int_range(63), zip=pl.int_range(63) + 91000, word=pl.lit("x"), bonus=pl.lit(2.5)
    )
    keep = ["hours", "zip", "word", "bonus"]
    release = ic.anonymize(data, 3, keep=keep, hierarchies={"age": "interval:10"}, na=["NA"])
    found = lines_of(numbers_of(release), unchanged(release))
    assert [(x, y) for x, y, _ in found] == [("age", "hours"), ("age", "bonus")]
    hours = np.arange(3, 63)
    age = data["age"][3:].cast(float).to_numpy()
    (_, _, fits), (_, _, none) = found
    assert fits[0].slope == pytest.approx(np.polyfit(age, hours, 1)[0])
    assert fits[1].slope == pytest.approx(
        np.polyfit(numbers_of(release)["age"].middle, hours, 1)[0]
    )
    assert none == [None] * 4


@pytest.mark.parametrize("rule", ["range", "mean"])
def test_marks_of_missing_values_are_no_numbers(rule):
    """Tests that -99, declared as missing, enters no mean, no bin and no histogram as a number."""
    data = people().select(age=pl.col("age").fill_null("-99"))
    release = ic.anonymize(data, 3, hierarchies={"age": rule}, na=["-99"], seed=1)
    known = [int(age) for age in data["age"] if age != "-99"]
    found = numbers_of(release)["age"]
    assert sorted(found.before) == sorted(known)
    assert found.low.min() >= min(known)
    for text in (internal_report(release), external_report(release)):
        assert "-100" not in text and "-80" not in text
    bars = compared(*both(release, "age"), "*", release.trees[0], ["-99"])
    shown = {bar.label: bar for bar in bars}
    assert shown["-99"].before == 3 and shown["-99"].after in (0, 3)
    assert sum(bar.before or 0 for bar in bars) == 63 == sum(bar.after for bar in bars)


def test_numbers_of_deleted_rows_alone_end_no_report():
    """Tests that a value that only deleted rows had is in no bar, and that the report is made."""
    ages = [str(20 + i // 4) for i in range(60)]
    data = pl.DataFrame({"age": [*ages, "95"], "sex": ["f", "m"] * 30 + ["x"]})
    release = ic.anonymize(
        data, 4, hierarchies={"age": "interval:5,10"}, delete_rows="price=1,most=1"
    )
    assert len(release.data) == 60
    tree = next(tree for tree in release.trees if tree.column == "age")
    bars = compared(*both(release, "age"), "*", tree)
    assert sum(bar.before or 0 for bar in bars) == 60 == sum(bar.after for bar in bars)
    assert "before are those of the rows that stayed" in internal_report(release)
    assert "rows that stayed" not in external_report(release)
