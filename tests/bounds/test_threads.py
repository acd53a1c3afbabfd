"""Tests that bounds are the same, to the last bit, for any number of threads."""

import threading
from functools import partial
from typing import Any

import numpy as np
import pytest

from incrowd.bounds import ascent, prefix_tree, tree_parts
from incrowd.bounds.ascent import Ascent, Steps
from incrowd.bounds.lawful_tree import LawfulTree
from incrowd.bounds.prefix_tree import EMIT, MEASURE, PrefixTree, Slack
from incrowd.bounds.pricing import pricing_of
from incrowd.bounds.top_copies import LOOKS
from incrowd.bounds.tree_parts import (
    END,
    PAIRS_END,
    PIECE,
    ROOT,
    UNDER_WAY,
    WHO,
    Part,
    shared,
)
from incrowd.lattice.emission import Emission, new_sink
from incrowd.privacy.distinct_diversity import DistinctDiversity
from incrowd.privacy.k_anonymity import KAnonymity
from incrowd.privacy.t_closeness import TCloseness
from incrowd.problem.instance import Instance, from_codes
from incrowd.problem.problem import Problem
from incrowd.run.stop import Stop
from incrowd.run.threads import together, within_room
from incrowd.solvers.base import Context
from incrowd.solvers.engine import rounding
from incrowd.solvers.engine.engine import Engine

THREADS = (2, 3)


@pytest.fixture(autouse=True)
def _small_work_is_shared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prefix_tree, "WORTH_THREADS", 0)
    monkeypatch.setattr(ascent, "PAIRS", 1)


def table(seed: int, rows: int = 300, columns: int = 5) -> Instance:
    rng = np.random.default_rng(seed)
    codes = np.minimum(rng.geometric(0.5, (rows, columns)) - 1, 3)
    instance, _ = from_codes(codes, None, rng.integers(0, 4, rows))
    return instance


def listed(tree: PrefixTree, price: np.ndarray, room: tuple[int, int], visits: int) -> list:
    """Everything that a search by three threads or one tells."""
    sink = new_sink(*room)
    state = tree.run(EMIT, 3, price, slack=Slack(0.4, False), sink=sink, visits=visits)
    if state[3]:
        return [state.tolist(), tree.visits]
    found = sink.first(int(state[0]))
    return [state.tolist(), tree.visits, *(x.tolist() for x in found)]


@pytest.mark.parametrize("seed", range(3))
def test_search_emits_the_same(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests what is listed, visits and trouble, where there is room for all of it or for less."""
    instance = table(seed)
    price = np.random.default_rng(seed).uniform(0, 3, instance.distinct)
    trees = [PrefixTree(instance, Stop(threads=n)) for n in (1, *THREADS)]
    whole = listed(trees[0], price, (10_000, 100_000), 1 << 40)
    patterns, pairs, visits, _ = whole[0]
    assert patterns > 100
    monkeypatch.setattr(tree_parts, "MOST_PIECES", 40 if seed == 0 else 20_000)
    troubles = set()
    for part in (0.02, 0.3, 0.6, 0.97, 1.0, 1.2):
        for sizes in ((part, 2, 2), (2, part, 2), (2, 2, part), (part, part, part)):
            room = int(patterns * sizes[0]) + 3, int(pairs * sizes[1]) + 3
            answers = [listed(tree, price, room, int(visits * sizes[2])) for tree in trees]
            assert all(answer == answers[0] for answer in answers)
            troubles.add(answers[0][0][3])
    assert troubles == {0, 1, 2}


@pytest.mark.parametrize("model", [DistinctDiversity(2), TCloseness("0.3")], ids=lambda m: m.name)
def test_lawful_search_is_the_same(model: DistinctDiversity | TCloseness) -> None:
    """Tests what is listed and measured under a model, and how many copies were looked at."""
    instance = table(4)
    price = np.random.default_rng(4).uniform(0, 3, instance.distinct)

    def told(threads: int) -> list:
        tree = LawfulTree(instance, *pricing_of(Problem(instance, model)), Stop(threads=threads))
        sink, cut = new_sink(20_000, 200_000), np.zeros(instance.distinct)
        state = tree.run(EMIT, price, margin=0.3, sink=sink)
        tree.run(MEASURE, price, cut=cut)
        found = sink.first(int(state[0]))
        looks = int(tree.pad.state[LOOKS])
        return [state.tolist(), looks, cut.tolist(), *(x.tolist() for x in found)]

    one = told(1)
    assert one[0][0] > 50 and any(one[2])
    assert all(told(threads) == one for threads in THREADS)


@pytest.mark.parametrize("model", [None, DistinctDiversity(2), TCloseness("0.3")])
def test_ascent_is_the_same(model: DistinctDiversity | TCloseness | None) -> None:
    """Tests prices, bounds and shares of pairs after some steps."""
    instance = table(5)
    start = np.full(instance.distinct, 1.0)

    def told(threads: int) -> list:
        lawful = None if model is None else pricing_of(Problem(instance, model))
        sink = new_sink(20_000, 200_000)
        tree = PrefixTree(instance)
        state = tree.run(EMIT, 3, start, slack=Slack(2.0, False), sink=sink)
        lists = sink.first(int(state[0]))
        rules = lists, len(lists.cost), instance.counts, 3
        ascent = Ascent(*rules, lawful=lawful, threads=threads)
        bound, u = ascent.run(start, 2.0, 30, (0.2, 0.02), lambda: False)
        share, _ = Ascent(*rules, lawful=lawful, threads=threads).shares(u, 0.5, 20, 0.01)
        steps = Steps(ascent, start, 2.0)
        assert len(steps.evaluation.hands) == threads
        return [bound, u.tolist(), share.tolist(), ascent.looked()]

    one = told(1)
    assert one[0] > 0
    assert all(told(threads) == one for threads in THREADS)


def test_the_fractional_release_is_shared(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that all threads take its steps, and that the release is that of one."""
    asked: list[int] = []

    def told(*given: Any, threads: int, **rest: Any) -> Ascent:
        asked.append(threads)
        return Ascent(*given, threads=threads, **rest)

    monkeypatch.setattr(rounding, "Ascent", told)
    problem = Problem(table(5, 80), KAnonymity(3))
    one, three = (Engine().run(problem, Context(1, Stop(threads=n))).solution for n in (1, 3))
    assert set(asked) == {1, 3} and one is not None and three is not None
    assert np.array_equal(one.classes, three.classes)


def piece(part: Part, number: int, state: np.ndarray, own: Emission, patterns: int) -> None:
    """Emit patterns of two rows as a walk does, all in one piece, which is left open."""
    part.at[[PIECE, ROOT]] = number, 0
    part.log[number] = UNDER_WAY, state[0], 0, state[1], 0, 0, 0, 0
    for _ in range(patterns):
        p, z = state[:2]
        own.cost[p], own.rows[z : z + 2], own.offset[p + 1] = 7, number, z + 2
        state[:2] += 1, 2


def filled(sink: Emission, state: np.ndarray, rows: list[int]) -> bool:
    """Whether the patterns that a state speaks of are there, and no more than there is room for."""
    assert state[0] <= len(sink.cost) and state[1] <= len(sink.rows)
    found = sink.first(int(state[0]))
    return found.rows.tolist() == [r for r in rows for _ in range(2)] and all(found.cost == 7)


def test_a_stop_leaves_no_more_than_there_is_room_for() -> None:
    """Tests threads that each have room for what they emit, but not all of them together."""

    def hand(number: int, part: Part, state: np.ndarray, own: Emission) -> None:
        piece(part, number, state, own, 6)
        part.log[number, [WHO, END, PAIRS_END]] = number, *state[:2]
        state[3] = 9

    sink = new_sink(10, 100)
    state = shared([partial(hand, n) for n in range(2)], (4, 3), sink, 1_000, 9, None)
    assert state[3] == 9 and filled(sink, state, [0] * 6)


def test_a_stop_of_the_thread_that_goes_on_alone() -> None:
    """Tests that all that its state counts is there, that of the piece under way, too."""

    def hand(number: int, part: Part, state: np.ndarray, own: Emission) -> None:
        if part.number == 2:  # the one that goes on
            piece(part, 1, state, own, 3)
            state[3] = 9
            return
        piece(part, number, state, own, 6)
        part.log[number, [WHO, END, PAIRS_END]] = number, *state[:2]

    sink = new_sink(10, 100)
    sink.rows[:] = -5
    state = shared([partial(hand, n) for n in range(2)], (4, 3), sink, 1_000, 9, None)
    assert state[3] == 9 and filled(sink, state, [0] * 6 + [1] * 3)


def test_together() -> None:
    """Tests order, nesting, errors, and that as many as asked for run at a time."""
    gate = threading.Barrier(3)

    def met(number: int) -> tuple[int, list[int]]:
        gate.wait(60)
        return number, together([lambda: number, lambda: -number], 2)

    assert together([lambda n=n: met(n) for n in range(3)], 3) == [(n, [n, -n]) for n in range(3)]

    def fail() -> int:
        raise ValueError("mine")

    with pytest.raises(ValueError, match="mine"):
        together([fail, lambda: 1], 2)
    assert together([lambda: 1, lambda: 2], 1) == [1, 2] and together([], 4) == []


def test_scratch_is_bounded() -> None:
    """Tests that fewer threads share a stage whose scratch is large."""
    assert within_room(16, 100 << 20) == 5
    assert within_room(16, 4 << 30) == 1 and within_room(2, 10) == 2
