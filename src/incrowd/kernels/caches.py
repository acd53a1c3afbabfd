"""Where the compiled code of kernels is kept, and from where it is taken.

Numba keeps it in the folder that ``NUMBA_CACHE_DIR`` names, else beside the sources, else in the
user's own folder; and it takes none from a folder that it cannot write.  But what an administrator
compiled (``incrowd warm``, in an image of a container) serves users who may only read it.
"""

import os
from contextlib import suppress
from copy import copy
from pathlib import Path
from typing import Any

from numba.core import caching, config

numbas: Any = config
# names of numba's own use, which another version may lack: kernels are then kept as it keeps them
Locator: Any = getattr(caching, "_CacheLocator", object)
locators: Any = getattr(caching.CompileResultCacheImpl, "_locator_classes", None)
KNOWN = Locator is not object and locators is not None


def folder_of(file: str) -> Path:
    """Return where kernels of a source are kept for all users, writable or not."""
    if numbas.CACHE_DIR:
        return Path(numbas.CACHE_DIR, Locator.get_suitable_cache_subpath(file))
    return Path(file).parent / "__pycache__"


class Readable(Locator):  # pyright: ignore[reportGeneralTypeIssues]
    """A folder that can be read, the last one that numba asks for."""

    def __init__(self, function: Any, file: str) -> None:
        self.line = function.__code__.co_firstlineno
        self.folder = folder_of(file)

    @classmethod
    def from_function(cls, py_func: Any, py_file: str) -> "Readable | None":
        """Return it if there is such a folder."""
        found = cls(py_func, py_file)
        return found if os.access(found.folder, os.R_OK | os.X_OK) else None

    def ensure_cache_path(self) -> None:
        """Leave it as it is."""

    def get_cache_path(self) -> Any:
        """Return its path."""
        return str(self.folder)

    def get_source_stamp(self) -> Any:
        """Return None: kernels of the package bear a digest, others are not taken from there."""

    def get_disambiguator(self) -> Any:
        """Return the line of the function, as numba's own do."""
        return str(self.line)


class Everywhere(caching.CompileResultCacheImpl):
    """What asks numba's own folders first."""

    _locator_classes: Any = (*(locators or ()), Readable)


class ReadOnly(caching.CompileResultCacheImpl):
    """What keeps nothing."""

    _locator_classes: Any = (Readable,)


class Kept(caching.FunctionCache):
    """The cache of a kernel where the user has a folder."""

    _impl_class: Any = Everywhere


class Taken(caching.FunctionCache):
    """The cache of a kernel where the user has none."""

    _impl_class: Any = ReadOnly


def cache_of(function: Any) -> Any:
    """Return numba's cache of a function.

    Without a home, numba's is a folder called ``~`` where the run begins: the next run elsewhere
    would not find it, and would run what somebody else left there.

    Raises
    ------
    RuntimeError: there is no folder to write or to read.
    """
    if not KNOWN:
        return caching.FunctionCache(function)
    file = function.__code__.co_filename
    home = True
    if not numbas.CACHE_DIR and not os.access(Path(file).parent, os.W_OK):
        named = os.environ.get("XDG_CACHE_HOME")
        try:
            home = (Path.home() if named is None else Path(named)).is_absolute()
        except RuntimeError:
            home = False
    return (Kept if home else Taken)(function)


class CacheFile(caching.IndexDataCacheFile):
    """The cache of a kernel, without which a run goes on.

    Where it cannot be read or written (no room, a quota, a colleague's files, half a file), numba
    would end the run.  And it writes the index first: a process that is killed then, or another one
    that counts the same files, leaves there the code of other sources or other types.

    Attributes
    ----------
    lost: how many kernels of this process could not be kept.
    shared: the file beside the sources, where this is another one: it is read alone.
    """

    lost = 0
    shared: "CacheFile | None" = None

    def share(self, file: str) -> None:
        """Take also what is kept beside the sources, for a user with a folder elsewhere."""
        folder = str(folder_of(file))
        if not numbas.CACHE_DIR and self._cache_path != folder:
            self.shared = copy(self)
            self.shared._cache_path = folder
            self.shared._index_path = str(Path(folder, self._index_name))

    def save(self, key: Any, data: Any) -> None:
        """Keep what was compiled, with what it is, if there is room."""
        try:
            super().save(key, (self._version, key, data))
        except OSError:
            CacheFile.lost += 1

    def load(self, key: Any) -> Any:
        """Return what is kept, or None where that is something else."""
        with suppress(Exception):  # what half a file raises, pickle does not say
            found: Any = super().load(key)
            if found is not None and found[:2] == (self._version, key):
                return found[2]
        return None if self.shared is None else self.shared.load(key)

    def _load_index(self) -> dict[Any, str]:
        try:
            return super()._load_index()
        except Exception:  # as above
            return {}
