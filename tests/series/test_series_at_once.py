"""Tests of two runs that write to one history, and of one without room for it."""

import errno
import os
import threading
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl
import pytest

import incrowd as ic
from incrowd.errors import InputError
from incrowd.tables import atomic
from incrowd.tables.atomic import alone_in


def test_two_runs_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that a history forgets no release: of two that follow the same one, one is refused."""
    monkeypatch.chdir(tmp_path)
    rows = [(f"P{i}", "ab"[i % 2], "stuv"[i % 4]) for i in range(12)]
    people = pl.DataFrame(rows, schema=["pid", "x", "s"], orient="row")
    asked: dict[str, Any] = {"m": 3, "person": "pid", "sensitive": "s"}
    one = ic.republish(people, "h", **asked)
    one.write("one.csv", "h")
    one.write("again.csv", "h")  # the same release
    kept = Path("h").read_bytes()
    with pytest.raises(InputError, match="h: holds another release than the one"):
        ic.republish(people[:9], "elsewhere", **asked).write("other.csv", "h")
    two, other = (ic.republish(people[n:], "h", **asked) for n in (0, 3))
    two.write("two.csv", "h")
    assert Path("h").read_bytes() != kept
    kept = Path("h").read_bytes()
    with pytest.raises(InputError, match="Run again"):
        other.write("other.csv", "h")
    assert Path("h").read_bytes() == kept
    assert not Path("other.csv").exists()
    assert not list(tmp_path.glob(".*"))
    other.write("other.csv", "a-history-of-its-own")


def test_alone_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Tests that a second one waits until the first has left, says so, and leaves nothing."""
    monkeypatch.setattr(atomic, "PATIENCE", 0.05)
    left = threading.Event()
    seen: list[bool] = []

    def second() -> None:
        with alone_in(tmp_path):
            seen.append(left.is_set())

    with alone_in(tmp_path):
        thread = threading.Thread(target=second)
        thread.start()
        thread.join(0.3)
        assert not seen
        assert f"another run writes into the folder {tmp_path}" in caplog.text
        left.set()
    thread.join()
    assert seen == [True]
    assert not list(tmp_path.iterdir())


def test_no_release_without_room_for_its_history(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tests a network disk that says only when a file is made sure of that there is no room."""
    people = pl.DataFrame({"name": [*"abcd"], "age": [*"1122"], "ill": [*"xyxy"]})
    release = ic.republish(people, tmp_path / "h", person="name", sensitive="ill", m=2)
    sure = os.fsync

    def full(handle: int) -> None:
        if os.fstat(handle).st_size and os.pread(handle, 9, 0) == b'{"format"':
            raise OSError(errno.EDQUOT, os.strerror(errno.EDQUOT))
        sure(handle)

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(InputError, match="quota is used up"):
        release.write(tmp_path / "o.csv", tmp_path / "h")
    assert not list(tmp_path.iterdir())


def test_a_kill_leaves_no_release_that_the_history_does_not_know(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tests what stands in the history while the release is written, and after an error there."""
    people = pl.DataFrame({"name": [*"abcd"], "age": [*"1122"], "ill": [*"xyxy"]})
    asked: dict[str, Any] = {"person": "name", "sensitive": "ill", "m": 2}
    history, out = tmp_path / "h", tmp_path / "o.csv"
    seen: list[bytes] = []

    def full(_: Any, __: Any, check: Any) -> None:
        check(None)
        seen.append(history.read_bytes())
        raise InputError("no room")

    for known in (False, True):
        release = ic.republish(people, history, **asked)
        with monkeypatch.context() as patch:
            patch.setattr("incrowd.series.release.write", full)
            with pytest.raises(InputError, match="no room"):
                release.write(out, history)
        assert seen.pop() == release.history.text()  # a kill leaves this
        assert history.exists() == known
        assert not known or history.read_bytes() == release.before.text()
        release.write(out, history)


@pytest.mark.parametrize("late", [False, True])
def test_a_release_without_room_leaves_the_history_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, late: bool
) -> None:
    """Tests a disk full of the release: the earlier history was to be written again, on it.

    late: whether the disk says so only when the file is made sure of.
    """
    people = pl.DataFrame({"name": [*"abcd"], "age": [*"1122"], "ill": [*"xyxy"]})
    asked: dict[str, Any] = {"person": "name", "sensitive": "ill", "m": 2}
    history, out = tmp_path / "h", tmp_path / "o.csv"
    ic.republish(people, history, **asked).write(tmp_path / "1.csv", history)
    kept, release = history.read_bytes(), ic.republish(people, history, **asked)
    sure, full = os.fsync, OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def room(handle: int) -> None:
        if os.fstat(handle).st_size and os.pread(handle, 3, 0) in (b"age", b'{"f'):
            raise full
        sure(handle)

    def written(*_: Any) -> None:
        raise full

    with monkeypatch.context() as patch:
        if late:
            patch.setattr("os.fsync", room)
        else:
            patch.setattr("incrowd.tables.files.format_called", lambda _: Written(written))
            patch.setattr("incrowd.series.release.put", written)
        with pytest.raises(InputError, match=r"o\.csv: the disk is full"):
            release.write(out, history)
    assert history.read_bytes() == kept
    assert {path.name for path in tmp_path.iterdir()} == {"h", "1.csv"}


class Written(NamedTuple):
    """A format of which nothing but how it is written is asked."""

    write: Any
