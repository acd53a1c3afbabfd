"""Every method and every stage ends soon after it is asked to, on tables that take long.

The one test of seconds: those of the processor, so that other programs do not count, far more than
a run may take to end, and none in which kernels are compiled.
"""

import os
import signal
import threading
import time
from collections.abc import Iterator
from functools import cache
from types import SimpleNamespace
from typing import Any

import numpy as np
import polars as pl
import pytest

import dial
import incrowd as ic
from incrowd.bounds.lawful_price import first_prices, safe_prices
from incrowd.bounds.lawful_tree import LawfulTree
from incrowd.bounds.prefix_tree import PrefixTree
from incrowd.bounds.price import certify
from incrowd.bounds.pricing import pricing_of
from incrowd.bounds.support import support_prices
from incrowd.driver.solve import choose, solve
from incrowd.kernels.halt import halted
from incrowd.kernels.jit import kernel
from incrowd.privacy.classes import Classes
from incrowd.run import clock
from incrowd.run.events import Event
from incrowd.run.stop import Share, Stop, interruptible, watched
from incrowd.solvers.base import Context, Solver
from incrowd.solvers.catalog import SOLVERS
from incrowd.solvers.matching.nodes import grid_of
from incrowd.solvers.matching.walk import Walker
from limits import TABLES, problem

LIMIT, LATE = 0.06, 10.0  # seconds given; beyond those, at most
SOON = 0.03  # seconds from the beginning of a stage to an interrupt in the midst of it


@pytest.fixture(autouse=True)
def processor_time(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let the clock of limits count the processor's seconds."""
    monkeypatch.setattr(clock, "time", SimpleNamespace(monotonic=time.process_time))
    return


# a method meets a table with one of the first four, and with each other model what it adds
FIRST = "k=2", "k=3", "l=3", "t=0.3"
PAIRS = [(table, model) for model in FIRST for table in TABLES]
PAIRS += [(table, "f=2") for table in ("weights apart", "deep", "all equal")]
PAIRS += [(table, "k=20") for table in ("tiny", "all equal", "uniform")]


@cache
def of_first(table: str) -> dict[str, list[Solver]]:
    """The methods that meet a table with each of the first models: one each that it serves.

    Every other method meets a table, and the others the next one; with ``--thorough`` all do.
    """
    meets: dict[str, list[Solver]] = {model: [] for model in FIRST}
    asked = {model: problem(table, model) for model in FIRST}
    for turn, solver in enumerate(SOLVERS, list(TABLES).index(table)):
        served = [model for model in FIRST if solver.refuse(asked[model]) is None]
        if served and (dial.thorough or turn % 2):
            meets[served[turn // 2 % len(served)]].append(solver)
    return meets


@pytest.mark.parametrize(("table", "model"), PAIRS)
def test_methods_end_in_time(table: str, model: str) -> None:
    """Tests each method that serves the table: the release is lawful, the bound below its cost."""
    asked = problem(table, model)
    served = [solver for solver in SOLVERS if solver.refuse(asked) is None]
    assert len(served) > 1
    if model in FIRST:
        served = of_first(table)[model]
    first = choose(asked, "auto").id
    if first != "simplex-matching":  # beside which auto tries another
        served = [solver for solver in served if solver.id != first]
    for method in ("auto", *served):
        stop = Stop(LIMIT)
        found = solve(asked, method, Context(stop=stop))
        assert stop.elapsed() < LIMIT + LATE, found.method
        assert found.bound <= found.cost
        assert asked.model.lawful_classes(Classes(found.solution.classes, asked.table)).all()


@pytest.mark.parametrize(
    ("table", "model"),
    [
        ("weights apart", "k=2"),
        ("weights apart", "k=3"),
        ("weights apart", "l=3"),
        ("deep", "k=2"),
        ("tiny", "k=3"),
        ("tiny", "t=0.3"),
    ],
)
def test_stages_end_when_interrupted(table: str, model: str) -> None:
    """Tests an interrupt in each stage in turn, of runs without a limit."""
    asked, seen = problem(table, model), set[str]()
    while True:
        stop, known, at = Stop(), len(seen), list[float]()

        def interrupt(stop: Stop = stop, at: list[float] = at) -> None:
            at.append(stop.elapsed())
            stop.interrupt()

        def listen(event: Event, interrupt: Any = interrupt, known: int = known) -> None:
            if event.stage not in seen and len(seen) == known:
                seen.add(event.stage)
                threading.Timer(SOON, interrupt).start()

        found = solve(asked, "auto", Context(stop=stop, listener=listen))
        assert found.bound <= found.cost
        if len(seen) == known:  # all stages were there; some ended before they were interrupted
            break
        assert not at or stop.elapsed() - at[0] < LATE, (seen, found.method)
    assert len(seen) > 1


@kernel
def spin(word: Any) -> int:
    """Count until the word is written."""
    times = 0
    while not halted(word):
        times += 1
    return times


def test_kernels_hear_of_the_end() -> None:
    """Tests a limit, Ctrl-C and another thread while a kernel runs; and that parts share them."""
    assert spin(np.ones(1, np.int64)) == 0  # compiled
    stop = Stop(0.2)
    with watched(stop):
        assert spin(stop.over) > 0
    assert stop.now() and stop.why() == "time limit"
    stop = Stop()
    with interruptible(stop):
        threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
        assert spin(Share.of(stop, 1e9).over) > 0
        time.sleep(0)  # the handler runs between two steps
    assert stop.interrupted and stop.now()
    stop = Stop()
    threading.Timer(0.2, stop.interrupt).start()
    assert spin(stop.over) > 0
    assert spin(stop.overdue) > 0  # a moment later
    assert halted(stop.over) and halted(stop.overdue) and not halted(Stop().over)


def test_the_end_of_a_part_ends_nothing_else() -> None:
    """Tests that kernels of what follows a part go on, and that those of parts hear of the end."""
    whole = Stop(1e6)
    part = Share.of(whole, 0.1)
    with watched(part):
        assert spin(part.over) > 0
    assert part.now() and halted(part.over)
    following = Share.of(whole, 1e5)
    assert not whole.now() and not following.now() and not halted(following.over)
    inner = Share.of(following, 1e4)
    whole.halt()
    assert all(halted(one.over) for one in (whole, following, inner, Share.of(whole, 1.0)))


def test_a_limit_is_shared_by_the_groups_of_fixed_columns() -> None:
    """Tests two groups with the same rows, of which the first uses all of its time.

    The second was one class then, for it was told that the limit was over.
    """
    rng = np.random.default_rng(0)
    half = [[str(x) for x in row] for row in rng.integers(0, 6, (700, 6))]
    table = pl.DataFrame([[g, *row] for g in "ab" for row in half], orient="row")
    found = ic.anonymize(table, 5, fixed=table.columns[0], time_limit=1.4, seed=1)
    changed = dict(zip("ab", (0, 0), strict=True))
    for before, after in zip(table.rows(), found.data.rows(), strict=True):
        changed[before[0]] += sum(x != y for x, y in zip(before, after, strict=True))
    assert changed["b"] < 1.5 * changed["a"]


def over() -> Stop:
    """A stop of which kernels know that it is over."""
    stop = Stop()
    stop.words[:] = 1
    return stop


def test_searches_cut_short_prove_nothing() -> None:
    """Tests that what a search has not found counts for nothing when time ended it."""
    asked = problem("deep", "k=3")
    instance, k = asked.instance, 3
    tree = PrefixTree(instance)
    price, complete = support_prices(tree, k)
    assert complete and certify(tree, k, 2.0 * price).bound(instance.counts) > 0
    tree = PrefixTree(instance, over())
    assert not support_prices(tree, k)[1]
    assert certify(tree, k, 2.0 * price).bound(instance.counts) == 0
    lawful = problem("deep", "l=3")
    short = LawfulTree(lawful.instance, *pricing_of(lawful), over())
    u, complete = first_prices(short)
    assert not complete and safe_prices(short, u).bound(lawful.instance.counts) == 0
    grid = grid_of(instance, np.arange(instance.distinct))
    for by_pairs in (True, False):
        walker = Walker(grid, 0, by_pairs=by_pairs)
        reach = walker.nearest()
        assert not walker.cut_short and reach.max() < 1 << 60
        walker = Walker(grid, 0, by_pairs=by_pairs, stop=over())
        walker.nearest()
        assert walker.cut_short
