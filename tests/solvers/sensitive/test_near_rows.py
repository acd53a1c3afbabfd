"""Tests of joins of near rows, which the search among lawful classes has where tables are wide."""

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
    assert met > 100


def test_households_among_ranges() -> None:
    """Tests people of households in a wide table: patterns of windows alone lost to Mondrian."""
    rng = np.random.default_rng(0)
    home = rng.integers(0, 120, 240)
    frame = pl.DataFrame({f"x{j}": rng.normal(size=240).round(3) for j in range(5)})
    asked = {"k": 3, "hierarchies": dict.fromkeys(frame.columns, "range")}
    release = ic.anonymize(frame.with_columns(home=home), person="home", **asked)
    rows = ic.anonymize(frame, method="mondrian", **asked)
    assert release.method == "engine" and release.cost < 0.9 * rows.cost
