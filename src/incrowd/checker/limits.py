"""What the checker does not look at, for it would take too long or too much memory."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from incrowd.checker.rejection import require

# more than any table needs; without an end a proof of some kilobytes takes hours
MOST_LEVELS, MOST_DEPTH = 1000, 100  # of a hierarchy, and of one of sensitive values
MOST_MODELS, MOST_DIGITS = 1000, 100  # of a model's number
BEYOND = ": a limit of the checker, which says nothing against the proof"
LONG = "holds too long texts"
_effort = ContextVar("effort", default=1.0)


def require_within(truth: bool, reason: str, column: str | None = None) -> None:
    """Reject unless ``truth``, saying that no lie was found: nothing was decided."""
    require(truth, reason + BEYOND, column=column)


def allowed(most: int) -> int:
    """Return how many steps of a search may be taken, of ``most``; see ``effort``."""
    return int(most * _effort.get())


@contextmanager
def effort(share: float) -> Iterator[None]:
    """Let the searches give up early, after a share of what they may look at (0 to 1).

    Whoever writes a proof asks so whether one form of it is checked quickly, before another.
    """
    token = _effort.set(min(1.0, share))
    try:
        yield
    finally:
        _effort.reset(token)
