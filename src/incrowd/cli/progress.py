"""Progress for a person who watches a terminal; silence for everybody else."""

import contextlib
import sys
import time
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

from incrowd.run import clock
from incrowd.run.events import AROUND, Event, Listener, silent
from incrowd.text.units import as_written, at_least, shown, shown_gap

Limit = float | Callable[[], float | None] | None
"""Seconds, or how to learn of them: they may stand in a policy that is read later."""

LEAST, SHARE = 2.0, 0.05  # seconds and share of a stage before its end is guessed


@contextlib.contextmanager
def progress(quiet: bool, time_limit: Limit = None) -> Iterator[Listener]:
    """Yield a listener that shows what is known as one line on standard error, the clock going on.

    Silent when ``quiet`` or when standard error is no terminal.
    """
    if quiet or not sys.stderr.isatty():
        yield silent
        return
    from rich.console import Console
    from rich.live import Live
    from rich.spinner import Spinner
    from rich.text import Text

    console, line, spinner = Console(stderr=True), Line(time_limit), Spinner("dots")

    def shown() -> Text:
        dots: Any = spinner.render(console.get_time())
        return Text.assemble(dots, " ", line.text(), no_wrap=True, overflow="ellipsis")

    with Live(
        console=console,
        get_renderable=shown,
        refresh_per_second=4,
        transient=True,
        redirect_stdout=False,  # a release may go there
    ):
        yield line.note


class Line:
    """What is known so far, as one line of text."""

    def __init__(self, time_limit: Limit) -> None:
        self._limit = time_limit
        self._start, self._search = time.monotonic(), clock.now()
        self._event = Event("starting")
        self._stage_began = self._start
        self._share_began = 0.0
        self._cost: float | None = None
        self._bound: float | None = None

    def note(self, event: Event) -> None:
        """Take in an event; what it does not say stays known."""
        share = event.share or 0.0
        if event.stage != self._event.stage or share < (self._event.share or 0.0):
            self._stage_began, self._share_began = time.monotonic(), share
        self._event = event
        self._cost = event.cost if event.cost is not None else self._cost
        if event.bound is not None:
            self._bound = max(event.bound, self._bound or 0)

    def after(self, event: Event) -> Any:
        """Return the line once ``event`` is known."""
        self.note(event)
        return self.text()

    def stage_left(self, share: float) -> str:
        """Say how long the stage will take if it goes on as so far; nothing in its first moments.

        ``share``: how much of it is done.
        """
        spent, done = time.monotonic() - self._stage_began, share - self._share_began
        if spent < LEAST or done < SHARE or share >= 1:
            return ""
        return f" (about {spent * (1 - share) / done:.0f} s more)"

    def text(self) -> Any:
        """Return the line as it is now."""
        from rich.text import Text

        parts = [self._event.stage]
        if self._event.share is not None:
            parts[0] += f" {self._event.share:.0%}{self.stage_left(self._event.share)}"
        if self._cost is not None:
            parts.append(f"cost {shown(self._cost)}")
        if self._bound is not None:
            parts.append(f"at least {shown(self._bound)}")
        if self._cost and self._bound is not None:
            left = max(Fraction(0), 1 - as_written(self._bound) / as_written(self._cost))
            parts.append(f"gap {shown_gap(at_least(left.numerator, left.denominator))}")
        spent = time.monotonic() - self._start
        parts.append(f"{spent:.0f} s")
        if self._event.stage not in AROUND:
            limit = self._limit() if callable(self._limit) else self._limit
            if limit is not None:
                left = limit - (clock.now() - self._search)
                parts.append(f"{max(0.0, left):.0f} s left")
            parts.append("Ctrl-C: take the best so far")
        return Text(" · ".join(parts), no_wrap=True, overflow="ellipsis")
