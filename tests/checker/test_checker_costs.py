"""Tests that a verdict says what the proof's costs mean."""

import json
from pathlib import Path

import polars as pl
import pytest
from click.testing import CliRunner

from incrowd.checker.costs import meaning
from incrowd.checker.rejection import RejectedError
from incrowd.cli import cli

ROWS = "1;low;*\n2;low;*\n3;high;*\n4;high;*\n"


def ladder(costs: list[int], labels: list[str]) -> pl.DataFrame:
    """A ladder of two leaves, with a cost and a label for each level of both."""
    rows = [
        (leaf, level, leaf if label == "=" else label, cost)
        for level, (cost, label) in enumerate(zip(costs, labels, strict=True))
        for leaf in ("a", "b")
    ]
    return pl.DataFrame(rows, schema=["leaf", "level", "label", "cost"], orient="row")


@pytest.mark.parametrize(
    ("costs", "labels", "scale", "star", "rule"),
    [
        ([0, 3], ["=", "*"], 1, "3", "stars"),
        ([0, 1, 2], ["=", "ab", "*"], 4, "1/2", "levels"),
        ([0, 2, 2], ["=", "ab", "*"], 2, "1", "stars"),
        ([0, 1, 3], ["=", "ab", "*"], 3, "1", "listed"),
        ([0, 0, 3], ["=", "=", "*"], 3, "1", "stars"),
    ],
)
def test_rules(costs: list[int], labels: list[str], scale: int, star: str, rule: str) -> None:
    """Tests each rule, repeated values included."""
    found = meaning({"=x": ladder(costs, labels)}, scale)
    assert found == {"x": {"suppressed": star, "rule": rule}}


def test_costs_that_say_nothing() -> None:
    """Tests columns without costs, alone and beside others, and units too small to be printed."""
    free, paid = ladder([0, 0], ["=", "*"]), ladder([0, 1], ["=", "*"])
    with pytest.raises(RejectedError, match="all costs are 0"):
        meaning({"=x": free}, 1)
    assert meaning({"=x": free, "=y": paid}, 1)["x"]["suppressed"] == "0"
    assert meaning({"=x": free.filter(leaf="a")}, 1)["x"]["suppressed"] == "0"
    assert meaning({}, 1) == {}
    assert meaning({"=x": paid}, 1000)["x"]["suppressed"] == "1/1000"
    for scale, reason in ((1001, "0.001"), (10**6, "0.001"), (2**70, "2\\^-40")):
        with pytest.raises(RejectedError, match=reason):
            meaning({"=x": paid}, scale)


def test_the_command_line_says_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests weights, a hierarchy and NCP from the release to the verdict."""
    monkeypatch.chdir(tmp_path)
    Path("t.csv").write_text("a,b,c\n1,x,5\n2,y,5\n3,x,6\n4,y,6\n")
    Path("a.csv").write_text(ROWS)
    options = ["-k", "2", "--hierarchy", "a=a.csv", "--weight", "b=2.5", "--proof", "p", "-q"]
    made = ["anonymize", "t.csv", "-o", "o.csv", *options]
    check = ["verify", "o.csv", "--original", "t.csv", "--proof", "p"]
    for more, rule, told in (
        ([], "levels", "; a generalized one that times its level over the height (a)\n"),
        (["--cost", "ncp"], "listed", "; a generalized one what the proof lists (a)\n"),
    ):
        assert CliRunner().invoke(cli, [*made, *more]).exit_code == 0
        found = CliRunner().invoke(cli, check)
        assert found.exit_code == 0, found.output
        assert f"costs    a suppressed cell 1 (a, c), 5/2 (b){told}" in found.output
        facts = json.loads(CliRunner().invoke(cli, [*check, "--json"]).stdout)
        assert facts["costs"]["a"] == {"suppressed": "1", "rule": rule}
        assert facts["costs"]["b"] == {"suppressed": "5/2", "rule": "stars"}
