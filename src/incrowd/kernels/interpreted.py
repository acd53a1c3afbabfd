"""Small tables: kernels as the Python functions that they are made of, so that none is compiled.

What Python makes of a few rows takes less time than it takes to load compiled kernels, let alone
to compile them.  A method says so for its smallest tables, whatever is cached: the answer must be
the same, to the last bit.  So it is for kernels that compute with whole numbers of 64 bits, and
with floats one by one.  Where a number goes beyond its bits, which compiled kernels do not tell
from any other, Python or numpy say so; the method then begins anew with compiled kernels.  A
process that has interpreted for as long as kernels take to be loaded has compiled ones do the rest.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from time import thread_time
from typing import Any, TypeVar

import numpy as np

T = TypeVar("T")
COMPILED, INTERPRETED, INSIDE = 0, 1, 2
HOW: ContextVar[int] = ContextVar("how kernels run here", default=COMPILED)
ENOUGH = 2.0  # CPU seconds: many small tables in a row are no few rows
SPENT = [0.0]  # how many were interpreted so far


@contextmanager
def interpreted() -> Iterator[None]:
    """Interpret all kernels that this thread calls meanwhile."""
    before = HOW.set(INTERPRETED)
    try:
        yield
    finally:
        HOW.reset(before)


def of_few(few: bool, work: Callable[[], T]) -> T:
    """Return what ``work`` does: with interpreted kernels where the table is one of ``few`` rows.

    They are compiled all the same once this process has interpreted for ``ENOUGH``.

    ``work`` may be called twice, and must not change what it is given.
    """
    if few and SPENT[0] < ENOUGH:
        began = thread_time()
        try:
            with interpreted():
                return work()
        except (FloatingPointError, OverflowError):
            pass  # beyond 64 bits
        finally:
            SPENT[0] += thread_time() - began
    return work()


def call(function: Callable[..., Any], *given: Any, **named: Any) -> Any:
    """Call what a kernel is made of; return plain numbers, as a compiled kernel does."""
    if HOW.get() == INSIDE:
        return function(*given, **named)
    before = HOW.set(INSIDE)
    try:
        with np.errstate(over="raise", divide="raise", invalid="raise"):
            return plain(function(*given, **named))
    finally:
        HOW.reset(before)


def plain(found: Any) -> Any:
    """Return what a kernel found, its numbers as Python's."""
    if isinstance(found, np.generic):
        return found.item()
    if isinstance(found, tuple):
        parts: Any = tuple(map(plain, found))
        return type(found)(*parts) if hasattr(found, "_fields") else parts
    return found
