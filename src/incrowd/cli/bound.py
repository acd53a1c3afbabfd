"""``incrowd bound``: what every lawful release costs at least, without searching for one."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from incrowd.cli import options
from incrowd.cli.output import print_json, say
from incrowd.cli.progress import progress
from incrowd.cli.sections import Sectioned
from incrowd.policy.served import require_served
from incrowd.policy.table import LEVELS
from incrowd.run.silence import standard_output_kept
from incrowd.run.stop import Stop, interruptible
from incrowd.text.models import models_in_words
from incrowd.text.units import at_most, in_units, shown, shown_share

if TYPE_CHECKING:
    from incrowd.problem.problem import Problem
    from incrowd.solvers.base import Context


@click.command("bound", cls=Sectioned)
@click.argument("table", metavar="IN")
@options.policy_options(
    *(*options.ROLES, *options.MODELS, *options.COSTS, "time_limit", "threads"),
    hierarchies=LEVELS.help,
)
@options.policy_option
@options.reading_options
@options.json_option
@options.quiet_option
def bound(table: str, as_json: bool, quiet: bool, **given: Any) -> int:
    """Say what every lawful release of IN costs at least.

    The bound is proven by a price for every row; no release is made.
    """
    from incrowd._api import begun
    from incrowd.driver.solve import require_lawful_table

    stop = Stop()
    source, policy = options.asked(table, given)
    require_served(policy, "by bound")
    stop.time_limit, stop.threads = policy.time_limit, policy.limits[-1]
    with (
        standard_output_kept(),
        progress(quiet, policy.time_limit) as listener,
        interruptible(stop),
    ):
        start = begun(source, policy, listener, stop)
        problem = start.table.problem
        if problem.instance.rows:
            require_lawful_table(problem)
        least = price_bound(problem, start.context)
    models = problem.model.names(start.table.roles.attributes)
    record = bound_record(problem, policy.k, models, least, stop.elapsed())
    if as_json:
        print_json(record)
    else:
        click.echo(record["lower_bound"])
        say(in_words(record), quiet)
    if stop.interrupted:
        say("interrupted; more time may prove more", quiet)
    return 130 if stop.interrupted else 0


def bound_record(
    problem: "Problem", k: int, models: Sequence[str], least: int, seconds: float
) -> dict[str, Any]:
    """Return what ``--json`` prints; ``least`` is the bound in units of 1/scale."""
    instance, worst = problem.instance, problem.instance.worst_cost
    return {
        "rows": instance.rows,
        "columns": instance.columns,
        "cells": instance.rows * instance.columns,
        "k": k,
        "models": list(models),
        "lower_bound": in_units(least, instance.scale),
        "bound_fraction": at_most(least, worst) if worst else 0.0,
        "method": "row prices",
        "seconds": round(seconds, 3),
    }


def in_words(record: dict[str, Any]) -> str:
    """Return what is said beside the bound."""
    return (
        f"no lawful release ({models_in_words(record['models'])}) costs less than "
        f"{shown(record['lower_bound'])}, "
        f"{shown_share(record['bound_fraction'])} of the most a release can cost"
    )


def price_bound(problem: "Problem", context: "Context") -> int:
    """Return the best certified price bound that the time allows, in units of 1/scale."""
    from incrowd.bounds.best import best_prices

    instance, k = problem.instance, problem.smallest_class
    if not instance.rows or k < 2:
        return 0

    def report(value: float, share: float) -> None:
        context.tell("price bound", bound=math.floor(value), share=share)

    context.tell("support bound")
    prices = best_prices(instance, k, context.stop, report)
    return prices.bound(instance.counts)
