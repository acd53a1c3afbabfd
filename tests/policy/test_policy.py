"""Roles, and all that is asked of a release."""

import numpy as np
import pandas as pd
import pytest

from incrowd import anonymize, frontier, measure
from incrowd.errors import HierarchyError, InputError
from incrowd.hierarchy import Prefix
from incrowd.policy.base import Policy
from incrowd.policy.roles import Roles, assign_roles

COLUMNS = ("name", "age", "zip", "diagnosis")


def test_without_qi_everything_else_is_one():
    """Tests the default roles, in the table's order."""
    assert assign_roles(COLUMNS) == Roles(qi=COLUMNS)
    roles = assign_roles(COLUMNS, id=["name"], sensitive=["diagnosis"])
    assert roles == Roles(qi=("age", "zip"), sensitive=("diagnosis",), id=("name",))
    assert roles.published(COLUMNS) == ("age", "zip", "diagnosis")


def test_with_qi_each_column_needs_a_role():
    """Tests that a column without a role is listed, with the ways to name it."""
    with pytest.raises(InputError) as caught:
        assign_roles(COLUMNS, qi=["zip"], keep=["age"])
    for part in ("2 columns have no role", "'name', 'diagnosis'", "--keep", "--id", "--sensitive"):
        assert part in str(caught.value)
    assert "without a name" not in str(caught.value) and "init" not in str(caught.value)
    with pytest.raises(
        InputError, match=r"14 columns have no role: .* and 2 more; .*incrowd init writes"
    ):
        assign_roles([f"q{i}" for i in range(15)], qi=["q3"])
    with pytest.raises(InputError, match='as in --id ""'):
        assign_roles(["", "zip"], qi=["zip"])
    roles = assign_roles(COLUMNS, qi=["zip", "age"], id=["name"], keep=["diagnosis"])
    assert roles.qi == ("age", "zip")


BAD_ROLES = [
    ({"qi": ["Age"]}, r"qi: no column is called 'Age'; did you mean 'age'\?"),
    ({"sensitive": ["x"]}, "sensitive: no column is called 'x'; known: 'name', 'age'"),
    ({"id": ["age"], "keep": ["age"]}, "'age' is named both id and keep"),
    ({"keep": COLUMNS}, "no column is a quasi-identifier"),
]


@pytest.mark.parametrize(("roles", "message"), BAD_ROLES, ids=range(len(BAD_ROLES)))
def test_refuses_roles(roles, message):
    """Tests that wrong roles are named."""
    with pytest.raises(InputError, match=message):
        assign_roles(COLUMNS, **roles)


BAD_POLICIES = [
    ({"k": 0}, "k must be a whole number of at least 1, not 0"),
    ({"k": 2.5}, "k must be a whole number"),
    ({"k": True}, "k must be a whole number"),
    ({"k": "5"}, "k must be a whole number"),
    ({"seed": -1}, "seed must be a whole number of at least 0"),
    ({"threads": 0}, "threads must be a whole number of at least 1"),
    ({"spend": 1}, "spend must be true or false, not 1"),
    ({"time_limit": 0}, "time_limit must be seconds, more than 0"),
    ({"time_limit": float("nan")}, "time_limit must be seconds"),
    ({"gap": 1.5}, "gap must be a share from 0 to 1"),
    ({"gap": "1%"}, "gap must be a share"),
    ({"order": "shuffled"}, "order is 'shuffled'; did you mean 'shuffle'"),
    ({"star": ""}, "star, the mark of a suppressed cell, must be"),
    ({"c": 2}, "c goes with l, which is not given"),
    ({"l_kind": "entropy", "models": "l=2,kind=entropy"}, "l_kind goes with l"),
    ({"distance": "ordered", "models": "t=0.2"}, "distance goes with t, which is not given"),
    ({"qi": 3}, "qi takes a column name or a list of them"),
]


@pytest.mark.parametrize(("given", "message"), BAD_POLICIES, ids=range(len(BAD_POLICIES)))
def test_refuses_policies(given, message):
    """Tests that a wrong parameter is named with what is allowed."""
    with pytest.raises(InputError, match=message):
        Policy(**given)


def test_one_name_is_a_list_of_one():
    """Tests that a column may be named without a list."""
    policy = Policy(qi="age", sensitive="zip", id=None)
    assert (policy.qi, policy.sensitive, policy.id) == (("age",), ("zip",), ())


def test_hierarchies_by_specification(tmp_path):
    """Tests rules, files and sources, and that neither is refused."""
    (tmp_path / "h.csv").write_text("1;a;*\n")
    source = Policy(hierarchies={"a": "interval:5"}).sources()["a"]
    sources = Policy(hierarchies={"a": tmp_path / "h.csv", "b": source}).sources()
    assert sources["b"] is source
    assert sources["a"].build("a", ["1"]).labels[-1] == ("*",)
    with pytest.raises(HierarchyError, match="neither a rule nor a file"):
        Policy(hierarchies={"a": "intervall:5"}).sources()


@pytest.mark.parametrize(
    "given",
    [
        {"l": np.int64(2), "sensitive": "s"},
        {"l": 2, "l_kind": "recursive", "c": np.float32(2), "sensitive": "s"},
        {"t": np.float64(0.5), "sensitive": "s"},
        {"time_limit": np.int64(3), "gap": np.float32(0.5)},
        {"weights": {"a": np.int64(2), "b": np.float64(0.5)}},
    ],
)
def test_numbers_of_numpy_read_again_as_they_were(tmp_path, given):
    """Tests that a policy says them in a file, and is the same one then."""
    policy, path = Policy(**given), tmp_path / "policy.toml"
    path.write_text(policy.toml())
    assert Policy.read(path) == policy
    assert "np." not in repr(policy)


def test_whole_numbers_of_numpy():
    """Tests that numpy's whole numbers are whole numbers, and that what is not one is refused."""
    frame = pd.DataFrame({"a": list("xxyy"), "s": list("uvuv")})
    asked = {"sensitive": "s", "l": np.int64(2), "seed": np.int8(1), "suppress_rows": np.int32(0)}
    release = anonymize(frame, np.int64(2), **asked)
    assert release.verify() and release.k == 2 and type(release.k) is int
    assert [point.k for point in frontier(frame, np.array([2, 3]), sensitive="s").points] == [2, 3]
    assert [point.k for point in frontier(frame, np.int64(2), sensitive="s").points] == [2]
    assert measure(frame, "a", "s", subsets=np.int64(1), recursive=np.array([2])).k == 2


@pytest.mark.parametrize("k", [2.0, np.float64(2), True, np.True_, "2", None, 0, np.int64(0)])
def test_k_is_whole(k):
    """Tests that a k which is none is the asker's mistake, not one of the re-check."""
    with pytest.raises(InputError, match="k must be a whole number of at least 1, not"):
        Policy(k=k)


WRONG_KINDS = [
    ({"hierarchies": ["a"]}, "hierarchies maps columns to values; list does not"),
    ({"weights": [1]}, "weights maps columns to values; list does not"),
    (
        {"hierarchies": {"a": 3}},
        "int is not a text, .*; write a rule such as",
    ),
    ({"hierarchies": {"a": {"x": "z"}}}, "dict is not a text, .* the groups of each value, as in"),
    ({"hierarchies": {"a": Prefix}}, "the class Prefix is not a text"),
    ({"models": 3}, "models: int is neither a text, a mapping nor a privacy model"),
    ({"cost": 3}, "cost: int is neither a text nor a cost"),
    ({"qi": [["a"]]}, r"qi takes a column name or a list of them, not \['a'\]"),
    ({"qi": 3}, "qi takes a column name or a list of them, not 3"),
    ({"policy": {"k": 2}}, "policy: dict is neither an incrowd.Policy nor the path of one"),
    ({"stop": 3}, "stop: int is not an incrowd.Stop"),
    ({"hierarchies": {1: "range"}}, "hierarchy for the column 1, which is not among"),
    ({"models": [{"l": 2, "on": 1}]}, "on: expected a text or a list"),
    ({"method": 3}, "method: int is neither 'auto', a method's id nor a solver"),
]


@pytest.mark.parametrize(("given", "message"), WRONG_KINDS)
def test_wrong_kinds(given, message):
    """Tests that values of a wrong kind are named with the argument that they came as."""
    frame = pd.DataFrame({"a": list("xxyy"), "s": list("uvuv")})
    for ask in (anonymize, frontier):
        with pytest.raises(InputError, match=message):
            ask(frame, 2, sensitive="s", **given)


def test_progress_is_called():
    """Tests that what cannot be told an event is refused before the search."""
    frame = pd.DataFrame({"a": list("xxyy")})
    for ask in (anonymize, frontier):
        with pytest.raises(InputError, match=r"progress takes a function .*; int cannot be called"):
            ask(frame, 2, progress=5)


def test_equal_policies(tmp_path):
    """Tests that what asks for the same is equal, however it was written."""
    (tmp_path / "p.toml").write_text('k = 3\nqi = ["a"]\n[hierarchies]\na = "prefix:1"\n')
    policy = Policy(k=3, qi="a", hierarchies={"a": "prefix:1"})
    assert Policy.read(tmp_path / "p.toml") == policy
    assert policy != Policy(k=3, qi="a")


def test_frontier_takes_its_own_k():
    """Tests that a k beside the values of the sweep is refused rather than ignored."""
    frame = pd.DataFrame({"a": list("xxyy")})
    with pytest.raises(InputError, match="frontier: k is given by ks, its second argument"):
        frontier(frame, [2], k=3)
