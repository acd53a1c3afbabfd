"""Tests of joins of near rows, which the search among lawful classes has where tables are wide."""

from itertools import pairwise

import numpy as np
import polars as pl

import incrowd as ic
from incrowd.problem.solution import Solution
from incrowd.run.stop import Stop
from incrowd.solvers.engine.near import NEAR, near_emission, near_rows
from solvers.ranged_tables import ranged_tables
from solvers.small_tables import Shape, tables


def test_patterns_are_joins_of_their_rows() -> None:
    """Tests costs against those of the rows that each pattern lists, and how many it lists."""
    shape, met = Shape(rows=(20, 40), trees=True), 0
    for instance, _ in [*tables(5, 4, shape), *ranged_tables(3, 4, (20, 40))]:
        found = near_emission(instance, 3, near_rows(instance, 0, Stop()))
        met += len(found.cost)
        assert {*np.diff(found.offset).tolist()} <= {3, 4, 6, 9} and NEAR >= 8
        for p, cost in enumerate(found.cost.tolist()):
            rows = found.rows[found.offset[p] : found.offset[p + 1]]
            assert len(np.unique(rows)) == len(rows)
            inside = np.isin(instance.copies, rows).astype(np.int64)
            assert cost in Solution.of(instance, inside).class_costs
        sets = [found.rows[a:b].tobytes() for a, b in pairwise(found.offset.tolist())]
        assert len(set(sets)) == len(sets)
    assert met > 100


def test_few_pairs_are_those_of_small_joins() -> None:
    """Tests a cap: whole sizes, the smallest first; of the smallest alone as many as fit."""
    instance, _ = next(iter(tables(7, 1, Shape(rows=(60, 61), columns=(5, 6), values=(9, 10)))))
    near = near_rows(instance, 0, Stop())
    sizes = np.diff(near_emission(instance, 3, near).offset)
    assert {*sizes.tolist()} == {3, 4, 6, 9}
    pairs = np.cumsum([sizes[sizes == size].sum() for size in (3, 4, 6, 9)]).tolist()
    for cap, listed in [(50, 16), *((most + 5, (sizes.cumsum() <= most).sum()) for most in pairs)]:
        found = np.diff(near_emission(instance, 3, near, cap).offset)
        assert found.tolist() == sizes[:listed].tolist()


def test_households_among_ranges() -> None:
    """Tests people of households in a wide table: patterns of windows alone lost to Mondrian."""
    rng = np.random.default_rng(0)
    home = rng.integers(0, 120, 240)
    frame = pl.DataFrame({f"x{j}": rng.normal(size=240).round(3) for j in range(5)})
    asked = {"k": 3, "hierarchies": dict.fromkeys(frame.columns, "range")}
    release = ic.anonymize(frame.with_columns(home=home), person="home", **asked)
    rows = ic.anonymize(frame, method="mondrian", **asked)
    assert release.method == "engine" and release.cost < 0.9 * rows.cost
