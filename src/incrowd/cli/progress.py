"""Progress for a person who watches a terminal; silence for everybody else."""

import contextlib
import sys
import time
from collections.abc import Iterator
from typing import Any

from incrowd.events import Event, Listener, silent


@contextlib.contextmanager
def progress(quiet: bool, time_limit: float | None = None) -> Iterator[Listener]:
    """Yield a listener that shows the last event as one line on standard error.

    Silent when ``quiet`` or when standard error is no terminal.
    """
    if quiet or not sys.stderr.isatty():
        yield silent
        return
    from rich.console import Console

    with Console(stderr=True).status("starting", spinner="dots") as status:
        line = Line(time_limit)

        def listen(event: Event) -> None:
            status.update(line.after(event))

        yield listen


class Line:
    """What is known so far, as one line of text."""

    def __init__(self, time_limit: float | None) -> None:
        self._limit = time_limit
        self._start = time.monotonic()
        self._cost: float | None = None
        self._bound: float | None = None

    def after(self, event: Event) -> Any:
        """Return the line once ``event`` is known."""
        from rich.text import Text

        from incrowd.release import shown

        self._cost = event.cost if event.cost is not None else self._cost
        if event.bound is not None:
            self._bound = max(event.bound, self._bound or 0)
        parts = [event.stage]
        if event.share is not None:
            parts[0] += f" {event.share:.0%}"
        if self._cost is not None:
            parts.append(f"cost {shown(self._cost)}")
        if self._bound is not None:
            parts.append(f"at least {shown(self._bound)}")
        if self._cost and self._bound is not None:
            parts.append(f"gap {(self._cost - self._bound) / self._cost:.2%}")
        spent = time.monotonic() - self._start
        parts.append(f"{spent:.0f} s")
        if self._limit is not None:
            parts.append(f"{max(0.0, self._limit - spent):.0f} s left")
        parts.append("Ctrl-C: take the best so far")
        return Text(" · ".join(parts), no_wrap=True, overflow="ellipsis")
