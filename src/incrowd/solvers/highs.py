"""HiGHS through scipy: kept from writing on standard output, and why it ended."""

import ctypes
import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from incrowd.stop import Stop

_lock = threading.Lock()


@contextmanager
def standard_output_kept_clean() -> Iterator[None]:
    """Drop what C++ code prints.

    HiGHS prints single lines past its own log switch that mean nothing to a user, and standard
    output may be a table or JSON.  Python's own buffer is flushed first, so nothing of it is lost
    or moved.
    """
    with _lock:
        sys.stdout.flush()
        try:
            kept = os.dup(1)
        except OSError:  # no standard output at all
            yield
            return
        try:
            with suppress(OSError), Path(os.devnull).open("wb") as nowhere:
                os.dup2(nowhere.fileno(), 1)
            yield
        finally:
            with suppress(OSError, AttributeError):
                ctypes.CDLL(None).fflush(None)
            os.dup2(kept, 1)
            os.close(kept)


def why_ended(finished: bool, stop: Stop) -> str:
    """Say why HiGHS ended; without a limit it can only have given up on its own."""
    if finished:
        return "finished"
    if stop.time_limit is None and not stop.interrupted:
        return "stopped paying"
    return stop.why()
