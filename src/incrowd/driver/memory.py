"""When memory runs out in a search: once more, with less of it."""

import gc
from collections.abc import Callable, Iterator
from dataclasses import fields, replace
from typing import Any

from incrowd.errors import StoppedError
from incrowd.problem.problem import Problem
from incrowd.solvers.base import Context, Outcome, Solver
from incrowd.solvers.catalog import by_id

SHARES = (1 / 8, 1 / 64)  # of the pairs and visits that a solver may keep, one try after the other
LEAST = {"pairs": 30_000, "visits": 1}

Run = Callable[[Problem, Solver, Context], tuple[Outcome, Solver]]


def within_memory(
    run: Run, problem: Problem, solver: Solver, context: Context, auto: bool
) -> tuple[Outcome, Solver]:
    """Run a solver; where it runs out of memory, run it with smaller tables.

    Enumerations are cut to 1/8 and 1/64; the last try makes do with sorted windows, which need
    little more than the table (``incrowd.solvers.engine.windows``).  ``auto`` may also change to
    the engine.

    Raises
    ------
    StoppedError: not even that fits; says what to do.
    """
    try:
        return run(problem, solver, context)
    except MemoryError:
        pass
    for smaller in with_less(problem, solver, auto):
        gc.collect()
        context.tell("memory ran out; once more with less")
        try:
            return run(problem, smaller, context)
        except MemoryError:
            continue
    gc.collect()
    raise StoppedError(
        f"memory ran out, and method {solver.id!r} has no way to need less; nothing was written: "
        "end other programs, take a machine with more memory, or split the work with "
        "--engine spark and a smaller --block-rows"
    )


def with_less(problem: Problem, solver: Solver, auto: bool) -> Iterator[Solver]:
    """Yield versions of a solver that keep less and less."""
    candidates = [solver]
    engine = by_id("engine")
    if auto and solver.id != engine.id and engine.refuse(problem) is None:
        candidates.append(engine)
    for candidate in candidates:
        names = sized(candidate)
        if not names:
            if candidate is not solver:
                yield candidate
            continue
        configurable: Any = candidate
        for share in SHARES:
            size = {n: max(LEAST[n], int(getattr(candidate, n) * share)) for n in names}
            yield replace(configurable, **size)
        yield replace(configurable, **{name: LEAST[name] for name in names})


def sized(solver: Solver) -> list[str]:
    """Names of the sizes that a solver can be given."""
    return [each.name for each in fields(solver) if each.name in LEAST]  # type: ignore[arg-type]
