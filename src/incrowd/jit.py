"""The one way incrowd compiles a kernel.

``numba.njit(cache=True)`` raises at import when neither the package folder nor the user's cache
folder can be written (read-only installs, locked-down containers).  A kernel must still run
there, so the decorator falls back to compiling without a cache.

Numba notices when the file of a kernel was edited, but not when that of a kernel it calls was: then
the old code would go on running, with wrong results.  So caches older than any source go first.
"""

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from time import monotonic, time_ns
from typing import Any, TypeVar

import numba
from numba.core.event import Event, Listener, register

from incrowd import clock

F = TypeVar("F", bound=Callable[..., Any])


def drop_stale_caches(package: Path) -> None:
    """Delete the compiled kernels below a folder that are older than its newest source file."""
    with suppress(OSError):  # not a folder, not ours to change, or another process was faster
        ages = [f.stat().st_mtime_ns for f in package.rglob("*.py")]
        newest = max((age for age in ages if age <= time_ns()), default=0)  # clocks may differ
        for cache in package.rglob("*.nb[ci]"):
            if cache.stat().st_mtime_ns < newest:
                cache.unlink(missing_ok=True)


drop_stale_caches(Path(__file__).parent)


class Compiling(Listener):
    """Leaves the time out that kernels take to be compiled, each with those it calls."""

    depth = 0
    begin = 0.0

    def on_start(self, event: Event) -> None:
        """Start where a kernel is compiled that no other one calls."""
        if self.depth == 0:
            self.begin = monotonic()
        self.depth += 1

    def on_end(self, event: Event) -> None:
        """End there."""
        self.depth -= 1
        if self.depth == 0:
            clock.leave_out(monotonic() - self.begin)


register("numba:compile", Compiling())


def kernel(function: F) -> F:
    """Compile ``function`` in nopython mode, releasing the GIL, cached on disk where possible."""
    compiled: Any  # a dispatcher, which is called as the function is
    try:
        compiled = numba.njit(cache=True, nogil=True)(function)
    except RuntimeError:  # "no locator available": nowhere to keep the cache
        compiled = numba.njit(nogil=True)(function)
    return compiled


def lean_kernel(function: F) -> F:
    """As ``kernel``, for functions that create no array: without reference counts.

    Counting the references to every array that a small function touches is atomic and costs
    several times the function's own work.  The caller holds the arrays, so nothing is lost.
    Compiling a function that does create one raises TypeError.
    """
    options: dict[str, Any] = {"nogil": True, "_nrt": False}  # the latter has no public name
    compiled: Any
    try:
        compiled = numba.njit(cache=True, **options)(function)
    except RuntimeError:
        compiled = numba.njit(**options)(function)
    return compiled
