"""The clock of time limits: wall seconds, less those in which kernels were compiled.

A kernel is compiled when it first runs after an installation, which takes up to a minute for all of
an engine.  A time limit is the search's, so that its first run is as good as later ones.
"""

import time

_left_out = 0.0


def now() -> float:
    """Return seconds since some moment; only differences mean something."""
    return time.monotonic() - _left_out


def left_out() -> float:
    """Return the seconds left out so far."""
    return _left_out


def leave_out(seconds: float) -> None:
    """Leave out seconds that went by."""
    global _left_out
    _left_out += seconds
