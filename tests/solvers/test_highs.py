"""Tests that HiGHS cannot write on standard output, and what a run says about its end."""

import os
import subprocess
import sys
from threading import Event
from threading import enumerate as enumerate_threads
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csc_array

from incrowd.linear import highs
from incrowd.linear.highs import why_ended
from incrowd.run.silence import standard_output_kept_clean
from incrowd.run.stop import Stop


def test_standard_output_is_kept_clean(capfd: pytest.CaptureFixture[str]) -> None:
    """Tests that what is written past Python is dropped, and only meanwhile."""
    print("before")
    with standard_output_kept_clean():
        os.write(1, b"from C++\n")
    print("after")
    written = capfd.readouterr()
    assert written.out.split() == ["before", "after"]
    assert not written.err


def test_standard_output_comes_back_after_an_error(capfd: pytest.CaptureFixture[str]) -> None:
    """Tests the way back when the solver raises."""
    with pytest.raises(RuntimeError), standard_output_kept_clean():
        raise RuntimeError
    os.write(1, b"mine\n")
    assert capfd.readouterr().out == "mine\n"


class Endless:
    """A model whose run lasts until it is let go, and which asks when it is told to."""

    class Question(list[Any]):
        """Whom to ask."""

        subscribe = list.append
        unsubscribe = list.remove

    def __init__(self, asks: bool) -> None:
        self.asks, self.left, self.interrupted = asks, Event(), False
        self.cbMipInterrupt = self.Question()
        self.cbSimplexInterrupt, self.cbIpmInterrupt = self.Question(), self.Question()

    def interrupt(self) -> None:
        """End: the event is the model here."""
        self.interrupted = True

    def getRunTime(self) -> float:  # noqa: N802
        """Time so far."""
        return 0.0

    def setOptionValue(self, name: str, value: float) -> None:  # noqa: N802
        """Limit the time."""

    def run(self) -> None:
        """Run until the answer is to end."""
        while not self.interrupted and not self.left.wait(0.01):
            for ask in self.cbMipInterrupt * self.asks:
                ask(self)


def test_a_run_ends_when_it_is_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests an interrupt that HiGHS asks for in time, and one that it does not ask for."""
    monkeypatch.setattr(highs, "PATIENCE", 0.3)
    stop = Stop()
    stop.interrupt()
    model = Endless(asks=True)
    assert highs.run_until(model, stop)
    assert model.interrupted and not model.cbMipInterrupt
    model = Endless(asks=False)
    assert not highs.run_until(model, stop)
    assert any(thread.name == highs.THREAD for thread in enumerate_threads())
    model.left.set()


def test_a_model_is_run_twice() -> None:
    """Tests that the end of one run does not end the next one."""
    one, three = np.ones(1), np.full(1, 3.0)
    model = highs.model_of(csc_array([[2.0]]), one, three, one, three, np.ones(1, bool))
    for _ in range(2):
        assert highs.run_until(model, Stop())
        found = highs.optimum(model)
        assert found is not None and found.value == 1


def test_why_ended() -> None:
    """Tests that an unfinished run is never called finished."""
    assert why_ended(True, Stop()) == "finished"
    assert why_ended(False, Stop()) == "stopped paying"
    assert why_ended(False, Stop(time_limit=1.0)) == "time limit"


def test_a_process_prints_no_banner() -> None:
    """Tests the first model of a process, which made HiGHS print one whatever was set."""
    program = (
        "import numpy as np; from scipy.sparse import csc_array\n"
        "from incrowd.linear.highs import model_of\n"
        "one = np.ones(1)\n"
        "model_of(csc_array(np.ones((1, 1))), one, one, one, one).run()\n"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert ran.stdout == b""
