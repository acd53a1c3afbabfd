"""``incrowd methods``: every solver, its guarantee, its scope, its source."""

from types import ModuleType
from typing import TYPE_CHECKING, Any

import click

from incrowd.cli import options
from incrowd.cli.output import print_json

if TYPE_CHECKING:
    from incrowd.averages.catalog import Averaging
    from incrowd.solvers.base import Scope, Solver


@click.command("methods")
@options.json_option
def methods(as_json: bool) -> None:
    """List every solver, its guarantee and its source; each is a value of --method."""
    from incrowd.averages.catalog import METHODS
    from incrowd.solvers import catalog

    if as_json:
        found = [
            record(solver, catalog) | {"deletes": catalog.deletes(solver)}
            for solver in catalog.SOLVERS
        ]
        averaging = [record(method, catalog) for method in METHODS]
        print_json({"methods": found, "averaging": averaging})
        return
    for solver in catalog.SOLVERS:
        also = "".join(f", also {alias}" for alias in catalog.aliases_of(solver))
        number = catalog.deletes(solver)
        gone = f"; deletes {number} (--delete-rows)" if number else ""
        click.echo(f"{solver.id}{also}\n    {in_words(solver)}{gone}\n    {solver.source}")
    click.echo("\nFor columns whose averages are published (--hierarchy COL=mean):")
    for method in METHODS:
        words = f"{guarantee_in_words(method.guarantee)}; {size_limit(method.scope) or 'any table'}"
        click.echo(f"{method.id}\n    {words}\n    {method.source}")


def record(solver: "Solver | Averaging", catalog: ModuleType) -> dict[str, Any]:
    """Return a solver of the catalog as plain data."""
    known: Any = solver
    return {
        "id": solver.id,
        "aliases": catalog.aliases_of(known),
        "guarantee": solver.guarantee,
        "models": list(solver.scope.models),
        "hierarchies": solver.scope.hierarchies,
        "rows": solver.scope.rows,
        "size_limit": size_limit(solver.scope),
        "worst_case_time": solver.scope.time,
        "reductions": catalog.has_reductions(known),
        "source": solver.source,
    }


def in_words(solver: "Solver") -> str:
    """Return guarantee and scope as people read them."""
    scope = solver.scope
    parts = [
        guarantee_in_words(solver.guarantee),
        ", ".join(scope.models),
        "hierarchies and suppression" if scope.hierarchies else "suppression only",
    ]
    limit = size_limit(scope)
    if limit is not None:
        parts.append(f"up to {limit}" if limit[0].isdigit() else limit)
    if scope.time:
        parts.append(scope.time)
    return "; ".join(parts)


def size_limit(scope: "Scope") -> str | None:
    """Return the largest table that a solver takes, in words; None when it takes any."""
    if scope.size:
        return scope.size
    return None if scope.rows is None else f"{scope.rows:,} distinct rows"


def guarantee_in_words(guarantee: str) -> str:
    """Return what a solver promises; ``"none"`` may be followed by a remark."""
    if guarantee == "exact":
        return "finds the optimum"
    word, _, remark = guarantee.partition("; ")
    if word == "none":
        return f"no guarantee, but {remark}" if remark else "no guarantee"
    return f"at most {guarantee} times the optimum"
