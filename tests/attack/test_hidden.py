"""Tests of attacks on hidden cells: downcoding against masks by lot, refinement by hand."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from attack.worlds import scene, starred
from dial import few
from incrowd.attacks.cells import Cells, hidden_cells, opened, swapped
from incrowd.attacks.downcoding import chances, downcoding, fit
from incrowd.attacks.reading import Tables, scene_of
from incrowd.attacks.refinement import refinement
from incrowd.policy import Policy
from incrowd.tables.files import open_table

NAMES = ["a", "b", "c", "d"]


def related(rows: int, seed: int) -> pl.DataFrame:
    """People whose columns go together."""
    rng = np.random.default_rng(seed)
    a = rng.integers(0, 4, rows)
    b = (a + rng.choice(4, rows, p=[0.7, 0.1, 0.1, 0.1])) % 4
    c = (a + 2 * b + rng.choice(6, rows, p=[0.5, 0.1, 0.1, 0.1, 0.1, 0.1])) % 6
    d = rng.integers(0, 5, rows)
    table = pl.DataFrame(dict(zip(NAMES, (a, b, c, d), strict=True)))
    return table.with_columns(pl.all().cast(pl.String))


def both(release: pl.DataFrame, frame: pl.DataFrame, shadow: pl.DataFrame, others: pl.DataFrame, k):
    """The scene of a release with a shadow."""
    policy = Policy(k=k)
    return scene_of(
        Tables(
            release=open_table(release), original=open_table(frame), people=open_table(others),
            policy=policy, roles=policy.roles(NAMES), shadow=open_table(shadow),
            rows=np.arange(frame.height),
        )
    )  # fmt: skip


def masked(frame: pl.DataFrame, seed: int) -> pl.DataFrame:
    """Stars where chance puts them."""
    rng = np.random.default_rng(seed)
    return frame.with_columns(
        pl.when(pl.Series(rng.random(frame.height) < 0.3)).then(pl.lit("*")).otherwise(name)
        .alias(name)
        for name in NAMES
    )  # fmt: skip


def test_null_masks():
    """Tests that nothing is gained where cells are hidden by coins, and that cells are guessed."""
    gains = []
    for seed in range(few(4, 2)):
        frame, others = related(500, 10 + seed), related(500, 30 + seed)
        found = both(masked(frame, 1), frame, masked(others, 2), others, 1)
        outcome = downcoding(found, 0, np.random.default_rng(seed))
        gains.append(outcome.more["bits"])
        assert outcome.more["bits_low"] < 0.05
        assert outcome.control.rate > 0.35  # one in four to six by lot
    assert np.mean(gains) <= 0.02


def test_planted_masks():
    """Tests that a method which hides some values only is found out by a release of others."""

    def hiding(frame: pl.DataFrame) -> pl.DataFrame:
        rare = pl.col("a").is_in(["2", "3"])
        return frame.with_columns(a=pl.when(rare).then(pl.lit("*")).otherwise("a"))

    frame, others = (
        related(800, seed).with_columns(
            b=pl.lit("x"), c=pl.lit("x"), d=pl.int_range(800).mod(90).cast(pl.String)
        )
        for seed in (3, 4)
    )
    found = both(hiding(frame), frame, hiding(others), others, 3)
    outcome = downcoding(found, 0, np.random.default_rng(1))
    assert outcome.more["bits_low"] > 0
    assert outcome.attack.tries == int((hiding(frame) == "*").sum().sum_horizontal()[0])


def test_cells_of_very_many_values_are_few(monkeypatch):
    """Tests that classes are taken by lot until there are too many candidates, one at least."""
    frame, others = related(300, 6), related(300, 7)
    found = both(masked(frame, 1), frame, masked(others, 2), others, 1)

    def looked_at() -> Cells:
        return hidden_cells(found.seen, found.members, 1_000, np.random.default_rng(2))

    every = looked_at()
    monkeypatch.setattr("incrowd.attacks.cells.CANDIDATES", 200)
    some = looked_at()
    assert 100 < len(some.entry) <= 200 < len(every.entry)
    known = {tuple(line) for line in np.hstack([every.levels, every.nodes]).tolist()}
    assert {tuple(line) for line in np.hstack([some.levels, some.nodes]).tolist()} <= known
    tries = downcoding(found, 0, np.random.default_rng(1)).attack.tries
    assert 0 < tries < every.rows.sum()
    monkeypatch.setattr("incrowd.attacks.cells.CANDIDATES", 1)
    assert len(looked_at().levels) == 1


def test_chances_sum_to_one_and_fit_what_was_drawn():
    """Tests the conditional logit on entries drawn from known weights."""
    rng = np.random.default_rng(5)
    entries, width, weights = 2_000, 4, np.array([1.0, -2.0])
    figures = rng.random((entries * width, 2))
    entry = np.repeat(np.arange(entries), width)
    nothing = np.zeros(entries, np.int64)
    bare = Cells((), np.zeros((entries, 0)), np.zeros((entries, 0)), np.arange(entries), nothing,
                 entry, np.tile(np.arange(width), entries), nothing)  # fmt: skip
    chance = chances(weights, bare, figures)
    assert np.allclose(bare.total(chance), 1)
    top = (rng.random((entries, 1)) > np.cumsum(chance.reshape(entries, width), 1)).sum(axis=1)
    truth = np.zeros((entries, width), np.int64)
    truth[np.arange(entries), np.minimum(top, width - 1)] = 1
    assert fit(replace(bare, truth=truth.ravel()), figures) == pytest.approx(weights, abs=0.3)


def test_candidates_by_hand():
    """Tests values, truth, and the classes that a value would have opened."""
    frame = pl.DataFrame({"a": list("xxyyzx"), "b": list("111112")})
    release = starred(frame, {3: "a", 4: "a", 5: "ab"})
    found = scene(release, frame, k=1)
    cells = hidden_cells(found.seen, found.members, 99, np.random.default_rng(1))
    label = [tuple(t.labels[v][n] for t, v, n in zip(cells.trees, a, b, strict=True))
             for a, b in zip(cells.levels, cells.nodes, strict=True)]  # fmt: skip
    told = {}
    sizes, beside = opened(cells, found.seen), swapped(cells, found.seen)
    for at, j, v, truth, size, side in zip(
        cells.at, cells.by, cells.value, cells.truth, sizes, beside, strict=True
    ):
        told[label[at], "ab"[j], cells.trees[j].leaves[v]] = truth, size, side
    assert told[("*", "1"), "a", "x"] == (0, 2, 0)
    assert told[("*", "1"), "a", "y"] == (1, 1, 0)
    assert told[("*", "1"), "a", "z"] == (1, 0, 0)
    assert told[("*", "*"), "b", "1"] == (0, 2, 0)
    assert told[("*", "*"), "b", "2"] == (1, 0, 0)
    assert len(told) == 3 + 3 + 2


def test_refinement_by_hand():
    """Tests that values with an open class are ruled out, in classes of more than k rows alone."""
    frame = pl.DataFrame({"a": list("xxxyyzzw"), "b": ["1"] * 8})
    release = starred(frame, {5: "a", 6: "a", 7: "a"})
    outcome = refinement(scene(release, frame, k=2), 0, np.random.default_rng(1))
    # of the published cells x: 3 of 5, y: 2 of 5; z and w are never seen: half a row each
    plain = (2 * 0.5 + 1 * 0.5) / (3.5 + 2.5 + 0.5 + 0.5) / 3
    knowing = (2 * 0.5 + 1 * 0.5) / (0.5 + 0.5) / 3
    assert outcome.control.rate == pytest.approx(plain)
    assert outcome.attack.rate == pytest.approx(knowing)
    assert outcome.more == {"told": 3, "wrongly_ruled_out": 0, "one_left": 0, "one_left_right": 0}
    same = refinement(scene(release, frame, k=3), 0, np.random.default_rng(1))
    assert same.attack == same.control
    assert same.more["told"] == 0


def test_refinement_of_a_release_that_is_not_minimal():
    """Tests that wrong deductions are counted: a row hidden for nothing."""
    frame = pl.DataFrame({"a": list("xxxxxyyy")})
    release = starred(frame, {3: "a", 4: "a", 5: "a", 6: "a", 7: "a"})
    outcome = refinement(scene(release, frame, k=2), 0, np.random.default_rng(1))
    assert outcome.more == {"told": 5, "wrongly_ruled_out": 2, "one_left": 5, "one_left_right": 3}
