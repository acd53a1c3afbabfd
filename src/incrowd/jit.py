"""The one way incrowd compiles a kernel.

``numba.njit(cache=True)`` raises at import when neither the package folder nor the user's cache
folder can be written (read-only installs, locked-down containers).  A kernel must still run
there, so the decorator falls back to compiling without a cache.

Numba notices when the file of a kernel was edited, but not when that of a kernel it calls was: then
the old code would go on running, with wrong results.  And it stumbles over caches that speak of
types which have moved.  So caches bear the time of the newest source; older ones go first.
"""

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from time import monotonic, time_ns
from typing import Any, TypeVar

import numba
from numba import types
from numba.core.event import Event, Listener, register
from numba.core.registry import CPUDispatcher

from incrowd import clock

F = TypeVar("F", bound=Callable[..., Any])


def drop_stale_caches(package: Path) -> int:
    """Delete the compiled kernels below a folder that are older than its newest source file.

    Returns when that was written, in nanoseconds; 0 where nobody can tell.
    """
    newest = 0
    with suppress(OSError):  # not a folder, not ours to change, or another process was faster
        ages = [f.stat().st_mtime_ns for f in package.rglob("*.py")]
        newest = max((age for age in ages if age <= time_ns()), default=0)  # clocks may differ
        for cache in package.rglob("*.nb[ci]"):
            if cache.stat().st_mtime_ns < newest:
                cache.unlink(missing_ok=True)
    return newest


# caches may also be kept elsewhere, for a package that cannot be written
VERSION = f"{numba.__version__} {drop_stale_caches(Path(__file__).parent)}"


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
    return _compiled(Kernel, function)


def lean_kernel(function: F) -> F:
    """As ``kernel``, for functions that create and return no array: without counting references.

    Counting the references to every array that a small function touches is atomic and costs
    several times the function's own work.  The caller holds the arrays, so nothing is lost.
    Compiling a function that does create one raises TypeError.
    """
    return _compiled(Kernel, function, **LEAN)


def inner_kernel(function: F) -> F:
    """As ``lean_kernel``, for functions that kernels alone call; calling one raises TypeError.

    What unpacks Python's arguments is longer than most kernels: without it they are compiled in two
    thirds of the time.
    """
    return _compiled(Inner, function, no_cpython_wrapper=True, **LEAN)


class Kernel(CPUDispatcher):
    """A kernel of which callers share one version: they pass whole numbers as 64 bits.

    Else there would be one for each literal and each width that a caller holds, six of some, and
    as many of what they call.
    """

    def get_call_template(self, args: Any, kws: Any) -> Any:
        """Return what a kernel that calls this one with arguments of these types goes by."""
        return super().get_call_template(tuple(map(widened, args)), kws)


class Inner(Kernel):
    """A kernel without an entry for Python, which would crash where that is."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Refuse."""
        raise TypeError(f"{self.py_func.__qualname__} can be called by kernels alone")


def widened(given: Any) -> Any:
    """Return the type in which an argument of a type is passed to a kernel."""
    plain = types.unliteral(given)
    return types.int64 if plain in (types.int8, types.int16, types.int32) else plain


LEAN = {"_nrt": False}  # it has no public name
ALWAYS = {"nogil": True, "no_cfunc_wrapper": True}  # kernels are not handed on as C functions


def _compiled(kind: type[Kernel], function: F, **special: Any) -> F:
    options: dict[str, Any] = {**ALWAYS, **special}
    compiled: Any  # called as the function is
    try:
        compiled = numba.njit(cache=True, **options)(function)
        with suppress(AttributeError):  # numba is switched off, or keeps its caches otherwise
            compiled._cache._cache_file._version = VERSION
    except RuntimeError:  # "no locator available": nowhere to keep the cache
        compiled = numba.njit(**options)(function)
    if hasattr(compiled, "get_call_template"):  # else numba is switched off
        compiled.__class__ = kind
    return compiled
