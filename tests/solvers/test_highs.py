"""Tests that HiGHS cannot write on standard output, and what a run says about its end."""

import os

import pytest

from incrowd.solvers.highs import standard_output_kept_clean, why_ended
from incrowd.stop import Stop


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


def test_why_ended() -> None:
    """Tests that an unfinished run is never called finished."""
    assert why_ended(True, Stop()) == "finished"
    assert why_ended(False, Stop()) == "stopped paying"
    assert why_ended(False, Stop(time_limit=1.0)) == "time limit"
