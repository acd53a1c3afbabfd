"""Tests of de Finetti's attack on tables whose answer is known."""

import numpy as np
import polars as pl

from attack.worlds import drawn, scene, swapped
from incrowd.attacks.definetti import de_finetti, dealt
from incrowd.attacks.rates import residual


def grouped(frame: pl.DataFrame, size: int) -> pl.DataFrame:
    """A release whose classes are runs of rows, told apart by a number published beside stars."""
    number = pl.Series([str(i // size) for i in range(frame.height)])
    return frame.with_columns(a=pl.lit("*"), c=number)


def planted(rows: int, seed: int) -> pl.DataFrame:
    """People whose secret is that of their a, in groups c of four that hold both secrets."""
    rng = np.random.default_rng(seed)
    a = np.array([rng.permutation([0, 0, 1, 1]) for _ in range(rows // 4)]).ravel()
    lines = {"a": [f"{x}{i % 3}" for i, x in enumerate(a)], "s": [f"v{x}" for x in a]}
    return pl.DataFrame(lines).with_columns(c=pl.Series([str(i // 4) for i in range(rows)]))


def test_bags_are_kept():
    """Tests that a person's probabilities sum to 1 and a class's to its bag."""
    frame = planted(80, 1)
    found = scene(grouped(frame, 4), frame, planted(80, 2), sensitive="s", k=4)
    place = found.members.place
    order = np.argsort(place, kind="stable")
    shares, _ = dealt(found, 0, order, place[order])
    assert np.allclose(shares.sum(axis=1), 1)
    sums = np.add.reduceat(shares, np.arange(0, 80, 4))
    assert np.allclose(sums, found.seen.secrets[0].counts, atol=0.05)


def test_classes_are_dealt_out_by_what_others_teach():
    """Tests that half of each class says nothing, and all classes together little more."""
    frame = planted(400, 1)
    values = frame["s"].to_list()
    for i in range(0, 400, 8):  # in every other class all bear one value: these teach
        values[i : i + 4] = [f"v{i // 8 % 2}"] * 4
    frame = frame.with_columns(s=pl.Series(values))
    a = [f"{v[1:]}{i % 3}" for i, v in enumerate(values)]
    frame = frame.with_columns(a=pl.Series(a))
    found = scene(grouped(frame, 4), frame, planted(400, 2), sensitive="s", k=4)
    outcome = de_finetti(found, 0, np.random.default_rng(1))
    assert outcome.attack.rate > 0.99
    assert outcome.more["by_lot"] < 0.8
    assert outcome.more["sure_right"] == outcome.more["sure"] > 390


def test_an_independent_column():
    """Tests that nothing is learnt where quasi-identifiers tell nothing."""
    frame, others = drawn(2_000, 1, (2, 3)), drawn(2_000, 2, (2, 3))
    found = scene(frame, frame, others, sensitive="s", k=200)
    outcome = de_finetti(found, 0, np.random.default_rng(1))
    risk, low, _ = residual(outcome.attack, outcome.control)
    assert abs(risk) < 0.05
    assert low <= 0.03


def test_people_and_controls_permuted():
    """Tests that the model learnt from classes is no better on people dealt in by chance."""
    frame, others = drawn(400, 3), drawn(400, 4)
    found = scene(frame, frame, others, sensitive="s", k=1)
    outcomes = []
    for seed in range(20):
        mixed = swapped(found, seed)
        model = dealt(mixed, 0, np.arange(400), np.zeros(400, np.int64))[1]
        guess = [model.of(p.codes).argmax(axis=1) == p.secrets[:, 0] for p in
                 (mixed.members, mixed.strangers)]  # fmt: skip
        outcomes.append(guess[0].mean() - guess[1].mean())
    assert abs(np.mean(outcomes)) < 0.02
