"""Tables of too few rows for two classes: the release of all rows together is the only one."""

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import incrowd as ic
from forged import Change, forged
from incrowd.checker.verify import check
from incrowd.driver.solve import choose, solve
from incrowd.privacy.k_anonymity import KAnonymity
from incrowd.problem.problem import Problem
from incrowd.proof.prove import prove
from oracle import optimum
from solvers.engine.engine_samples import KINDS, random_tables
from solvers.ranged_tables import ranged_tables


@pytest.mark.parametrize("method", ["auto", "mondrian"])
def test_it_is_optimal(method: str) -> None:
    """Tests status and cost against the best of all partitions, on either side of 2k rows."""
    tables = [random_tables(3, 4, kind, (4, 8)) for kind in KINDS] + [ranged_tables(4, 4, (4, 8))]
    for instance, _ in (each for some in tables for each in some):
        for k in {instance.rows // 2, instance.rows // 2 + 1, instance.rows}:
            problem = Problem(instance, KAnonymity(k))
            if choose(problem, method).refuse(problem) is not None:
                continue
            solved = solve(problem, method)
            best = optimum(instance, problem.model)
            assert best is not None and solved.bound <= best <= solved.cost
            if instance.rows < 2 * k:
                assert solved.status == "optimal" and solved.solution.sizes.tolist() == [
                    instance.rows
                ]


def frame_of(rows: int) -> pl.DataFrame:
    """A table of two columns of numbers and one of three values."""
    rng = np.random.default_rng(rows)
    columns = {name: rng.integers(0, 50, rows).astype(str) for name in "ab"}
    return pl.DataFrame(columns | {"s": [str(x % 3) for x in range(rows)]})


@pytest.mark.parametrize("options", [{"k": 6}, {"k": 2, "l": 3}])
def test_what_is_told(options: dict[str, Any], tmp_path: Path) -> None:
    """Tests a release whose smallest class is asked for by k or by another model, and its proof.

    Prices alone prove less: what is told must not depend on them, and the checker confirms it.
    """
    rows = 11 if options["k"] == 6 else 5
    sensitive: dict[str, Any] = {"sensitive": "s"} if "l" in options else {}
    rules = {"a": "range", "b": "range"} | ({} if sensitive else {"s": "range"})
    release = ic.anonymize(
        frame_of(rows), hierarchies=rules, method="engine", **options, **sensitive
    )
    assert release.status == "optimal" and release.classes == 1
    original, released, proof = proven(release, frame_of(rows), tmp_path)
    verdict = check(released, original, proof)
    assert verdict.accepted and verdict.facts["bound"] == verdict.facts["cost"]
    assert not check(released, original, forged(proof, for_classes_of(rows + 1))).accepted


def proven(release: ic.Release, frame: pl.DataFrame, folder: Path) -> list[Path]:
    """Write original, release and proof; return where they are."""
    paths = [folder / name for name in ("original.csv", "release.csv", "release.proof")]
    frame.write_csv(paths[0])
    release.write(paths[1])
    prove(release, paths[0], paths[1], paths[2])
    return paths


def for_classes_of(size: int) -> Change:
    """Let a proof say that its prices are for classes of so many rows."""

    def change(facts: dict[str, Any], rows: pl.DataFrame) -> pl.DataFrame:
        facts["price_k"] = size
        return rows

    return change


@pytest.mark.parametrize("more", [{"k": 5}, {"k": 6, "delete_rows": "most=3"}])
def test_the_checker_refuses_larger_classes_where_there_may_be_two_or_fewer_rows(
    more: dict[str, Any], tmp_path: Path
) -> None:
    """Tests prices for classes of all rows: of 2k rows, and where rows may be deleted."""
    frame = frame_of(10 if more["k"] == 5 else 11)
    rules = dict.fromkeys(frame.columns, "range")
    if "delete_rows" in more:
        rules = {}
    release = ic.anonymize(frame, hierarchies=rules, **more)
    original, released, proof = proven(release, frame, tmp_path)
    assert check(released, original, proof).accepted
    verdict = check(released, original, forged(proof, for_classes_of(release.rows)))
    assert not verdict.accepted and "larger classes" in str(verdict.reason)


@pytest.mark.parametrize(
    ("more", "bound"),
    [
        ({"linked": [["a", "b"]]}, 9),
        ({"veil": 1}, 6),
        ({"linked": [["a", "b"]], "caps": {"a": 1}}, 9),
    ],
    ids=["linked", "veil", "capped"],
)
def test_cells_that_no_join_hides(more: dict[str, Any], bound: int, tmp_path: Path) -> None:
    """Tests that the proof of one class counts cells that its rows ask to hide, or a link.

    A column of one value is hidden with another one, or by coins, of which no proof knows.
    """
    frame = pl.DataFrame({"a": ["1", "2", "3"], "b": ["x", "x", "x"], "c": ["1", "2", "3"]})
    release = ic.anonymize(frame, 2, **more)
    assert release.cost == 9
    original, released, proof = proven(release, frame, tmp_path)
    verdict = check(released, original, proof)
    assert verdict.accepted and verdict.facts["bound"] == bound * verdict.facts["scale"]
