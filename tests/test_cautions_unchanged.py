"""Tests of what a release warns of columns that it publishes as they are."""

from collections import Counter
from math import log2

import numpy as np
import polars as pl
import pytest

import incrowd as ic
from dial import few
from incrowd.published.unchanged import given_back

ROWS = 240
RNG = np.random.default_rng(11)
YEARS = RNG.integers(1940, 2000, ROWS)
VISITS = pl.DataFrame(
    {
        "age": 2024 - YEARS - RNG.integers(0, 2, ROWS),
        "sex": RNG.choice(["f", "m"], ROWS),
        "ward": RNG.choice(["A", "B", "C"], ROWS),
        "ill": RNG.choice(["flu", "gout", "asthma"], ROWS),
    }
)
ASKED = {"k": 5, "sensitive": "ill", "hierarchies": {"age": "interval:10,20"}}


def by_hand(label, known, secret):
    """The share of bits, with loops over cells."""
    cells = list(zip(label, known, secret, strict=True))
    cells = [c for c in cells if any(c[0] == d[0] and c[2] != d[2] for d in cells)]
    secret = [c[2] for c in cells]
    before = after = 0.0
    for i, (shown, column, value) in enumerate(cells):
        others = [c for j, c in enumerate(cells) if j != i]
        often = Counter(secret)[value] / len(cells)
        same = [c for c in others if c[0] == shown]
        first = (sum(c[2] == value for c in same) + often) / (len(same) + 1)
        both = [c for c in same if c[1] == column]
        second = (sum(c[2] == value for c in both) + first) / (len(both) + 1)
        before, after = before - log2(first), after - log2(second)
    return max(0.0, 1 - after / before) if cells else 0.0


def test_the_share_is_that_of_a_loop_over_cells():
    for seed in range(few(30)):
        rng = np.random.default_rng(seed)
        label, known, secret = rng.integers(0, 4, (3, 40))
        if seed % 3:
            secret = (known + (rng.random(40) < seed / 60)) % 5
        share = given_back(label, known, secret)
        assert share == pytest.approx(by_hand(label.tolist(), known.tolist(), secret.tolist()))


def test_a_column_that_follows_tells_all_and_one_of_its_own_values_nothing():
    secret = np.arange(400) % 40
    nothing = np.zeros_like(secret)
    assert given_back(nothing, secret, secret) > 0.8
    assert given_back(nothing, np.arange(400), secret) == 0
    assert given_back(secret, secret, secret) == 0  # what is published tells it already
    assert given_back(nothing, secret, nothing) == 0


def test_a_kept_column_that_gives_hidden_cells_back_is_warned_of():
    """Tests the year of birth beside a hidden age; ward and illness tell nothing."""
    kept = VISITS.with_columns(born=pl.Series(YEARS))
    together, warning = ic.anonymize(kept, **ASKED, keep=["born", "ward"]).warnings
    assert warning.startswith("column 'born' is published unchanged, and gives back most of what")
    assert "'age' (" in warning and "'sex'" not in warning
    assert "in 'ward', 'born', 'ill', taken together" in together
    assert ic.anonymize(kept, **ASKED, keep="ward", id="born").warnings[1:] == ()
    assert ic.anonymize(VISITS, **ASKED, keep="ward").warnings == ()


@pytest.mark.parametrize("role", ["keep", "sensitive"])
def test_names_and_mails_that_are_published_are_warned_of(role):
    """Tests columns that name people by their name or by their values; no cell is quoted."""
    frame = VISITS.with_columns(
        surname=pl.Series(["Kowalski", "Berg"] * (ROWS // 2)),
        contact=pl.Series([f"p{i}@example.org" for i in range(ROWS)]),
    )
    asked = {**ASKED, role: ["surname", "contact", *(["ill"] if role == "sensitive" else [])]}
    found = ic.anonymize(frame, **asked, **({"keep": "ward"} if role != "keep" else {})).warnings
    told = [text for text in found if "may say who a person is" in text]
    assert [next(n for n in ("surname", "contact") if repr(n) in text) for text in told] == [
        "surname",
        "contact",
    ]
    assert "its name has the word 'surname'" in told[0] and "e-mail addresses" in told[1]
    assert not any("Kowalski" in text or "example.org" in text for text in found)


def test_kept_cells_that_hardly_anybody_shares_are_warned_of():
    """Tests weights to the gram and days of admission; columns of few values are not."""
    day = pl.Series([f"2024-{1 + i % 12:02}-{1 + i % 27:02}" for i in range(ROWS)])
    frame = VISITS.with_columns(admitted=day, grams=pl.Series(RNG.normal(7e4, 9e3, ROWS).round(1)))
    (warning,) = ic.anonymize(frame, **ASKED, keep=["admitted", "grams", "ward"]).warnings
    assert warning.startswith("most cells of 'admitted', 'grams' are shared by fewer than 5 rows")
    assert "('admitted': dates, which others often know)" in warning
    assert "2024-" not in warning


def test_a_few_rows_with_a_rare_sensitive_value_are_warned_of():
    """Tests two rows of one illness, and that a column in which most are rare is another thing."""
    rare = pl.Series(["Huntington"] * 2 + VISITS["ill"].to_list()[2:])
    (warning,) = ic.anonymize(VISITS.with_columns(ill=rare), **ASKED, keep="ward").warnings
    assert "fewer than 5 rows have: 'ill' 2 of 240" in warning and "Huntington" not in warning
    days = pl.Series([40, 50] + [i % 4 for i in range(ROWS - 2)])
    asked = {**ASKED, "sensitive": "days"}
    frame = VISITS.with_columns(days=days).drop("ill")
    assert ic.anonymize(frame, **asked, keep="ward").warnings == ()  # numbers have tails
    alone = VISITS.with_columns(ill=rare).drop("ward")  # its row tells no more than its class
    assert ic.anonymize(alone, **ASKED).warnings == ()
    many = VISITS.with_columns(ill=pl.Series([str(1000 + i / 7) for i in range(ROWS)]))
    assert not any("rare" in text for text in ic.anonymize(many, **ASKED, keep="ward").warnings)


def counted_by_hand(rows, k):
    """How many rows have fewer than k - 1 others like them, and how many none."""
    times = Counter(rows)
    return sum(times[row] < k for row in rows), sum(times[row] == 1 for row in rows)


MARKS = {f"mark{j}": RNG.integers(1, 6, ROWS) for j in range(8)}


@pytest.mark.parametrize("role", ["keep", "sensitive"])
def test_columns_that_find_rows_only_together_are_warned_of(role):
    """Tests marks of five values each, which no single column tells anybody by."""
    frame = VISITS.drop("ill").with_columns(**MARKS)
    marks = frame.select(*MARKS).rows()
    found = ic.anonymize(frame, k=5, **{role: list(MARKS)})
    (warning,) = found.warnings
    few, single = counted_by_hand(marks, 5)
    assert few > 200 and f"{few} of 240 rows agree with fewer than 4 others" in warning
    assert f"'mark7', taken together ({single} of them with none)" in warning
    measured = ic.measure(found.data, qi=found.roles.qi, sensitive=list(MARKS)).warnings
    assert (warning in measured) == (found.smallest_class == 5)
    pair = ic.anonymize(frame, k=2, **{role: list(MARKS)}).warnings
    few, _ = counted_by_hand(marks, 2)
    assert any(f"{few} of 240 rows agree with no other row in" in text for text in pair)


def test_few_columns_of_few_values_are_not_warned_of_together():
    frame = VISITS.with_columns(**MARKS).select("age", "sex", "ill", "mark1")
    assert ic.anonymize(frame, **ASKED, keep="mark1").warnings == ()
    assert not any("together" in text for text in ic.measure(frame, ["age"], ["ill"]).warnings)


def test_a_number_is_not_judged_together_with_one_kept_column():
    """Tests a nearly continuous sensitive column: whoever knows it learns the ward alone."""
    income = pl.Series(RNG.normal(3e3, 900, ROWS).round(2))
    frame = VISITS.with_columns(ill=income)
    assert ic.anonymize(frame, **ASKED, keep="ward").warnings == ()
    both = ic.anonymize(frame, k=5, sensitive=["ill", "ward"]).warnings
    assert any("in 'ward', 'ill', taken together" in text for text in both)


def test_several_columns_left_out_that_repeat_are_one_warning():
    frame = VISITS.with_columns(
        a=pl.Series([i // 80 for i in range(ROWS)]), b=pl.Series([i // 60 for i in range(ROWS)])
    )
    found = ic.anonymize(frame, **ASKED, keep="ward", id=["a", "b"]).warnings
    (warning,) = [text for text in found if "rows of one class share" in text]
    assert "different ones: " in warning and " of 'a', " in warning and " of 'b'. " in warning
    assert warning.count("Rows are counted") == 1 and "--person counts people" in warning


def test_large_tables_are_judged_by_names_alone(monkeypatch):
    """Tests that no column is read then: of one whose cells say who, nothing is known."""
    monkeypatch.setattr("incrowd.published.unchanged.MOST_ROWS", ROWS - 1)
    frame = VISITS.with_columns(
        surname=pl.Series(["Berg"] * ROWS), born=pl.Series(YEARS), n=pl.Series(range(ROWS))
    )
    (warning,) = ic.anonymize(frame, **ASKED, keep=["surname", "born", "n", "ward"]).warnings
    assert warning.startswith("column 'surname' is published unchanged")


def test_rows_of_one_person_in_a_combination_are_warned_of():
    """Tests k of a combination, beside which that of whole rows is 1."""
    asked = {"sensitive": "ill", "hierarchies": ASKED["hierarchies"], "keep": "ward"}
    frame = VISITS.with_columns(pid=pl.Series([i // 40 for i in range(ROWS)]))
    (warning,) = ic.anonymize(frame, protect=["age,sex:5"], id="pid", **asked).warnings
    assert "rows of one class share values of 'pid'" in warning
    assert warning.endswith("A class is here rows that are alike in age, sex")
    own = frame.with_columns(pid=pl.Series(range(ROWS)))
    assert ic.anonymize(own, protect=["age,sex:5"], id="pid", **asked).warnings == ()
    rare = own.with_columns(ill=pl.Series(["Huntington"] * 2 + VISITS["ill"].to_list()[2:]))
    (warning,) = ic.anonymize(rare, protect=["age,sex:5"], id="pid", **asked).warnings
    assert "fewer than 5 rows have: 'ill' 2 of 240" in warning
