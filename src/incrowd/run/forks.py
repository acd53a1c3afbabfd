"""Processes that were forked after polars had begun its threads: there its calls never end.

A forked process has none of its parent's threads, and polars hands its work to threads that it
takes to be there; they cannot be begun anew.  https://docs.pola.rs/user-guide/misc/multiprocessing
"""

import os
from contextlib import suppress
from pathlib import Path

from incrowd.errors import InputError

THREADS = Path("/proc/self/task")  # Linux; elsewhere nothing says which threads there are


class _Forked:
    """Whether the threads of polars were lost on the way from a parent to this process."""

    def __init__(self) -> None:
        self.begun = self.lost = False
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(before=self.look, after_in_child=self.lose)

    def look(self) -> None:
        """Look in the parent, whose threads the child cannot see."""
        self.begun = _has_threads_of_polars()

    def lose(self) -> None:
        """A child of a child lacks them, too."""
        self.lost = self.lost or self.begun


def _has_threads_of_polars() -> bool:
    with suppress(OSError):
        for thread in THREADS.iterdir():
            with suppress(OSError):  # it has ended meanwhile
                kind, _, number = (thread / "comm").read_text().strip().partition("-")
                if kind == "polars" and number.isdecimal():
                    return True
    return False


_forked = _Forked()


def require_threads_of_polars() -> None:
    """Refuse to wait for threads that this process does not have.

    Raises
    ------
    InputError: this process was forked after polars had begun its threads.
    """
    if _forked.lost:
        raise InputError(
            "this process was forked after polars had begun its threads, which a forked process "
            "lacks: the call would never end. Let multiprocessing begin processes by 'spawn' or "
            "'forkserver', as in multiprocessing.get_context('spawn').Pool(), or fork before "
            "polars, or incrowd, works on the first table"
        )
