"""When to end a search: time, gap, an interrupt, or a release that is proven optimal."""

import contextlib
import signal
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from types import FrameType

from incrowd.run import clock
from incrowd.text.units import as_written


@dataclass
class Stop:
    """The budget of one run; made fresh for each, asked often, cheap to ask.

    Given to ``anonymize`` or ``frontier`` as ``stop``, it ends the run from another thread: after
    ``interrupt()`` the run returns the best that it has so far.

    Attributes
    ----------
    time_limit: wall seconds from construction, or None; those in which kernels are compiled do not
        count.
    gap: end once ``(cost − bound) / cost`` is at most this, or None.
    started: when the run began, by ``incrowd.run.clock``; interrupted: whether it was asked to end.
    """

    time_limit: float | None = None
    gap: float | None = None
    started: float = field(default_factory=clock.now)
    interrupted: bool = False

    def begin(self, time_limit: float | None, gap: float | None) -> "Stop":
        """Start the clock; what the handle itself does not limit, these do."""
        self.time_limit = time_limit if self.time_limit is None else self.time_limit
        self.gap = gap if self.gap is None else self.gap
        self.started = clock.now()
        return self

    def interrupt(self) -> None:
        """Ask the run to end at the next lawful moment; any thread may call it."""
        self.interrupted = True

    def elapsed(self) -> float:
        """Wall seconds since the start, compiling left out."""
        return clock.now() - self.started

    def left(self) -> float:
        """Wall seconds left: infinite without a limit, none once interrupted."""
        if self.interrupted:
            return 0.0
        return float("inf") if self.time_limit is None else self.time_limit - self.elapsed()

    def now(self) -> bool:
        """Whether time is up or the run was interrupted."""
        return self.interrupted or self.left() <= 0

    def satisfied(self, cost: int, bound: int) -> bool:
        """Whether the gap between ``cost`` and ``bound`` is small enough to end."""
        if cost <= bound:
            return True
        return self.gap is not None and cost - bound <= as_written(self.gap) * cost

    def why(self) -> str:
        """Say in words why ``now()`` is true."""
        return "interrupted" if self.interrupted else "time limit"


@dataclass
class Share(Stop):
    """A part of a budget: it ends with the whole, or after its own seconds."""

    whole: Stop = field(default_factory=Stop)

    @classmethod
    def of(cls, whole: Stop, seconds: float) -> "Share":
        """Return a part of at most ``seconds`` from now (may be infinite)."""
        left = min(seconds, whole.left())
        return cls(None if left == float("inf") else left, whole.gap, whole=whole)

    def now(self) -> bool:
        """Whether this part or the whole is over."""
        self.interrupted = self.interrupted or self.whole.interrupted
        return super().now() or self.whole.now()


@contextlib.contextmanager
def interruptible(stop: Stop) -> Iterator[None]:
    """Let Ctrl-C end the search at its next lawful moment; a second one raises.

    Only the main thread may handle signals; elsewhere nothing changes.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def handle(number: int, frame: FrameType | None) -> None:
        if stop.interrupted:
            raise KeyboardInterrupt
        stop.interrupt()

    before = signal.getsignal(signal.SIGINT)
    if before is None or before == signal.SIG_IGN:  # not ours to handle
        yield
        return
    signal.signal(signal.SIGINT, handle)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
