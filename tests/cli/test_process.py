"""incrowd as a process: pipes, exit codes, signals, speed of the help."""

import json
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from click.testing import CliRunner

import dial
from incrowd.cli import cli
from incrowd.tables import read, texts
from programs import STUCK_IN_WRITING, WAITING, command, run, start

TABLE = b"age;zip\r\n34;01234\r\n34;01234\r\n36;01235\r\n36;\r\n"


@pytest.fixture
def table(tmp_path):
    """A small table."""
    path = tmp_path / "in.csv"
    path.write_bytes(TABLE)
    return path


def listed(folder):
    """The names in a folder."""
    return sorted(path.name for path in folder.iterdir())


def test_a_pipe():
    """Tests that - reads and writes, messages go elsewhere, and the form of the file stays."""
    done = run("anonymize", "-", "-o", "-", "-k", "2", "--order", "keep", data=TABLE)
    assert done.returncode == 0, done.stderr
    assert done.stdout == b"age;zip\r\n34;01234\r\n34;01234\r\n36;*\r\n36;*\r\n"
    assert b"4 in 2 classes" in done.stderr


def test_a_reader_that_leaves(table):
    """Tests that a closed pipe ends quietly, and not with 1, the answer no."""
    reading, writing = os.pipe()
    os.close(reading)
    asked = (["anonymize", table, "-o", "-", "-k", "2", "-q"], ["--help"], ["measure", table])
    for words in asked[: dial.few(3, least=2)]:
        done = subprocess.run(command(*words), stdout=writing, stderr=subprocess.PIPE, timeout=120)
        assert (done.returncode, done.stderr) == (141, b""), words
    os.close(writing)


@pytest.mark.skipif(not Path("/dev/full").is_char_device(), reason="no device that is always full")
def test_nobody_to_tell(table):
    """Tests that messages without a reader change neither the work nor the exit code."""
    for words, code in (
        (["hierarchy", "make", table, "--column", "age", "--date"], 2),
        (["hierarchy", "make", table, "--column", "age", "--prefix", "1"], 0),
    ):
        words += ["-o", table.parent / "made"]
        if dial.thorough or not code:
            with Path("/dev/full").open("wb") as full:
                assert subprocess.run(command(*words), stderr=full, timeout=120).returncode == code
        if not (dial.thorough or code):
            continue
        closed = ["sh", "-c", '"$@" 2>&-', "sh", *command(*words)]
        assert subprocess.run(closed, timeout=120).returncode == code
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            command("measure", table), stdout=full, stderr=subprocess.PIPE, timeout=120
        )
    assert done.returncode == 2
    assert done.stderr.startswith(
        b"incrowd: the disk is full: there was no room for what is printed"
    )


def test_no_folder_for_temporary_files(table, monkeypatch):
    """Tests that a release to a pipe says which folder it lacks."""

    def nowhere():
        raise FileNotFoundError(2, "No usable temporary directory found in ['/a', '/b']")

    monkeypatch.setattr(tempfile, "_get_default_tempdir", nowhere)
    monkeypatch.setattr(tempfile, "tempdir", None)
    words = ["anonymize", str(table), "-k", "2", "-q", "-o"]
    done = CliRunner().invoke(cli, [*words, "-"])
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr.startswith("incrowd: no folder for temporary files can be written: set")
    beside = CliRunner().invoke(cli, [*words, str(table.parent / "out.csv")])
    assert beside.exit_code == 0  # it needs none


def test_a_name_that_the_locale_cannot_read(table):
    """Tests that a column's name with an umlaut in a plain C locale tells what to set."""
    table.write_text("Größe,sex\n1,f\n1,f\n", encoding="utf-8")
    words = command("measure", table, "--qi", "Größe")
    ways = {**os.environ, "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    done = subprocess.run(words, capture_output=True, timeout=120, env=ways)
    assert done.returncode == 2 and b"set PYTHONUTF8=1" in done.stderr
    done = subprocess.run(words, capture_output=True, timeout=120, env=ways | {"PYTHONUTF8": "1"})
    assert done.returncode == 0


def test_no_standard_output(table):
    """Tests that a closed standard output is an error where something goes there, and only then."""
    asked = (
        (["anonymize", table, "-o", "-", "-k", "2", "-q"], 2),
        (["anonymize", table, "-o", table.parent / "out.csv", "-k", "2", "-q"], 0),
        (["measure", table, "--json"], 2),
    )
    for words, code in asked[: dial.few(3, least=2)]:
        closed = ["sh", "-c", '"$@" >&-', "sh", *command(*words)]
        done = subprocess.run(closed, stderr=subprocess.PIPE, timeout=120)
        assert done.returncode == code, words
        assert done.stderr.startswith(b"incrowd: standard output is closed" if code else b"")


def test_no_standard_input():
    """Tests that a closed standard input is an empty one."""
    words = ["sh", "-c", '"$@" <&-', "sh", *command("measure", "-")]
    done = subprocess.run(words, capture_output=True, timeout=120)
    assert done.returncode == 2
    assert b"the file is empty" in done.stderr


def test_ctrl_c_before_anything_is_there():
    """Tests that an interrupt during the first imports ends as later ones do."""
    program = """
import sys
class Interrupted:
    def find_spec(self, name, *_):
        if name == "click":
            raise KeyboardInterrupt
sys.meta_path.insert(0, Interrupted())
[sys.modules.pop(name, None) for name in ("typing", "re")]
import incrowd
assert not {"typing", "re"} & {*sys.modules}, "an interrupt here shows a traceback after -m"
import incrowd.cli
"""
    done = subprocess.run(command(program=program), capture_output=True, timeout=120)
    assert done.returncode == 130
    assert done.stderr == b"incrowd: interrupted; no file is half written\n"


def test_an_interrupt_within_exec_ends_with_its_code(tmp_path):
    """Tests Ctrl-C while a dataclass is made: after -m Python would end by the signal instead."""
    (tmp_path / "interrupted.py").write_text(
        "import incrowd.cli.group as group\n"
        "group.LazyGroup.invoke = lambda *_: exec('raise KeyboardInterrupt')\n"
        "group.main()\n"
    )
    whole = [sys.executable, "-m", "interrupted", "version"]
    done = subprocess.run(whole, cwd=tmp_path, capture_output=True, timeout=120)
    said = b"\nincrowd: interrupted; no file is half written\n"
    assert (done.returncode, done.stderr.replace(b"\r", b"")) == (130, said)


def test_a_file_that_is_not_there(table):
    """Tests that a missing proof is told as any other missing file."""
    words = ["verify", str(table), "--original", str(table), "--proof", "none.proof"]
    done = CliRunner().invoke(cli, words)
    assert (done.exit_code, done.stderr) == (2, "incrowd: none.proof: no such file\n")


@pytest.mark.parametrize("solver", ["HiGHS", "CP-SAT"])
def test_a_solver_left_to_itself(solver):
    """Tests that a program ends at once, with its code, though a solver still runs in a thread."""
    program = f"""
import sys, threading, time
from incrowd.cli import main
threading.Thread(target=time.sleep, args=(600,), name="{solver}").start()
sys.argv[1:] = ["measure", "no.csv"]
main()
"""
    done = subprocess.run(command(program=program), capture_output=True, timeout=120)
    assert done.returncode == 2
    assert done.stderr.startswith(b"incrowd: no.csv: no such file")


def test_ctrl_c_writes_the_best_so_far(table, tmp_path):
    """Tests that an interrupted search leaves a lawful release and says so with 130."""
    out = tmp_path / "out.csv"
    process = start(
        "searching", "anonymize", table, "-o", out, "-k", "2", "--json", program=WAITING
    )
    process.send_signal(signal.SIGINT)
    stdout, stderr = process.communicate(timeout=120)
    assert process.returncode == 130, stderr
    assert json.loads(stdout)["smallest_class"] >= 2
    assert texts(read(out)).height == 4
    assert b"interrupted" in stderr
    assert listed(tmp_path) == ["in.csv", "out.csv"]


def test_killed_while_searching(table, tmp_path):
    """Tests that nothing is left behind, and nothing is there where SIGKILL would come."""
    arguments = ("anonymize", table, "-o", tmp_path / "o", "-k", "2")
    process = start("searching", *arguments, program=WAITING)
    before = listed(tmp_path)
    process.send_signal(signal.SIGTERM)
    # the waiting search is Python, so it unwinds at once
    process.communicate(timeout=120)
    assert process.returncode == 143
    assert before == listed(tmp_path) == ["in.csv"]


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), (signal.SIGHUP, 129), (signal.SIGTERM, 143)]
)
def test_killed_while_writing(table, tmp_path, number, code):
    """Tests that the old output stays, and stands where SIGKILL would come."""
    out = tmp_path / "out.csv"
    out.write_bytes(b"old")
    arguments = ("anonymize", table, "-o", out, "-k", "2", "-q")
    process = start("writing", *arguments, program=STUCK_IN_WRITING)
    before = out.read_bytes()
    process.send_signal(number)
    _, stderr = process.communicate(timeout=120)
    assert process.returncode == code, stderr
    assert before == out.read_bytes() == b"old"
    assert listed(tmp_path) == ["in.csv", "out.csv"]
    assert b"Traceback" not in stderr


def test_a_terminal_that_closes_under_nohup(table, tmp_path):
    """Tests that a signal which is ignored stays so."""
    program = "import signal; signal.signal(signal.SIGHUP, signal.SIG_IGN)\n" + WAITING
    asked = ("anonymize", table, "-o", tmp_path / "o", "-k", "2", "--time-limit", "1")
    process = start("searching", *asked, program=program)
    process.send_signal(signal.SIGHUP)
    _, stderr = process.communicate(timeout=120)
    assert process.returncode == 0, stderr


def test_time_limit(table, tmp_path):
    """Tests that the budget ends the search with a lawful release and 0."""
    arguments = ("anonymize", table, "-o", tmp_path / "o", "-k", "2", "--time-limit", "0.3")
    done = subprocess.run(command(*arguments, program=WAITING), capture_output=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert b"time limit" in done.stderr


def test_help_imports_nothing_heavy():
    """Tests that the help of the program and of each command comes without the heavy libraries."""
    program = """
import sys
from incrowd.cli import cli
for arguments in ([], ["anonymize"], ["verify"], ["bound"], ["methods"], ["demo"], ["version"]):
    assert cli.main([*arguments, "--help"], standalone_mode=False) == 0
heavy = {"numba", "polars", "scipy", "pandas", "narwhals", "rich", "numpy"} & set(sys.modules)
sys.exit(f"imported: {heavy}" if heavy else 0)
"""
    done = subprocess.run(command(program=program), capture_output=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert b"anonymize" in done.stdout


def test_import_is_light():
    """Tests that importing the package imports no heavy library."""
    program = """
import sys, incrowd
heavy = {"numba", "polars", "scipy", "pandas", "narwhals", "numpy"} & set(sys.modules)
sys.exit(f"imported: {heavy}" if heavy else 0)
"""
    done = subprocess.run(command(program=program), capture_output=True, timeout=120)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("utf8", ["1", "0"])
def test_a_path_of_bytes_that_are_no_text(utf8):
    """Tests that JSON is JSON wherever a path is no text, or standard output shows only ASCII.

    Reports and metadata show such a name as its bytes read in UTF-8.
    """
    name = os.fsdecode(b"o\xff\xc3\xa9.csv")
    program = (
        "from incrowd.cli.output import print_json; import sys; from incrowd.text.paths import "
        "readable; print_json({'x': sys.argv[1], 'shown': readable(sys.argv[1])})"
    )
    plain = {"LC_ALL": "C", "PYTHONUTF8": utf8, "PYTHONCOERCECLOCALE": "0"}
    done = subprocess.run(
        command(name, program=program), capture_output=True, timeout=120, env=os.environ | plain
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert os.fsencode(found["x"]) == os.fsencode(name) and found["shown"] == "o\ufffdé.csv"
