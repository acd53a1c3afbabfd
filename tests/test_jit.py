"""Tests of the kernel cache's housekeeping, and that no time limit counts compiling."""

import os
import time
from pathlib import Path
from typing import Any

import pytest

from incrowd import clock
from incrowd.jit import drop_stale_caches, kernel, lean_kernel
from incrowd.stop import Stop


@pytest.mark.parametrize("decorate", [kernel, lean_kernel])
def test_compiling_takes_none_of_a_time_limit(decorate: Any) -> None:
    """Tests a kernel that another one calls: the clock stands while both are compiled."""

    @decorate
    def inner(x: Any) -> Any:
        return x + 1

    @decorate
    def outer(x: Any) -> Any:
        return inner(x) * 2

    begin, before = time.monotonic(), clock.left_out()
    stop = Stop(1e6)
    assert outer(1) == 4
    elapsed, compiling = stop.elapsed(), clock.left_out() - before
    assert compiling > 0
    assert elapsed <= time.monotonic() - begin - compiling
    outer(2)  # compiled before
    assert clock.left_out() == before + compiling


def test_caches_older_than_a_source_are_dropped(tmp_path: Path) -> None:
    """Tests old and new caches beside sources of several ages, in a subfolder too."""
    inner = tmp_path / "bounds" / "__pycache__"
    inner.mkdir(parents=True)
    ages = {
        tmp_path / "kernel.py": 100,
        tmp_path / "bounds" / "callee.py": 300,
        inner / "old.nbi": 200,
        inner / "old.1.nbc": 299,
        inner / "new.nbi": 300,
        inner / "newer.1.nbc": 400,
        inner / "kernel.pyc": 1,
    }
    for file, age in ages.items():
        file.write_bytes(b"")
        os.utime(file, (age, age))
    drop_stale_caches(tmp_path)
    assert {f.name for f in inner.iterdir()} == {"new.nbi", "newer.1.nbc", "kernel.pyc"}


def test_a_folder_that_is_not_there() -> None:
    """Tests that nothing is raised where there is nothing to tidy."""
    drop_stale_caches(Path("/nowhere/at/all"))
