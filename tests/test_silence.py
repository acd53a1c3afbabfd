"""Standard output without what compiled code prints there."""

import ctypes
import os
from typing import Any, NoReturn

import pytest

from incrowd.run.silence import standard_output_kept


def test_nothing_comes_through(capfd: pytest.CaptureFixture[str]) -> None:
    """Tests that only what compiled code prints in between is lost, C's buffer included."""
    print("before")
    with standard_output_kept():
        os.write(1, b"raw")
        ctypes.CDLL(None).puts(b"buffered")
    print("after")
    assert capfd.readouterr().out == "before\nafter\n"


def test_standard_output_comes_back(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tests that it does whatever fails in between and at the end."""

    def fail(*given: Any) -> NoReturn:
        raise MemoryError

    monkeypatch.setattr(ctypes, "CDLL", fail)
    with pytest.raises(MemoryError), standard_output_kept():
        os.write(1, b"raw")
    os.write(1, b"after")
    assert capfd.readouterr().out == "after"
