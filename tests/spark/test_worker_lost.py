"""Tests that a worker killed in the middle of a release costs nothing but time."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ADULT = ROOT.parent / "shared" / "data" / "adult.csv"
SLOW = pytest.mark.skipif(
    os.environ.get("INCROWD_SLOW", "") in ("", "0"), reason="takes minutes: INCROWD_SLOW=1"
)


@SLOW
@pytest.mark.skipif(shutil.which("java") is None, reason="no Java")
@pytest.mark.skipif(not ADULT.exists(), reason="no adult.csv")
def test_worker_lost() -> None:
    """Tests a cluster of two workers, one of which gets SIGKILL while blocks are solved."""
    pytest.importorskip("pyspark")
    script = ROOT / "benchmarks" / "spark_worker_lost.py"
    done = subprocess.run(
        [sys.executable, "-W", "ignore", script, ADULT, "6000", "--block-rows", "1500"],
        capture_output=True, text=True, timeout=1800, cwd=script.parent,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    calm, torn, same = map(json.loads, done.stdout.splitlines())
    assert torn["one killed"]["killed"] == 1
    assert torn["one killed"]["rows"] == calm["nobody killed"]["rows"] == 6000
    assert torn["one killed"]["smallest"] >= 5
    assert same["same rows"]
