"""``incrowd desk`` as a command: what it prints, what it refuses, how it ends."""

import errno
import json
import os
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest
from click.testing import CliRunner

from desk.asking import Page
from desk.test_desk_session import table
from incrowd.cli import cli
from programs import command


def test_it_serves_and_ends_when_idle(tmp_path: Path):
    """Tests the address on standard output, the launch file, and the end by itself, a second on."""
    words = command("desk", table(tmp_path), "--no-browser", "--idle", "0.02")
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None and process.stderr is not None
    address = process.stdout.readline().strip()
    assert address.startswith("http://127.0.0.1:")
    launch = process.stderr.readline().split()
    assert launch[0] == "open" and "key=" not in " ".join(launch)
    rest = process.communicate(timeout=60)[1]
    assert process.returncode == 0 and "ended    nobody did anything" in rest
    assert not Path(launch[1]).exists()


@pytest.mark.skipif(sys.platform == "win32", reason="sends a signal")
def test_an_interrupt_ends_it_and_removes_the_key(tmp_path: Path):
    """Tests that it is served, and Ctrl-C."""
    words = command("desk", "--no-browser")
    process = subprocess.Popen(
        words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=tmp_path
    )
    assert process.stdout is not None and process.stderr is not None
    with urllib.request.urlopen(process.stdout.readline().strip(), timeout=60) as page:
        assert b"incrowd desk" in page.read()
    launch = Path(process.stderr.readline().split()[1])
    assert launch.exists()
    process.stderr.readline()
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    assert process.returncode == 0 and not launch.exists() and list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["none.csv"], "none.csv: no such file"),
        (["--policy", "p.toml"], "--policy goes with a TABLE"),
        (["people.csv", "--work", "x"], "leave TABLE out"),
        (["--work", "nowhere"], "no such file"),
        (["--analysis", "mine.py"], "mine.py: no such file"),
        (["--idle", "0"], "--idle"),
    ],
)
def test_what_it_refuses(
    words: list[str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """Tests that wrong words end with 2 and one line, before anything is served."""
    monkeypatch.chdir(tmp_path)
    table(tmp_path)
    found = CliRunner().invoke(cli, ["desk", "--no-browser", *words])
    assert found.exit_code == 2 and message in found.output


def test_no_room_for_the_launch_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Tests that a full folder is named, not the port, and that nothing is left in it."""

    def full(*_: object):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    monkeypatch.setattr("incrowd.desk.serve.write_private", full)
    found = CliRunner().invoke(cli, ["desk", "--no-browser"])
    assert found.exit_code == 2 and not list(tmp_path.iterdir())
    assert found.stderr.startswith(f"incrowd: {tmp_path}/incrowd-desk-")
    assert ": the disk is full; nothing was written" in found.stderr


def test_work_goes_on_where_it_was_saved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Tests that --work hands over the session that was saved."""
    from incrowd.desk.session import Session

    page = Page(Session(str(table(tmp_path))))
    page.post("ask", further={"k": 7})
    page.post("save", folder=str(tmp_path / "work"))
    handed = []
    monkeypatch.setattr("incrowd.cli.desk.serve", lambda session, *rest: handed.append(session))
    found = CliRunner().invoke(cli, ["desk", "--work", str(tmp_path / "work")])
    assert found.exit_code == 0 and handed[0].ask.further["k"] == 7
    assert json.loads((tmp_path / "work" / "desk.json").read_text("utf-8"))["at"] == 1
