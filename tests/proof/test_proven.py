"""``Release.write_proven`` and ``incrowd.verify``: the same files and answers as the commands."""

import importlib
import json
import os
import re
import threading
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pytest
from click.testing import CliRunner

import incrowd as ic
from incrowd.cli import cli
from incrowd.errors import InputError
from incrowd.proof.writing import sha256_of
from incrowd.tables.atomic import sync_folder

TABLE = """name,age,sex,zip,illness
Ada,34,f,01326,flu
Ben,36,m,01327,asthma
Cleo,38,f,01330,flu
Dan,35,m,95953,gout
Eva,51,f,95954,flu
Finn,58,m,95960,asthma
Hoa,52,f,95962,gout
Joy,57,f,95963,flu
"""
HOW: dict[str, Any] = {
    "k": 2,
    "qi": ["age", "sex", "zip"],
    "sensitive": "illness",
    "id": "name",
    "hierarchies": {"age": "interval:5,10,20", "zip": "prefix:1,2,3"},
}


@pytest.fixture(autouse=True)
def table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("people.csv").write_text(TABLE)


@pytest.mark.parametrize("form", ["path", "pandas", "polars"])
def test_written_and_verified(form: str) -> None:
    """Tests that a release of a file or of a frame is proved, and that the command says yes."""
    data = {
        "path": lambda: "people.csv",
        "pandas": lambda: pd.read_csv("people.csv", dtype=str),
        "polars": lambda: pl.read_csv("people.csv", infer_schema=False),
    }[form]()
    release = ic.anonymize(data, **HOW)
    asked: dict[str, Any] = {"original": "people.csv", "statement": "statement.json"}
    facts = release.write_proven("out.csv", "out.proof", **asked)
    assert facts["bound"] == facts["cost"] == release.cost * facts["scale"]
    assert Path("out.proof").stat().st_mode & 0o077 == 0
    found = ic.verify("out.csv", "people.csv", "out.proof", statement="statement.json", **HOW)
    assert found, found.reasons
    assert found.facts["optimal"]
    typed = ["verify", "out.csv", "--original", "people.csv", "--proof", "out.proof", "-q"]
    assert CliRunner().invoke(cli, typed).exit_code == 0


@pytest.mark.parametrize(("name", "cut"), [("out.tsv", "\t"), ("out.psv", "|")])
def test_text_of_a_packed_table_is_cut_as_its_name_says(name: str, cut: str) -> None:
    """Tests the release and its proof, which alone tells the checker how the release is cut."""
    pl.read_csv("people.csv").rename({"zip": f"z{cut}p"}).write_parquet("people.parquet")
    release = ic.anonymize("people.parquet", k=2, id="name", sensitive="illness")
    release.write_proven(name, "out.proof", original="people.parquet")
    assert Path(name).read_text().split("\n")[0] == f'age{cut}sex{cut}"z{cut}p"{cut}illness'
    assert ic.verify(name, "people.parquet", "out.proof")


@pytest.mark.parametrize(
    ("asked", "reason"),
    [
        ({"k": 3}, "the proof is of k = 2, not 3"),
        ({"l": 2}, "the proof is not of distinct 2-diversity"),
        ({"policy": ic.Policy(star="?")}, "a suppressed cell shows '*', not '?'"),
        ({"policy": ic.Policy(k=2), "star": "?"}, "a suppressed cell shows '*', not '?'"),
        ({"spreadsheet_safe": True}, "not one of --spreadsheet-safe"),
    ],
)
def test_what_is_asked_is_held_against_the_proof(asked: Any, reason: str) -> None:
    """Tests that the answer is no, with the reason, where the proof is of something weaker."""
    ic.anonymize("people.csv", **HOW).write_proven("out.csv", "out.proof", original="people.csv")
    found = ic.verify("out.csv", "people.csv", "out.proof", **asked)
    assert not found
    assert reason in " ".join(found.reasons)


def test_policies_hold_their_own_release() -> None:
    """Tests a policy as a value and as a file."""
    ic.anonymize("people.csv", **HOW).write_proven("out.csv", "out.proof", original="people.csv")
    lines = [f"{name} = {value!r}" for name, value in HOW.items() if name != "hierarchies"]
    rules = "\n".join(f'{name} = "{rule}"' for name, rule in HOW["hierarchies"].items())
    Path("policy.toml").write_text("\n".join([*lines, "[hierarchies]", rules]))
    for policy in (ic.Policy(**HOW), "policy.toml"):
        found = ic.verify("out.csv", "people.csv", "out.proof", policy=policy)
        assert found, found.reasons


def test_a_forged_release_is_refused() -> None:
    """Tests a changed cell, with the proof and without it."""
    ic.anonymize("people.csv", **HOW).write_proven("out.csv", "out.proof", original="people.csv")
    Path("out.csv").write_text(Path("out.csv").read_text().replace("gout", "flu"))
    for proof in ("out.proof", None):
        found = ic.verify("out.csv", "people.csv", proof, **HOW)
        assert not found
        assert found.reasons
        assert not found.facts


def test_without_a_proof() -> None:
    """Tests frames, and figures of the release."""
    release = ic.anonymize(pd.read_csv("people.csv", dtype=str), **HOW)
    found = ic.verify(release.data, "people.csv", **HOW)
    assert found
    assert found.facts["smallest_class"] >= 2


def test_wrong_calls() -> None:
    """Tests what is refused, each in words."""
    release = ic.anonymize("people.csv", **HOW)
    Path("other.csv").write_text(TABLE.replace("51", "50"))
    with pytest.raises(InputError, match="does not hold the table"):
        release.write_proven("out.csv", "out.proof", original="other.csv")
    assert not Path("out.csv").exists()
    for names in (("-", "p"), ("sqlite:///a.db/t", "p"), ("out.csv", "-")):
        with pytest.raises(InputError, match="no pipe or database"):
            release.write_proven(*names, original="people.csv")
    with pytest.raises(InputError, match="checker reads CSV, Parquet and Arrow only"):
        release.write_proven("out.xlsx", "out.proof", original="people.csv")
    release.write("sheet.xlsx")
    sheet = ic.anonymize("sheet.xlsx", 2, star="?")
    with pytest.raises(InputError, match="checker reads CSV, Parquet and Arrow only"):
        sheet.write_proven("out.csv", "out.proof", original="sheet.xlsx")
    assert not Path("out.xlsx").exists() and not Path("out.proof").exists()
    with pytest.raises(InputError, match="give release and original as paths"):
        ic.verify(release.data, "people.csv", "out.proof")
    with pytest.raises(InputError, match="statement goes with proof"):
        ic.verify("people.csv", "people.csv", statement="s.json")
    with pytest.raises(TypeError, match="unexpected keyword argument"):
        ic.verify("people.csv", "people.csv", kk=2)  # pyright: ignore[reportCallIssue]


@pytest.mark.skipif(os.name != "posix", reason="a folder is locked as POSIX systems do")
def test_two_runs_at_once_mix_no_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests a run that writes the same files between the proof and the release of another."""
    rows = [f"{i % 2},{i % 3},{i}" for i in range(12)]
    (tmp_path / "in.csv").write_text("\n".join(["a,b,c", *rows]) + "\n")
    out, proof, said = (tmp_path / name for name in ("o.csv", "p", "s.json"))
    runs: list[threading.Thread] = []

    def run(k: int) -> None:
        made = ic.anonymize(tmp_path / "in.csv", k, qi=["a", "b"], id="c")
        made.write_proven(out, proof, original=tmp_path / "in.csv", statement=said)

    def between(folder: Path) -> None:
        if not runs:
            runs.append(threading.Thread(target=run, args=(3,)))
            runs[0].start()
            runs[0].join(1)
        sync_folder(folder)

    monkeypatch.setattr("incrowd.tables.atomic.sync_folder", between)  # first after the proof
    run(2)
    runs[0].join()
    told = json.loads(said.read_text())
    assert told["release_sha256"] == sha256_of(out)
    assert told["proof_sha256"] == sha256_of(proof)
    assert ic.verify(out, tmp_path / "in.csv", proof, statement=said)


@pytest.mark.usefixtures("undrawn")
def test_no_other_run_names_a_file_in_between(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that a run keeps its folder to itself from its first file to its last."""
    fcntl = pytest.importorskip("fcntl")
    free: list[bool] = []

    def is_free(folder: Path) -> bool:
        handle = os.open(folder, os.O_RDONLY)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        finally:
            os.close(handle)
        return True

    monkeypatch.setattr("incrowd.tables.atomic.sync_folder", lambda at: free.append(is_free(at)))
    born = re.sub(r",(\d\d),", r",19\1-03-01,", TABLE).replace("age", "birth")
    Path("people.csv").write_text(born)
    files = ("pseudonym-table", "proof", "statement", "report-internal", "metadata")
    asked = [word for name in files for word in (f"--{name}", f"{name}.html")]
    asked += ["--derive", "age=years(birth, 2024-12-30)", "--derived", "d.csv", "-o", "out.csv"]
    asked += ["--pseudonym", "name=key", "-k", "2", "--sensitive", "illness"]
    told = CliRunner().invoke(cli, ["anonymize", "people.csv", *asked])
    assert told.exit_code == 0, told.output
    assert free == [False] * (len(files) + 2)
    assert is_free(Path())


@pytest.mark.parametrize("output", ["--proof", "--report-internal"])
def test_a_table_that_changes_in_the_search(output: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that no hash is stated of another table than that which was read."""
    command = importlib.import_module("incrowd.cli.anonymize")
    made = command.made

    def changed(*given: Any) -> Any:
        Path("people.csv").write_text(TABLE.replace("gout", "gripe"))
        return made(*given)

    monkeypatch.setattr(command, "made", changed)
    asked = ["--sensitive", "illness", "--id", "name", "-k", "2", "-o", "out.csv", output, "more"]
    told = CliRunner().invoke(cli, ["anonymize", "people.csv", *asked])
    assert told.exit_code == 2 and "changed since it was read" in told.output
    assert not Path("out.csv").exists() and not Path("more").exists()
