"""The front door: table → instance → solve → release; wiring only."""

import inspect
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from incrowd.constraints.plan import is_constrained, plan_of
from incrowd.driver.solve import Solved, require_lawful_table, solve
from incrowd.encoding.encoded import Coded, coded, edit_for, shuffled
from incrowd.errors import InputError
from incrowd.policy import Policy
from incrowd.policy.models import asks_of_sensitive
from incrowd.privacy.model import Model
from incrowd.release import Release
from incrowd.run.events import (
    ENCODING,
    RECHECK,
    Event,
    Listener,
    in_user_units,
    listening,
    noting,
    silent,
    telling_of_compiling,
)
from incrowd.run.stop import Stop, interruptible
from incrowd.solvers.base import Context, Solver
from incrowd.tables.base import Source
from incrowd.tables.files import open_table
from incrowd.veil.release import veiled

if TYPE_CHECKING:
    from incrowd.hierarchy.ladder import Source as Hierarchy
    from incrowd.policy.cap import Cap
    from incrowd.policy.model_spec import ModelSpec


def anonymize(
    data: Any,
    k: int = 5,
    *,
    qi: str | Sequence[str] | None = None,
    sensitive: str | Sequence[str] = (),
    id: str | Sequence[str] = (),
    keep: str | Sequence[str] = (),
    person: str | Sequence[str] = (),
    l: Any = None,  # noqa: E741 (the field's own letter)
    l_kind: str = "distinct",
    c: Any = None,
    t: Any = None,
    distance: str = "equal",
    models: "Model | ModelSpec | str | Sequence[Model | ModelSpec | Mapping[str, Any] | str]" = (),
    hierarchies: "Mapping[str, str | Path | Hierarchy] | None" = None,
    weights: Mapping[str, Any] | None = None,
    fixed: str | Sequence[str] = (),
    linked: Sequence[Sequence[str]] = (),
    caps: "Mapping[str, Any] | Sequence[Cap | Mapping[str, Any]]" = (),
    cost: Any = "level",
    method: str | Solver = "auto",
    reductions: str | None = None,
    time_limit: float | None = None,
    gap: float | None = None,
    seed: int | None = None,
    threads: int = 1,
    suppress_rows: int = 0,
    order: str = "keep",
    star: str = "*",
    veil: Any = None,
    policy: Policy | str | Path | None = None,
    existing: Any = None,
    progress: Listener | None = None,
    stop: Stop | None = None,
) -> Release:
    """Return a release of ``data`` in which every row hides among at least ``k``.

    Parameters
    ----------
    data: a data frame (pandas, polars eager or lazy, pyarrow, duckdb, …), the path of a CSV,
        Parquet or Arrow file, or what ``open_table`` returned.
    k: least number of rows that agree on all quasi-identifiers.
    qi, sensitive, id, keep: columns by role: changed where needed, published unchanged (twice),
        left out.  Without ``qi`` every column not named otherwise is a quasi-identifier.
    person: columns that together name a person, who may have several rows; they are left out, and
        every class holds rows of at least k people.
    l, l_kind, c: l-diversity of each sensitive column: ``"distinct"``, ``"frequency"``,
        ``"entropy"``, ``"recursive"`` (with c) or ``"disjoint"``.
    t, distance: t-closeness of each sensitive column; its values are ``"equal"``ly far apart,
        ``"ordered"``, in a ``"hierarchy"``, or as a file says.
    models: further privacy models on the sensitive columns, such as
        ``"l=3,kind=entropy,on=disease"``; see ``Policy.models``.
    hierarchies: column → ``"interval:5,10"``, ``"prefix:1"``, ``"date"``, a file, or a source.
    weights: column → factor on what a change of its cells costs.
    fixed: quasi-identifiers that are never changed; linked: lists of those suppressed together.
    caps: column → largest share of its cells that may change; see ``Policy.caps``.
    cost: ``"level"``, ``"ncp"``, ``"stars"``, or a cost; for all columns or by column.
    method: ``"auto"`` or a solver's id (``incrowd methods``).
    reductions: what the exact methods do first: ``"paper"``, ``"all"`` or ``"none"``.
    time_limit: wall seconds; gap: end at this ``(cost − bound) / cost``.
    seed: of all randomness. Where it is not given the search takes 0, and shuffled rows an order
        that nobody can make again; given, the order follows from it and the original cells, and
        ``release.warnings`` says what that discloses.
    threads: at most so many, without influence on the result.
    suppress_rows: where the table itself breaks the model, leave out the fewest rows that make it
        lawful, at most so many; each counts as wholly suppressed, and the bound speaks of the rows
        that are kept.
    order: ``"keep"`` the rows' order or ``"shuffle"`` it.
    star: what is written for a suppressed cell.
    veil: hide each cell by a coin of this probability before anything looks at the table (0.05, or
        column → probability), and use a method for which that bounds what the choice of cells
        tells: by a factor of 1/0.05; see docs/explanation/veil.md.
    policy: all of the above at once, as a value or a policy file; then nothing else is given.
    existing: an earlier release (frame or path) that ``data`` adds rows to; its rows stay as they
        are, and ``release.data`` has them first.  See ``incrowd.existing.of_table``.
    progress: called with each ``incrowd.run.events.Event``; its costs are in the user's units.
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
    given = {name: value for name, value in locals().items() if name not in NO_POLICY}
    asked = _policy(policy, given)
    stop = (stop or Stop()).begin(asked.time_limit, asked.gap)
    if existing is not None:
        if asked.suppress_rows:
            raise InputError("suppress_rows is not served with existing")
        from incrowd.existing.of_table import extended

        earlier = open_table(existing)
        return extended(open_table(data), earlier, asked, listening(progress), stop)
    return release_of(open_table(data), asked, listening(progress), stop)


NO_POLICY = ("data", "policy", "existing", "progress", "stop")


def _policy(policy: Policy | str | Path | None, given: dict[str, Any]) -> Policy:
    """Return the policy asked for by itself, or by its parts."""
    if policy is None:
        given["hierarchies"] = given["hierarchies"] or {}
        given["weights"] = given["weights"] or {}
        return Policy(**given)
    defaults = {n: p.default for n, p in inspect.signature(anonymize).parameters.items()}
    beside = [name for name, value in given.items() if value != defaults[name]]
    if beside:
        raise InputError(
            f"policy says all; {', '.join(beside)} cannot be given beside it: change the policy, "
            f"dataclasses.replace(policy, {beside[0]}=…)"
        )
    return policy if isinstance(policy, Policy) else Policy.read(policy)


def release_of(
    source: Source, policy: Policy, listener: Listener = silent, stop: Stop | None = None
) -> Release:
    """Anonymize a table under a policy; see ``anonymize``."""
    stop = stop or Stop(policy.time_limit, policy.gap)
    with telling_of_compiling(listener) as tell:
        return _release_of(source, policy, tell, stop)


def _release_of(source: Source, policy: Policy, tell: Listener, stop: Stop) -> Release:
    tell(Event(ENCODING))
    table = coded(source, policy)
    rows = units = 0
    if policy.suppress_rows and source.rows:  # a table without rows breaks nothing
        from incrowd.encoding.fewest import fewer

        left = fewer(source, table, policy)
        source, table, rows, units = left.source, left.table, left.rows, left.units
    if source.rows and asks_of_sensitive(policy):  # before it is taken apart
        require_lawful_table(table.problem)
    further: dict[str, int] = {}
    scale = table.instance.scale
    listener = noting(further, in_user_units(tell, scale))
    context = Context(policy.search_seed, stop, listener, policy.threads)
    veil = None
    with interruptible(stop):
        if policy.veil is None or not source.rows:
            solved = searched(source, table, policy, context)
        else:
            solved, veil = veiled(table, policy, context)
    cost, bound = solved.cost + units, solved.bound + units
    in_user_units(tell, scale)(Event(RECHECK, cost=cost, bound=bound))
    published = table.roles.published(source.columns)
    # the order that a seed gives comes from all cells, those that a veil hides too
    order = shuffled(table, policy.order, policy.seed if veil is None else None)
    release = Release(
        source=source,
        edit=edit_for(table, solved.solution, published, order),
        policy=policy,
        model=table.model,
        roles=table.roles,
        trees=table.instance.trees,
        scale=scale,
        cost_units=cost,
        bound_units=bound,
        worst_units=table.instance.worst_cost + units,
        status=solved.status,
        method=solved.method,
        ended=solved.ended,
        seconds=stop.elapsed(),
        solved=solved,
        further_units=further,
        suppressed_rows=rows,
        suppressed_units=units,
        veil=veil,
    )
    _ = release.class_of_row  # the independent re-check: raises unless all is as claimed
    return release


def searched(source: Source, table: Coded, policy: Policy, context: Context) -> Solved:
    """Search for a release, under the policy's constraints if it has any."""
    method = configured(policy.method, policy.reductions)
    if not is_constrained(policy):
        return solve(table.problem, method, context)
    from incrowd.constraints.capped import solve_capped

    return solve_capped(table, plan_of(source, table, policy), method, context)


def configured(method: str | Solver, reductions: str | None) -> str | Solver:
    """Return the method with its reductions set; as it is when none are asked for."""
    if reductions is None:
        return method
    from incrowd.solvers.catalog import with_reductions

    return with_reductions(method, reductions)
