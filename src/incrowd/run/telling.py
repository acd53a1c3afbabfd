"""A run that is never silent for long: its listener hears of compiling, and that work goes on."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from incrowd.run import clock
from incrowd.run.events import COMPILING, Event, Listener, silent

LONGEST = 1.5  # seconds without an event, after which the last stage is told again


@contextmanager
def telling(listener: Listener) -> Iterator[Listener]:
    """Yield a listener that is also told of compiling, and of the stage when all else is silent.

    What is told again comes from a thread of its own, and never while another event is told.
    """
    if listener is silent:
        yield silent
        return
    with Telling(listener).watching() as tell:
        yield tell.event


class Telling:
    """Events on their way to a listener."""

    def __init__(self, listener: Listener) -> None:
        self._listener = listener
        self._lock = threading.RLock()  # the listener's own work may compile a kernel
        self._stage, self._now = Event("starting"), Event("starting")
        self._told = time.monotonic()
        self._failed: Exception | None = None
        self._ended = threading.Event()

    def event(self, event: Event) -> None:
        """Hand on what the run tells."""
        with self._lock:
            if self._failed is not None:  # in the other thread, where nobody hears of it
                raise self._failed
            self._stage = replace(event, cost=None, bound=None, proof=None, point=None)
            self._hand_on(event, self._stage)

    def compiling(self, begins: bool) -> None:
        """Tell that kernels are compiled, or what goes on after that."""
        with self._lock:
            now = Event(COMPILING if begins else self._stage.stage)
            self._hand_on(now, now)

    def _hand_on(self, event: Event, now: Event) -> None:
        self._now, self._told = now, time.monotonic()
        self._listener(event)

    def _go_on(self) -> None:
        while not self._ended.wait(LONGEST / 4):
            with self._lock:
                if time.monotonic() - self._told >= LONGEST and not self._ended.is_set():
                    try:
                        self._hand_on(self._now.again(), self._now)
                    except Exception as error:
                        self._failed = error
                        return

    @contextmanager
    def watching(self) -> Iterator["Telling"]:
        """Tell of compiling, and that work goes on, until the block ends."""
        thread = threading.Thread(target=self._go_on, daemon=True, name="progress")
        thread.start()
        try:
            with clock.watched(self.compiling):
                yield self
        finally:
            self._ended.set()
            thread.join()
