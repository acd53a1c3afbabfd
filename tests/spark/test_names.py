"""Tests that public names stay functions, whatever is imported in whichever order."""

import subprocess
import sys

import pytest

pytest.importorskip("pyarrow")


def test_names_are_functions() -> None:
    """Tests that no submodule takes the place of a function when it is imported."""
    program = (
        "import incrowd.spark as s, incrowd.spark.front, incrowd.spark.result\n"
        "import incrowd.cli.spark\n"
        "assert callable(s.release) and callable(s.anonymize) and s.SparkRelease\n"
    )
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", program], capture_output=True)
    assert done.returncode == 0, done.stderr.decode()
