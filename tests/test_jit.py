"""Tests of the kernel cache's housekeeping."""

import os
from pathlib import Path

from incrowd.jit import drop_stale_caches


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
