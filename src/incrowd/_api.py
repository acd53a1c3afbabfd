"""The front door: table → instance → solve → release; wiring only."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Unpack

from incrowd.averages.of_table import encoded as encoded_averages
from incrowd.averages.of_table import released as released_averages
from incrowd.averages.of_table import require_averaging, rules_of
from incrowd.combinations.solving import released as released_protecting
from incrowd.constraints.capped import solve_capped
from incrowd.constraints.plan import is_constrained, plan_of
from incrowd.deletion.of_table import released as released_deleting
from incrowd.driver.solve import Solved, require_lawful_table, solve
from incrowd.encoding.encoded import Coded, coded, edit_for, kept_of, shuffled
from incrowd.encoding.pseudonyms import with_pseudonyms
from incrowd.encoding.suppressed_rows import without_rows
from incrowd.errors import InputError
from incrowd.existing.of_table import ends_beyond, extended
from incrowd.hierarchy.averages import Averages
from incrowd.persons.alike import solve_alike
from incrowd.persons.records import solve_records
from incrowd.policy.arguments import Arguments, policy_of
from incrowd.policy.base import Policy
from incrowd.policy.derive import derived
from incrowd.policy.options import documented, taking
from incrowd.policy.served import require_served
from incrowd.policy.table import OPTION, OPTIONS
from incrowd.release import Release
from incrowd.report.sample import require_survey
from incrowd.run.events import (
    ENCODING,
    RECHECK,
    Event,
    Listener,
    in_user_units,
    listening,
    noting,
    silent,
)
from incrowd.run.stop import Stop, interruptible, watched
from incrowd.run.telling import telling
from incrowd.solvers.base import Context, Solver
from incrowd.solvers.catalog import with_reductions
from incrowd.tables.base import Source
from incrowd.tables.files import is_release, open_table
from incrowd.tables.key_file import key_in
from incrowd.veil.release import veiled

UNSAID_K: int = OPTION["k"].default


@dataclass(frozen=True, eq=False)
class Start:
    """A table, encoded once, and all that its search is told.

    Attributes
    ----------
    policy: what is asked.
    method: ``"auto"``, a method's id, or a solver, its reductions set.
    context: seed and stop of the search; its events reach the user in his units.
    rules: of the columns whose averages are published.
    """

    table: Coded
    policy: Policy
    method: str | Solver
    context: Context
    rules: Mapping[str, Averages] = field(default_factory=dict)


@taking(OPTIONS)
@documented(OPTIONS)
def anonymize(
    data: Any,
    k: int = UNSAID_K,
    *,
    policy: Policy | str | Path | None = None,
    existing: Any = None,
    progress: Listener | None = None,
    stop: Stop | None = None,
    **asked: Unpack[Arguments],
) -> Release:
    """Return a release of ``data`` in which every row hides among at least ``k``.

    Parameters
    ----------
    data: a data frame (pandas, polars eager or lazy, pyarrow, duckdb, …), the path of a CSV,
        Parquet or Arrow file, or what ``open_table`` returned.
    {options}
    policy: all of the above at once, as a value or a policy file; what is given beside it goes
        before it, by column where an option goes by column.
    existing: an earlier release (as returned, frame or path) that ``data`` adds rows to; its rows
        stay as they are, and ``release.data`` has them first.  See ``incrowd.existing.of_table``.
    progress: called with each ``incrowd.run.events.Event``; its costs are in the user's units.
        After 1.5 s without one it is told the stage again, from another thread, never two at once.
    stop: a fresh ``incrowd.Stop``, by which another thread ends the run; the release is then the
        best so far.

    Returns
    -------
    the release; ``release.data`` is a frame of the type that was given.  Ctrl-C during the search
    ends it and returns the best release so far; a second one raises KeyboardInterrupt.

    Raises
    ------
    InputError: something given is wrong; says what was found and what is allowed.
    NoLawfulReleaseError: no release can obey the model, e.g. k is larger than the table.
    StoppedError: the search ended before any lawful release was found.
    """
    wanted = policy_of("anonymize", policy, {"k": k, **asked})
    existing = existing.data if is_release(existing) else existing
    earlier = None if existing is None else open_table(existing)
    stop = Stop.given(stop).begin(*wanted.limits)
    return release_of(open_table(data), wanted, listening(progress), stop, earlier)


def release_of(
    source: Source,
    policy: Policy,
    listener: Listener = silent,
    stop: Stop | None = None,
    existing: Source | None = None,
) -> Release:
    """Anonymize a table under a policy; see ``anonymize``."""
    with telling(listener) as tell:
        if existing is None and policy.hold_back:
            raise InputError(
                "hold_back goes with an earlier release (existing), which is not given"
            )
        if existing is None:
            return _release_of(begun(source, policy, tell, stop, averages=True), tell)
        require_served(policy, "with existing")
        start = begun(source, policy, tell, stop, existing)
        return extended(start.table, existing, policy, start.context)


def _release_of(start: Start, tell: Listener) -> Release:
    policy, table, rows, units = start.policy, start.table, 0, 0
    published = table.roles.published(table.source.columns)
    if policy.suppress_rows and table.source.rows:  # a table without rows breaks nothing
        left = without_rows(table, policy)
        table, rows, units = left.table, left.rows, left.units
    asked = table.attributes and policy.delete_rows is None  # fewer rows may obey what all break
    if table.source.rows and asked:  # before it is taken apart
        require_lawful_table(table.problem)
    keys = {name: key_in(file) for name, file in policy.pseudonym.items()}
    further: dict[str, int] = {}
    context = replace(start.context, listener=noting(further, start.context.listener))
    with interruptible(context.stop), watched(context.stop):
        table, solved, known = _found(replace(start, table=table, context=context))
    deleted, averaged = known.get("deleted"), known.get("averaged")
    units = units if deleted is None else deleted.units
    cost, bound = solved.cost + units, solved.bound + units
    in_user_units(tell, table.instance.scale)(Event(RECHECK, cost=cost, bound=bound))
    # the order that a seed gives comes from all cells, those that a veil hides too
    order = shuffled(table, policy.order, policy.seed if "veil" not in known else None)
    if averaged is None:
        edit = edit_for(table, solved.solution, published, order)
    else:
        edit = averaged.edit(published, order, kept_of(table.roles))
    release = Release(
        coded=table,
        edit=with_pseudonyms(edit, table.source, keys),
        policy=policy,
        cost_units=cost,
        bound_units=bound,
        method=solved.method,
        ended=solved.ended,
        seconds=context.stop.elapsed(),
        solved=solved,
        further_units=further,
        suppressed_rows=rows,
        suppressed_units=units,
        **known,
    )
    _ = release.class_of_row  # the independent re-check: raises unless all is as claimed
    return release


def _found(start: Start) -> tuple[Coded, Solved, dict[str, Any]]:
    """Search as the policy asks; return the table, its classes, and what else is known of them."""
    table, policy, method, context = start.table, start.policy, start.method, start.context
    if start.rules:
        solved, averaged = released_averages(table, policy, start.rules, context)
        return table, solved, {"averaged": averaged}
    if policy.protect:
        solved, protected = released_protecting(table, policy, context)
        return table, solved, {"protected": protected}
    if not table.source.rows:
        return table, searched(start), {}
    if policy.delete_rows is not None:
        table, solved, deleted = released_deleting(table, policy.delete_rows, method, context)
        return table, solved, {"deleted": deleted}
    if policy.constant_alike:
        table, solved = solve_alike(table, policy.k, method, context)
        return table, solved, {}
    if policy.veil is not None:
        solved, veil = veiled(table, policy, context)
        return table, solved, {"veil": veil}
    return table, searched(start), {}


def begun(
    source: Source,
    policy: Policy,
    listener: Listener = silent,
    stop: Stop | None = None,
    existing: Source | None = None,
    *,
    averages: bool = False,
) -> Start:
    """Begin a run, as all do that search a table: give roles, encode, and say with what to search.

    Ranges reach to the ends of those that an earlier release (``existing``) shows.

    Parameters
    ----------
    averages: whether columns may be averaged; else they are refused.

    Raises
    ------
    InputError: the policy does not fit the table, see ``incrowd.encoding.encoded.coded``.
    """
    stop = stop or Stop(*policy.limits)
    listener(Event(ENCODING))
    rules = rules_of(policy) if averages else {}
    require_averaging(policy, rules)
    source = derived(source, policy.derive, policy.na)
    require_survey(policy, source.columns, lambda name: source)
    beyond = None if existing is None else ends_beyond(source, existing, policy)
    table = encoded_averages(source, policy, rules) if rules else coded(source, policy, beyond)
    told = in_user_units(listener, table.instance.scale)
    method = policy.method if rules else with_reductions(policy.method, policy.reductions)
    return Start(table, policy, method, Context(policy.search_seed, stop, told), rules)


def searched(start: Start) -> Solved:
    """Search for a release, under the policy's constraints if it has any."""
    table, policy, method, context = start.table, start.policy, start.method, start.context
    if policy.links_rows:
        return solve_records(table, policy.k, method, context)
    if not is_constrained(policy):
        return solve(table.problem, method, context)
    table.instance.require_free_values()
    return solve_capped(table, plan_of(table, policy), method, context)
