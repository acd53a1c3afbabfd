"""Tests of how far prices with odd sets may rise on large tables."""

import numpy as np

from incrowd.privacy.k_anonymity import KAnonymity
from incrowd.problem.instance import from_codes
from incrowd.problem.problem import Problem
from incrowd.run.stop import Stop
from incrowd.solvers.base import Context
from incrowd.solvers.engine.engine import Engine, Run


def rooms(columns: int, k: int) -> list[float]:
    """The rooms that are tried for a table of so many columns."""
    codes = np.random.default_rng(1).integers(0, 3, (40, columns))
    problem = Problem(from_codes(codes)[0], KAnonymity(k))
    return Run(Engine(), problem, Context(seed=1, stop=Stop())).lifting.rooms()


def test_only_tables_of_many_columns_try_farther_rooms_first() -> None:
    """Tests that nine columns keep their rooms, and that more have these after wider ones."""
    few, many = rooms(9, 5), rooms(20, 5)
    assert few[0] == 0.9 and rooms(9, 10)[0] == 0.45
    assert many == sorted(many, reverse=True)
    assert many[0] == 4 * few[0] and set(few) < set(many)
