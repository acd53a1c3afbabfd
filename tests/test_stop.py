"""Ending a run from another thread, and what runs tell on the way."""

import threading
from itertools import pairwise

import numpy as np
import polars as pl
import pytest

import incrowd as ic
from incrowd.run import clock
from incrowd.run.events import COMPILING, RECHECK, Event, silent
from incrowd.run.gauge import Gauge
from incrowd.run.stop import Share, Stop
from incrowd.run.telling import telling


def people(rows: int = 400, seed: int = 0) -> pl.DataFrame:
    """A table that takes the engine far longer than a test may last."""
    rng = np.random.default_rng(seed)
    columns = {c: rng.integers(0, 9, rows) for c in "abcdef"}
    return pl.DataFrame(columns | {"ill": rng.integers(0, 4, rows)})


@pytest.mark.parametrize("asked", [{}, {"l": 2}], ids=["k", "k and l"])
def test_another_thread_ends_a_run(asked):
    """Tests that the best release so far comes back, lawful, and says why it ended."""
    stop = ic.Stop()
    told: list[Event] = []

    def progress(event: Event) -> None:
        told.append(event)
        if event.cost is not None and not stop.interrupted:
            threading.Thread(target=stop.interrupt).start()

    release = ic.anonymize(
        people(), k=5, sensitive="ill", progress=progress, stop=stop, gap=0.0, **asked
    )
    assert release.ended == "interrupted"
    assert release.verify() and release.smallest_class >= 5
    last = [event for event in told if event.stage == RECHECK][-1]
    assert (last.cost, last.bound) == (release.cost, release.lower_bound)


def test_a_handle_has_limits_of_its_own():
    """Tests that a handle's limits stand, and that the policy's fill those it leaves open."""
    stop = ic.Stop(gap=0.5).begin(3.0, 0.1)
    assert (stop.time_limit, stop.gap) == (3.0, 0.5)


def test_a_stopped_sweep_keeps_its_points():
    """Tests that points are told as found, from the largest k down, and that a stop ends them."""
    stop = ic.Stop()
    points = []

    def progress(event: Event) -> None:
        if event.point is not None:
            points.append(event.point)
            stop.interrupt()

    found = ic.frontier(people(120), [2, 3, 5], sensitive="ill", progress=progress, stop=stop)
    assert found.ended == "interrupted"
    assert [point.k for point in points] == [5, 3, 2]
    for told, point in zip(reversed(points), found.points, strict=True):
        assert told.cost == point.cost and told.lower_bound <= point.lower_bound


def test_a_sweep_obeys_constraints():
    """Tests a sweep under a fixed and a capped column against single releases."""
    frame = people(60).select("a", "b", "c").with_columns(d=pl.lit("x"))
    asked = {"fixed": "d", "caps": {"a": 0.9}, "gap": 0.0}
    found = ic.frontier(frame, [2, 3], time_limit=4, **asked)
    for point in found.points:
        assert point.lower_bound <= point.cost and point.smallest_class >= point.k
    for one, other in pairwise(found.points):
        assert one.cost <= other.cost and one.lower_bound <= other.lower_bound
    single = ic.anonymize(frame, k=3, time_limit=2, **asked)
    assert found.points[1].lower_bound <= single.cost


def test_compiling_is_told():
    """Tests that a run's listener learns of compiling in its own thread, and of what follows."""
    told = []
    with telling(told.append) as tell:
        tell(Event("search", share=0.5))
        clock.compiling(True)
        clock.compiling(False)
        other = threading.Thread(target=clock.compiling, args=(True,))
        other.start()
        other.join()
    clock.compiling(True)
    assert [event.stage for event in told] == ["search", COMPILING, "search"]
    with telling(silent) as tell:
        assert tell is silent


def test_a_long_stage_is_told_again(monkeypatch):
    """Tests that a stage without events is heard of all the same, and only until the end."""
    monkeypatch.setattr("incrowd.run.telling.LONGEST", 0.02)
    told, heard = [], threading.Event()

    def listen(event):
        told.append(event)
        if len(told) == 4:
            heard.set()

    with telling(listen) as tell:
        tell(Event("search", cost=3, share=0.5))
        assert heard.wait(60)
    count = len(told)
    assert told[0].cost == 3
    assert {(event.stage, event.share, event.cost) for event in told[1:]} == {("search", 0.5, None)}
    assert not any(thread.name == "progress" for thread in threading.enumerate())
    assert len(told) == count


def test_a_stage_that_is_told_again_has_its_share_from_its_gauge(monkeypatch):
    """Tests that its share goes on while a kernel runs."""
    monkeypatch.setattr("incrowd.run.telling.LONGEST", 0.02)
    shares, heard = [], threading.Event()

    def listen(event):
        shares.append(event.share)
        if len(shares) == 5:
            heard.set()

    gauge = Gauge(lambda: len(shares) / 10)
    with telling(listen) as tell:
        tell(Event("search", share=0.0, gauge=gauge))
        assert heard.wait(60)
    assert shares[:5] == [0.0, 0.0, 0.1, 0.2, 0.3]  # the lesser of two readings


def test_a_gauge_goes_through_its_parts():
    """Tests parts, steps, and that what is out of range is not believed."""
    at = [0.5]
    gauge = Gauge(lambda: at[0])
    assert (gauge(), gauge()) == (0.0, 0.5)
    at[0] = 7.0
    assert (gauge(), gauge()) == (0.5, 1.0)
    told = gauge.steps(0.5, 0.75, 8)
    told(1)
    told(3)
    assert (gauge(), gauge()) == (0.5, 0.625)
    gauge.part(0.75, 1.0, lambda: -1.0)
    assert (gauge(), gauge()) == (0.75, 0.75)


def test_a_listener_that_fails_between_events_ends_the_run(monkeypatch):
    """Tests that an error raised in the other thread reaches the run at its next event."""
    monkeypatch.setattr("incrowd.run.telling.LONGEST", 0.02)
    failed = threading.Event()

    def listen(event):
        if threading.current_thread() is not threading.main_thread():
            failed.set()
            raise ValueError("no more")

    with pytest.raises(ValueError, match="no more"), telling(listen) as tell:
        tell(Event("search"))
        assert failed.wait(60)
        for _ in range(2):
            tell(Event("search"))


def test_no_time_is_left_when_time_is_up():
    """Tests that nothing below zero is left: stages measure by it how much they may list."""
    stop = Stop(1e-9)
    assert stop.now()
    assert (stop.left(), Share.of(stop, 5.0).left()) == (0.0, 0.0)
