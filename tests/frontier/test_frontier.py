"""The frontier: costs of lawful releases above proven bounds, neither ever falling."""

import csv
import json
from dataclasses import replace
from importlib import import_module
from itertools import pairwise

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

import incrowd as ic
from dial import few
from incrowd.bounds import column_groups
from incrowd.cli import cli
from incrowd.cli.frontier import numbers
from incrowd.errors import InputError, NoLawfulReleaseError, OutOfScopeError
from incrowd.frontiers.points import in_runs
from incrowd.frontiers.sweep import Sweep
from incrowd.privacy.distinct_diversity import DistinctDiversity
from incrowd.privacy.k_anonymity import KAnonymity
from incrowd.problem.instance import from_codes
from incrowd.problem.problem import Problem
from incrowd.run.stop import Stop
from incrowd.solvers.base import Context
from incrowd.solvers.catalog import by_id
from oracle import optimum


@pytest.fixture
def by_engine(monkeypatch):
    """Let the engine serve every k, also where an exact method would."""
    sweep_module = import_module("incrowd.frontiers.sweep")
    monkeypatch.setattr(sweep_module, "choose", lambda problem, method: by_id("engine"))


def people(rows=120, seed=0):
    """A table that no exact method takes at once."""
    rng = np.random.default_rng(seed)
    return pl.DataFrame(
        {
            "age": rng.integers(20, 60, rows),
            "sex": rng.choice(["f", "m"], rows),
            "job": rng.choice(list("abcdefg"), rows),
            "ill": rng.choice(["flu", "cold", "none"], rows),
        }
    )


def require_sound(points):
    """Assert what holds for every frontier."""
    for point in points:
        assert point.bound_units <= point.cost_units <= point.worst_units
        assert point.smallest_class >= point.k
        assert (point.status == "optimal") == (point.gap == 0)
    for one, other in pairwise(points):
        assert one.k < other.k
        assert one.cost_units <= other.cost_units
        assert one.bound_units <= other.bound_units


@pytest.mark.usefixtures("by_engine")
@settings(max_examples=few(12))
@given(
    rows=st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2), st.integers(0, 1)), min_size=4,
                  max_size=7),
    engine=st.booleans(),
)  # fmt: skip
def test_against_every_partition(rows, engine):
    """Tests cost and bound at each k against brute force, warm-started and by single runs."""
    instance, _ = from_codes(np.array(rows))
    problem = Problem(instance, KAnonymity(2))
    method = "auto" if engine else "mondrian"
    sweep = Sweep(problem, problem.model.with_k, method, Context())
    before = None
    for k, found in sweep.run([2, 3, 4]).items():
        best = optimum(instance, KAnonymity(k))
        assert found.solution is not None
        assert found.bound <= best <= found.solution.cost
        assert found.solution.sizes.min() >= k
        assert before is None or before <= found.solution.cost
        before = found.solution.cost


@pytest.mark.parametrize("limit", [None, 0.0])
def test_wide_tables_are_bounded_by_groups(limit, by_engine, monkeypatch):
    """Tests the bounds of a table too wide to look at every pattern, against brute force."""
    monkeypatch.setattr(import_module("incrowd.frontiers.sweep"), "affordable", lambda *_: 0)
    monkeypatch.setattr("incrowd.bounds.wide.LONG", 0)
    monkeypatch.setattr(column_groups, "FIRST", 2)
    monkeypatch.setattr(column_groups, "VISITS", 20)
    monkeypatch.setattr(column_groups, "VISITS_A_SECOND", 20)
    several = 0
    for seed in range(few(3, 1)):
        instance, _ = from_codes(np.random.default_rng(seed).integers(0, 3, (9, 5)))
        problem, context = Problem(instance, KAnonymity(2)), Context(stop=Stop(limit))
        sweep = Sweep(problem, KAnonymity, "auto", context)
        before = 0
        for k, found in sweep.run([2, 3, 4]).items():
            best = optimum(instance, KAnonymity(k))
            assert found.wide and max(1, before) <= found.bound <= best <= found.solution.cost
            before = found.bound
            several += len(found.prices.groups) > 1
    assert several


@pytest.mark.parametrize("method", ["auto", "mondrian"])
def test_a_table(method):
    """Tests the engine's sweep and one of single runs; the points are those of releases."""
    found = ic.frontier(people(), range(3, 9), sensitive="ill", method=method)
    require_sound(found.points)
    assert found.ks == (3, 4, 5, 6, 7, 8)
    assert found.ended == "finished"
    if method == "auto":
        assert {point.method for point in found.points} == {"engine"}
        assert all(point.gap < 0.2 for point in found.points)
    single = ic.anonymize(people(), 3, sensitive="ill", method=method)
    assert found.points[0].lower_bound <= single.cost
    assert single.lower_bound <= found.points[0].cost


def test_a_larger_k_helps_a_smaller_one():
    """Tests that a method that is worse at a smaller k gets the release of the larger one."""
    frame = people(60, 5)
    costs = [ic.anonymize(frame, k, sensitive="ill", method="mondrian").cost for k in (2, 3, 4, 5)]
    found = ic.frontier(frame, [2, 3, 4, 5], sensitive="ill", method="mondrian")
    assert [point.cost for point in found.points] == [min(costs[i:]) for i in range(4)]


def test_with_diversity_and_hierarchies():
    """Tests that other models keep their parameters while k rises, and costs in fractions."""
    found = ic.frontier(
        people(40), [2, 4], sensitive="ill", l=2, hierarchies={"age": "interval:10,20"}
    )
    require_sound(found.points)
    assert found.models == ("2-anonymity", "distinct 2-diversity")
    model = (KAnonymity(2) & DistinctDiversity(3)).with_k(5)
    assert [part.name for part in model.models] == ["5-anonymity", "distinct 3-diversity"]


def test_frame_and_plot(constructor):
    """Tests that the frame is of the type that was given, and what is drawn."""
    import narwhals as nw

    data = constructor({"a": ["1", "2", "1", "3", "2", "1"], "b": ["x", "x", "y", "y", "x", "y"]})
    found = ic.frontier(data, [1, 2, 3])
    assert type(found.frame()) is type(data)
    frame = nw.from_native(found.frame())
    frame = frame.collect() if isinstance(frame, nw.LazyFrame) else frame
    assert frame["k"].to_list() == [1, 2, 3]
    assert frame["cost"].to_list() == [point.cost for point in found.points]
    figure = found.plot()
    cost = next(line for line in figure.axes[0].lines if "cost" in str(line.get_label()))
    assert list(cost.get_ydata()) == [point.cost_fraction for point in found.points]


def test_no_time():
    """Tests that a sweep without time ends with lawful points, and says why."""
    found = ic.frontier(people(300), range(3, 30, 4), sensitive="ill", time_limit=0.001)
    require_sound(found.points)
    assert found.ended == "time limit"


def test_interrupted():
    """Tests that an interrupt leaves a point at each k, with a bound at 2 too, not the engine's."""
    problem = Problem(
        from_codes(np.random.default_rng(0).integers(0, 5, (80, 4)))[0], KAnonymity(2)
    )
    stop = Stop()
    stop.interrupt()
    sweep = Sweep(problem, KAnonymity, "auto", Context(stop=stop))
    assert list(sweep.run([9, 4, 6])) == [4, 6, 9]
    found = replace(sweep, found={}).run([2, 4])
    assert 0 < found[2].bound <= found[4].bound


def test_what_cannot_be():
    """Tests the refusals."""
    frame = people(10)
    with pytest.raises(NoLawfulReleaseError, match="k = 11 is larger"):
        ic.frontier(frame, [12, 11])
    with pytest.raises(InputError, match="at least one k"):
        ic.frontier(frame, [])
    with pytest.raises(InputError, match="k must be a whole number"):
        ic.frontier(frame, [0, 2])
    with pytest.raises(OutOfScopeError, match="pseudonym of the person"):
        ic.frontier(frame, [2], person="job", pseudonym="job")
    with pytest.raises(TypeError, match=r"frontier\(\) .*no_such"):
        ic.frontier(frame, [2], no_such=1)


@pytest.mark.parametrize(
    ("asked", "possible"),
    [
        ({"sensitive": "ill"}, [2, 3, 5, 8]),
        ({"sensitive": "ill", "fixed": "b"}, [2, 3]),  # of one value there are three rows
        ({"keep": "ill", "person": "who"}, [2, 3]),
        ({"sensitive": "ill", "caps": {"a": 0.5}}, [2]),
        ({"sensitive": "ill", "l": 2, "method": "mondrian"}, [2, 3, 5, 8]),
    ],
)
def test_some_k_are_possible(asked, possible):
    """Tests that those are found as without the others, which are told, each with its reason."""
    frame = pl.DataFrame(
        {
            "a": list("aabbccdd"),
            "b": list("xxxxxyyy"),
            "ill": list("klklklkl"),
            "who": list("12312312"),
        }
    )
    frame = frame if "person" in asked else frame.drop("who")
    found = ic.frontier(frame, [9, 2, 3, 5, 8, 11], **asked)
    assert list(found.ks) == possible
    assert found.points == ic.frontier(frame, possible, **asked).points
    rest = [k for k in (2, 3, 5, 8, 9, 11) if k not in possible]
    assert list(found.impossible) == rest
    for k in rest:
        with pytest.raises(NoLawfulReleaseError) as caught:
            ic.frontier(frame, k, **asked)
        assert found.impossible[k] == str(caught.value)
    assert f"{len(rest)} impossible" in repr(found)
    assert repr(ic.frontier(frame, possible[0], **asked)).startswith("<Frontier: 1 value of k from")
    (warning,) = found.warnings
    assert found.impossible[rest[0]] in warning


@given(st.sets(st.integers(1, 20), min_size=1))
def test_runs(ks):
    """Tests that each number is named, in a run or alone."""
    said = [[int(end) for end in run.split(" to ")] for run in in_runs(sorted(ks)).split(", ")]
    assert [k for run in said for k in range(run[0], run[-1] + 1)] == sorted(ks)
    assert all(len(run) == 1 or run[0] + 1 < run[1] for run in said)


def test_by_policy():
    """Tests that a policy's k does not count, and the rest does."""
    found = ic.frontier(people(30), [2, 3], policy=ic.Policy(k=7, sensitive="ill", cost="stars"))
    assert [p.cost for p in found.points] == [
        p.cost for p in ic.frontier(people(30), [2, 3], sensitive="ill", cost="stars").points
    ]


def test_no_rows_and_one_k():
    """Tests the smallest sweeps."""
    empty = pl.DataFrame({"a": []}, schema={"a": pl.String})
    assert ic.frontier(empty, 2).points[0].cost == 0
    assert ic.frontier(people(10), 3, keep="ill").ks == (3,)


def test_numbers():
    """Tests the text form of values of k."""
    assert numbers("2:5") == [2, 3, 4, 5]
    assert numbers("3, 10:20:5,2") == [2, 3, 10, 15, 20]
    for wrong in ("", "a", "5:2", "1:2:3:4", "2:9:0", "2:9:-1", "1:100000"):
        with pytest.raises(InputError, match="--k"):
            numbers(wrong)


def test_command(tmp_path, monkeypatch):
    """Tests CSV, JSON, picture and printed table of the command."""
    monkeypatch.chdir(tmp_path)
    people(40).write_csv("in.csv")
    words = ["frontier", "in.csv", "--k", "2:4", "--sensitive", "ill"]
    done = CliRunner().invoke(cli, [*words, "-o", "f.csv", "--svg", "f.svg", "--json"])
    assert done.exit_code == 0, done.output
    record = json.loads(done.stdout)
    with (tmp_path / "f.csv").open(newline="") as file:
        lines = list(csv.DictReader(file))
    assert [int(line["k"]) for line in lines] == [p["k"] for p in record["points"]] == [2, 3, 4]
    assert [float(line["cost"]) for line in lines] == [p["cost"] for p in record["points"]]
    assert "<svg" in (tmp_path / "f.svg").read_text(encoding="utf-8")
    done = CliRunner().invoke(cli, [*words, "-q"])
    assert [line.split()[0] for line in done.stdout.splitlines()] == ["k", "2", "3", "4"]
    done = CliRunner().invoke(cli, [*words[:3], "39:60:7,41", *words[4:], "--json", "-q"])
    record = json.loads(done.stdout)
    assert done.exit_code == 0
    assert ([p["k"] for p in record["points"]], record["impossible"]) == ([39], [41, 46, 53, 60])
    assert f"warning: {record['warnings'][0]}" in done.stderr
    done = CliRunner().invoke(cli, [*words[:3], "41:43", *words[4:]])
    assert (done.exit_code, done.stdout) == (1, "")
    assert "k = 41 is larger" in done.stderr
    for wrong, message in (
        (["-o", "in.csv"], "is the input itself"),
        (["-o", "-", "--json"], "standard output"),
        (["--svg", "-"], "a file of its own"),
    ):
        done = CliRunner().invoke(cli, [*words, *wrong])
        assert (done.exit_code, message in done.output) == (2, True)
