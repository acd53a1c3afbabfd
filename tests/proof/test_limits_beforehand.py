"""Limits of the checker that are known before the search: told then, not after it."""

from fractions import Fraction
from itertools import combinations
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import incrowd as ic
from incrowd.checker.verify import check
from incrowd.errors import InputError
from incrowd.hierarchy import HierarchyRows
from incrowd.policy import distances
from incrowd.privacy.distance import Hierarchical
from incrowd.privacy.k_anonymity import KAnonymity
from incrowd.privacy.metric import Metric
from incrowd.privacy.t_closeness import TCloseness
from incrowd.proof import prove as proving
from incrowd.proof.prove import prove

FRAME = pl.DataFrame({"a": ["1", "2"] * 3, "b": ["1"] * 6, "s": ["x", "y", "z"] * 2})
PRIME = 10**61 + 9


def deep(levels: int) -> HierarchyRows:
    """A hierarchy of two values with so many levels."""
    groups = [f"g{level}" for level in range(levels - 2)]
    return HierarchyRows([(value, *(value + g for g in groups), "*") for value in "12"])


def metric(folder: Path, lines: list[str]) -> str:
    """The path of a file of distances."""
    (folder / "metric").write_text("\n".join(lines))
    return str(folder / "metric")


def never(*_: Any, **__: Any) -> None:
    """Stand in for a search that must not begin."""
    raise AssertionError("the search has begun")


GIVEN: list[tuple[dict[str, Any], str]] = [
    ({"hierarchies": {"a": deep(11)}}, "11 levels"),
    ({"t": "1/" + "7" * 99}, "t has more than 100 digits"),
    ({"l": "1." + "3" * 99, "l_kind": "entropy"}, "l has more than 100 digits"),
    ({"t": "0.5", "distance": ["x;y;1", "x;z;1", "y;z;1"]}, "at most 2 values"),
    ({"t": "0.5", "distance": ["x;y;1", f"x;z;1/{10**100}", "y;z;1"]}, "too fine"),
]


@pytest.mark.parametrize(("asked", "words"), GIVEN, ids=[words for _, words in GIVEN])
def test_told_before_the_search(
    asked: dict[str, Any], words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tests that what every re-check refuses is refused before the search, and all else is not."""
    given = dict(asked)
    if "distance" in given:
        given["distance"] = metric(tmp_path, given["distance"])
    if "levels" in words:
        monkeypatch.setattr("incrowd.hierarchy.build.MOST_LEVELS", 10)
    if "values" in words:
        monkeypatch.setattr(distances, "MOST_VALUES", 2)
    with monkeypatch.context() as patch:
        patch.setattr("incrowd._api.searched", never)
        with pytest.raises(InputError, match=words):
            ic.anonymize(FRAME, 2, sensitive="s", keep="b", **given)


def test_distances_given_in_python_are_told_before_the_search(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Tests a model with a metric of its own: too fine, and of too many values."""
    far = [[0, 1, Fraction(1, 10**100)], [1, 0, 1], [Fraction(1, 10**100), 1, 0]]
    monkeypatch.setattr("incrowd._api.searched", never)
    with pytest.raises(InputError, match="too fine"):
        model = KAnonymity(2) & TCloseness("0.5", Metric.of(far))
        ic.anonymize(FRAME, 2, sensitive="s", keep="b", models=model)
    monkeypatch.setattr(distances, "MOST_VALUES", 2)
    with pytest.raises(InputError, match="at most 2 values"):
        model = TCloseness("0.5", Metric.of([[0, 1, 1], [1, 0, 1], [1, 1, 0]]))
        ic.anonymize(FRAME, 2, sensitive="s", keep="b", models=model)
    leaves, root = (0, 1, 2), (0, 0, 0)
    for levels in (100, 101):
        distance = Hierarchical((*[leaves] * (levels - 1), root))
        told = "101 levels" if levels > 100 else "the search has begun"
        with pytest.raises((InputError, AssertionError), match=told):
            model = TCloseness("0.5", distance)
            ic.anonymize(FRAME, 2, sensitive="s", keep="b", models=model)


def test_what_is_just_within_is_served(tmp_path: Path) -> None:
    """Tests the largest numbers and the finest distances that the re-check takes."""
    near = f"{10**48 - 1}/{10**48}"
    fine = metric(tmp_path, ["x;y;1", f"x;z;{near}", "y;z;1"])
    assert ic.anonymize(FRAME, 2, sensitive="s", keep="b", t=near, distance=fine).verify()
    with pytest.raises(InputError, match="too fine"):
        fine = metric(tmp_path, [f"x;y;{PRIME}", f"x;z;{PRIME - 1}", f"y;z;{PRIME}"])
        ic.anonymize(FRAME, 2, sensitive="s", keep="b", t="0.5", distance=fine)


def test_a_hundred_combinations_are_proven(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests all pairs of fifteen columns, which verify takes, and that more are refused."""
    names = [f"c{i}" for i in range(15)]
    table = pl.DataFrame({name: ["1"] * 4 for name in names})
    pairs = [f"{one},{other}:2" for one, other in combinations(names, 2)]
    paths = [tmp_path / name for name in ("out.csv", "in.csv", "proof")]
    table.write_csv(paths[1])
    release = ic.anonymize(str(paths[1]), 1, protect=pairs)
    release.write(paths[0])
    prove(release, paths[1], paths[0], paths[2])
    assert check(*paths).accepted
    monkeypatch.setattr(proving, "MOST_MODELS", len(pairs) - 1)
    with pytest.raises(InputError, match="here are 105"):
        prove(release, paths[1], paths[0], paths[2])
