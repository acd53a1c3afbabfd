"""Tests of minimality against all ways of dealing out, and where it must say nothing."""

from itertools import permutations

import numpy as np
import polars as pl
import pytest

import incrowd as ic
from attack.worlds import drawn, scene
from incrowd.attacks import minimality as attacked
from incrowd.attacks.rates import residual


def test_against_all_ways_of_dealing_out(monkeypatch: pytest.MonkeyPatch):
    """Tests the probabilities of a class in which two halves were not split."""
    monkeypatch.setattr(attacked, "DRAWS", 20_000)
    monkeypatch.setattr(attacked, "ENOUGH", 20_000)
    frame = pl.DataFrame({"a": list("xxyyyz"), "s": list("ffgghf")})
    release = frame.with_columns(a=pl.lit("*"))
    found = scene(release, frame, k=2, l=2, sensitive="s")
    worn = found.members.secrets[:, 0]
    counts = np.zeros((6, 3))
    for dealt in permutations(worn.tolist()):
        splits = ((0, 1), (2, 3, 4))  # of the two values that two rows bear at least
        split = any(
            len({dealt[i] for i in part}) > 1
            and len({dealt[i] for i in range(6) if i not in part}) > 1
            for part in splits
        )
        if not split:
            counts[np.arange(6), dealt] += 1
    exact = counts / counts.sum(axis=1, keepdims=True)
    ((members, shares),) = attacked.affected(found, 0, np.random.default_rng(1))
    assert members.tolist() == list(range(6))
    assert shares == pytest.approx(exact, abs=0.02)


def test_planted_splits():
    """Tests classes in which rows alike say one thing: knowing the method tells more."""
    classes = 40
    frame = pl.DataFrame(
        {
            "a": [f"{c}" for c in range(classes) for _ in range(8)],
            "b": ["x", "x", "x", "y", "z", "u", "v", "w"] * classes,
            "s": ["f", "f", "f", "g", "g", "g", "h", "h"] * classes,
        }
    )
    release = frame.with_columns(b=pl.lit("*"))
    found = scene(release, frame, k=3, l=2, sensitive="s")
    outcome = attacked.minimality(found, 0, np.random.default_rng(1))
    assert outcome.attack.tries == 8 * classes
    assert outcome.more["truth_after"] > outcome.more["truth_before"]
    assert outcome.attack.rate > outcome.control.rate


def test_a_grouping_that_looks_at_no_secret():
    """Tests that k-anonymity alone rules nothing out."""
    release = ic.anonymize(drawn(300, 1), k=3, sensitive="s", method="mondrian")
    (found,) = ic.attack(release, attacks="minimality")
    assert (found.outcome.attack.tries, found.risk) == (0, 0)


def test_secrets_permuted_within_classes():
    """Tests that the risk is 0 within its interval where the classes' people bear them by lot."""
    frame = drawn(200, 2)
    release = ic.anonymize(frame, k=4, l=2, sensitive="s", method="mondrian").data
    held = 0
    for seed in range(12):
        order = np.random.default_rng(seed).permutation(200)
        lot = (
            release.select("a", "b", "c", "d")
            .with_row_index("row")
            .with_columns(lot=pl.Series(order), s=frame["s"])
            .with_columns(s=pl.col("s").sort_by("lot").over("a", "b", "c", "d"))["s"]
        )
        mine, theirs = (table.with_columns(s=lot) for table in (frame, release))
        found = scene(theirs, mine, k=4, l=2, sensitive="s")
        outcome = attacked.minimality(found, 0, np.random.default_rng(seed))
        _, low, high = residual(outcome.attack, outcome.control)
        held += (low is None or low <= 0) and high >= 0
    assert held >= 10
