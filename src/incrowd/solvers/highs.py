"""HiGHS through scipy: kept from writing on standard output, and why it ended."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from incrowd.run.silence import standard_output_kept
from incrowd.run.stop import Stop

_lock = threading.Lock()


@contextmanager
def standard_output_kept_clean() -> Iterator[None]:
    """Drop what HiGHS prints; one run at a time, as all threads share standard output."""
    with _lock, standard_output_kept():
        yield


def why_ended(finished: bool, stop: Stop) -> str:
    """Say why HiGHS ended; without a limit it can only have given up on its own."""
    if finished:
        return "finished"
    if stop.time_limit is None and not stop.interrupted:
        return "stopped paying"
    return stop.why()
