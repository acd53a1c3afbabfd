"""Tests of proofs that know fixed, linked and capped columns: all partitions, and lies."""

import random
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import polars as pl
import pytest
from click.testing import CliRunner

pytest.importorskip("pyarrow")

from forging.trying import base, verdict_of

from dial import few
from forged import Change, forged
from incrowd._api import anonymize
from incrowd.checker.constrained import held_by
from incrowd.checker.rejection import RejectedError
from incrowd.checker.verify import check
from incrowd.cli import cli
from incrowd.errors import NoLawfulReleaseError
from incrowd.proof.prove import prove
from oracle import least_within

LEVELS = {"a": lambda v: [v, "12" if v in "12" else "34", "*"], "b": lambda v: [v, "*"],
          "c": lambda v: [v, "*"]}  # fmt: skip
WAYS: dict[str, dict[str, Any]] = {
    "linked": {"linked": [["b", "c"]]},
    "linked with a hierarchy": {"linked": [["a", "b"]]},
    "fixed": {"fixed": ["c"]},
    "both": {"linked": [["a", "b"]], "fixed": ["c"]},
    "all linked": {"linked": [["a", "b", "c"]]},
    "capped": {"caps": {"a": 0.6}},
    "two capped": {"caps": {"b": 0.6, "c": 0.7}},
    "capped and linked": {"caps": {"c": 0.4}, "linked": [["b", "c"]]},
    "capped and fixed": {"caps": {"a": 0.75}, "fixed": ["c"]},
}


def class_cost(
    rows: list[dict[str, str]], fixed: list[str], linked: list[list[str]], caps: Any
) -> tuple[int, tuple[int, ...]] | None:
    """Return what a class costs in halves of a star, and the changed cells of capped columns.

    None where it changes a fixed column.
    """
    level = {}
    for name, path in LEVELS.items():
        paths = [path(row[name]) for row in rows]
        shared = [t for t in range(len(paths[0])) if len({p[t] for p in paths}) == 1]
        level[name] = len(paths[0]) - 1 - shared[0]  # counted down from the star
    for link in linked:  # a column stays as it is where the link is above its own levels
        changed = [level[name] for name in link if level[name] < len(LEVELS[name]("1")) - 1]
        level |= {name: min([level[name], *changed]) for name in link}
    changed = {name: level[name] < len(LEVELS[name]("1")) - 1 for name in LEVELS}
    if any(changed[name] for name in fixed):
        return None
    dear = {"a": [2, 1, 0], "b": [2, 0], "c": [2, 0]}  # two levels that can be changed, or one
    cost = sum(dear[n][min(level[n], len(dear[n]) - 1)] for n in LEVELS)
    return len(rows) * cost, tuple(len(rows) * changed[name] for name in caps)


@pytest.mark.parametrize("way", WAYS)
def test_the_bound_is_one_of_such_releases(way: str, tmp_path: Path) -> None:
    """Tests cost and bound against all partitions, and that the proof knows the constraints."""
    draw, met = random.Random(f"{way} 3"), 0
    paths = [tmp_path / name for name in ("release.csv", "original.csv", "proof")]
    (tmp_path / "a.csv").write_text("1;12;*\n2;12;*\n3;34;*\n4;34;*\n")
    for _ in range(few(4)):
        rows = [
            {"a": draw.choice("1234"), "b": draw.choice("xyz"), "c": draw.choice("uv")}
            for _ in range(7)
        ]
        pl.DataFrame(rows).write_csv(paths[1])
        k = draw.choice([2, 3])
        asked: Any = {"fixed": [], "linked": [], "caps": {}, **WAYS[way]}
        room = tuple(int(7 * share) for share in asked["caps"].values())

        def cost(part: tuple[int, ...], k: int = k, rows: Any = rows, asked: Any = asked) -> Any:
            return class_cost([rows[i] for i in part], **asked) if len(part) >= k else None

        least = least_within(7, cost, room)
        call: Any = {"hierarchies": {"a": str(tmp_path / "a.csv")}, **WAYS[way]}
        if least is None:
            with pytest.raises(NoLawfulReleaseError):
                anonymize(str(paths[1]), k, **call)
            continue
        release = anonymize(str(paths[1]), k, **call)
        assert release.cost >= least / 2 and (release.cost == least / 2 or room)
        release.write(paths[0])
        facts = prove(release, paths[1], paths[0], paths[2])
        verdict = check(*paths)
        assert verdict.accepted, verdict.reason
        said = facts.get("constraints", {"fixed": [], "linked": []})
        capped = dict(zip(asked["caps"], room, strict=True))
        assert verdict.facts.get("constraints", said) == said
        assert said == {name: asked[name] for name in ("fixed", "linked")} | (
            {"caps": said["caps"]} if "caps" in said else {}
        )
        assert said.get("caps", {}).items() <= capped.items()
        assert facts["bound"] <= least * facts["scale"] / 2
        met += "caps" in said if room else facts["bound"] == facts["cost"]
    assert met


def raised(at: int) -> Change:
    """A higher price of one row of the release."""

    def change(facts: dict[str, Any], rows: pl.DataFrame) -> pl.DataFrame:
        return rows.with_columns(pl.col("price") + (pl.int_range(pl.len()) == at))

    return change


@pytest.mark.parametrize("rule", ["none", "range"])
def test_parts_that_are_one_class_are_priced_at_what_it_costs(rule: str, tmp_path: Path) -> None:
    """Tests rows alike in fixed columns, too few for two classes: no price may be any higher."""
    paths = [tmp_path / name for name in ("release.csv", "original.csv", "proof")]
    paths[1].write_text("a,b,c\n" + "1,x,u\n" * 4 + "2,y,u\n" + "1,x,v\n3,y,v\n" * 3)
    asked: dict[str, Any] = {"hierarchies": {"a": rule}, "order": "keep", "caps": {"b": 0.6}}
    release = anonymize(str(paths[1]), 3, fixed="c", **asked)
    release.write_proven(paths[0], paths[2], original=paths[1])
    facts = check(*paths).facts
    assert facts["bound"] == facts["cost"] > 0 and facts["constraints"]["fixed"] == ["c"]
    for row in range(5):
        lie = check(paths[0], paths[1], forged(paths[2], raised(row)))
        assert "this row and all like it are too high" in str(lie.reason)


LIES: dict[str, tuple[str, Callable[[dict[str, Any]], Any], str]] = {
    "nothing": ("linked", lambda c: c.update(linked=[]), "not quasi-identifiers, each once"),
    "twice": ("linked", lambda c: c.update(fixed=["a"]), "not quasi-identifiers, each once"),
    "another role": ("linked", lambda c: c.update(fixed=["s"]), "not quasi-identifiers"),
    "alone": ("linked", lambda c: c.update(linked=[["a"]]), "fewer than two"),
    "other keys": ("linked", lambda c: c.update(more=1), "what is fixed and linked"),
    "a range": ("fixed, range", lambda c: c.update(linked=[["a", "b"]]), "has a range"),
    "torn": ("linked", lambda c: c.update(linked=[["b", "c"]]), "at different levels"),
    "fewer linked": ("linked, fixed", lambda c: c.update(linked=[]), "are too high"),
    "caps of another role": ("capped", lambda c: c.update(caps={"s": 9}), "not on quasi"),
    "a cap without a price": ("capped", lambda c: c["caps"].update(b=1), "lack a price"),
    "a cap below 0": ("capped", lambda c: c["caps"].update(a=-1), "below 0"),
    "a cap of a half": ("capped", lambda c: c["caps"].update(a=2.5), "makes no sense"),
    "a lower cap": ("capped", lambda c: c["caps"].update(a=1), "too many cells of a column"),
    "a higher cap": ("capped", lambda c: c["caps"].update(a=3), "the prices prove"),
    "no caps": ("capped, linked", lambda c: c.pop("caps"), "lack a price"),
    "fixed and changed": ("fixed", lambda c: c.update(fixed=["b"]), "a fixed column changed"),
}


@pytest.mark.parametrize("name", LIES)
def test_lies_about_constraints(name: str, tmp_path: Path) -> None:
    """Tests constraints that are none, that the release breaks, or that the prices do not need."""
    recipe, change, reason = LIES[name]
    bundle = base(recipe)
    change(bundle.facts["constraints"])
    assert reason in str(verdict_of(bundle, tmp_path).reason)


@pytest.mark.parametrize("recipe", ["fixed, range", "linked", "capped", "capped, range"])
def test_the_bound_is_not_one_of_all_releases(recipe: str, tmp_path: Path) -> None:
    """Tests the prices of such releases as if they were those of all."""
    bundle = base(recipe)
    del bundle.facts["constraints"]
    assert "are too high" in str(verdict_of(bundle, tmp_path).reason)


def test_a_number_written_in_several_ways() -> None:
    """Tests that no cap is priced where a class shows some cells as they are and changes others."""
    bundle = base("capped, range")
    proof: Any = SimpleNamespace(facts=bundle.facts)
    ways: dict[str, Any] = {"a": SimpleNamespace(numbers=[1, 1, 2])}
    with pytest.raises(RejectedError, match="writes a number in several ways"):
        held_by(proof, bundle.facts["roles"]["qi"], ways)


@pytest.mark.parametrize("recipe", ["combinations", "deleted", "mean"])
def test_constraints_beside_what_they_do_not_go_with(recipe: str, tmp_path: Path) -> None:
    """Tests proofs whose bounds are made in other ways."""
    bundle = base(recipe)
    bundle.facts["constraints"] = {"fixed": bundle.facts["roles"]["qi"][:1], "linked": []}
    assert "constraints go with no" in str(verdict_of(bundle, tmp_path).reason)


def test_what_verify_and_the_statement_say(tmp_path: Path) -> None:
    """Tests the words for whom the bound is, and that a statement has to say the same."""
    table, release, proof, said = (
        str(tmp_path / name) for name in ("t.csv", "r.csv", "p", "s.json")
    )
    Path(table).write_text("a,b,c\n" + "1,x,u\n2,y,u\n1,y,v\n1,x,v\n" * 2)
    call = ["anonymize", table, "-o", release, "-k", "3", "--fixed", "c", "--linked", "a,b"]
    made = CliRunner().invoke(cli, [*call, "--proof", proof, "--statement", said])
    assert made.exit_code == 0, made.output
    check_it = ["verify", release, "--original", table, "--proof", proof, "--statement", said]
    told = CliRunner().invoke(cli, check_it)
    assert "that leaves c unchanged, and generalizes a and b together costs less" in told.output
    text = Path(said).read_text()
    assert '"constraints"' in text
    Path(said).write_text(text.replace('"fixed": [\n   "c"\n  ]', '"fixed": []'))
    lie = CliRunner().invoke(cli, check_it)
    assert lie.exit_code == 1 and "the statement's constraints" in lie.output
