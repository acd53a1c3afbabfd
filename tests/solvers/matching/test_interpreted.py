"""Tests of small tables, whose kernels are interpreted: they are to make what compiled ones do."""

import math
import os
import subprocess
import sys
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.solvers.ranged_tables import ranged_tables
from tests.solvers.small_tables import Shape, tables

from incrowd.kernels import interpreted as few_rows
from incrowd.kernels.interpreted import interpreted, of_few
from incrowd.kernels.jit import inner_kernel, kernel
from incrowd.privacy.frequency_diversity import FrequencyDiversity
from incrowd.privacy.k_anonymity import KAnonymity
from incrowd.problem.problem import Problem
from incrowd.solvers.base import Context, Outcome
from incrowd.solvers.matching import solver

NONE, ALL = -1, 10**9
MOST = (2, 40)
SHAPE = Shape(rows=MOST, trees=True, sensitive=(3,))
WIDE = Shape(rows=(30, 34), columns=(10, 14), values=(2, 4))


@pytest.fixture(autouse=True)
def begun(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that has interpreted nothing so far, and goes on with it."""
    monkeypatch.setattr(few_rows, "ENOUGH", math.inf)


def outcome(few: int, monkeypatch: pytest.MonkeyPatch, method: Any, problem: Problem) -> Outcome:
    """What the method makes of a table, if so many pairs and columns are few."""
    monkeypatch.setattr(solver, "FEW", few)
    return method.run(problem, Context(seed=3))


def facts(found: Outcome) -> list[Any]:
    """All that an outcome holds, as plain values."""
    assert found.solution is not None
    prices = [] if found.prices is None else list(vars(found.prices).values())
    arrays = [found.solution.classes, *(part for part in prices if isinstance(part, np.ndarray))]
    told = [(part.dtype, part.tobytes()) for part in arrays]
    return [*told, found.bound, found.ended, [x for x in prices if isinstance(x, int)]]


def test_interpreted_kernels_make_the_same_release(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests 12 tables of stars, hierarchies and ranges, and models of one and two values."""
    few, some = replace(SHAPE, rows=(2, 20)), chain(tables(5, 1, SHAPE), ranged_tables(6, 1, MOST))
    every = chain(tables(9, 5, few), ranged_tables(10, 4, few.rows), some, tables(7, 1, WIDE))
    for number, (instance, _) in enumerate(every):
        cases: list[tuple[Any, Any]] = [(solver.SimplexMatching(), KAnonymity(2))]
        if instance.sensitive is not None:
            cases.append((solver.TwoDiversity(), FrequencyDiversity(2)))
        for method, model in cases:
            problem = Problem(instance, model)
            if not model.lawful(problem.table, problem.table) or method.refuse(problem):
                continue
            found = [outcome(few, monkeypatch, method, problem) for few in (NONE, ALL)]
            assert facts(found[0]) == facts(found[1]), f"{method.id}, table {number}"


def test_small_tables_compile_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that all kernels of a table that is small are interpreted, and none of a larger one."""
    seen = []
    monkeypatch.setattr(solver, "of_few", lambda few, work: seen.append(few) or work())
    for rows, few in ((30, True), (400, False)):
        shape = Shape(rows=(rows, rows + 1), columns=(6, 7), values=(4, 5))
        instance, _ = next(tables(8, 1, shape))
        solver.SimplexMatching().run(Problem(instance, KAnonymity(2)), Context())
        assert seen.pop() == few


FIRST_RUN = """
import sys
from itertools import product
import polars as pl
from numba.core.event import Listener, register
import incrowd as ic

class Counting(Listener):
    def on_start(self, event):
        sys.exit(f"compiled {event.data['dispatcher'].py_func.__name__}")
    def on_end(self, event):
        pass

register("numba:compile", Counting())
pairs = enumerate(product("abcde", "pqrst"))
rows = pl.DataFrame([dict(a=a, b=b, c=str(i % 7), s="xyz"[i % 3]) for i, (a, b) in pairs])
rows.write_csv("in.csv")
for model in ({"k": 2}, {"k": 4}, {"k": 3, "l": 2, "sensitive": "s"}):
    made = ic.anonymize("in.csv", seed=1, **model)
    assert made.cost == made.lower_bound, model
    made.write("out.csv")
"""


def test_the_first_run_of_a_tiny_table_compiles_nothing(tmp_path: Path) -> None:
    """Tests k = 2, larger k and l-diversity, file to file, where there are no kernels yet."""
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}
    code = [sys.executable, "-c", FIRST_RUN]
    subprocess.run(code, env=environment, cwd=tmp_path, check=True)


@inner_kernel
def squared(x: Any) -> Any:
    return x * x


def of_powers(numbers: Any) -> Any:
    return squared(numbers[0]), squared(squared(numbers[0]))


powers = kernel(of_powers)


def versions(made: Any) -> list[Any]:
    """The versions of a kernel that are compiled."""
    return made.signatures


def test_numbers_are_as_plain_as_those_of_compiled_kernels() -> None:
    """Tests what comes back, of a kernel that calls another one, and that no version is made."""
    here = kernel(of_powers)
    with interpreted():
        found = here(np.array([3]))
    assert found == (9, 81)
    assert [type(x) for x in found] == [int, int] == [type(x) for x in powers(np.array([3]))]
    assert not versions(here)


def test_what_leaves_its_bits_is_compiled() -> None:
    """Tests a product beyond 64 bits: compiled kernels go on with the rest, and so does this."""
    numbers = np.array([3_000_000_001])
    assert of_few(True, lambda: powers(numbers)) == powers(numbers)
    assert powers(numbers)[1] != 3_000_000_001**4
    with interpreted(), pytest.raises(FloatingPointError):
        powers(numbers)


def test_many_small_tables_in_a_row_are_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that interpreting ends when it has taken long enough, whatever it was that did."""
    here = kernel(of_powers)
    monkeypatch.setattr(few_rows, "SPENT", [0.0])
    monkeypatch.setattr(few_rows, "ENOUGH", 1e-9)
    first, second = (of_few(True, lambda: here(np.array([3]))) for _ in range(2))
    assert first == second
    assert few_rows.SPENT[0] > 0
    assert len(versions(here)) == 1


def test_kernels_are_compiled_again_afterwards() -> None:
    """Tests that an error inside leaves nothing behind."""
    here = kernel(of_powers)
    with pytest.raises(IndexError), interpreted():
        here(np.zeros(0, np.int64))
    here(np.array([3]))
    assert versions(here)
