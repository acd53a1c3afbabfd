"""Tests of ``incrowd warm``."""

import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from incrowd.cli import cli
from incrowd.kernels.jit import CacheFile


def test_it_compiles_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests one kind of run, and a kind that is none."""
    monkeypatch.setattr("incrowd.cli.warm.ROWS", 60)
    done = CliRunner().invoke(cli, ["warm", "--kind", "k"])
    assert done.exit_code == 0 and done.stdout == ""
    assert done.stderr.startswith("k           compiled in ")
    assert CliRunner().invoke(cli, ["warm", "--kind", "nothing"]).exit_code == 2


def test_it_says_so_where_nothing_can_be_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that an image without compiled kernels is not taken for one with them."""

    def compiled(*_: object, **__: object) -> None:
        CacheFile.lost += 1

    monkeypatch.setattr(CacheFile, "lost", 0)
    monkeypatch.setattr("incrowd._api.anonymize", compiled)
    done = CliRunner().invoke(cli, ["warm"])
    assert done.exit_code == 2 and "could not be kept" in done.stderr


def test_what_was_compiled_is_kept(tmp_path: Path) -> None:
    """Tests that a kernel is there for another process where it is told to be kept."""
    kernel = "from incrowd.kernels import random; import numpy as np, numba\n"
    program = tmp_path / "program.py"
    program.write_text(
        kernel + "from incrowd.kernels.jit import kernel\n"
        "@kernel\n"
        "def one(rng):\n"
        "    return random.draw(rng)\n"
        "one(np.zeros(1, np.uint64))\n"
        "print(sum(one.stats.cache_hits.values()))\n"
    )
    hits = []
    for _ in range(2):
        ran = subprocess.run(
            [sys.executable, program],
            env={"NUMBA_CACHE_DIR": str(tmp_path / "kept"), "PYTHONPATH": ":".join(sys.path)},
            check=True, capture_output=True, text=True,
        )  # fmt: skip
        hits.append(ran.stdout.strip())
    assert hits == ["0", "1"]
