"""Tests of models that count each value of a person once, against definitions over pairs."""

import json
import sys
import zipfile
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

import incrowd as ic
from dial import few
from incrowd.checker.verify import check
from incrowd.cli import cli
from incrowd.errors import NoLawfulReleaseError
from incrowd.kernels.interpreted import interpreted
from incrowd.privacy.alpha_k import AlphaK
from incrowd.privacy.attribute import PerAttribute
from incrowd.privacy.base import Group
from incrowd.privacy.beta_likeness import BasicBetaLikeness, EnhancedBetaLikeness
from incrowd.privacy.classes import Classes
from incrowd.privacy.delta_disclosure import DeltaDisclosure
from incrowd.privacy.distance import Hierarchical
from incrowd.privacy.entropy_diversity import EntropyDiversity
from incrowd.privacy.frequency_diversity import FrequencyDiversity
from incrowd.privacy.laws import histogram, laws_of
from incrowd.privacy.metric import Metric
from incrowd.privacy.once import Once
from incrowd.privacy.ordered import Ordered
from incrowd.privacy.recursive_diversity import RecursiveDiversity
from incrowd.privacy.t_closeness import TCloseness
from incrowd.privacy.violation import violation, violation_after
from incrowd.proof.prove import prove
from incrowd.solvers.sensitive.rules import compact
from partings import partitions

sys.path.insert(0, str(Path(__file__).parent / "privacy"))
import naive_models as naive

F = Fraction
Pair = tuple[int, int]  # person, value
LEVELS = [[0, 1, 2], [0, 0, 1], [0, 0, 0]]
MATRIX = [[0, 1, 3], [1, 0, 2], [3, 2, 0]]
CASES: list[tuple[PerAttribute, Callable[[list[int], list[int]], bool]]] = [
    (FrequencyDiversity(2), lambda c, t: naive.frequency(c, 2)),
    (EntropyDiversity("1.5"), lambda c, t: naive.entropy(c, F(3, 2))),
    (RecursiveDiversity(2, 2), lambda c, t: naive.recursive(c, F(2), 2)),
    (AlphaK("0.6", 3), lambda c, t: naive.alpha(c, F(3, 5), 3)),
    (AlphaK("0.5", 1, values=(0,)), lambda c, t: F(c.count(0), len(c)) <= F(1, 2)),
    (BasicBetaLikeness("0.5"), lambda c, t: naive.basic_beta(c, t, F(1, 2))),
    (EnhancedBetaLikeness(1), lambda c, t: naive.enhanced_beta(c, t, F(1))),
    (DeltaDisclosure("0.9"), lambda c, t: naive.delta(c, t, F(9, 10))),
    (TCloseness("0.3"), lambda c, t: naive.mover(c, t, naive.equal(3)) <= F(3, 10)),
    (
        TCloseness("0.25", Ordered((1, 0, 2))),
        lambda c, t: naive.mover(c, t, naive.ordered(3, [1, 0, 2])) <= F(1, 4),
    ),
    (
        TCloseness("0.3", Hierarchical(tuple(map(tuple, LEVELS)))),
        lambda c, t: naive.mover(c, t, naive.hierarchical(LEVELS)) <= F(3, 10),
    ),
    (
        TCloseness("0.3", Metric.of(MATRIX)),
        lambda c, t: naive.mover(c, t, [[F(x, 3) for x in row] for row in MATRIX]) <= F(3, 10),
    ),
]
IDS = [model.name for model, _ in CASES]
pairs_of = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2)), min_size=1, max_size=7)


def once(rows: list[Pair]) -> list[int]:
    """The values of the different pairs."""
    return [value for _, value in {*rows}]


def coded(rows: list[Pair], table: list[Pair]) -> Group:
    """Values, persons and pairs of some rows of a table."""
    number = {pair: i for i, pair in enumerate(sorted({*table}, key=lambda p: (p[1], p[0])))}
    values = [(value, who, number[who, value]) for who, value in rows]
    return Group(np.array(values, np.int32).reshape(-1, 3), (3, 4, len(number)))


def model_of(model: PerAttribute, table: list[Pair]) -> Once:
    value_of = [v for _, v in sorted({*table}, key=lambda p: (p[1], p[0]))]
    return Once(model.one_by_one(1)[0], 2, np.array(value_of, np.int64))


@pytest.mark.parametrize(("model", "definition"), CASES, ids=IDS)
@settings(max_examples=few(30), deadline=None)
@given(part=pairs_of, rest=pairs_of)
def test_definition(model: PerAttribute, definition, part: list[Pair], rest: list[Pair]) -> None:
    """Tests one class, all classes at once and the kernels' law; and what bounds are made of."""
    table = part + rest + [(3, 0), (3, 1), (3, 2)]
    whole, asked = coded(table, table), model_of(model, table)
    expected = definition(once(part), once(table))
    assert asked.lawful(coded(part, table), whole) == expected
    member = np.array([0] * len(part) + [1] * (len(table) - len(part)))
    other = definition(once(table[len(part) :]), once(table))
    assert asked.lawful_classes(Classes(member, whole)).tolist() == [expected, other]
    places = whole.values.astype(np.int64) + np.array([0, 3, 7])
    every = laws_of(asked, whole), places
    for laws, at in (every, compact(*every, np.ones(len(table), np.int64))):
        assert (violation(laws, histogram(laws, at[: len(part)]), len(part)) == 0) == expected
        for i, row in enumerate(table):
            change = 1 if i >= len(part) else -1
            left = [*part, row] if change > 0 else part[:i] + part[i + 1 :]
            hist = histogram(laws, at[: len(part)])
            with interpreted():  # no kernel is compiled for this test alone
                after = violation_after(laws, hist, len(part), at[i], change)
            assert (after == 0) == (not left or definition(once(left), once(table)))
            assert hist.tolist() == histogram(laws, at[: len(part)]).tolist()
    if expected:
        assert len({*once(part)}) >= asked.pricing(whole, 1)[0].data[0]
        assert len(part) >= asked.smallest_class(whole)


@pytest.mark.parametrize(("model", "definition"), CASES, ids=IDS)
@settings(max_examples=few(30), deadline=None)
@given(part=pairs_of, rest=pairs_of, again=st.lists(st.integers(0, 6), max_size=4))
def test_copies_of_a_persons_rows_change_no_lawful_set(
    model: PerAttribute, definition, part: list[Pair], rest: list[Pair], again: list[int]
) -> None:
    """Tests copies in the class, which are in the table, too."""
    copies = [part[i] for i in again if i < len(part)]
    table, more = part + rest + [(3, 0), (3, 1), (3, 2)], part + rest + [(3, 0), (3, 1), (3, 2)]
    more = more + copies
    first = model_of(model, table).lawful(coded(part, table), coded(table, table))
    then = model_of(model, more).lawful(coded(part + copies, more), coded(more, more))
    assert first == then == definition(once(part), once(table))


@pytest.mark.parametrize(("model", "definition"), CASES[:4], ids=IDS[:4])
@settings(max_examples=few(30), deadline=None)
@given(part=pairs_of, rest=pairs_of)
def test_parts_that_lack_the_last_pairs(model, definition, part, rest) -> None:
    """Tests a part of a table as fixed columns make it: its histograms end at its own last pair."""
    table = part + rest + [(3, 0), (3, 1), (3, 2)]
    asked, known = model_of(model, table), coded(part, table)
    alone = Group(known.values, tuple(int(codes.max()) + 1 for codes in known.values.T))
    expected = definition(once(part), once(table))
    assert asked.lawful(alone, alone) == expected
    laws = laws_of(asked, alone)
    starts = np.concatenate([[0], np.cumsum(alone.sizes)])[:-1]
    hist = histogram(laws, alone.values.astype(np.int64) + starts)
    assert (violation(laws, hist, len(part)) == 0) == expected
    assert asked.smallest_class(alone) >= 1


def test_fixed_columns_with_people_and_a_model_of_values() -> None:
    """Tests a table whose smaller group ends before the last pair of a person and a value."""
    frame = pl.DataFrame(
        {
            "a": [*"xxxxyyyy"],
            "b": [*"uvvwuvwu"],
            "c": [*"nnoonnoo"],
            "d": [*"dddddddd"],
            "s": [*"01010101"],
            "pid": [f"P{i}" for i in (0, 1, 0, 1, 2, 3, 4, 5)],
        }
    )
    asked = {"person": "pid", "sensitive": "s", "fixed": "a", "l": 2, "l_kind": "entropy"}
    found = [ic.anonymize(frame, 2, method=name, **asked) for name in ("subset-dp", "engine")]
    assert {each.cost for each in found} == {8}
    assert [each.lower_bound for each in found] == [8, 8]


def test_a_group_of_fixed_values_that_is_unlawful_as_one_class() -> None:
    """Tests a group too small for two classes that is far from the table, though that is itself."""
    frame = pl.DataFrame({"a": [*"xyyy"], "b": [*"uuvv"], "s": [*"0112"], "pid": [*"PQRS"]})
    with pytest.raises(NoLawfulReleaseError, match="proven: all were tried"):
        ic.anonymize(frame, 1, person="pid", sensitive="s", fixed="a", t=0.4)


@pytest.mark.parametrize("method", ["datafly", "starred-set", "mondrian"])
def test_parts_of_which_one_row_is_no_class(method: str) -> None:
    """Tests that a part is asked by its own rows, not by the histograms of the whole table."""
    frame = pl.DataFrame({"a": [*"xyyyy"], "b": [*"uuvvw"], "s": [*"01010"], "pid": [*"PQRST"]})
    asked: dict[str, Any] = {"person": "pid", "sensitive": "s", "fixed": "a", "l": 2}
    with pytest.raises(NoLawfulReleaseError, match="proven: all were tried"):
        ic.anonymize(frame, 1, **asked, l_kind="frequency", method=method)
    with pytest.raises(ic.StoppedError, match="before it found a lawful release of the rows"):
        ic.anonymize(frame, 1, **asked, l_kind="frequency", method=method, time_limit=1e-9)


@pytest.mark.parametrize(
    ("rule", "ages"),
    [
        ("range:round=5", ["6", "7", "8", "9"]),  # all between 5 and 10
        ("range:most=1", ["1", "3", "5", "7"]),  # both pairs are stars
        ("range", ["1", "01", "1.0", "1.00"]),  # all are 1
    ],
)
def test_intervals_that_read_alike_are_one_class(rule: str, ages: list[str]) -> None:
    """Tests pairs of people that are lawful apart, but not as the class that is published."""
    frame = pl.DataFrame({"age": ages, "pid": [*"ABCB"], "s": [*"xyxy"]})
    asked: dict[str, Any] = {"person": "pid", "sensitive": "s", "hierarchies": {"age": rule}}
    with pytest.raises(NoLawfulReleaseError, match="It is not proven"):  # two could be stars
        ic.anonymize(frame, 2, **asked, l=2, l_kind="frequency")


def label(rows: list[tuple[str, ...]]) -> tuple[str, ...]:
    return tuple("*" if len({*cells}) > 1 else cells[0] for cells in zip(*rows, strict=True))


Lawful = Callable[[list[Pair]], bool]


def least(
    cells: list[tuple[str, ...]], pairs: list[Pair], lawful: Lawful
) -> tuple[int | None, bool]:
    """The optimum by brute force over all releases: classes with one label are one class.

    And whether any partition has lawful classes, whose labels may have to hide more.
    """
    best, some = None, False
    for parts in partitions(list(range(len(cells)))):
        labels = [label([cells[i] for i in part]) for part in parts]
        if not all(lawful([pairs[i] for i in p]) for p in parts):
            continue
        some = True
        if len({*labels}) == len(labels):
            cost = sum(len(p) * one.count("*") for p, one in zip(parts, labels, strict=True))
            best = cost if best is None else min(best, cost)
    return best, some


@st.composite
def visits(draw: st.DrawFn) -> tuple[pl.DataFrame, int]:
    rows = draw(st.integers(2, 6))
    column = st.lists(st.sampled_from("ab"), min_size=rows, max_size=rows)
    whose = draw(st.lists(st.integers(0, 3), min_size=rows, max_size=rows))
    k = draw(st.integers(1, len({*whose})))
    secret = draw(st.lists(st.integers(0, 2), min_size=rows, max_size=rows))
    frame = {"pid": [f"P{i}" for i in whose], "x": draw(column), "y": draw(column)}
    return pl.DataFrame(frame | {"s": [f"v{i}" for i in secret]}), k


ASKED: list[tuple[dict[str, Any], Callable[[list[int], list[int]], bool]]] = [
    ({"l": 2, "l_kind": "frequency"}, lambda c, t: naive.frequency(c, 2)),
    ({"l": 1.5, "l_kind": "entropy"}, lambda c, t: naive.entropy(c, F(3, 2))),
    ({"l": 2, "l_kind": "recursive", "c": 2}, lambda c, t: naive.recursive(c, F(2), 2)),
    ({"t": 0.3}, lambda c, t: naive.mover(c, t, naive.equal(3)) <= F(3, 10)),
    ({"models": "alpha=0.6,k=2"}, lambda c, t: naive.alpha(c, F(3, 5), 2)),
    ({"models": "beta=0.5,kind=basic"}, lambda c, t: naive.basic_beta(c, t, F(1, 2))),
    ({"models": "beta=1,kind=enhanced"}, lambda c, t: naive.enhanced_beta(c, t, F(1))),
    ({"models": "delta=0.9"}, lambda c, t: naive.delta(c, t, F(9, 10))),
]


@pytest.mark.parametrize(("asked", "definition"), ASKED, ids=[str(asked) for asked, _ in ASKED])
@settings(max_examples=5, deadline=None)
@given(given_=visits(), method=st.sampled_from(["subset-dp", "engine", "mondrian"]))
def test_releases_are_lawful_and_bounds_hold(
    asked, definition, given_, method, tmp_path_factory
) -> None:
    """Tests against brute force, people and values counted from what was given; and the proof."""
    frame, k = given_
    pairs = [(int(p[1]), int(s[1])) for p, s in frame.select("pid", "s").rows()]

    def lawful(rows: list[Pair]) -> bool:
        return len({who for who, _ in rows}) >= k and definition(once(rows), once(pairs))

    best, some = least(frame.select("x", "y").rows(), pairs, lawful)
    folder: Path = tmp_path_factory.mktemp("once")
    frame.write_csv(folder / "in.csv")
    wanted = {"k": k, "person": "pid", "sensitive": "s", "method": method, **asked}
    try:
        release = ic.anonymize(folder / "in.csv", **wanted)
    except NoLawfulReleaseError as error:
        assert best is None
        assert ("proven: all were tried" in str(error)) != some
        return
    files = [folder / name for name in ("out.csv", "in.csv", "p.proof")]
    release.write(files[0], lambda at: prove(release, files[1], at, files[2]) and None)
    assert best is not None
    assert release.lower_bound <= best <= release.cost
    if release.status == "optimal":
        assert release.cost == best
    verdict = check(*files)
    assert verdict.accepted, verdict.reason
    assert sum(model.get("once", False) for model in verdict.facts["models"]) == 1
    assert release.verify()


@pytest.mark.parametrize("method", ["auto", "engine", "mondrian"])
def test_a_release_that_merging_classes_does_not_find(method: str) -> None:
    """Tests two tables that are unlawful as one class; each has one lawful release, or few."""
    frame = pl.DataFrame({"x": [*"ababbbba"], "pid": [*"11011111"], "s": [*"22011201"]})
    release = ic.anonymize(
        frame, 1, person="pid", sensitive="s", l=3, l_kind="frequency", method=method
    )
    assert (release.cost, release.data["x"].to_list()) == (0, [*"ababbbba"])
    frame = {"x": [*"bbbbab"], "y": [*"bbaaab"], "z": [*"aaabba"], "pid": [*"222122"]}
    frame = pl.DataFrame(frame | {"s": [*"020020"]})
    asked = {"person": "pid", "sensitive": "s", "models": "alpha=0.6,k=2", "method": method}
    release = ic.anonymize(frame, 1, **asked)
    assert release.verify()
    assert release.cost == 6


ROWS = "pid,x,s\nP1,a,f\nP1,a,f\nP1,a,f\nP2,a,m\nP3,b,f\nP3,b,f\nP4,b,m\nP4,b,m\n"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Two classes of two people, one value each: half of the pairs, three quarters of some rows."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "in.csv").write_text(ROWS)
    asked = "anonymize in.csv -o out.csv -k 2 --person pid --sensitive s --l 2 --l-kind frequency"
    done = CliRunner().invoke(cli, [*asked.split(), "--proof", "p.proof", "--json"])
    record = json.loads(done.stdout)
    assert record["cost"] == 0
    assert "frequency 2-diversity of 's' (each value of a person once)" in record["models"]
    return tmp_path


def forged(folder: Path, **facts: Any) -> Any:
    """The verdict on a proof whose JSON part says something else."""
    with zipfile.ZipFile(folder / "p.proof") as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    parts["proof.json"] = json.dumps(json.loads(parts["proof.json"]) | facts).encode()
    with zipfile.ZipFile(folder / "f.proof", "w") as archive:
        for name, data in parts.items():
            archive.writestr(name, data)
    return check(folder / "out.csv", folder / "in.csv", folder / "f.proof")


def test_forged_proofs_are_rejected(folder: Path) -> None:
    """Tests rows in place of people, nobody who says whose they are, and values that lack."""
    k, people = {"model": "k-anonymity", "k": 2}, {"model": "people", "k": 2, "columns": ["pid"]}
    model = {"model": "frequency", "l": 2, "column": "s", "once": True}
    assert forged(folder, models=[k, model, people]).accepted
    other = people | {"columns": ["pid", "x"]}
    for models in (
        [k, {**model, "once": False}, people],
        [k, {**model, "once": 1}, people],
        [k, {name: x for name, x in model.items() if name != "once"}, people],
        [k, model],
        [k, model, people, other],
        [k, {**model, "l": 3}, people],
        [k, {"model": "distinct", "l": 2, "column": "s", "once": True}, people],
        [k | {"once": True}, model, people],
    ):
        assert not forged(folder, models=models).accepted, models
    stated = [{"rule": "frequency", "l": 2, "column": "s"}]
    assert not forged(folder, models=[k, model, people], pricing=stated).accepted


def test_rows_that_count_once_each_do_not_hide_behind_copies() -> None:
    """Tests a class in which one value is that of two of three people, and of few rows."""
    rows = [("A", "x", "u"), ("B", "x", "u"), *[("C", "x", "w")] * 4]
    frame = pl.DataFrame(rows, schema=["pid", "x", "s"], orient="row")
    asked: dict[str, Any] = {"k": 2, "sensitive": "s", "l": 2, "l_kind": "frequency"}
    with pytest.raises(NoLawfulReleaseError, match="each value of a person once"):
        ic.anonymize(frame, person="pid", **asked)
    frame = frame.with_columns(s=pl.when(pl.col("pid") == "B").then(pl.lit("w")).otherwise("s"))
    with pytest.raises(NoLawfulReleaseError):
        ic.anonymize(frame, person="pid", **asked)


def test_what_is_asked_is_held_against_the_proof(folder: Path) -> None:
    """Tests that a proof of people is none of rows, and the other way round."""
    words = "verify out.csv --original in.csv --sensitive s --l 2 --l-kind frequency --proof"
    done = CliRunner().invoke(cli, [*words.split(), "p.proof", "--person", "pid", "-k", "2"])
    assert done.exit_code == 0, done.output
    assert "each value of a person once" in done.output
    done = CliRunner().invoke(cli, [*words.split(), "p.proof"])
    assert done.exit_code == 1, done.output
    rows = "anonymize in.csv -o out.csv -k 2 --id pid --sensitive s --l 1 --l-kind frequency"
    assert CliRunner().invoke(cli, [*rows.split(), "--proof", "r.proof", "-q"]).exit_code == 0
    words = words.replace("--l 2", "--l 1")
    assert CliRunner().invoke(cli, [*words.split(), "r.proof"]).exit_code == 0
    done = CliRunner().invoke(cli, [*words.split(), "r.proof", "--person", "pid", "-k", "1"])
    assert done.exit_code == 1, done.output
