"""Work in a thread of its own: the page asks how far it is, and may end it."""

import threading
import time
from collections.abc import Callable
from typing import Any, cast

from incrowd._api import release_of
from incrowd.errors import IncrowdError
from incrowd.frontiers.of_table import frontier_of
from incrowd.policy import Policy
from incrowd.release import Release
from incrowd.run.events import Event
from incrowd.run.stop import Stop
from incrowd.tables.base import Source

MOST_POINTS = 400  # of cost and bound against time that a page can draw
RUNNING, DONE, FAILED = "running", "done", "failed"
UNFORESEEN = (
    "incrowd itself has failed ({kind}), which neither your table nor you should bring about. No "
    "file is half written. Undo the last change and try again; if it fails anew, run the command "
    "line at the bottom of the page with INCROWD_DEBUG=1, which shows what a report of it needs"
)


def plainly(error: Exception) -> str:
    """Return what the page says of an error: its own words where they are incrowd's.

    The text of an error that nobody foresaw may quote the table.
    """
    if isinstance(error, IncrowdError):
        return str(error)
    if isinstance(error, OSError) and error.strerror:
        return f"{f'{error.filename}: ' if error.filename else ''}{error.strerror}"
    if isinstance(error, MemoryError):
        return "memory ran out: end other programs, or take a machine with more memory"
    return UNFORESEEN.format(kind=type(error).__name__)


class Work:
    """One piece of work.

    Attributes
    ----------
    state: ``"running"``, ``"done"`` or ``"failed"``; ``result`` once it is done.
    stage, share: how far it is; version: grows whenever something new is known.
    stop: ends it; error: why it failed.
    """

    def __init__(self, do: Callable[["Work"], Any], stop: Stop | None = None) -> None:
        self.state, self.stage, self.error = RUNNING, "starting", ""
        self.share: float | None = None
        self.result: Any = None
        self.stop, self.version = stop or Stop(), 0
        self.began, self.seconds_taken = time.monotonic(), 0.0
        self._do = do
        self._thread = threading.Thread(target=self._run, daemon=True, name="desk")

    def start(self) -> Any:
        """Begin."""
        self._thread.start()
        return self

    def join(self) -> None:
        """Wait for the end."""
        self._thread.join()

    def _run(self) -> None:
        try:
            self.result = self._do(self)
            self.state = DONE
        except Exception as error:
            self.error, self.state = plainly(error), FAILED
        self.seconds_taken = time.monotonic() - self.began
        self.version += 1

    def note(self, event: Event) -> None:
        """Take in an event."""
        self.stage, self.share = event.stage, event.share
        self.version += 1

    @property
    def seconds(self) -> float:
        """Wall seconds since the start, or until the end."""
        return time.monotonic() - self.began if self.state == RUNNING else self.seconds_taken

    def record(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        return {
            "state": self.state,
            "stage": self.stage,
            "share": self.share,
            "seconds": round(self.seconds, 1),
            "error": self.error,
            "stopping": self.stop.interrupted and self.state == RUNNING,
        }


class Making(Work):
    """The making of a release.

    Attributes
    ----------
    asked: what it was made from, to tell whether something else is asked by now.
    cost, bound: the best known so far; points: seconds, cost and bound over time.
    """

    def __init__(self, source: Source, policy: Policy, asked: Any) -> None:
        super().__init__(self._make, Stop(*policy.limits))
        self.source, self.policy, self.asked = source, policy, asked
        self.cost: float | None = None
        self.bound: float | None = None
        self.points: list[tuple[float, float, float]] = []

    @property
    def release(self) -> Release | None:
        """The release once it is made."""
        return self.result

    def _make(self, work: Work) -> Release:
        release = release_of(self.source, self.policy, self.note, self.stop)
        self.cost, self.bound = float(release.cost), float(release.lower_bound)
        return release

    def note(self, event: Event) -> None:
        """Take in an event; what it does not say stays known."""
        before = self.cost, self.bound
        if event.cost is not None:
            self.cost = float(event.cost)
        if event.bound is not None and event.proof is None:
            self.bound = max(float(event.bound), self.bound or 0.0)
        if (self.cost, self.bound) != before and self.cost is not None:
            self.points.append((round(self.seconds, 2), self.cost, self.bound or 0.0))
            if len(self.points) > MOST_POINTS:
                self.points = [*self.points[:-1:2], self.points[-1]]
        super().note(event)

    def record(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        found = super().record() | {
            "k": self.policy.k, "cost": self.cost, "bound": self.bound, "points": self.points,
        }  # fmt: skip
        release = self.release
        return found if release is None else found | facts_of(release)


def facts_of(release: Release) -> dict[str, Any]:
    """Return what the screens say of a release."""
    return {
        "changed": release.changed_cells,
        "cells": release.cells,
        "rows": release.rows,
        "by_column": dict(release.changed),
        "classes": release.classes,
        "smallest": release.smallest_class,
        "people": release.fewest_people,
        "models": list(release.models),
        "share_of_worst": release.cost_fraction,
        "status": release.status,
        "method": release.method,
        "ended": release.ended,
        "suppressed_rows": release.suppressed_rows,
        "warnings": list(release.warnings),
    }


class Sweeping(Work):
    """A sweep over k; points as they are found."""

    def __init__(
        self, source: Source, ks: list[int], policy: Policy, asked: Any, seconds: float
    ) -> None:
        super().__init__(self._sweep, Stop(seconds, *policy.limits[1:]))
        self.source, self.ks, self.policy, self.asked = source, ks, policy, asked
        self.found: dict[int, Any] = {}

    def _sweep(self, work: Work) -> Any:
        frontier = frontier_of(self.source, self.ks, self.policy, self.note, self.stop)
        self.found = {point.k: point for point in frontier.points}
        return frontier

    def note(self, event: Event) -> None:
        """Take in an event, and its point where it has one."""
        if event.point is not None:
            self.found = {**self.found, event.point.k: event.point}
        super().note(event)

    def record(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        found = dict(sorted(self.found.items()))
        points = [
            [k, p.cost_fraction, p.bound_fraction, float(p.cost), float(cast(float, p.lower_bound))]
            for k, p in found.items()
        ]
        return super().record() | {"points": points, "ks": self.ks}
