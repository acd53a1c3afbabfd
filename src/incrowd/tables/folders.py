"""Folders that appear whole or not at all."""

import contextlib
import ctypes
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from incrowd.errors import InputError, no_folder
from incrowd.tables.atomic import raise_plainly, sync_folder

AT_FDCWD = -100
EXCHANGE = 2  # RENAME_EXCHANGE of Linux: both names change what they mean in one step


@contextlib.contextmanager
def whole_folder(path: str | Path) -> Iterator[Path]:
    """Make a folder beside ``path`` that takes its place when the block ends well.

    Whatever the block raises removes it and leaves what stood at ``path`` untouched.  A folder
    that stood there is replaced in one step where the system can (Linux); elsewhere it stands
    under the hidden name ``.NAME.….old`` for a moment.

    Raises
    ------
    InputError: the place cannot be written, or the disk is full.
    """
    target = Path(path).resolve()
    temporary = _beside(target, str(path))
    try:
        yield temporary
        _sync(temporary)
        mask = os.umask(0)
        os.umask(mask)
        temporary.chmod(0o777 & ~mask)  # until here nobody else may look into it
        _put(temporary, target)
    except BaseException as error:
        shutil.rmtree(temporary, ignore_errors=True)
        raise_plainly(error, str(path))
        raise
    sync_folder(target.parent)
    shutil.rmtree(temporary, ignore_errors=True)  # by now the one that was replaced


def _beside(target: Path, name: str) -> Path:
    try:
        made = tempfile.mkdtemp(dir=target.parent, prefix=f".{target.name[:50]}.", suffix=".part")
    except FileNotFoundError:
        raise no_folder(name, target.parent) from None
    except OSError as error:
        raise_plainly(error, name)
        raise InputError(f"{name}: cannot be written: {error.strerror}") from None
    return Path(made)


def _sync(folder: Path) -> None:
    """Make all that lies in a folder last."""
    for place, _, names in os.walk(folder):
        for name in names:
            with (Path(place) / name).open("rb") as file:
                os.fsync(file.fileno())
        sync_folder(Path(place))


def _put(temporary: Path, target: Path) -> None:
    """Give the finished folder its name; the one that had it, if any, gets the other."""
    if not target.exists():
        temporary.rename(target)
        return
    if _exchanged(temporary, target):
        return
    old = temporary.with_suffix(".old")
    target.rename(old)
    try:
        temporary.rename(target)
    except BaseException:
        old.rename(target)
        raise
    old.rename(temporary)


def _exchanged(a: Path, b: Path) -> bool:
    """Let two names change places in one step; say whether the system could."""
    try:
        rename = ctypes.CDLL(None, use_errno=True).renameat2
    except (OSError, AttributeError, TypeError):
        return False
    rename.argtypes = [ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_uint]
    return rename(AT_FDCWD, os.fsencode(a), AT_FDCWD, os.fsencode(b), EXCHANGE) == 0


def files_in(folder: Path) -> set[str]:
    """Relative names of all files below a folder."""
    return {
        (Path(place) / name).relative_to(folder).as_posix()
        for place, _, names in os.walk(folder)
        for name in names
    }
