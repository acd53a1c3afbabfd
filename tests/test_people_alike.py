"""Tests of columns that are constant within each person, and show one cell in all rows of one."""

import json
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
from forged import Change, forged
from incrowd.bounds.lawful_price import safe_prices
from incrowd.bounds.lawful_tree import LawfulTree
from incrowd.bounds.pricing import assembled
from incrowd.checker.alike import whole_exceeds
from incrowd.checker.lawful import Entries
from incrowd.checker.verify import check
from incrowd.cli import cli
from incrowd.errors import InputError, NoLawfulReleaseError, OutOfScopeError
from incrowd.persons import groups
from incrowd.persons.alike import parted, split_of
from incrowd.persons.groups import exchanged
from incrowd.persons.whole_price import whole_prices
from incrowd.policy import Policy
from incrowd.privacy.people import People
from incrowd.privacy.pricing import whole_part
from incrowd.problem.instance import from_codes
from incrowd.problem.problem import Problem
from incrowd.proof.prove import prove
from incrowd.published.verification import verify_release
from incrowd.run.stop import Stop
from incrowd.tables.native import from_native
from partings import partitions


def constant(column: list[str], whose: list[int]) -> bool:
    return all(
        len({c for c, w in zip(column, whose, strict=True) if w == p}) == 1 for p in {*whose}
    )


def least(columns: list[list[str]], whose: list[int], k: int) -> int:
    """The fewest stars of an alike release, by the definition: over all partitions of the rows.

    A person's rows show one cell in a constant column; so do those of all who share a class.
    """
    rows, best = list(range(len(whose))), None
    for parts in partitions(rows):
        if any(len({whose[i] for i in part}) < k for part in parts):
            continue
        group = {p: {p} for p in whose}
        for part in parts:
            together = set().union(*(group[whose[i]] for i in part))
            for person in together:
                group[person] = together
        cost = 0
        for column in columns:
            if constant(column, whose):
                cost += sum(
                    len({column[j] for j in rows if whose[j] in group[whose[i]]}) > 1 for i in rows
                )
            else:
                cost += sum(len(p) * (len({column[i] for i in p}) > 1) for p in parts)
        best = cost if best is None else min(best, cost)
    assert best is not None
    return best


@st.composite
def visits(draw: st.DrawFn) -> tuple[pl.DataFrame, int]:
    """A few rows of few people, constant columns and others, and a k that the table can keep."""
    rows = draw(st.integers(2, 7))
    whose = draw(st.lists(st.integers(0, 4), min_size=rows, max_size=rows))
    k = draw(st.integers(1, len({*whose})))
    frame: dict[str, list[str]] = {"pid": [f"P{i}" for i in whose]}
    for name in "ab"[: draw(st.integers(1, 2))]:
        of = draw(st.lists(st.sampled_from("xyz"), min_size=5, max_size=5))
        frame[name] = [of[i] for i in whose]
    for name in "vw"[: draw(st.integers(0, 2))]:
        frame[name] = draw(st.lists(st.sampled_from("xy"), min_size=rows, max_size=rows))
    return pl.DataFrame(frame), k


def require_alike(before: pl.DataFrame, after: pl.DataFrame, k: int) -> None:
    """Check a release in the rows' own order by the definition."""
    whose = before["pid"].to_list()
    columns = [name for name in before.columns if name != "pid"]
    for name in columns:
        if constant(before[name].to_list(), whose):
            assert constant(after[name].to_list(), whose)
    classes = after.select(columns).with_columns(pid=before["pid"])
    assert classes.group_by(columns).agg(pl.col("pid").n_unique())["pid"].min() >= k


@settings(max_examples=few(30), deadline=None)
@given(visits(), st.booleans())
def test_brute_force(given_, small) -> None:
    """Tests cost, bound and law; ``small``: whether small tables are solved exactly."""
    frame, k = given_
    columns = [frame[name].to_list() for name in frame.columns if name != "pid"]
    whose = [int(name[1:]) for name in frame["pid"]]
    best = least(columns, whose, k)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(groups, "SMALL", 1000 if small else 0)
        release = ic.anonymize(frame, k=k, person="pid", constant_alike=True)
        loose = ic.anonymize(frame, k=k, person="pid", method="subset-dp")
    require_alike(frame, release.data, k)
    assert release.lower_bound <= best <= release.cost
    assert loose.cost <= best
    if small and all(constant(column, whose) for column in columns):
        assert release.lower_bound == best == release.cost


@settings(max_examples=few(20), deadline=None)
@given(given_=visits(), shuffled=st.booleans())
def test_the_checker_sees_it_itself(given_, shuffled, tmp_path_factory) -> None:
    frame, k = given_
    folder: Path = tmp_path_factory.mktemp("alike")
    frame.write_csv(folder / "in.csv")
    order = "shuffle" if shuffled else "keep"
    release = ic.anonymize(folder / "in.csv", k=k, person="pid", constant_alike=True, order=order)
    files = [folder / name for name in ("out.csv", "in.csv", "p.proof")]
    release.write(files[0], lambda at: prove(release, files[1], at, files[2]) and None)
    verdict = check(*files)
    assert verdict.accepted, verdict.reason
    entry = next(one for one in verdict.facts["models"] if one["model"] == "people")
    assert entry["alike"] is True
    columns = [frame[name].to_list() for name in frame.columns if name != "pid"]
    whose = [int(name[1:]) for name in frame["pid"]]
    assert entry.get("whole", False) == all(constant(column, whose) for column in columns)
    best = least(columns, whose, k)
    assert verdict.facts["bound"] <= best * verdict.facts["scale"]


def test_forged_claims_are_rejected(tmp_path: Path) -> None:
    """Tests a release that is not alike, and one that says that nothing varies where it does."""
    rows = [("P1", "f", "1", "A"), ("P1", "f", "1", "B"), ("P2", "f", "2", "A")]
    rows += [("P3", "m", "1", "B"), ("P2", "f", "2", "B"), ("P3", "m", "1", "A")]
    frame = pl.DataFrame(rows, schema=["pid", "sex", "zip", "ward"], orient="row")
    frame.write_csv(tmp_path / "in.csv")
    files = [tmp_path / name for name in ("out.csv", "in.csv", "p.proof")]
    loose = ic.anonymize(files[1], k=2, person="pid", id="ward", method="subset-dp")
    loose.write(files[0], lambda at: prove(loose, files[1], at, files[2]) and None)
    assert check(*files).accepted

    def saying(**more: bool) -> Change:
        def change(facts: dict[str, Any], rows: pl.DataFrame) -> pl.DataFrame:
            facts["models"] = [
                one | (more if one["model"] == "people" else {}) for one in facts["models"]
            ]
            return rows

        return change

    same = loose.data
    whose = frame["pid"].to_list()
    assert not all(constant(same[name].to_list(), whose) for name in ("sex", "zip"))
    verdict = check(*files[:2], forged(files[2], saying(alike=True)))
    assert not verdict.accepted
    assert "show another cell" in str(verdict.reason)
    ward = ic.anonymize(files[1], k=2, person="pid", constant_alike=True)
    ward.write(files[0], lambda at: prove(ward, files[1], at, files[2]) and None)
    assert check(*files).accepted

    verdict = check(*files[:2], forged(files[2], saying(whole=True)))
    assert not verdict.accepted
    assert "not constant in each person" in str(verdict.reason)


@settings(max_examples=few(60), deadline=None)
@given(st.data())
def test_the_dearest_class_of_people(data) -> None:
    """Tests prices and the checker's rule against every set of people of every pattern."""
    people = data.draw(st.integers(2, 6))
    k = data.draw(st.integers(1, people))
    codes = np.array(data.draw(st.lists(st.tuples(*[st.integers(0, 1)] * 2), min_size=people,
                                        max_size=people)), np.int32)  # fmt: skip
    weight = np.array(data.draw(st.lists(st.integers(1, 4), min_size=people, max_size=people)))
    price = np.array(data.draw(st.lists(st.integers(-2, 6), min_size=people, max_size=people)))
    who = np.repeat(np.arange(people), weight)
    instance, _ = from_codes(codes[who], None, who)
    number = instance.sensitive_codes[:, 0]
    problem = Problem(instance, People(k, 0))
    tree = LawfulTree(instance, *assembled(problem, [whole_part(k, 0)], k))
    found = safe_prices(tree, price[number].astype(float))
    of_person = np.zeros(people)
    of_person[number] = found.price / found.quantum
    for mask in range(1 << people):
        members = [i for i in range(people) if mask >> i & 1]
        if len(members) >= k:
            cost = sum(len({*codes[members, j]}) > 1 for j in range(2))
            worth = sum(weight[i] * (of_person[i] - cost) for i in members)
            assert worth <= 1e-9
    e, group = price - 1, np.zeros(people, np.int64)
    best = max(
        sum(int(weight[i] * e[i]) for i in range(people) if mask >> i & 1)
        for mask in range(1 << people)
        if mask.bit_count() >= k
    )
    entries = Entries(e, weight, np.arange(people), group, True)
    assert whole_exceeds(k, entries).tolist() == [best > 0]
    assert whole_exceeds(people + 1, entries).tolist() == [False]


def test_prices_of_equal_weights_are_those_of_the_persons_table() -> None:
    rng = np.random.default_rng(5)
    codes = rng.integers(0, 3, (40, 3)).astype(np.int32)
    who = np.repeat(np.arange(40), 3)
    instance, _ = from_codes(codes[who], None, who)
    plain, _ = from_codes(codes)
    one = groups.solve(groups.Problem(plain, groups.KAnonymity(3)))
    bound = whole_prices(instance, 3, Stop()).bound(instance.counts)
    assert 0.9 * 3 * one.bound <= bound <= 3 * one.cost


@settings(max_examples=few(30), deadline=None)
@given(st.integers(0, 10_000))
def test_exchanging_people(seed) -> None:
    """Tests that groups keep k people, that the cost is counted right, and never rises."""
    rng = np.random.default_rng(seed)
    people, k = int(rng.integers(4, 14)), int(rng.integers(1, 4))
    codes = rng.integers(0, 3, (people, 3)).astype(np.int32)
    weight = rng.integers(1, 5, people)
    instance, _ = from_codes(codes)
    member = np.sort(rng.permutation(people) % max(1, people // k))

    def cost(groups_: np.ndarray) -> int:
        return sum(
            int(weight[groups_ == g].sum())
            * sum(len({*codes[groups_ == g, j]}) > 1 for j in range(3))
            for g in {*groups_}
        )

    found, said = exchanged(codes, weight, instance.trees, member, k, seed, Stop())
    assert said == cost(found) <= cost(member)
    assert min(np.bincount(found)[np.unique(found)]) >= min(k, min(np.bincount(member)))


def test_parting_classes_by_groups() -> None:
    whose = np.array([0, 1, 0, 1, 2, 3, 2, 3])
    group = np.array([0, 0, 0, 0, 1, 1, 1, 1])
    across = np.array([0, 1, 1, 1, 0, 1, 1, 1])
    found = parted(across, group, whose, 2)
    assert [len({*found[group == g]}) for g in (0, 1)] == [1, 1]
    kept = parted(np.array([0, 0, 1, 1, 2, 2, 3, 3]), group, whose, 2)
    assert len({*kept}) == 4


def test_whose_columns_are_constant() -> None:
    whose = np.array([1, 0, 1])
    leaves = np.array([[0, 0, 1], [2, 5, 0], [0, 1, 1]], np.int32)
    assert split_of(leaves, whose) == ((0, 2), (1,))


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"person": ()}, "constant_alike goes with person"),
        ({"l": 2, "sensitive": "w"}, "not served with l"),
        ({"t": "0.5", "sensitive": "w"}, "not served with t"),
        ({"models": "l=2", "sensitive": "w"}, "not served with models"),
        ({"fixed": "a"}, "not served with fixed"),
        ({"pseudonym": "pid"}, "not served with pseudonym"),
        ({"constant_alike": "yes"}, "must be true or false"),
    ],
)
def test_what_is_refused(more, words) -> None:
    frame = pl.DataFrame({"pid": ["1", "2"], "a": ["x", "y"], "w": ["x", "y"]})
    with pytest.raises(InputError, match=words):
        ic.anonymize(frame, **{"k": 2, "person": "pid", "constant_alike": True} | more)


def test_where_it_is_refused() -> None:
    frame = pl.DataFrame({"pid": ["1", "2", "2"], "a": ["x", "y", "y"]})
    policy = Policy(k=2, person="pid", constant_alike=True)
    with pytest.raises(InputError, match="constant_alike is not served by frontier"):
        ic.frontier(frame, [2], policy=policy)
    with pytest.raises(InputError, match="constant_alike is not served with existing"):
        ic.anonymize(frame, policy=policy, existing=frame.select("a"))
    with pytest.raises(OutOfScopeError, match="--proof"):
        verify_release(from_native(frame), from_native(frame.select("a")), policy)
    with pytest.raises(
        NoLawfulReleaseError, match="3 people in every class, constant columns alike"
    ):
        ic.anonymize(frame, k=3, person="pid", constant_alike=True)


def test_command_line(tmp_path: Path) -> None:
    """Tests columns of all kinds: a hierarchy, a range, one that varies; proof and verify."""
    rng = np.random.default_rng(0)
    whose = np.repeat(np.arange(15), rng.integers(1, 4, 15))
    born, zip_ = rng.integers(1950, 1956, 15)[whose], rng.integers(100, 115, 15)[whose]
    frame = pl.DataFrame(
        {
            "pid": whose,
            "born": born,
            "zip": zip_.astype(str),
            "ward": rng.integers(0, 3, len(whose)),
        }
    )
    frame.write_csv(tmp_path / "in.csv")
    run = CliRunner()
    out, proof = str(tmp_path / "out.csv"), str(tmp_path / "p.proof")
    asked = ["--person", "pid", "-k", "3", "--constant-alike"]
    rules = ["--hierarchy", "born=range", "--hierarchy", "zip=prefix:1,2"]
    command = ["anonymize", str(tmp_path / "in.csv"), "-o", out, *asked, *rules, "--order", "keep"]
    done = run.invoke(cli, [*command, "--proof", proof, "--json"])
    assert done.exit_code == 0, done.output
    said = json.loads(done.stdout)
    assert said["lower_bound"] <= said["cost"]
    after = pl.read_csv(out, infer_schema=False)
    whom = whose.tolist()
    for name in ("born", "zip"):
        assert constant(after[name].to_list(), whom)
    classes = after.with_columns(pid=pl.Series(whom)).group_by("born", "zip", "ward")
    assert classes.agg(pl.col("pid").n_unique())["pid"].min() >= 3
    verify = ["verify", out, "--original", str(tmp_path / "in.csv")]
    done = run.invoke(cli, [*verify, "--proof", proof, "--constant-alike", "--person", "pid"])
    assert done.exit_code == 0, done.output
    assert "constant columns alike" in done.output
    assert run.invoke(cli, [*verify, *asked]).exit_code == 2
