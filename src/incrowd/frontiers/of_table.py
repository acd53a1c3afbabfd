"""The front door of a sweep: table → instance → sweep → frontier; wiring only.

A sweep under fixed, linked and capped columns: one search for each k, from the largest down.

The constraints do not speak of k, so what holds without them holds here: a release for k + 1 is one
for k, and a bound for k bounds every release for k + 1.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Unpack

from incrowd._api import Start, begun, searched
from incrowd.constraints.plan import is_constrained
from incrowd.driver.solve import choose
from incrowd.encoding.encoded import Coded
from incrowd.errors import InputError, NoLawfulReleaseError, StoppedError
from incrowd.frontiers.points import Frontier, Point
from incrowd.frontiers.sweep import Found, Sweep, require_some, why_none
from incrowd.policy.arguments import Arguments, policy_of
from incrowd.policy.base import Policy
from incrowd.policy.options import taking
from incrowd.policy.served import require_served
from incrowd.policy.table import OPTIONS
from incrowd.privacy.numbers import whole
from incrowd.reduce.leaf_costs import served_apart
from incrowd.run.events import Event, Listener, listening, silent
from incrowd.run.stop import Share, Stop, interruptible, watched
from incrowd.run.telling import telling
from incrowd.solvers.base import Context
from incrowd.tables.base import Source
from incrowd.tables.files import alike, open_table


@taking(OPTIONS[1:])
def frontier(
    data: Any,
    ks: int | Iterable[int] = range(2, 21),
    *,
    policy: Policy | str | Path | None = None,
    progress: Listener | None = None,
    stop: Stop | None = None,
    **asked: Unpack[Arguments],
) -> Frontier:
    """Return what k costs: for each k the cost of a release, and a bound on all of them.

    Parameters
    ----------
    data: as for ``anonymize``.
    ks: the values of k.
    asked: the other arguments of ``anonymize``: ``qi``, ``sensitive``, ``hierarchies``, ``cost``,
        ``l``, ``t``, …; ``time_limit`` is for the whole sweep, ``gap`` for each k.
    policy: all that is asked at once, as a value or a policy file; its own k does not count.
    progress: called with each ``incrowd.run.events.Event``; one whose ``point`` is set tells a
        point as it is found: its cost is final, its bound may still rise.
    stop: a fresh ``incrowd.Stop``, by which another thread ends the sweep.

    Returns
    -------
    the frontier; ``.frame()`` has a row for each k, ``.plot()`` draws it.  A k without a release
    has no point, but stands in ``.impossible``.  Neither cost nor bound
    falls as k rises.  Each cost is that of a release that was re-checked; a single ``anonymize``
    may search longer and find a better one.  Ctrl-C ends the sweep with what is known until then.

    Raises
    ------
    InputError: something given is wrong.
    NoLawfulReleaseError: no release can obey the model at any k.
    """
    if "k" in asked:
        raise InputError("frontier: k is given by ks, its second argument; leave k out")
    policy = policy_of("frontier", policy, asked)
    stop = Stop.given(stop).begin(*policy.limits)
    return frontier_of(open_table(data), ks, policy, listening(progress), stop)


def frontier_of(
    source: Source,
    ks: int | Iterable[int],
    policy: Policy,
    listener: Listener = silent,
    stop: Stop | None = None,
) -> Frontier:
    """Sweep over k under a policy, whose own k does not count; see ``frontier``."""
    stop = stop or Stop(*policy.limits)
    if isinstance(ks, str):
        raise InputError(f"ks is whole numbers, such as range(2, 11), not the text {ks!r}")
    wanted = sorted({whole(k, "k") for k in (ks if isinstance(ks, Iterable) else (ks,))})
    if not wanted:
        raise InputError("a frontier needs at least one k")
    require_served(policy, "by frontier")
    with telling(listener) as tell, interruptible(stop), watched(stop):
        start = begun(source, replace(policy, k=wanted[0]), tell, stop)
        found, impossible = swept(wanted, start)
    table, problem = start.table, start.table.problem
    return Frontier(
        points=tuple(point(k, at, table) for k, at in found.items()),
        models=problem.model.names(table.roles.attributes),
        rows=source.rows,
        columns=len(table.roles.qi),
        seconds=stop.elapsed(),
        ended=stop.why() if stop.now() else "finished",
        make_frame=partial(alike, source),
        impossible=dict(sorted(impossible.items())),
    )


def swept(ks: list[int], start: Start) -> tuple[dict[int, Found], dict[int, str]]:
    """Run the sweep that the policy needs; return what is found, and why other k have nothing."""
    table, context = start.table, start.context

    def reached(k: int, at: Found) -> None:
        share = 0.5 + 0.5 * (len(ks) - ks.index(k)) / len(ks)
        context.listener(Event(f"k = {k}: found", share=share, point=point(k, at, table)))

    if is_constrained(start.policy):
        return constrained(ks, start, reached)
    problem, apart = served_apart(table.problem)
    sweep = Sweep(problem, problem.model.with_k, start.method, context, reached)
    found = sweep.run(ks)
    if apart is not None:
        for k, at in found.items():
            if at.solution is not None:
                found[k] = replace(at, solution=apart.lift(at.solution))
    return found, sweep.impossible


def point(k: int, at: Found, table: Coded) -> Point:
    """Return what was found at one k as figures."""
    solution, instance = at.solution, table.instance
    assert solution is not None
    return Point(
        k=k,
        cost_units=solution.cost if instance.rows else 0,
        bound_units=at.bound,
        worst_units=instance.worst_cost,
        scale=instance.scale,
        method=at.solver.id,
        classes=len(solution.sizes) if instance.rows else 0,
        smallest_class=int(solution.sizes.min()) if len(solution.sizes) else 0,
    )


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
