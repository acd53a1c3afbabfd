"""Files that appear whole or not at all."""

import contextlib
import errno
import logging
import os
import shutil
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from incrowd.errors import InputError, no_folder
from incrowd.tables.addresses import workbook_of

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None

LOGGER = logging.getLogger("incrowd")
WAITING = "incrowd: another run writes into the folder %s; this one waits until it has ended"
PATIENCE = 1.0  # seconds
PRIVATE = 0o600
ROOM = 1 << 16  # bytes; a disk without them counts as full


@contextlib.contextmanager
def whole(path: str | Path, private: bool = False) -> Iterator[IO[bytes]]:
    """Open a temporary file beside ``path`` that takes its place when the block ends well.

    Whatever the block raises (an interrupt too) removes the temporary file and leaves what stood
    at ``path`` untouched.  The file is open for reading as well.  Standard output (``-``), pipes
    and devices stay what they are, and get the bytes at the end, all at once.

    Parameters
    ----------
    private: whether the file can undo a release: nobody but its owner may ever open it, also where
        the file that it replaces was open to others.

    Raises
    ------
    InputError: the folder is not there or cannot be written, or the disk is full.
    """
    if is_stream(path):
        with temporary(), tempfile.NamedTemporaryFile() as spool:
            yield spool
            _pour(spool, path)
        return
    target = _followed(path)
    file = _beside(target, str(path))
    try:
        with file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        if not private:  # a temporary file is, from its first byte on
            _like_a_new_file(Path(file.name), target)
        Path(file.name).replace(target)
    except BaseException as error:
        with contextlib.suppress(OSError):
            Path(file.name).unlink()
        raise_plainly(error, str(path))
        raise
    sync_folder(target.parent)


@contextlib.contextmanager
def temporary() -> Iterator[None]:
    """Name the system's folder for temporary files, of which nobody thinks, where it is full.

    Raises
    ------
    InputError: it is full, or there is none.
    """
    try:
        where = tempfile.gettempdir()
    except FileNotFoundError:
        raise InputError(
            "no folder for temporary files can be written: set TMPDIR to one that can, or name a "
            "file in place of -"
        ) from None
    try:
        yield
    except Exception as error:
        folder = f"the folder for temporary files, {where}"
        raise_plainly(error, f"{folder} (TMPDIR names another)")
        raise


@contextlib.contextmanager
def scratch() -> Iterator[Path]:
    """Make a temporary folder that only its owner may enter, and remove it at the end.

    Raises
    ------
    InputError: it has no room, also where what was written there did not notice.
    """
    with temporary(), tempfile.TemporaryDirectory() as folder:
        try:
            yield Path(folder)
        finally:
            Path(folder, "room").write_bytes(bytes(ROOM))


def is_stream(path: str | Path) -> bool:
    """Whether bytes written there go elsewhere: ``-``, a pipe, a device, an open file's number."""
    name = str(path)
    if name == "-" or name.startswith(("/dev/std", "/dev/fd/", "/proc/self/fd/")):
        return True
    there = Path(path)
    return there.exists() and not there.is_file() and not there.is_dir()


def _pour(spool: IO[bytes], path: str | Path) -> None:
    """Write all of a temporary file into a stream, behind what stands there."""
    spool.flush()
    spool.seek(0)
    try:
        if str(path) == "-":
            shutil.copyfileobj(spool, sys.stdout.buffer)
            sys.stdout.buffer.flush()
            return
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_APPEND), "wb") as stream:
            shutil.copyfileobj(spool, stream)
    except OSError as error:
        raise_plainly(error, "standard output" if str(path) == "-" else str(path))
        raise


FULL = {
    errno.ENOSPC: "the disk is full",
    errno.EDQUOT: "the disk quota is used up",
    errno.EFBIG: "the file is larger than the system allows (see ulimit -f)",
    errno.EROFS: "the disk can only be read",
    errno.EIO: "the disk reports an error",
}


def raise_plainly(error: BaseException, name: str) -> None:
    """Raise InputError in place of an error that says that there is no room to write.

    Libraries may wrap the system's error; then its text tells.
    """
    number = error.errno if isinstance(error, OSError) else None
    if number is None:
        number = next((n for n in FULL if os.strerror(n) in str(error)), None)
    if number in FULL and not isinstance(error, InputError):
        raise InputError(
            f"{name}: {FULL[number]}; nothing was written there, and what stood there before is "
            "untouched: make room or choose another place, and run again"
        ) from None


def _followed(path: str | Path) -> Path:
    """Return the file that a name means, at the end of symbolic links."""
    target = Path(path)
    if target.is_symlink():
        target = Path(os.path.realpath(target))
        if target.is_symlink():
            raise InputError(f"{path}: cannot be written: it is a loop of symbolic links")
    return target


def _beside(target: Path, name: str) -> IO[bytes]:
    if not name:
        raise InputError("the name of an output is empty; name a file, or - for standard output")
    if target.is_dir():
        raise InputError(f"{name}: is a folder; expected a file name")
    try:
        return tempfile.NamedTemporaryFile(
            dir=target.parent, prefix=f".{target.name[:50]}.", suffix=".part", delete=False
        )
    except FileNotFoundError:
        if target.parent.is_dir():  # as /proc, which holds no files of one's own
            raise InputError(f"{name}: no file can be made in {str(target.parent)!r}") from None
        raise no_folder(name, target.parent) from None
    except OSError as error:
        raise InputError(f"{name}: cannot be written: {error.strerror}") from None


def privately(path: str, flags: int) -> int:
    """Open a file that nobody but its owner may open; to be the ``opener`` of ``open``."""
    handle = os.open(path, flags, PRIVATE)
    Path(path).chmod(PRIVATE)  # it may have been there
    return handle


def require_place(path: str | Path) -> None:
    """Raise at once what ``whole`` would raise later, after a long search.

    Raises
    ------
    InputError: the folder is not there or cannot be written, or ``path`` is a folder.
    """
    if is_stream(path):
        if str(path) != "-" and not os.access(path, os.W_OK):
            raise InputError(f"{path}: cannot be written")
    else:
        with _beside(_followed(path), str(path)) as file:
            pass
        Path(file.name).unlink()  # Windows removes no file that is open


def _like_a_new_file(temporary: Path, target: Path) -> None:
    """Give the file the permissions of the one it replaces, or those of any new file."""
    if target.exists():
        mode = target.stat().st_mode & 0o7777
    else:
        mask = os.umask(0)
        os.umask(mask)
        mode = 0o666 & ~mask
    temporary.chmod(mode)


@contextlib.contextmanager
def alone_in(folder: Path) -> Iterator[None]:
    """Let one process at a time pass for each folder, where the system can; it leaves no file.

    For what looks at a file and then replaces it: nobody else who asks may do so in between.
    """
    with contextlib.ExitStack() as stack:
        with contextlib.suppress(OSError):  # some network disks lock nothing
            handle = os.open(folder, os.O_RDONLY)
            stack.callback(os.close, handle)  # the next one may pass then, as after a kill
            if fcntl is not None:
                _locked(handle, folder)
        yield


def _locked(handle: int, folder: Path) -> None:
    """Wait for the lock of a folder, and say so where it takes long."""
    assert fcntl is not None
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        told = threading.Timer(PATIENCE, LOGGER.warning, (WAITING, folder))
        told.daemon = True
        told.start()
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
        finally:
            told.cancel()


@contextlib.contextmanager
def standing(where: str | Path) -> Iterator[None]:
    """Say of an error in what is written after the release that the release stands."""
    try:
        yield
    except InputError as error:
        raise InputError(f"{error} (the release is written: {where})") from None


def sync_folder(folder: Path) -> None:
    """Make the new name itself last, where the system can."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def stamp_of(path: str | Path) -> tuple[int, ...] | None:
    """Return what tells whether a file is still the one that was read; None where it is none."""
    try:
        found = Path(workbook_of(str(path))[0]).stat()
    except OSError:  # an address, a pipe, or it has gone
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino


def same_file(a: str | Path, b: str | Path) -> bool:
    """Whether two names mean one file, be it there or not."""
    if "-" in (str(a), str(b)):
        return False
    try:
        return Path(a).resolve() == Path(b).resolve() or Path(a).samefile(b)
    except (OSError, RuntimeError):  # not there; or a loop of links
        return False
