"""Tests that order, index, filters, types and missing values of a frame cannot mislead.

pyCANON, the best known measuring library in Python, gives wrong figures on several of these; each
such case says what goes wrong there.
"""

from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pytest

from incrowd.measures import measure


def sample(rows: int = 200, seed: int = 3) -> pd.DataFrame:
    """A small random table."""
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "q": rng.integers(0, 8, rows),
            "r": rng.choice(["x", "y", "z"], rows),
            "s": rng.choice(["a", "b", "c", "d"], rows, p=[0.5, 0.3, 0.15, 0.05]),
        }
    )


def figures(frame: object) -> dict:
    """All figures of a frame."""
    return measure(frame, ["q", "r"], "s", subsets=2).record()


@pytest.mark.parametrize("seed", range(5))
def test_shuffled(seed: int) -> None:
    """Tests that shuffling changes nothing, with the index kept.

    pyCANON looks rows up by position among index labels: its l is wrong on shuffled frames.
    """
    frame = sample(seed=seed)
    assert figures(frame.sample(frac=1, random_state=seed)) == figures(frame)


def test_filtered() -> None:
    """Tests that rows filtered away do not count, whatever labels the index keeps.

    pyCANON takes the index labels that are left for positions.
    """
    frame = sample()
    kept = frame[frame["q"] > 3]
    assert figures(kept) == figures(pl.from_pandas(kept.reset_index(drop=True)))
    assert measure(kept, ["q", "r"]).rows == len(kept)


def test_duplicate_index() -> None:
    """Tests that rows with one index label stay different rows."""
    frame = sample()
    expected = figures(frame)
    frame.index = [0] * len(frame)
    assert figures(frame) == expected


def test_missing_is_a_value() -> None:
    """Tests that a lone row with a missing quasi-identifier is found.

    pyCANON's grouping leaves rows with a missing quasi-identifier out: the lone row is hidden and
    the table passes for 2-anonymous.
    """
    frame = pd.DataFrame({"q": ["x", "x", None], "s": ["a", "b", "a"]})
    found = measure(frame, "q", "s")
    assert (found.k, found.unique_rows, found.classes) == (1, 1, 2)
    assert found.columns[0].missing == 1
    assert found.sensitive[0].distinct_l == 1


@pytest.mark.parametrize("missing", [None, np.nan, pd.NA])
def test_missing_sensitive_value_counts(missing: object) -> None:
    """Tests that missing sensitive values are one value, not none."""
    frame = pd.DataFrame(
        {"q": ["x"] * 4, "s": pd.Series(["a", "a", missing, missing], dtype=object)}
    )
    (found,) = measure(frame, "q", "s").sensitive
    assert (found.distinct_l, found.values, found.missing) == (2, 2, 2)
    assert found.frequency_l == 2


def test_star_is_a_value() -> None:
    """Tests that a suppressed cell agrees with suppressed cells alone: no row may hide by stars.

    Under looser readings, where a star matches anything, the lone x would count as hidden.
    """
    frame = pl.DataFrame({"q": ["x", "*", "*"]})
    found = measure(frame, "q")
    assert (found.k, found.stars, found.unique_rows) == (1, 2, 1)
    assert measure(frame, "q", star="x").stars == 1


def test_types_and_text_agree() -> None:
    """Tests that a typed frame and the same table as text have the same classes."""
    typed = sample()
    text = typed.astype(str)
    assert figures(typed) == figures(text)
    floats = typed.assign(q=typed["q"].astype(float))
    assert figures(floats) == figures(typed)
    categories = typed.assign(r=typed["r"].astype("category"), s=typed["s"].astype("category"))
    assert figures(categories) == figures(typed)


def test_unused_categories_do_not_count() -> None:
    """Tests that categories which no row has are no values of the attribute."""
    series = pd.Series(["a", "b", "a", "b"], dtype=pd.CategoricalDtype(["a", "b", "c", "d"]))
    frame = pd.DataFrame({"q": ["x", "x", "y", "y"], "s": series})
    (found,) = measure(frame, "q", "s").sensitive
    assert (found.values, found.delta) == (2, 0)


def test_column_order_and_many_columns() -> None:
    """Tests that the order of quasi-identifiers does not matter, nor how many there are."""
    rng = np.random.default_rng(0)
    data = {f"c{j:02}": rng.integers(0, 1000, 300).astype(str) for j in range(12)}
    frame = pl.DataFrame(data)
    doubled = pl.concat([frame, frame]).sample(fraction=1, shuffle=True, seed=1)
    names = list(data)
    assert measure(doubled, names).histogram == {2: 300}
    assert measure(doubled, names[::-1]).histogram == {2: 300}


def test_t_is_a_fraction() -> None:
    """Tests that figures are exact where they are rational: one third is one third."""
    frame = pl.DataFrame({"q": ["x", "x", "x", "y", "y", "y"], "s": list("aabbba")})
    (found,) = measure(frame, "q", "s").sensitive
    assert found.t_equal == Fraction(1, 6)
    assert found.frequency_l == Fraction(3, 2)


@pytest.mark.parametrize("library", [pd, pl])
def test_a_sample_without_fractions_of_a_population_with_some(library: type) -> None:
    """Tests that 34.0 is one value in both, though a column of whole numbers alone reads 34."""
    sample = library.DataFrame({"q": [34.0, 34.0, 36.0]})
    everyone = library.DataFrame({"q": [34.0] * 4 + [36.0, 36.5, None]})
    risk = measure(sample, ["q"], population=everyone).record()["risk"]
    assert (risk["journalist_highest"], risk["uncovered_rows"]) == (1.0, 0)
    risk = measure(sample[:2], ["q"], population=everyone).record()["risk"]
    assert (risk["journalist_highest"], risk["uncovered_rows"]) == (0.25, 0)
