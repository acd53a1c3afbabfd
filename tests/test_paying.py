"""The policy that ends a search: release and bound against what was spent, made up here."""

import random
from collections.abc import Callable

import polars as pl
import pytest

import incrowd as ic
from incrowd.run.paying import LITTLE, Paying, Turns
from incrowd.run.stop import Share, Stop


def ends_at(cost: Callable[[float], float], bound: Callable[[float], float]) -> float | None:
    """Return what a search of such progress has spent when it no longer pays; None up to 1,000."""
    pays = Paying()
    for spent in range(1, 1_001):
        if not pays.goes_on(float(spent), cost(spent), bound(spent)):
            return spent
    return None


def test_a_search_at_rest_ends_once_it_has_rested_for_half_of_what_it_spent():
    assert ends_at(lambda s: 100_000 - min(s, 40) * 100, lambda s: 90_000) == 80
    assert ends_at(lambda s: 100_000, lambda s: 90_000 + min(s, 40) * 100) == 80


@pytest.mark.parametrize("moves", ["cost", "bound", "both"])
def test_it_goes_on_while_either_side_moves_enough(moves: str):
    step = LITTLE * 100_000 / 400 * (1.05 if moves != "both" else 0.55)
    down = step if moves != "bound" else 0.0
    up = step if moves != "cost" else 0.0
    steady = ends_at(lambda s: 100_000 - down * s, lambda s: 50_000 + up * s)
    assert steady is not None and steady < 800  # slow at first: less than LITTLE in the half
    pays = Paying()
    for spent in (400, 800, 1_600, 3_200):
        assert pays.goes_on(spent, 100_000 - down * spent, 50_000 + up * spent)


def test_nothing_ends_before_there_is_something_to_compare_with():
    pays = Paying()
    assert pays.goes_on(100, 10, 0)
    assert pays.goes_on(150, 10, 0)
    assert pays.goes_on(199, 10, 0)
    assert not pays.goes_on(200, 10, 0)


def test_seconds_and_turns_are_judged_alike():
    for unit in (0.001, 1, 1_000):
        pays = Paying()
        answers = [pays.goes_on(unit * s, 1_000 - min(s, 5), 0) for s in range(1, 30)]
        assert answers.index(False) == 9


@pytest.mark.parametrize("sign", [1, -1])
def test_turns_are_judged_each_by_itself(sign: int):
    turns, steps = Turns(), [500, 30, 51, 49, 60]
    now, idle = 100_000.0, []
    for step in [0, *steps]:
        now += sign * step
        turns.note(now)
        idle.append(turns.idle)
    assert idle == [False, False, True, False, True, False]
    still = Turns()
    for _ in range(2):
        still.note(0.0)
    assert not still.idle  # nothing is left to gain; who asks sees that the gap is closed


def test_gap_zero_and_spend_ask_for_all_of_it():
    assert not Stop().thorough and not Stop(gap=0.01).thorough
    assert Stop(gap=0).thorough and Stop(spend=True).thorough
    assert Stop().begin(None, None, True).thorough
    assert Share.of(Stop(spend=True), 1.0).thorough


@pytest.mark.parametrize(  # models that the integer program over all patterns does not serve
    "asked", [{"person": "p", "t": 0.4}, {"id": "p", "l": 2, "l_kind": "entropy"}]
)
def test_a_gap_of_0_that_is_never_reached_ends(asked):
    """Tests that without a time limit a search ends where its bound stays below the optimum.

    It had gone on until it was interrupted; the guard ends it then, with another reason.
    """
    draw = random.Random(2)
    cells = {"a": "abcd", "b": "abc", "c": "abcde", "d": "ab", "s": "fghk"}
    frame = pl.DataFrame({c: [draw.choice(pool) for _ in range(32)] for c, pool in cells.items()})
    frame = frame.with_columns(p=pl.Series([f"p{draw.randrange(21)}" for _ in range(32)]))
    stop, turns = ic.Stop(), []

    def guard(event):
        turns.append(event)
        if len(turns) > 2_000:
            stop.interrupt()

    rest = {"gap": 0, "stop": stop, "progress": guard, **asked}
    found = ic.anonymize(frame, 3, qi=list("abcd"), sensitive="s", **rest)
    assert found.status == "feasible"  # else the table tests nothing
    assert found.ended == "stopped paying"
