"""Pieces of work beside each other in threads, whose results do not depend on how many there are.

Kernels let go of Python's lock (``incrowd.kernels.jit``), so that threads which spend their time in
them run on cores of their own.
"""

import os
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")

MOST = 64  # threads, however many are asked for
ROOM = 1 << 29  # bytes that the scratch of all threads of one stage may take together


def cores() -> int:
    """Return how many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return max(1, len(os.sched_getaffinity(0)))
    return max(1, os.cpu_count() or 1)


def within_room(threads: int, each: int) -> int:
    """Return how many of these threads may have scratch of so many bytes each; at least 1."""
    return max(1, min(threads, MOST, ROOM // max(1, each)))


class _Pool:
    """The threads of this process, which come when they are first needed, and stay."""

    def __init__(self) -> None:
        self.forget()
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self.forget)

    def forget(self) -> None:
        """Begin anew: a forked process has none of its parent's threads."""
        self.executor: ThreadPoolExecutor | None = None
        self.lock = threading.Lock()
        self.here = threading.local()

    def submit(self, work: Callable[[], None]) -> "Future[None]":
        """Let a thread do this."""
        with self.lock:
            if self.executor is None:
                self.executor = ThreadPoolExecutor(MOST, thread_name_prefix="incrowd")
            return self.executor.submit(work)


_pool = _Pool()


def together(works: Sequence[Callable[[], T]], threads: int) -> list[T]:
    """Call all of these, so many at a time; return what they return, in their order.

    They begin in their order.  The caller's thread takes its part.  Works that are themselves part
    of such a call run one after the other: else threads could wait for each other for ever.

    Raises
    ------
    Exception: the first that one of them raised, once all that had begun are over.
    """
    helpers = min(threads, len(works), MOST) - 1
    if helpers < 1 or getattr(_pool.here, "busy", False):
        return [work() for work in works]
    found: dict[int, T] = {}
    left = iter(range(len(works)))  # ``next`` of a range is one step for all threads
    failed = threading.Event()

    def take() -> None:
        before = getattr(_pool.here, "busy", False)
        _pool.here.busy = True
        try:
            while not failed.is_set() and (number := next(left, None)) is not None:
                found[number] = works[number]()
        except BaseException:
            failed.set()
            raise
        finally:
            _pool.here.busy = before

    others = [_pool.submit(take) for _ in range(helpers)]
    try:
        take()
    finally:
        errors = [other.exception() for other in others]
    for error in errors:
        if error is not None:
            raise error
    return [found[number] for number in range(len(works))]
