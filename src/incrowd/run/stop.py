"""When to end a search: time, gap, an interrupt, or a release that is proven optimal."""

import contextlib
import signal
import socket
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from types import FrameType
from typing import TYPE_CHECKING, Any
from weakref import ref

from incrowd.errors import InputError
from incrowd.run import clock
from incrowd.text.units import as_written

GRACE = 1.0  # seconds beyond the end, for what has to be finished to be of any use
if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

ENDING = {getattr(signal, name, None) for name in ("SIGINT", "SIGTERM", "SIGHUP")}
LOOK = 0.5  # seconds between looks at the clock, which stands while kernels are compiled


def unwritten() -> "NDArray[np.int64]":
    """Return two words that nobody has written; numpy comes with the first run, not with help."""
    import numpy as np

    return np.zeros(2, np.int64)


@dataclass(eq=False)
class Stop:
    """The budget of one run; made fresh for each, asked often, cheap to ask.

    Given to ``anonymize`` or ``frontier`` as ``stop``, it ends the run from another thread: after
    ``interrupt()`` the run returns the best that it has so far.

    Attributes
    ----------
    time_limit: wall seconds from construction, or None; those in which kernels are compiled do not
        count.
    gap: end once ``(cost − bound) / cost`` is at most this, or None.
    spend: whether all that there is to do is asked for, also where it no longer pays.
    threads: that the run may use at a time; no influence on its result.
    started: when the run began, by ``incrowd.run.clock``; interrupted: whether it was asked to end.
    words: int64, shape (2,): what kernels look at (``incrowd.kernels.halt``), see ``over`` and
        ``overdue``.
    parts: of this budget; their kernels hear of its end, too.
    """

    time_limit: float | None = None
    gap: float | None = None
    spend: bool = False
    threads: int = 1
    started: float = field(default_factory=clock.now)
    interrupted: bool = False
    words: "NDArray[np.int64]" = field(default_factory=unwritten, repr=False)
    parts: "list[ref[Share]]" = field(default_factory=list, repr=False)

    @property
    def over(self) -> "NDArray[np.int64]":
        """int64, shape (1,): the word that is written when it is time to stop."""
        return self.words[:1]

    @property
    def overdue(self) -> "NDArray[np.int64]":
        """int64, shape (1,): that which is written ``GRACE`` later, to kernels that end a proof."""
        return self.words[1:]

    @property
    def thorough(self) -> bool:
        """Whether a search goes on though it brings next to nothing (``incrowd.run.paying``)."""
        return self.spend or self.gap == 0

    @property
    def patient(self) -> bool:
        """Whether a time limit, a gap or ``spend`` asks for more than a good release soon."""
        return self.time_limit is not None or self.gap is not None or self.spend

    def begin(
        self, time_limit: float | None, gap: float | None, spend: bool = False, threads: int = 1
    ) -> "Stop":
        """Start the clock; what the handle itself does not say, these do."""
        self.time_limit = time_limit if self.time_limit is None else self.time_limit
        self.gap = gap if self.gap is None else self.gap
        self.spend = self.spend or spend
        self.threads = threads if self.threads == 1 else self.threads
        self.started = clock.now()
        return self

    @classmethod
    def given(cls, stop: Any) -> "Stop":
        """Return the handle that a caller gives; a fresh one for None.

        Raises
        ------
        InputError: it is no such handle.
        """
        if stop is not None and not isinstance(stop, Stop):
            raise InputError(f"stop: {type(stop).__name__} is not an incrowd.Stop")
        return stop or cls()

    def interrupt(self) -> None:
        """Ask the run to end at the next lawful moment; any thread may call it."""
        self.interrupted = True
        self.halt()

    def halt(self) -> None:
        """Let kernels return to who called them; those of all parts as well."""
        if not self.words[0]:
            self.words[0] = 1
            late = threading.Timer(GRACE, self.words.__setitem__, (1, 1))
            late.daemon = True
            late.start()
        for known in (*self.parts,):
            part = known()
            if part is not None:
                part.halt()

    def elapsed(self) -> float:
        """Wall seconds since the start, compiling left out."""
        return clock.now() - self.started

    def left(self) -> float:
        """Wall seconds left: infinite without a limit, 0 when time is up or once interrupted."""
        if self.interrupted:
            return 0.0
        if self.time_limit is None:
            return float("inf")
        return max(0.0, self.time_limit - self.elapsed())  # stages measure work by it

    def now(self) -> bool:
        """Whether time is up, the run was interrupted, or kernels were let go."""
        return self.left() <= 0 or bool(self.words[0])

    def satisfied(self, cost: int, bound: int) -> bool:
        """Whether the gap between ``cost`` and ``bound`` is small enough to end."""
        if cost <= bound:
            return True
        return self.gap is not None and cost - bound <= as_written(self.gap) * cost

    def why(self) -> str:
        """Say in words why ``now()`` is true."""
        return "interrupted" if self.interrupted else "time limit"


@dataclass(eq=False)
class Share(Stop):
    """A part of a budget: it ends with the whole, or after its own seconds.

    Its kernels are let go at the end of the whole, and at its own where it is ``watched``, which
    ends nothing that follows in the whole.
    """

    whole: Stop = field(default_factory=Stop)

    @classmethod
    def of(cls, whole: Stop, seconds: float) -> "Share":
        """Return a part of at most ``seconds`` from now (may be infinite)."""
        left = min(seconds, whole.left())
        limit = None if left == float("inf") else left
        shared = whole.gap, whole.spend, whole.threads
        part = cls(limit, *shared, whole=whole)
        whole.parts.append(ref(part))
        if whole.words[0]:  # before, or just now
            part.halt()
        return part

    def left(self) -> float:
        """Wall seconds left of this part, or of the whole if that ends before."""
        self.interrupted = self.interrupted or self.whole.interrupted
        return min(super().left(), self.whole.left())


@contextlib.contextmanager
def watched(stop: Stop) -> Iterator[None]:
    """Watch the clock in a thread, for the kernels that run meanwhile."""
    if stop.time_limit is None:
        yield
        return
    done = threading.Event()

    def watch() -> None:
        while not done.wait(min(max(stop.left(), 0.01), LOOK)):
            if stop.left() <= 0:
                stop.halt()
                return

    threading.Thread(target=watch, name="limit", daemon=True).start()
    try:
        yield
    finally:
        done.set()


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
        with heard_in_kernels(stop):
            yield
    finally:
        signal.signal(signal.SIGINT, before)


@contextlib.contextmanager
def heard_in_kernels(stop: Stop) -> Iterator[None]:
    """Let kernels return when a signal asks for the end, so that Python comes to handle it.

    Its handlers run between two steps of the main thread, and a kernel is one step; the number of
    the signal is written to a socket at once, where another thread listens.
    """
    ear, mouth = socket.socketpair()
    mouth.setblocking(False)
    before = signal.set_wakeup_fd(mouth.fileno(), warn_on_full_buffer=False)
    if before != -1:  # somebody else listens: an event loop
        signal.set_wakeup_fd(before)

    def listen() -> None:
        while number := ear.recv(1):
            if number[0] in ENDING:
                stop.halt()

    thread = threading.Thread(target=listen, name="signals", daemon=True)
    thread.start()
    try:
        yield
    finally:
        if before == -1:
            signal.set_wakeup_fd(-1)
        mouth.close()
        thread.join()
        ear.close()
