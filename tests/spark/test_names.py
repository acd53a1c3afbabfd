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


def test_lines_are_cut_as_names_say() -> None:
    """Tests the release of a table of tabs, of bars and of Parquet, and what is typed."""
    from incrowd.cli.spark import csv_options

    cuts = {
        ("in.tsv", "out"): "\t",
        ("in.psv", "out.tsv"): "|",
        ("in.csv", "out.tsv"): ",",
        ("in.parquet", "out.tsv"): "\t",
        ("in.parquet", "out.csv"): ",",
    }
    for paths, cut in cuts.items():
        assert csv_options({"delimiter": None, "encoding": None}, *paths)["sep"] == cut
    assert csv_options({"delimiter": ";", "encoding": None}, "in.tsv")["sep"] == ";"
