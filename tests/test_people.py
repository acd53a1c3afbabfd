"""Tests of classes that are counted in people."""

import json
from itertools import permutations
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
from incrowd.encoding.encoded import coded
from incrowd.errors import InputError, NoLawfulReleaseError, OutOfScopeError
from incrowd.policy import Policy
from incrowd.privacy.base import Group
from incrowd.privacy.people import People
from incrowd.proof.prove import prove
from incrowd.published.verification import verify_release
from incrowd.tables.native import from_native
from oracle import join_cost, optimum


@st.composite
def visits(draw: st.DrawFn) -> tuple[pl.DataFrame, int]:
    """A few rows of few people, and a k that the table can keep."""
    rows = draw(st.integers(2, 7))
    column = st.lists(st.sampled_from("ab"), min_size=rows, max_size=rows)
    whose = draw(st.lists(st.integers(0, 4), min_size=rows, max_size=rows))
    k = draw(st.integers(1, len({*whose})))
    frame = {"pid": [f"P{i}" for i in whose], "x": draw(column), "y": draw(column)}
    return pl.DataFrame(frame | {"s": draw(column)}), k


def people_by_class(release: Any, frame: pl.DataFrame) -> list[int]:
    """People in each class, counted from the released frame in the rows' own order."""
    named = release.data.select("x", "y").with_columns(pid=frame["pid"])
    return named.group_by("x", "y").agg(pl.col("pid").n_unique())["pid"].to_list()


def least(frame: pl.DataFrame, k: int) -> int | None:
    """The optimum by brute force over all partitions, people counted from their names."""
    table = coded(from_native(frame), Policy(k=1, id=["pid", "s"]))
    names = frame["pid"].to_list()
    row_of_copy = np.argsort(table.copy_of_row)
    best: dict[int, int | None] = {0: 0}
    for mask in range(1, 1 << frame.height):
        first, rest = mask & -mask, mask & (mask - 1)
        found = []
        part = rest
        while True:
            copies = tuple(i for i in range(frame.height) if (part | first) >> i & 1)
            other = best[rest ^ part]
            if len({names[row_of_copy[i]] for i in copies}) >= k and other is not None:
                found.append(other + len(copies) * join_cost(table.instance, copies))
            if not part:
                break
            part = (part - 1) & rest
        best[mask] = min(found, default=None)
    return best[(1 << frame.height) - 1]


@settings(max_examples=few(40), deadline=None)
@given(visits(), st.sampled_from(["subset-dp", "engine", "auto"]))
def test_costs_and_bounds_are_those_of_brute_force(given_, method) -> None:
    frame, k = given_
    release = ic.anonymize(frame, k=k, person="pid", id="s", method=method)
    assert release.verify()
    assert min(people_by_class(release, frame)) >= k
    assert release.fewest_people == min(people_by_class(release, frame))
    assert release.people == frame["pid"].n_unique()
    best = least(frame, k)
    assert best is not None
    table = coded(from_native(frame), Policy(k=k, person="pid", id="s"))
    assert best == optimum(table.instance, table.model)
    units = release.scale
    assert release.lower_bound * units <= best <= release.cost * units
    if method == "subset-dp":
        assert release.cost_units == best == release.bound_units


@given(whose=st.lists(st.integers(0, 4), max_size=8), k=st.integers(1, 5))
def test_copies_of_a_persons_rows_change_no_lawful_set(whose, k) -> None:
    model = People(k, 0, ("pid",))
    codes = np.array(whose, np.int32).reshape(-1, 1)
    once, twice = (Group(rows, (5,)) for rows in (codes, np.concatenate([codes, codes])))
    assert model.lawful(once, once) == model.lawful(twice, twice) == (len({*whose}) >= k)


@settings(max_examples=few(15), deadline=None)
@given(given_=visits(), several=st.booleans(), shuffled=st.booleans())
def test_the_checker_counts_the_people_itself(given_, several, shuffled, tmp_path_factory) -> None:
    """Tests honest proofs, one where two rows are said to be of others, and one of a larger k."""
    frame, k = given_
    folder: Path = tmp_path_factory.mktemp("people")
    person = ["pid", "s"] if several else ["pid"]
    frame.write_csv(folder / "in.csv")
    left = [] if several else ["s"]
    order = "shuffle" if shuffled else "keep"
    release = ic.anonymize(folder / "in.csv", k=k, person=person, id=left, order=order)
    files = [folder / name for name in ("out.csv", "in.csv", "p.proof")]
    release.write(files[0], lambda at: prove(release, files[1], at, files[2]) and None)
    verdict = check(*files)
    assert verdict.accepted, verdict.reason
    assert {"model": "people", "k": k, "columns": person} in verdict.facts["models"]
    assert verdict.facts["bound"] <= verdict.facts["cost"]
    counts = release.people_of_class
    assert counts is not None
    assert counts.min() >= k


@settings(max_examples=few(15), deadline=None)
@given(given_=visits(), gone=st.sets(st.integers(0, 6)), rule=st.sampled_from(["own", "drop"]))
def test_rows_that_do_not_say_whose_they_are(given_, gone, rule, tmp_path_factory) -> None:
    """Tests both rules against brute force over a table in which they are carried out by hand."""
    frame, k = given_
    lost = pl.Series([i in gone for i in range(frame.height)], dtype=pl.Boolean)
    names = ["" if i in gone else name for i, name in enumerate(frame["pid"])]
    alone = [f"?{i}" if i in gone else name for i, name in enumerate(frame["pid"])]
    by_hand = frame.with_columns(pid=pl.Series(alone, dtype=pl.String))
    by_hand = by_hand.filter(~lost) if rule == "drop" else by_hand
    folder: Path = tmp_path_factory.mktemp("gone")
    frame.with_columns(pid=pl.Series(names, dtype=pl.String)).write_csv(folder / "in.csv")
    asked = {"k": k, "person": "pid", "id": "s", "missing_person": rule, "method": "subset-dp"}
    best = least(by_hand, k)
    if best is None:
        with pytest.raises(NoLawfulReleaseError):
            ic.anonymize(folder / "in.csv", **asked)
        return
    release = ic.anonymize(folder / "in.csv", **asked)
    assert release.cost_units == best == release.bound_units
    assert release.rows == by_hand.height
    assert release.people == by_hand["pid"].n_unique()
    assert release.rows_without_person == (int(lost.sum()) if rule == "drop" else 0)
    files = [folder / name for name in ("out.csv", "in.csv", "p.proof")]
    release.write(files[0], lambda at: prove(release, files[1], at, files[2]) and None)
    verdict = check(*files)
    assert verdict.accepted, verdict.reason
    assert verdict.facts["rows"] == by_hand.height


def forged(folder: Path, **facts: Any) -> Any:
    """The verdict on a proof whose JSON part says something else."""
    import zipfile

    with zipfile.ZipFile(folder / "p.proof") as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    stated = json.loads(parts["proof.json"]) | facts
    parts["proof.json"] = json.dumps(stated).encode()
    with zipfile.ZipFile(folder / "f.proof", "w") as archive:
        for name, data in parts.items():
            archive.writestr(name, data)
    return check(folder / "out.csv", folder / "in.csv", folder / "f.proof")


ROWS = "pid,x,s\nP1,a,f\nP1,a,f\nP2,b,f\nP2,b,m\nP3,c,m\nP3,c,m\n"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Three people of two rows each, released under k = 2 by the command line."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "in.csv").write_text(ROWS)
    asked = "anonymize in.csv -o out.csv -k 2 --person pid --sensitive s --proof p.proof --json"
    done = CliRunner().invoke(cli, asked.split())
    record = json.loads(done.stdout)
    assert (record["people"], record["fewest_people"] >= 2) == (3, True)
    assert record["models"] == ["2-anonymity", "2 people in every class"]
    return tmp_path


def test_forged_proofs_of_people_are_rejected(folder):
    """Tests more people than there are, columns that are published or unknown, a rule of more."""
    rows = {"model": "k-anonymity", "k": 2}
    people = {"model": "people", "k": 2, "columns": ["pid"]}
    assert forged(folder, models=[rows, people]).accepted
    for wrong in (
        people | {"k": 4},
        people | {"k": 0},
        people | {"k": True},
        people | {"columns": ["s"]},
        people | {"columns": ["x"]},
        people | {"columns": ["nobody"]},
        people | {"columns": []},
        people | {"column": "pid"},
        people | {"missing": "error"},
        people | {"missing": ["own"]},
    ):
        assert not forged(folder, models=[rows, wrong]).accepted, wrong
    stated = [{"rule": "distinct", "l": 3, "column": "pid"}]
    assert not forged(folder, models=[rows, people], pricing=stated).accepted


def test_rows_of_one_person_are_no_class(folder):
    """Tests the release that is lawful in rows and not in people, under a proof that claims it."""
    asked = "anonymize in.csv -o out.csv -k 2 --id pid --sensitive s --proof p.proof -q"
    assert CliRunner().invoke(cli, asked.split()).exit_code == 0
    people = {"model": "people", "k": 2, "columns": ["pid"]}
    verdict = forged(folder, models=[{"model": "k-anonymity", "k": 2}, people])
    assert "breaks the model people" in str(verdict.reason)


@pytest.mark.parametrize(
    ("given_", "message"),
    [
        ({"person": "nobody"}, "person"),
        ({"person": "pid", "keep": "pid"}, "both keep and person"),
        ({"person": "pid", "qi": ["pid", "x"], "keep": "s"}, "both qi and person"),
        ({"person": "pid", "l": 2}, "name them with --sensitive"),
        (
            {"person": "pid", "linked_rows": True, "suppress_rows": 3},
            "suppress_rows is not served with linked_rows",
        ),
    ],
)
def test_what_does_not_go_with_person_is_refused(given_, message):
    frame = pl.read_csv(ROWS.encode())
    with pytest.raises(InputError, match=message):
        ic.anonymize(frame, k=2, **given_)


def test_rows_without_a_person_are_counted_and_not_shown():
    frame = pl.read_csv(ROWS.encode()).with_columns(
        pid=pl.when(pl.col("x") == "b").then(None).otherwise(pl.col("pid"))
    )
    with pytest.raises(InputError, match="2 of 6 rows have no value"):
        ic.anonymize(frame, k=2, person="pid", sensitive="s")


def test_what_becomes_of_them_is_said_of_persons_alone():
    frame = pl.read_csv(ROWS.encode())
    for given_ in ({"missing_person": "own"}, {"person": "pid", "missing_person": "some"}):
        with pytest.raises(InputError, match="missing_person"):
            ic.anonymize(frame, k=2, sensitive="s", **given_)


GONE = "pid,x,s\nP1,a,f\n,a,f\nP2,b,f\n,b,m\nP3,c,m\nP3,c,m\n"


@pytest.mark.parametrize("stated", ["own", "drop"])
def test_the_checker_holds_who_counts(tmp_path, monkeypatch, stated):
    """Tests proofs that take rows without a person for other than the release does."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "in.csv").write_text(GONE)
    asked = (
        f"anonymize in.csv -o out.csv -k 2 --person pid --missing-person {stated} --proof p.proof"
    )
    done = CliRunner().invoke(cli, [*asked.split(), "--json", "--id", "s"])
    record = json.loads(done.stdout)
    assert (record["rows"], record["people"]) == ((4, 3) if stated == "drop" else (6, 5))
    assert record.get("rows_without_person", 0) == (2 if stated == "drop" else 0)
    rows, other = {"model": "k-anonymity", "k": 2}, {"own": "drop", "drop": "own"}[stated]
    people = {"model": "people", "k": 2, "columns": ["pid"]}
    assert forged(tmp_path, models=[rows, people | {"missing": stated}]).accepted
    assert not forged(tmp_path, models=[rows, people | {"missing": other}]).accepted
    two = [rows, people | {"missing": "own"}, people | {"missing": "drop"}]
    assert not forged(tmp_path, models=two).accepted


def test_an_identifier_that_repeats_is_an_error_where_that_is_asked():
    frame = pl.read_csv(ROWS.encode())
    with pytest.raises(InputError, match="3 of its 3 values in several rows"):
        ic.anonymize(frame, k=2, id="pid", sensitive="s", strict=True)
    once = frame.with_columns(pid=pl.Series(["A", "B", None, None, "C", "D"]))
    assert ic.anonymize(once, k=2, id="pid", sensitive="s", strict=True).rows == 6
    assert ic.anonymize(frame, k=2, person="pid", sensitive="s", strict=True).people == 3


def test_one_person_alone_hides_in_no_crowd():
    frame = pl.DataFrame({"pid": ["P"] * 6, "x": list("abcabc")})
    with pytest.raises(NoLawfulReleaseError):
        ic.anonymize(frame, k=2, person="pid")
    assert ic.anonymize(frame, k=1, person="pid").cost == 0
    assert ic.anonymize(frame.clear(), k=2, person="pid").rows == 0


def test_what_cannot_count_people_says_so():
    """Tests the calls that do not serve persons yet."""
    with pytest.raises(OutOfScopeError):
        ic.frontier(pl.read_csv(ROWS.encode()), [2], person="pid", pseudonym="pid", sensitive="s")


@settings(max_examples=few(15), deadline=None)
@given(visits())
def test_a_frontier_counts_people(given_) -> None:
    """Tests costs and bounds at each k against brute force."""
    frame, k = given_
    found = ic.frontier(frame, range(1, k + 1), person="pid", id="s")
    for point in found.points:
        best = least(frame, point.k)
        assert best is not None
        assert point.bound_units <= best <= point.cost_units


def stands_above(released: tuple[str, ...], original: tuple[str, ...]) -> bool:
    return all(a in (b, "*") for a, b in zip(released[:2], original[:2], strict=True))


@settings(max_examples=few(60), deadline=None)
@given(visits(), st.booleans(), st.booleans(), st.randoms())
def test_verify_without_a_proof_counts_people(given_, persons, keeps, random) -> None:
    """Tests yes and no against all ways to say which original row a released row is."""
    frame, k = given_
    asked = {"person": "pid"} if persons else {"id": "pid"}
    k = min(k, frame.height)
    role = {"sensitive": "s"} if keeps else {"id": [*asked.get("id", "").split(), "s"]}
    release = ic.anonymize(frame, k=k, order="keep", **{**asked, **role})
    rows = release.data.rows()
    random.shuffle(rows)
    shown = pl.DataFrame(rows, schema=release.data.columns, orient="row")
    policy = Policy(k=k, person="pid", **({"sensitive": "s"} if keeps else {"id": "s"}))
    verdict = verify_release(from_native(frame), from_native(shown), policy)
    before = frame.select("x", "y", "s", "pid").rows()

    def lawful(order: tuple[int, ...]) -> bool:
        pairs = [(rows[i], before[j]) for i, j in enumerate(order)]
        if not all(stands_above(a, b) and (not keeps or a[2] == b[2]) for a, b in pairs):
            return False
        people: dict[Any, set[str]] = {}
        for a, b in pairs:
            people.setdefault(a[:2], set()).add(b[3])
        return min(map(len, people.values())) >= k

    can_be = any(map(lawful, permutations(range(len(rows)))))
    assert not persons or can_be
    if verdict.lawful:
        assert can_be
    elif can_be:
        assert "not decided" in verdict.reasons[0]
    if not can_be:
        assert not verdict.lawful


def test_rows_that_fit_as_they_stand_may_be_other_rows() -> None:
    """Tests that the order of the rows is one assignment, and not the only one looked at."""
    frame = pl.DataFrame({"pid": [*"0011"], "x": [*"aaaa"], "y": [*"cdcd"]})
    shown = pl.DataFrame({"x": [*"aa**"], "y": [*"****"]})
    policy = Policy(k=2, person="pid")
    assert verify_release(from_native(frame), from_native(shown), policy).lawful


def test_a_policy_file_names_persons(tmp_path):
    path = tmp_path / "policy.toml"
    path.write_text('k = 2\nperson = "pid"\nsensitive = "s"\n')
    release = ic.anonymize(pl.read_csv(ROWS.encode()), policy=path)
    assert release.people == 3
    assert "pid" not in release.data.columns
    assert release.warnings == ()
