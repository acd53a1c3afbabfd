"""Tests of proofs of combinations: commands, checker, forged ones, and verify without a proof."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner

from forged import Change, forged
from incrowd.checker import combinations
from incrowd.checker.files import read_proof
from incrowd.checker.verify import check
from incrowd.cli import cli
from incrowd.combinations import bound

RNG = np.random.default_rng(3)
FRAME = pl.DataFrame({
    "a": [str(v) for v in RNG.integers(0, 30, 60)],
    "b": [f"b{v}" for v in RNG.integers(0, 3, 60)],
    "c": [f"c{v}" for v in RNG.geometric(0.3, 60)],
    "note": [f"n{i}" for i in range(60)],
})  # fmt: skip
ASKED = ["--protect", "a,b:4", "--protect", "a,c:2"]
INTERVALS = ["--hierarchy", "a=interval:5,10"]


def run(*words: str) -> Any:
    """Run the program."""
    return CliRunner().invoke(cli, list(words))


def made(folder: Path, *more: str) -> list[Path]:
    """Write original, release, proof and statement; return release, original, proof, statement."""
    release, original, proof, statement = (folder / n for n in ("o.csv", "i.csv", "p", "s.json"))
    FRAME.write_csv(original)
    words = ["anonymize", str(original), "-o", str(release), "--keep", "note", "-q", *ASKED]
    words += ["--proof", str(proof), "--statement", str(statement), *more]
    done = run(*words)
    assert done.exit_code == 0, (done.output, done.exception)
    return [release, original, proof, statement]


@pytest.mark.parametrize("more", [[], INTERVALS, ["-k", "2"], ["--spreadsheet-safe"]])
def test_proven(more: list[str], tmp_path: Path) -> None:
    """Tests that the checker confirms all combinations, cost and bound."""
    paths = made(tmp_path, *more)
    verdict = check(*paths[:3], statement=paths[3])
    assert verdict.accepted, verdict
    models = verdict.facts["models"]
    assert {"model": "combination", "k": 4, "columns": ["\1a", "\1b"]} in models or {
        "model": "combination", "k": 4, "columns": ["a", "b"]} in models  # fmt: skip
    assert 0 < verdict.facts["bound"] <= verdict.facts["cost"]
    said = json.loads(paths[3].read_text())
    assert {"model": "combination", "k": 2, "columns": ["a", "c"]} in said["models"]
    words = ["verify", str(paths[0]), "--original", str(paths[1]), "--proof", str(paths[2])]
    answer = run(*words, *ASKED)
    assert answer.exit_code == 0 and "4-anonymity of 'a', 'b'" in answer.output, answer.output
    assert "1-anonymity" not in answer.output
    assert run(*words, "--protect", "b:3").exit_code == 0  # which a, b of 4 implies
    for other in ("a,b:5", "b,c:3"):
        answer = run(*words, "--protect", other)
        assert answer.exit_code == 1 and "the proof is not of" in answer.output
    assert run(*words, "-k", "5").exit_code == 1


@pytest.mark.parametrize("asked", [["a:1"], ["a,b:1", "b,c:1"], ["a:1", "b:1"]])
def test_nothing_is_asked(asked: list[str], tmp_path: Path) -> None:
    """Tests that combinations of one row each are proven too: the rows as they are, at no cost."""
    original, release, proof = (tmp_path / n for n in ("i.csv", "o.csv", "p"))
    FRAME.write_csv(original)
    words = [word for one in asked for word in ("--protect", one)]
    words += ["--keep", "note", "-q", "--proof", str(proof)]
    done = run("anonymize", str(original), "-o", str(release), *words)
    assert done.exit_code == 0, (done.output, done.exception)
    verdict = check(release, original, proof)
    assert verdict.accepted, verdict
    assert verdict.facts["cost"] == verdict.facts["bound"] == 0


def test_verify_without_a_proof(tmp_path: Path) -> None:
    """Tests that each combination is counted in the release, and that the whole k gives way."""
    paths = made(tmp_path)
    words = ["verify", str(paths[0]), "--original", str(paths[1]), "--keep", "note"]
    assert run(*words, *ASKED).exit_code == 0
    answer = run(*words, "--protect", "a,b:50")
    assert answer.exit_code == 1 and "'a', 'b' have fewer than 50 rows" in answer.output
    assert run(*words, *ASKED, "-k", "3").exit_code == 1
    assert run(*words).exit_code == 1  # k = 5


def test_policy_file_and_measure(tmp_path: Path) -> None:
    """Tests that a policy file asks for the same, as texts or tables, and measure reads it."""
    FRAME.write_csv(tmp_path / "i.csv")
    texts = 'keep = ["note"]\nprotect = ["a,b:4", "a,c:2"]\nseed = 1\n'
    tables = 'keep = ["note"]\nseed = 1\n[[protect]]\ncolumns = ["a", "b"]\nk = 4\n'
    tables += '[[protect]]\ncolumns = ["a", "c"]\nk = 2\n'
    found = []
    for n, text in enumerate((texts, tables)):
        (tmp_path / "p.toml").write_text(text)
        out = tmp_path / f"o{n}.csv"
        words = ["anonymize", str(tmp_path / "i.csv"), "-o", str(out), "-q", "--json"]
        done = run(*words, "--policy", str(tmp_path / "p.toml"))
        assert done.exit_code == 0, done.output
        found.append(out.read_bytes())
    assert found[0] == found[1]
    words = ["measure", str(out), "--policy", str(tmp_path / "p.toml"), "--json"]
    told = json.loads(run(*words).output)["combinations"]
    assert [one["smallest_group"] >= one["k"] for one in told] == [True, True]
    assert [one["rows_below"] for one in told] == [0, 0]


@pytest.mark.parametrize(
    "command",
    [
        ["frontier", "i.csv", "-k", "2:3", "--policy", "p.toml"],
        ["bound", "i.csv", "--policy", "p.toml"],
        ["anonymize", "i.csv", "-o", "n.csv", "--existing", "i.csv", "--policy", "p.toml"],
        ["anonymize", "i.csv", "-o", "n.csv", "--report-internal", "r.html", "--report-frontier",
         "2:3", "--policy", "p.toml"],
        ["anonymize", "i.csv", "-o", "n.csv", "--report-internal", "r.html", "--group", "note",
         "--policy", "p.toml"],
    ],
)  # fmt: skip
def test_refused_by_name(
    command: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tests that what does not serve combinations says so."""
    monkeypatch.chdir(tmp_path)
    FRAME.write_csv("i.csv")
    Path("p.toml").write_text('keep = ["note"]\nprotect = ["a,b:4"]\n')
    answer = run(*command)
    assert answer.exit_code == 2 and "protect" in answer.output, answer.output


def stricter(facts: dict[str, Any], rows: pl.DataFrame) -> pl.DataFrame:
    """A combination of a larger k than the release obeys."""
    facts["models"] = [*facts["models"], {"model": "combination", "k": 3, "columns": ["b", "c"]}]
    facts["models"][1] = facts["models"][1] | {"k": 50}
    return rows


def lifted(facts: dict[str, Any], rows: pl.DataFrame) -> pl.DataFrame:
    """A higher bound than is proven."""
    facts["bound"] = facts["cost"]
    return rows


def larger(facts: dict[str, Any], rows: pl.DataFrame) -> pl.DataFrame:
    """Prices for larger groups than the combination asks for."""
    facts["group_k"] = [k + 1 for k in facts["group_k"]]
    return rows


def of_both(facts: dict[str, Any], rows: pl.DataFrame) -> pl.DataFrame:
    """Prices of columns that are in no combination together."""
    facts["groups"], facts["group_k"] = [["a", "b", "c"]], [2]
    return rows.select("original", "class", "price")


def fewer(facts: dict[str, Any], rows: pl.DataFrame) -> pl.DataFrame:
    """No k for a group."""
    facts["group_k"] = facts["group_k"][1:]
    return rows


def high(facts: dict[str, Any], rows: pl.DataFrame) -> pl.DataFrame:
    """Higher prices."""
    return rows.with_columns(pl.col("price") + 1)


def foreign(facts: dict[str, Any], rows: pl.DataFrame) -> pl.DataFrame:
    """A combination of a column that is published unchanged."""
    facts["models"][1] = facts["models"][1] | {"columns": ["note"]}
    return rows


def no_number(facts: dict[str, Any], rows: pl.DataFrame) -> pl.DataFrame:
    """A k that is none."""
    facts["models"][1] = facts["models"][1] | {"k": True}
    return rows


def ruled(facts: dict[str, Any], rows: pl.DataFrame) -> pl.DataFrame:
    """A pricing rule beside combinations."""
    facts["pricing"] = [{"rule": "distinct", "l": 2, "column": "b"}]
    return rows


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (stricter, "in the combination a, b"),
        (lifted, "the prices prove"),
        (larger, "larger classes"),
        (of_both, "larger classes"),
        (fewer, "does not say for which k"),
        (high, "too high"),
        (foreign, "a combination is not one of quasi-identifiers"),
        (no_number, "k is not a whole number"),
        (ruled, "combinations go with no other models"),
    ],
)
def test_forged(change: Change, reason: str, tmp_path: Path) -> None:
    """Tests that the checker refuses what is not so, and says why."""
    release, original, proof, _ = made(tmp_path)
    assert check(release, original, proof).accepted
    verdict = check(release, original, forged(proof, change))
    assert not verdict.accepted and reason in str(verdict.reason), verdict


def test_a_release_that_is_not_lawful(tmp_path: Path) -> None:
    """Tests that the checker counts each combination in the released text itself."""
    release, original, proof, _ = made(tmp_path)
    lines = release.read_text().splitlines()
    shown = next(n for n, line in enumerate(lines) if n and "*" in line)
    row = read_proof(proof, 60).rows["original"][shown - 1]
    lines[shown] = original.read_text().splitlines()[row + 1]
    release.write_text("\n".join(lines) + "\n")
    verdict = check(release, original, proof)
    assert not verdict.accepted


@pytest.mark.parametrize("most", [0, 20, 10**9])
def test_choices_of_all_combinations(
    most: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tests proofs of more choices than the checker tries: they were refused, though honest."""
    monkeypatch.setattr(bound, "MOST_OF_ALL", most)
    monkeypatch.setattr(combinations, "MOST_OF_ALL", 2 * most)
    verdict = check(*made(tmp_path, *INTERVALS)[:3])
    assert verdict.accepted, verdict
