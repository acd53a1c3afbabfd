"""Tests of what goes wrong outside: full disks, files that change, kills, too little memory."""

import errno
import importlib
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner

import incrowd as ic
from dial import few
from incrowd.cli import cli
from incrowd.driver.memory import within_memory
from incrowd.driver.solve import solve
from incrowd.errors import InputError, StoppedError
from incrowd.privacy.k_anonymity import KAnonymity
from incrowd.problem.problem import Problem
from incrowd.problem.solution import Solution
from incrowd.solvers.base import Context, Outcome, Solver
from incrowd.solvers.engine.engine import Engine
from incrowd.solvers.engine.windows import sorted_classes
from incrowd.tables import files
from incrowd.tables.atomic import require_place, scratch, whole
from incrowd.tables.folders import files_in
from incrowd.tables.key_file import key_in
from programs import command

POSIX = pytest.mark.skipif(os.name != "posix", reason="limits and signals of POSIX")
SMALL_FILES = """
import resource, signal, sys
import incrowd as ic
release = {name: ic.anonymize(name, 2, method="mondrian") for name in ("in.csv", "in")}
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (1500, 1500))
for name in ("out.csv", "out.parquet", "out.arrow", "out", "-"):
    try:
        release["in" if name == "out" else "in.csv"].write(name)
    except ic.InputError as error:
        print(error)
"""


def people(rows: int, seed: int = 0) -> pl.DataFrame:
    """A table of text."""
    rng = np.random.default_rng(seed)
    columns = {name: rng.integers(0, 9, rows).astype(str) for name in ("a", "b", "c")}
    return pl.DataFrame(columns)


@POSIX
def test_disk_full(tmp_path: Path) -> None:
    """Tests that a write that finds no room says so and leaves the earlier output whole."""
    table = people(2000)
    table.write_csv(tmp_path / "in.csv")
    for folder in ("in", "out"):
        (tmp_path / folder).mkdir()
    for i in range(2):
        table[i * 1000 : (i + 1) * 1000].write_csv(tmp_path / "in" / f"{i}.csv")
    earlier = [tmp_path / name for name in ("out.csv", "out.parquet", "out.arrow", "out/0.csv")]
    for path in earlier:
        path.write_text("earlier")
    before = {p.name for p in tmp_path.iterdir()}
    done = subprocess.run(
        [sys.executable, "-c", SMALL_FILES],
        capture_output=True, text=True, timeout=120, cwd=tmp_path,
    )  # fmt: skip
    told = done.stdout.splitlines()
    assert len(told) == 5, done.stderr
    assert told[-1].startswith(f"the folder for temporary files, {tempfile.gettempdir()} (TMPDIR ")
    for line in told:
        assert "nothing was written there, and what stood there before is untouched" in line
    assert {path.read_text() for path in earlier} == {"earlier"}
    assert {p.name for p in tmp_path.iterdir()} == before


@POSIX
def test_a_full_disk_after_the_release(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that a report without room says that the release stands; it said that nothing does."""
    monkeypatch.chdir(tmp_path)
    people(40).write_csv("in.csv")

    def full(*_: Any, **__: Any) -> None:
        with whole("r.html"):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(importlib.import_module("incrowd.cli.anonymize"), "write_reports", full)
    asked = ["anonymize", "in.csv", "-o", "out.csv", "-k", "2", "-q", "--report", "r.html"]
    done = CliRunner().invoke(cli, asked)
    assert done.exit_code == 2
    assert "r.html: the disk is full; nothing was written there" in done.stderr
    assert "(the release is written: out.csv)" in done.stderr
    assert Path("out.csv").exists() and not Path("r.html").exists()


@POSIX
def test_a_full_disk_after_the_proof(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that a statement without room says that the release stands, which is with its proof."""
    monkeypatch.chdir(tmp_path)
    people(40).write_csv("in.csv")

    def full(*_: Any) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("incrowd.proof.proven.write_statement", full)
    asked = ["anonymize", "in.csv", "-o", "out.csv", "-k", "2", "-q", "--proof", "p"]
    done = CliRunner().invoke(cli, [*asked, "--statement", "s.json"])
    assert done.exit_code == 2
    assert "s.json: the disk is full; nothing was written there" in done.stderr
    assert "(the release is written: out.csv)" in done.stderr
    assert Path("out.csv").exists() and Path("p").exists() and not Path("s.json").exists()


@POSIX
def test_a_full_folder_for_temporary_files() -> None:
    """Tests that it is named where a library ends without a word, or says something of its own.

    ReadStat's words would be called an unexpected error; an SAS file came out without its rows.
    """
    for ends in (None, ValueError("Unable to write data")):
        words = "the folder for temporary files, .*: the disk is full"
        with pytest.raises(InputError, match=words), scratch() as folder:
            (folder / "room").symlink_to("/dev/full")
            if ends is not None:
                raise ends
        assert not folder.exists()
    with scratch() as folder:
        (folder / "release.sav").write_text("there is room")
    assert not folder.exists()


@POSIX
def test_half_a_key_is_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that a key without room leaves no empty file, which ended every later run."""

    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(InputError, match="key: the disk is full; nothing was written there"):
        key_in(str(tmp_path / "key"))
    monkeypatch.undo()
    assert key_in(str(tmp_path / "key")) == key_in(str(tmp_path / "key"))


@POSIX
def test_symbolic_links_as_outputs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that links are followed before a search, too, and that loops are refused in words."""
    monkeypatch.chdir(tmp_path)
    Path("one").symlink_to("two")
    Path("two").symlink_to("one")
    Path("far").symlink_to("nowhere/out.csv")
    for check in (require_place, lambda name: whole(name).__enter__()):
        with pytest.raises(InputError, match="one: cannot be written: it is a loop of symbolic"):
            check("one")
        with pytest.raises(InputError, match=r"far: the folder '.*nowhere' does not exist"):
            check("far")
    Path("near").symlink_to("out.csv")
    require_place("near")
    with whole("near") as file:
        file.write(b"x")
    assert Path("near").is_symlink() and Path("out.csv").read_bytes() == b"x"


@pytest.mark.parametrize("how", ["grows", "replaced", "touched"])
def test_file_changes_while_it_is_read(
    how: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tests a file that grows, is replaced, or is written over in mid-reading."""
    path = tmp_path / "in.csv"
    people(20).write_csv(path)
    read_bytes = Path.read_bytes

    def slowly(self: Path) -> bytes:
        data = read_bytes(self)
        if how == "replaced":
            other = tmp_path / "other"
            other.write_bytes(data)
            other.replace(self)
        else:
            with self.open("ab" if how == "grows" else "r+b") as file:
                file.write(data[:6])
            os.utime(self, ns=(1, 1))
        return data

    monkeypatch.setattr(Path, "read_bytes", slowly)
    with pytest.raises(InputError, match="changed while it was read; wait"):
        files.read(path)


@POSIX
def test_killed_at_any_moment(tmp_path: Path) -> None:
    """Tests that after SIGKILL at random moments each output is the old one or the new, whole."""
    rng = random.Random(0)
    source, target, folder = tmp_path / "in.csv", tmp_path / "out.csv", tmp_path / "out"
    (tmp_path / "in").mkdir()
    people(3000).write_csv(source)
    people(3000).write_csv(tmp_path / "in" / "a.csv")
    options = ("-k", "2", "--method", "mondrian", "--order", "keep", "-q")
    runs = [("anonymize", source, "-o", target), ("anonymize", tmp_path / "in", "-o", folder)]
    began = time.monotonic()
    subprocess.run(command(*runs[0], *options), check=True, timeout=120)
    usual = time.monotonic() - began
    assert CliRunner().invoke(cli, [*map(str, runs[1]), *options]).exit_code == 0
    whole = target.read_bytes()
    assert (folder / "a.csv").read_bytes() == whole
    for run in runs * few(2, least=1):
        process = subprocess.Popen(
            command(*run, *options), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        time.sleep(usual * rng.uniform(0.5, 1.0))
        process.send_signal(signal.SIGKILL)
        process.wait(60)
        assert target.read_bytes() == whole
        assert files_in(folder) == {"a.csv"}
        assert (folder / "a.csv").read_bytes() == whole
    left = {p.name for p in tmp_path.iterdir()} - {"in.csv", "in", "out.csv", "out"}
    assert all(name.startswith(".out") for name in left)  # hidden: nobody takes them for a result


class Hungry(Engine):
    """An engine that finds no memory for more than so many pairs."""

    room = 100_000
    tried: list[int] = []  # noqa: RUF012

    def run(self, problem: Problem, context: Context) -> Outcome:
        """Run out of memory as an allocation does."""
        self.tried.append(self.pairs)
        if self.pairs > self.room:
            raise MemoryError
        return super().run(problem, context)


def problem_of(rows: int) -> Problem:
    """A problem of some size."""
    from incrowd.problem.instance import from_codes

    rng = np.random.default_rng(1)
    return Problem(from_codes(rng.integers(0, 4, (rows, 4)))[0], KAnonymity(3))


def test_less_memory_is_tried() -> None:
    """Tests that the search is repeated with smaller tables until it fits, and says so."""
    told: list[str] = []
    Hungry.tried.clear()
    context = Context(listener=lambda event: told.append(event.stage))
    solved = solve(problem_of(60), Hungry(), context)
    assert Hungry.tried == [4_000_000, 500_000, 62_500]
    assert told.count("memory ran out; once more with less") == 2
    assert solved.solution.sizes.min() >= 3
    assert 0 < solved.bound <= solved.cost


def test_windows_are_the_last_try(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that with next to no memory the engine makes do without enumerations."""
    monkeypatch.setattr(Hungry, "room", 30_000)
    problem = problem_of(300)
    solved = solve(problem, Hungry())
    assert solved.solution.sizes.min() >= 3
    first = Solution.of(problem.instance, sorted_classes(problem.instance, 3))
    assert solved.cost <= first.cost


def test_no_memory_at_all(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests what is said when nothing helps."""
    monkeypatch.setattr(Hungry, "room", 0)
    with pytest.raises(StoppedError, match="more memory, or split the work"):
        solve(problem_of(30), Hungry())


def test_auto_changes_to_the_engine() -> None:
    """Tests that a method without sizes gives way to the engine, under auto only."""
    problem = problem_of(40)

    def run(problem: Problem, solver: Solver, context: Context) -> tuple[Outcome, Solver]:
        if solver.id != "engine":
            raise MemoryError
        return Outcome(None), solver

    from incrowd.solvers.catalog import by_id

    solver = by_id("subset-dp")
    assert within_memory(run, problem, solver, Context(), True)[1].id == "engine"
    with pytest.raises(StoppedError):
        within_memory(run, problem, solver, Context(), False)


SHORT_OF_MEMORY = """
import resource, sys
sys.path.insert(0, sys.argv[1])
from test_faults import problem_of
from incrowd.driver.solve import solve
from incrowd.solvers.engine.engine import Engine
solve(problem_of(200), Engine())  # compile and import before the limit
now = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (now + (40 << 20), resource.RLIM_INFINITY))
stages = []
from incrowd.solvers.base import Context
context = Context(listener=lambda event: stages.append(event.stage))
solved = solve(problem_of(400), Engine(pairs=40_000_000), context)
print("\\nfigures", int(solved.solution.sizes.min()), sum("memory" in stage for stage in stages))
"""


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="needs Linux")
def test_memory_that_really_runs_out() -> None:
    """Tests an address space too small for the engine's tables."""
    done = subprocess.run(
        [sys.executable, "-c", SHORT_OF_MEMORY, str(Path(__file__).parent)],
        capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    # without memory HiGHS prints past its log switch; commands keep that off standard output
    figures = re.search(r"^figures (\d+) (\d+)$", done.stdout, re.MULTILINE)
    assert figures, done.stdout
    smallest, retries = map(int, figures.groups())
    assert smallest >= 3
    assert retries >= 1


def test_outputs_of_python_calls(tmp_path: Path) -> None:
    """Tests that a failing check keeps the earlier file."""
    target = tmp_path / "out.csv"
    target.write_text("earlier")
    release = ic.anonymize(people(30), 2)

    def refuse(path: Any) -> None:
        raise InputError("no")

    with pytest.raises(InputError):
        release.write(target, refuse)
    assert target.read_text() == "earlier"
    assert [p.name for p in tmp_path.iterdir()] == ["out.csv"]
