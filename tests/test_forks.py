"""Forked processes lack the threads of polars: a clear error in place of a call without end."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
import multiprocessing as mp
import sys
import incrowd as ic
import polars as pl

PEOPLE = {"age": [34, 36, 51, 58], "ill": ["flu", "gout", "flu", "asthma"]}

def work(number):
    found = ic.anonymize(pl.DataFrame(PEOPLE), k=2, sensitive="ill")
    return number, found.smallest_class

def proven(number):
    ic.verify("release.csv", "people.csv", "release.proof", k=2)

def ended(pool, what):
    try:
        return pool.map_async(what, [1]).get(300)
    except ic.InputError as error:
        return str(error)

if __name__ == "__main__":
    if "before" in sys.argv:
        work(0)
    for kind in sys.argv[1].split(","):
        with mp.get_context(kind).Pool(1) as pool:
            print(ended(pool, work))
            if "before" in sys.argv and kind == "fork":
                print(ended(pool, proven))
"""
FORKED = "this process was forked after polars had begun its threads"


def told(folder: Path, *asked: str) -> list[str]:
    """Return the lines that the program prints."""
    (folder / "program.py").write_text(PROGRAM)
    command = [sys.executable, "program.py", *asked]
    return subprocess.check_output(command, text=True, cwd=folder, env={**os.environ}).splitlines()


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="no list of threads")
def test_a_fork_after_a_run_is_refused_and_spawn_works(tmp_path: Path) -> None:
    forked, verified, spawned = told(tmp_path, "fork,spawn", "before")
    assert forked.startswith(FORKED) and "get_context('spawn')" in forked
    assert verified == forked
    assert spawned == "[(1, 4)]"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_a_fork_before_the_first_table_works(tmp_path: Path) -> None:
    assert told(tmp_path, "fork") == ["[(1, 4)]"]
