"""Standard output without what compiled code prints there."""

import ctypes
import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


@contextmanager
def standard_output_kept() -> Iterator[None]:
    """Send to nowhere what libraries print on standard output during a search.

    Some compiled solvers print past their own log switch; a pipe or a JSON reader must not see it.
    Python's own buffer is flushed first, so nothing of it is lost or moved.
    """
    try:
        kept = os.dup(1)
    except OSError:  # no standard output at all
        yield
        return
    sys.stdout.flush()
    try:
        with suppress(OSError), Path(os.devnull).open("wb") as nowhere:
            os.dup2(nowhere.fileno(), 1)
        yield
    finally:
        try:
            with suppress(OSError, AttributeError):
                ctypes.CDLL(None).fflush(None)  # C keeps a buffer of its own
        finally:  # whatever ran out meanwhile
            os.dup2(kept, 1)
            os.close(kept)


_lock = threading.RLock()


@contextmanager
def standard_output_kept_clean() -> Iterator[None]:
    """As above, one thread at a time: all of a process share standard output."""
    with _lock, standard_output_kept():
        yield
