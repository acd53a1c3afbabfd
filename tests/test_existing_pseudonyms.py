"""Tests of adding rows whose numbers have pseudonyms: none links two deliveries."""

import json
from pathlib import Path

import polars as pl
import pytest
from click.testing import CliRunner, Result

from incrowd.cli import cli
from incrowd.encoding.pseudonyms import FORM

ASKED = "-k 2 --sensitive s --pseudonym visit={key} --hierarchy a=interval:2,4"
EARLIER = "--existing r1.csv --existing-original jan.csv --existing-proof r1.proof"


def run(line: str, key: str = "key") -> Result:
    """Run a command."""
    return CliRunner().invoke(cli, line.format(asked=ASKED.format(key=key)).split())


@pytest.fixture(autouse=True)
def january(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A first release, and rows of February; one of these lacks a number."""
    monkeypatch.chdir(tmp_path)
    rows = [f"v{i},{30 + i // 3},{i % 3}\n" for i in range(20)]
    Path("jan.csv").write_text("visit,a,s\n" + "".join(rows[:12]))
    Path("feb.csv").write_text("visit,a,s\n" + "".join(rows[12:]) + ",31,1\n")
    assert run("anonymize jan.csv -o r1.csv {asked} --proof r1.proof -q").exit_code == 0


@pytest.mark.parametrize("key", ["key", "other"])
@pytest.mark.parametrize("more", ["--order keep", "--hold-back --held-back held.csv"])
def test_rows_are_added(key: str, more: str) -> None:
    """Tests the union, its proof, and the table that undoes the new pseudonyms, with each key."""
    line = "anonymize feb.csv -o r2.csv {asked} " + f"{EARLIER} {more} --proof r2.proof "
    done = run(line + "--joined all.csv --pseudonym-table who.csv --json", key)
    assert done.exit_code == 0, done.output
    assert any("the same in every release" in text for text in json.loads(done.stdout)["warnings"])
    names = pl.read_csv("r2.csv")["visit"].drop_nulls().to_list()
    assert all(FORM.fullmatch(name) for name in names) and len({*names}) == len(names)
    assert {*pl.read_csv("r1.csv")["visit"]} < {*names}
    assert {*pl.read_csv("who.csv")["pseudonym"]} < {*names}
    for proof in ("--proof r2.proof", ""):
        said = run("verify r2.csv --original all.csv {asked} " + proof, "x")
        assert said.exit_code == 0, said.output


def test_what_would_link_deliveries_is_refused() -> None:
    """Tests a number that was published before, with the same key, and a release without names."""
    Path("feb.csv").write_text("visit,a,s\nv3,30,1\nv90,30,2\n")
    done = run("anonymize feb.csv -o r2.csv {asked} --existing r1.csv")
    assert done.exit_code == 2 and "1 value of 'visit'" in done.stderr
    assert "v3" not in done.stderr and not Path("r2.csv").exists()
    Path("r1.csv").write_text("visit,a,s\nv1,30,1\nv2,30,2\n")
    done = run("anonymize feb.csv -o r2.csv {asked} --existing r1.csv")
    assert done.exit_code == 2 and "not a pseudonym" in done.stderr


def test_people_are_refused() -> None:
    """Tests that rows of people are not linked: whose the earlier ones are, nobody says."""
    done = run("anonymize feb.csv -o r2.csv {asked} --person visit --existing r1.csv")
    assert done.exit_code == 2 and "a pseudonym of the person is not served" in done.stderr
