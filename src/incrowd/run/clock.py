"""The clock of time limits: wall seconds, less those in which kernels were compiled.

A kernel is compiled when it first runs after an installation, which takes up to a minute for all of
an engine.  A time limit is the search's, so that its first run is as good as later ones.
"""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

_left_out = 0.0
_standing: float | None = None
_watchers: dict[int, Callable[[bool], None]] = {}


def now() -> float:
    """Return seconds since some moment; only differences mean something."""
    standing = _standing  # other threads may ask while it stands
    return (time.monotonic() if standing is None else standing) - _left_out


def left_out() -> float:
    """Return the seconds left out so far."""
    return _left_out


def stand() -> None:
    """Stand still until ``go_on``."""
    global _standing
    _standing = time.monotonic()


def go_on() -> None:
    """Go on, and leave out the seconds since ``stand``."""
    global _left_out, _standing
    if _standing is not None:
        _left_out += time.monotonic() - _standing
        _standing = None


@contextmanager
def watched(tell: Callable[[bool], None]) -> Iterator[None]:
    """Call ``tell(True)`` when this thread begins to compile kernels, ``tell(False)`` after it."""
    thread = threading.get_ident()
    before = _watchers.get(thread)
    _watchers[thread] = tell
    try:
        yield
    finally:
        _watchers.pop(thread)
        if before is not None:
            _watchers[thread] = before


def compiling(begins: bool) -> None:
    """Say that the present thread begins to compile kernels, or has done so."""
    tell = _watchers.get(threading.get_ident())
    if tell is not None:
        tell(begins)
