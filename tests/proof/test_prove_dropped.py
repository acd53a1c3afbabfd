"""Tests proofs of releases without some rows, where the table itself breaks the model."""

import io
import json
import zipfile
from collections.abc import Callable
from hashlib import sha256
from itertools import combinations
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from dial import few
from incrowd._api import anonymize
from incrowd.checker.dropped import fewest, lawful_whole
from incrowd.checker.verify import Verdict, check
from incrowd.cli import cli
from incrowd.proof.prove import prove
from incrowd.proof.writing import pack
from oracle import optimum

FRAME = pl.DataFrame(
    {
        "a": ["x", "y"] * 5 + ["z", "z"],
        "b": ["p", "q", "r"] * 3 + ["p", "q", "p"],
        "ill": ["flu"] * 8 + ["hiv", "cold", "ok", None],
        "name": [f"person {i}" for i in range(12)],
    }
)
ROLES: dict[str, Any] = {"sensitive": "ill", "id": "name"}
MODELS = {
    "l=2,kind=frequency": 4,
    "alpha=0.5,k=2": 4,
    "l=3.5,kind=entropy": 3,
    "l=2,kind=recursive,c=1": 5,
    "l=3,kind=frequency;t=0.5": 6,
    "l=2,kind=frequency;beta=1,kind=basic;delta=2": 4,
}


def proven(folder: Path, name: str, most: int, order: str = "shuffle") -> list[Path]:
    """Write original, release, proof and statement; return release, original, proof, statement."""
    names = ("out.csv", "in.csv", "out.proof", "out.json")
    paths = [folder / n for n in names]
    FRAME.write_csv(paths[1], separator=";")
    given = [x for model in name.split(";") for x in ("--model", model)]
    given += ["--sensitive", "ill", "--id", "name", "-k", "1", "--suppress-rows", str(most)]
    given += ["--proof", str(paths[2]), "--statement", str(paths[3]), "--order", order, "--json"]
    command = ["anonymize", str(paths[1]), "-o", str(paths[0]), *given, "-q"]
    run = CliRunner().invoke(cli, command)
    assert run.exit_code == 0, (run.output, run.exception)
    return paths


@pytest.mark.parametrize("name", MODELS)
def test_proofs_without_rows(name: str, tmp_path: Path) -> None:
    """Tests that release, cost and bound of the rows kept are confirmed, by the command as well."""
    paths = proven(tmp_path, name, 8)
    verdict = check(*paths[:3], statement=paths[3])
    assert verdict.accepted, verdict
    facts = verdict.facts
    assert facts["suppressed_rows"] == MODELS[name] == 12 - facts["rows"]
    assert json.loads(paths[3].read_text())["suppressed_rows"] == MODELS[name]
    stars = sum((pl.read_csv(paths[0], separator=";")[c] == "*").sum() for c in "ab")
    assert facts["cost"] == stars + 2 * MODELS[name] >= facts["bound"] >= 2 * MODELS[name]
    run = CliRunner().invoke(cli, ["verify", str(paths[0]), "--original", str(paths[1]),
                                   "--proof", str(paths[2]), "--json"])  # fmt: skip
    assert run.exit_code == 0 and f"{MODELS[name]} more are left out" in run.output


def test_nothing_to_leave_out(tmp_path: Path) -> None:
    """Tests that the option alone changes nothing."""
    paths = proven(tmp_path, "l=2", 8)
    verdict = check(*paths[:3])
    assert verdict.accepted and verdict.facts["suppressed_rows"] == 0


def test_bound_against_every_release_of_the_rows_kept(tmp_path: Path) -> None:
    """Tests the certified bound against brute force over the rows that are kept."""
    FRAME.write_csv(tmp_path / "in.csv")
    for l in (2, 3):  # noqa: E741
        asked = {"l": l, "l_kind": "frequency", "suppress_rows": 9}
        release = anonymize(str(tmp_path / "in.csv"), 1, **ROLES, **asked)
        release.write(tmp_path / "out.csv")
        facts = prove(release, tmp_path / "in.csv", tmp_path / "out.csv", tmp_path / "p")
        assert check(tmp_path / "out.csv", tmp_path / "in.csv", tmp_path / "p").accepted
        least = optimum(release.solved.solution.instance, release.model)
        assert least is not None
        assert 0 < facts["bound"] - 2 * release.suppressed_rows <= least
        assert facts["bound"] == release.bound_units


class Forger:
    """An honest proof, changed and put together again with hashes that fit."""

    def __init__(self, paths: list[Path]) -> None:
        self.paths = paths
        with zipfile.ZipFile(paths[2]) as archive:
            self.parts = {name: archive.read(name) for name in archive.namelist()}
        self.facts: dict[str, Any] = json.loads(self.parts.pop("proof.json"))

    def rows(self, change: Callable[[pl.DataFrame], pl.DataFrame]) -> None:
        """Change the rows' table."""
        out = io.BytesIO()
        change(pl.read_parquet(io.BytesIO(self.parts["rows.parquet"]))).write_parquet(out)
        self.parts["rows.parquet"] = out.getvalue()

    def verdict(self) -> Verdict:
        """Write it and check."""
        self.facts["parts"] = {name: sha256(part).hexdigest() for name, part in self.parts.items()}
        hashes = {"release": self.paths[0], "original": self.paths[1]}
        for name, path in hashes.items():
            self.facts[name] = {"sha256": sha256(path.read_bytes()).hexdigest()}
        pack(self.paths[2], self.facts, self.parts)
        return check(*self.paths[:3])


def fact(name: str, by: int) -> Callable[[Forger], Any]:
    return lambda f: f.facts.__setitem__(name, f.facts[name] + by)


def twice(f: Forger) -> None:
    """Use one original row for two released ones."""
    first = int(pl.read_parquet(io.BytesIO(f.parts["rows.parquet"]))["original"][0])
    f.rows(lambda t: t.with_columns(original=pl.Series([first, first, *t["original"][2:]])))


def lost(f: Forger) -> None:
    """Leave out the release's last row too, and say so."""
    text = f.paths[0].read_text().splitlines(keepends=True)
    f.paths[0].write_text("".join(text[:-1]))
    f.rows(lambda t: t.head(t.height - 1))
    for name, by in (("suppressed_rows", 1), ("cost", 2), ("bound", 2)):
        fact(name, by)(f)


def needless(f: Forger) -> None:
    """Call the law one that the whole table obeys."""
    models = [m for m in f.facts["models"] if m["model"] == "k-anonymity"]
    f.facts |= {"models": models, "pricing": [], "bound": 0}
    f.rows(lambda t: t.with_columns(price=pl.lit(-(10**6))))


FORGERIES: dict[str, Callable[[Forger], Any]] = {
    "fewer may be left out": lambda f: f.facts.__setitem__("suppress_rows", 3),
    "no number may be left out": lambda f: f.facts.pop("suppress_rows"),
    "a number as text": lambda f: f.facts.__setitem__("suppress_rows", "8"),
    "another number is stated": fact("suppressed_rows", -1),
    "none is stated": lambda f: f.facts.pop("suppressed_rows"),
    "the rows left out cost nothing": fact("cost", -8),
    "a higher bound": fact("bound", 1),
    "a row used twice": twice,
    "a row that is not there": lambda f: f.rows(lambda t: t.with_columns(pl.col("original") + 9)),
    "rows counted from the end": lambda f: f.rows(
        lambda t: t.with_columns(pl.col("original") - FRAME.height)
    ),
    "another row was left out": lambda f: f.rows(
        lambda t: t.with_columns(original=pl.int_range(pl.len()))
    ),
    "a row lost besides": lost,
    "nothing had to be left out": needless,
}


@pytest.mark.parametrize("name", FORGERIES)
def test_forgeries_are_rejected(name: str, tmp_path: Path) -> None:
    """Tests each way to leave out what must not be, or to count it wrongly."""
    forger = Forger(proven(tmp_path, "l=2,kind=frequency", 8, "keep"))
    assert forger.verdict().accepted
    FORGERIES[name](forger)
    verdict = forger.verdict()
    assert not verdict.accepted
    reasons = {"nothing had to be left out": "lawful whole", "a row lost besides": "4 would do"}
    assert reasons.get(name, "") in str(verdict.reason)


PLAIN: list[dict[str, Any]] = [
    {"model": "frequency", "l": 2, "column": "s"},
    {"model": "frequency", "l": 3, "column": "s"},
    {"model": "distinct", "l": 3, "column": "s"},
    {"model": "entropy", "l": "9/5", "column": "s"},
    {"model": "recursive", "c": "1", "l": 2, "column": "s"},
    {"model": "recursive", "c": "1/2", "l": 1, "column": "s"},
    {"model": "alpha-k", "alpha": "2/5", "k": 2, "column": "s"},
]


@settings(max_examples=few(60), deadline=None)
@given(st.lists(st.sampled_from("xyz"), min_size=1, max_size=8), st.sampled_from(PLAIN), st.data())
def test_fewest_against_all_choices(values, model, data) -> None:
    """Tests the least number of rows to leave out against every way to leave rows out."""
    models = [model, {"model": "k-anonymity", "k": data.draw(st.integers(1, 3))}]
    models += [data.draw(st.sampled_from(PLAIN))] if data.draw(st.booleans()) else []
    table = pl.DataFrame({"s": values})
    best = None
    for dropped in range(len(values)):
        rests = combinations(values, len(values) - dropped)
        if any(lawful_whole(pl.DataFrame({"s": list(rest)}), models) for rest in set(rests)):
            best = dropped
            break
    assert fewest(table, models, len(values) - 1) == best


def test_fewest_is_not_known_of_several_columns() -> None:
    """Tests that the number is left open where the argument does not hold."""
    table = pl.DataFrame({"s": ["x", "x", "y"], "t": ["x", "y", "y"]})
    two = [{"model": "frequency", "l": 2, "column": c} for c in "st"]
    assert fewest(table, two, 2) is None
    some = {"model": "alpha-k", "alpha": "1/2", "k": 1, "values": ["x"], "column": "s"}
    assert fewest(table, [some], 2) is None
    assert fewest(table, two[:1], 2) == 1
