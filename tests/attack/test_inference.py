"""Tests of homogeneity, skewness and the best guess on tables whose answer is known."""

import polars as pl
import pytest

import incrowd as ic
from attack.worlds import drawn, scene, swapped
from incrowd.attacks import inference

FAMILY = (inference.homogeneity, inference.skewness, inference.inference)


def test_classes_that_all_say_the_same():
    """Tests that a secret which the quasi-identifiers fix is told of everybody, and no harm."""
    frame = pl.DataFrame({"a": list("xyz") * 10, "s": list("fgh") * 10})
    others = pl.DataFrame({"a": list("xyz") * 8, "s": list("fgh") * 8})
    found = ic.attack(frame, frame, others, sensitive="s", k=5, attacks="homogeneity")
    (one,) = found
    assert (one.outcome.attack.rate, one.outcome.control.rate) == (1, 1)
    assert one.outcome.more == {"homogeneous_rows": 30, "rows_of_two_values": 30}
    assert one.risk is None  # the control never fails


def test_planted_homogeneity():
    """Tests that values which only members bear are all found, and none of the others'."""
    frame = pl.DataFrame({"a": list("xyz") * 10, "s": list("fgh") * 10})
    others = pl.DataFrame({"a": list("xyz") * 8, "s": list("ghf") * 8})
    (one,) = ic.attack(frame, frame, others, sensitive="s", k=5, attacks="homogeneity")
    assert (one.outcome.attack.rate, one.outcome.control.rate, one.risk) == (1, 0, 1)
    assert one.low > 0.3  # three classes tell no more


def test_skewness_by_hand():
    """Tests that a value five times as common in a class is guessed there and nowhere else."""
    frame = pl.DataFrame(
        {"a": ["x"] * 4 + ["y"] * 36, "s": ["rare"] * 2 + ["b"] * 2 + ["b", "c"] * 18}
    )
    others = frame.with_columns(s=pl.lit("b"))
    (one,) = ic.attack(frame, frame, others, sensitive="s", k=4, attacks="skewness")
    assert one.outcome.more == {"skewed_rows": 4}
    assert (one.outcome.attack.success, one.outcome.attack.tries) == (2, 4)
    assert (one.outcome.control.success, one.outcome.control.tries) == (0, 4)


def test_an_independent_column():
    """Tests that large classes tell nothing of a column that depends on no other."""
    frame, others = drawn(3_000, 1, (2, 3)), drawn(3_000, 2, (2, 3))
    found = scene(frame, frame, others, sensitive="s", k=200)
    outcome = inference.inference(found, 0, None)
    risk, low, high = residual_of(outcome)
    assert abs(risk) < 0.05
    assert low <= 0.03
    assert high >= 0


def residual_of(outcome):
    """Risk and interval."""
    from incrowd.attacks.rates import residual

    return residual(outcome.attack, outcome.control)


@pytest.mark.parametrize("attack", FAMILY)
def test_people_and_controls_permuted(attack):
    """Tests that the risk is 0 within its interval when chance says who is in the table."""
    frame, others = (drawn(600, seed, secrets=12) for seed in (3, 4))
    release = ic.anonymize(frame, k=2, sensitive="s").data
    found = scene(release, frame, others, sensitive="s", k=2)
    held = 0
    for seed in range(60):
        outcome = attack(swapped(found, seed), 0, None)
        _, low, high = residual_of(outcome)
        assert outcome.attack.tries > 0
        held += (low is None or low <= 0) and high >= 0
    assert held >= 53
    if attack is inference.inference:  # and above it when it is true
        assert residual_of(attack(found, 0, None))[1] > 0
