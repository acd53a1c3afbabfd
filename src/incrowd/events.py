"""What a run tells while it works."""

from collections.abc import Callable
from dataclasses import dataclass

from incrowd.errors import InputError


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
    """

    stage: str
    cost: int | None = None
    bound: int | None = None
    share: float | None = None
    proof: str | None = None


READING, ENCODING, RECHECK, WRITING, PROOF = (
    "reading",
    "encoding",
    "re-check",
    "writing and reading back",
    "proof file",
)
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
        raise InputError(f"progress is called with each event; {kind} cannot be called")
    return progress or silent
