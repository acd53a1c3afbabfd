"""The one way incrowd compiles a kernel.

``numba.njit(cache=True)`` raises at import when neither the package folder nor the user's cache
folder can be written (read-only installs, locked-down containers).  A kernel must still run
there, with what others have compiled or without a cache (see ``caches``).

Numba notices when the file of a kernel was edited, but not when that of a kernel it calls was: then
the old code would go on running, with wrong results.  And it stumbles over caches that speak of
types which have moved.  So caches bear a digest of all sources that a kernel may be made of (see
``Sources``), and nothing of their times: the same sources elsewhere are the same kernels.
"""

import re
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cached_property
from hashlib import sha256
from importlib import import_module
from pathlib import Path
from typing import Any, TypeVar

import numba
from numba import types
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler_lock import global_compiler_lock
from numba.core.event import Event, Listener, register
from numba.core.registry import CPUDispatcher
from numba.core.targetconfig import ConfigStack
from numba.core.types.functions import BaseFunction

from incrowd.kernels import interpreted
from incrowd.kernels.caches import CacheFile, cache_of
from incrowd.run import clock

F = TypeVar("F", bound=Callable[..., Any])


class Sources:
    """The sources of a package, and of which of them a kernel may be made.

    A kernel's file, the files with kernels that it imports from, and so on; from each of these what
    it imports beside, two steps far (constants); and the names of all named tuples, which caches
    speak of.  An edit elsewhere leaves the kernel as it is.
    """

    def __init__(self, package: Path) -> None:
        self.name = package.name
        self.jit = f"{self.name}.kernels.jit"
        self.texts: dict[str, str] = {}
        with suppress(OSError):
            for file in sorted(package.rglob("*.py")):
                path = file.relative_to(package.parent).with_suffix("").parts
                self.texts[".".join(path).removesuffix(".__init__")] = file.read_text("utf-8")
        tuples = [
            f"{module}.{name}"
            for module, text in self.texts.items()
            for name in re.findall(r"^class (\w+)\(NamedTuple\):$", text, re.MULTILINE)
        ]
        self.tuples = " ".join(tuples)
        self._known: dict[str, str] = {}

    def imported(self, module: str) -> set[str]:
        """Return the modules of the package that a module imports from."""
        inside = rf"^\s*from ({self.name}(?:\.\w+)*) import (\([^)]*\)|.*)$"
        found = set()
        for path, names in re.findall(inside, self.texts[module], re.MULTILINE):
            parts = [f"{path}.{name}" for name in re.findall(r"\w+", names)]
            found |= {one for one in (path, *parts) if one in self.texts}
        return found - {self.name, self.jit}

    def of_kernels(self, module: str) -> set[str]:
        """Return all modules that the kernels of a module may be made of."""
        steps, queue = {module: 0}, [module]
        for place in queue:  # it grows
            for one in self.imported(place) if steps[place] < 2 else ():
                kernels = f"{self.jit} import" in self.texts[one]
                far = 0 if kernels else steps[place] + 1
                if far < steps.get(one, 3):
                    steps[one] = far
                    queue.append(one)
        return set(steps)

    def digest(self, module: str) -> str:
        """Return the digest of what a module's kernels may be made of; empty for one elsewhere."""
        if module not in self.texts:
            return ""
        if module not in self._known:
            made_of = sorted(self.of_kernels(module) | {self.jit} & self.texts.keys())
            text = "\0".join([self.tuples, *(f"{one}\0{self.texts[one]}" for one in made_of)])
            self._known[module] = sha256(text.encode()).hexdigest()
        return self._known[module]


SOURCES = Sources(Path(__file__).parents[1])


def version_of(function: Callable[..., Any]) -> str:
    """Return what the cache of a kernel must bear to be taken."""
    return f"{numba.__version__} {SOURCES.digest(function.__module__)}"


class Compiling(Listener):
    """Leaves the time out that kernels take to be compiled, each with those it calls."""

    depth = 0

    def on_start(self, event: Event) -> None:
        """Start where a kernel is compiled that no other one calls."""
        if self.depth == 0:
            clock.stand()
            clock.compiling(True)
        self.depth += 1

    def on_end(self, event: Event) -> None:
        """End there."""
        self.depth -= 1
        if self.depth == 0:
            clock.go_on()
            clock.compiling(False)


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
    as many of what they call.  Kernels that call this one are made of ``part``.
    """

    library: Any = JITCodeLibrary
    special: Mapping[str, Any]
    _cache: Any
    begun = False  # whether its cache was sought

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run it: compiled, or as the function that it is made of (``kernels/interpreted.py``)."""
        if interpreted.HOW.get():
            return interpreted.call(self.py_func, *args, **kwargs)
        return super().__call__(*args, **kwargs)

    def compile(self, sig: Any) -> Any:
        """Compile one version, or take it from the cache, which is first sought now."""
        if not self.begun:
            load_numba()
            cached(self)
        context: Any = self.targetctx
        with made_as(context.codegen(), self.library):
            return super().compile(sig)

    @cached_property
    def part(self) -> Any:
        """The same as a part of other kernels."""
        return _compiled(Inner, self.py_func, no_cpython_wrapper=True, **self.special)

    def get_call_template(self, args: Any, kws: Any) -> Any:
        """Return what a kernel that calls this one with arguments of these types goes by."""
        return CPUDispatcher.get_call_template(self.part, tuple(map(widened, args)), kws)

    def get_overload(self, sig: Any) -> Any:
        """Return what a kernel that calls this one with arguments of these types links to."""
        return CPUDispatcher.get_overload(self.part, sig)


class PartLibrary(JITCodeLibrary):
    """The code of a kernel that kernels alone call: what goes into theirs, and nothing of its own.

    Numba puts the code of a kernel, with all that it calls, into each caller's; and it optimises
    and translates the whole at each step up, of which only the outermost is ever run.
    """

    def _optimize_final_module(self) -> None:
        """Leave that to the outermost kernel."""

    def _finalize_final_module(self) -> None:
        """End here: nothing is translated."""
        self._finalize_dynamic_globals()
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        """Return 0, as numba does for a kernel without an entry."""
        return 0

    def serialize_using_object_code(self) -> Any:
        """Return what is kept in the cache."""
        return self.serialize_using_bitcode()

    @property
    def codegen(self) -> Any:
        """What is asked of the compiler: no environment, which only an entry has."""
        return Unset(self._codegen)


class Unset:
    """A compiler that takes no environment."""

    def __init__(self, codegen: Any) -> None:
        self._codegen = codegen

    def __getattr__(self, name: str) -> Any:
        return getattr(self._codegen, name)

    def set_env(self, name: str, environment: Any) -> None:
        """Do nothing: there is no place for it."""


# versions of which the insides are known; with others, kernels take twice as long to compile
TRIED = (0, 61) <= numba.version_info[:2] <= (0, 68)
TYPED: dict[Any, Any] = {}  # by operator, the types it is given, and whether references are counted
operators: Any = BaseFunction
typed_by_numba = operators.get_call_type


def typed(operator: Any, context: Any, args: Any, kws: Any) -> Any:
    """Return the signature of an operator for arguments of these types, asking numba once.

    Numba tries all definitions of it, those for lists, sets and texts too, at each ``a[i] + b``:
    that is an eighth of the time in which kernels are compiled.
    """
    key = operator, args, getattr(ConfigStack.top_or_none(), "nrt", None)
    found = None if kws else TYPED.get(key)
    if found is None:
        found = typed_by_numba(operator, context, args, kws)
        if not kws:
            TYPED[key] = found
    return found


@contextmanager
def made_as(codegen: Any, library: Any) -> Iterator[None]:
    """Make the code of what is compiled meanwhile, but of no others' kernels, in such libraries."""
    with global_compiler_lock:
        before, how = codegen._library_class, operators.get_call_type
        codegen._library_class = library
        operators.get_call_type = typed if TRIED else how
        try:
            yield
        finally:
            codegen._library_class, operators.get_call_type = before, how


class Inner(Kernel):
    """A kernel without an entry for Python, which would crash where that is."""

    library = PartLibrary if TRIED else JITCodeLibrary

    @cached_property
    def part(self) -> Any:
        """Itself."""
        return self

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Refuse, unless kernels are interpreted."""
        if interpreted.HOW.get():
            return interpreted.call(self.py_func, *args, **kwargs)
        raise TypeError(f"{self.py_func.__qualname__} can be called by kernels alone")


def cached(made: Kernel) -> None:
    """Have a kernel keep what is compiled of it: a run asks for few of all kernels."""
    made.begun = True
    try:
        made._cache = cache_of(made.py_func)
    except RuntimeError:  # nowhere to keep the cache
        CacheFile.lost += 1
    with suppress(AttributeError):  # there is none, or numba keeps its caches otherwise
        cache: Any = getattr(made, "_cache", None)
        file = cache._cache_file
        file.__class__ = CacheFile
        file._version = version_of(made.py_func)
        if isinstance(made, Inner):
            file._index_name = f"{PART}{file._index_name}"
            file._index_path = str(Path(file._cache_path, file._index_name))
            file._data_name_pattern = f"{PART}{file._data_name_pattern}"
        if made.py_func.__module__ in SOURCES.texts:
            file._source_stamp = None  # the digest says more
            file.share(made.py_func.__code__.co_filename)


def load_numba() -> None:
    """Have numba load what it compiles with, but not scipy's linear algebra.

    Numba loads that only to see whether it is there, for a seventh of a second.  It is: the package
    asks for it.
    """
    if TRIED and "numba.np.arraymath" not in sys.modules:
        linalg: Any = import_module("numba.np.linalg")
        before = linalg.ensure_blas
        linalg.ensure_blas = lambda: None
        try:
            import_module("numba.np.arraymath")
        finally:
            linalg.ensure_blas = before


def widened(given: Any) -> Any:
    """Return the type in which an argument of a type is passed to a kernel."""
    plain = types.unliteral(given)
    return types.int64 if plain in (types.int8, types.int16, types.int32) else plain


LEAN = {"_nrt": False}  # it has no public name
PART = "part-"  # in front of the names of caches
ALWAYS = {"nogil": True, "no_cfunc_wrapper": True}  # kernels are not handed on as C functions


def _compiled(kind: type[Kernel], function: F, **special: Any) -> F:
    compiled: Any = numba.njit(**ALWAYS, **special)(function)  # called as the function is
    if hasattr(compiled, "get_call_template"):  # else numba is switched off
        compiled.__class__ = kind
        compiled.special = special
    return compiled
