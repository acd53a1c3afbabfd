"""What a run tells while it works."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, cast

from incrowd.errors import InputError
from incrowd.text.units import in_units


@dataclass(frozen=True)
class Event:
    """One progress report.

    Attributes
    ----------
    stage: what is being done, in a few words.
    cost: cost of the best lawful release so far, in units of 1/scale, or None.
    bound: best lower bound so far, in units of 1/scale, or None.
    share: estimated share of this stage that is done, 0..1, or None when unknown.
    proof: name of ``bound`` where a method reports it for its own sake, e.g. ``"forest weight"``;
        a release tells such bounds beside the best one.
    point: of a sweep over k: the point just found (``incrowd.frontiers.points.Point``), else None.
    gauge: what tells ``share`` anew while the stage goes on, or None; a stage that is told again
        has its share from there.
    """

    stage: str
    cost: int | None = None
    bound: int | None = None
    share: float | None = None
    proof: str | None = None
    point: Any = None
    gauge: Callable[[], float] | None = field(default=None, compare=False, repr=False)

    def again(self) -> "Event":
        """Return the event as it is now, the stage having gone on."""
        return self if self.gauge is None else replace(self, share=self.gauge())


READING, ENCODING, RECHECK, WRITING, PROOF = (
    "reading",
    "encoding",
    "re-check",
    "writing and reading back",
    "proof file",
)
COMPILING = "compiling kernels"
"""The stage in which a kernel is compiled for the first time; no time limit counts it."""
AROUND = (READING, ENCODING, RECHECK, WRITING, PROOF)
"""Stages around the search, which no time limit ends."""

Listener = Callable[[Event], None]


def silent(event: Event) -> None:
    """Ignore the event."""


def listening(progress: Listener | None) -> Listener:
    """Return what events are told to.

    Raises
    ------
    InputError: it cannot be called.
    """
    if progress is not None and not callable(progress):
        kind = type(progress).__name__
        raise InputError(
            f"progress takes a function that is called with each event, such as print; {kind} "
            "cannot be called"
        )
    return progress or silent


def noting(bounds: dict[str, int], listener: Listener) -> Listener:
    """Return a listener that also notes the bounds which a method reports by name."""

    def listen(event: Event) -> None:
        if event.proof is not None and event.bound is not None:
            bounds[event.proof] = event.bound
        listener(event)

    return listen


def in_user_units(listener: Listener, scale: int) -> Listener:
    """Return a listener for the search's events, whose costs are in units of 1/scale."""
    if listener is silent:
        return silent

    def listen(event: Event) -> None:
        cost, bound = (
            None if units is None else cast(int, in_units(units, scale))
            for units in (event.cost, event.bound)
        )
        listener(replace(event, cost=cost, bound=bound))

    return listen
