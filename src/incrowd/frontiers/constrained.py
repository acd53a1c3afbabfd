"""A sweep under fixed, linked and capped columns: one search for each k, from the largest down.

The constraints do not speak of k, so what holds without them holds here: a release for k + 1 is one
for k, and a bound for k bounds every release for k + 1.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from incrowd._api import Start, searched
from incrowd.driver.solve import choose
from incrowd.errors import NoLawfulReleaseError, StoppedError
from incrowd.frontiers.sweep import Found, require_some, why_none
from incrowd.run.events import Event
from incrowd.run.stop import Share
from incrowd.solvers.base import Context


def constrained(
    ks: Sequence[int], start: Start, reached: Callable[[int, Found], Any]
) -> tuple[dict[int, Found], dict[int, str]]:
    """Return what is found at each k that has a release, ascending, and why others have none.

    Raises
    ------
    NoLawfulReleaseError: no k has one; the reason is that of the smallest.
    StoppedError: the sweep ended before a release within the constraints was found at some k.
    """
    table, context = start.table, start.context
    found: dict[int, Found] = {}
    tables = {k: replace(table, model=table.model.with_k(k)) for k in ks}
    whys = {k: why_none(tables[k].problem) if table.instance.rows else None for k in ks}
    impossible = {k: why for k, why in whys.items() if why is not None}
    left = [k for k in ks if k not in impossible]
    before: Found | None = None
    for done, k in enumerate(sorted(left, reverse=True)):
        at = Found(tables[k].problem, choose(tables[k].problem, start.method))
        context.listener(Event(f"k = {k}: release", share=done / len(left)))
        if before is None or not context.stop.now():
            part = part_of(context, len(left) - done)
            if (
                why := search(replace(start, table=tables[k], context=part), at, before)
            ) is not None:
                impossible[k] = why
                continue
        if before is not None and cheaper(before, at):
            at.solution, at.solver = before.solution, before.solver
        before = found[k] = at
        reached(k, at)
    require_some(found, impossible)
    bound = 0
    for k in sorted(found):
        bound = found[k].bound = max(bound, found[k].bound)
    return {k: found[k] for k in sorted(found)}, impossible


def part_of(context: Context, left: int) -> Context:
    """Return the context of one search, where so many are left."""
    stop = Share.of(context.stop, context.stop.left() / left)
    return replace(context, stop=stop, listener=lambda event: None)


def search(start: Start, at: Found, before: Found | None) -> str | None:
    """Search at one k; return why it has no release, if so.

    What a larger k has left serves where the search ends early.
    """
    try:
        solved = searched(start)
    except NoLawfulReleaseError as error:
        if before is not None:  # that of the larger k is lawful
            raise
        return str(error)
    except StoppedError:
        if before is None:
            raise
        return None
    at.solution, at.bound = solved.solution, solved.bound
    return None


def cheaper(before: Found, at: Found) -> bool:
    """Whether the release of the next larger k is the cheaper one."""
    assert before.solution is not None
    return at.solution is None or before.solution.cost < at.solution.cost
