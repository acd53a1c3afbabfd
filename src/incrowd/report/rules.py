"""What may become of columns, told from their hierarchies; no path and no value is named."""

import re
from collections.abc import Sequence
from typing import Any

from incrowd.hierarchy.date import Dates
from incrowd.hierarchy.ranges import options_in, without_template
from incrowd.hierarchy.spec import OF_NUMBERS
from incrowd.policy import Policy
from incrowd.policy.suits import names_codes

PUBLIC_RULES = ("interval", "prefix", "date", "bands", "keep", "round", "codes")
OF_CODES = ("prefix", "keep")
STEPS = {"interval": "intervals of width", "prefix": "without its last", "keep": "its first"}


def codes_of(policy: Policy, names: Sequence[str]) -> frozenset[str]:
    """Return the columns whose numbers are codes: by their hierarchy, or else by their names."""
    rules = {name: str(policy.hierarchies.get(name)).partition(":")[0] for name in names}
    return frozenset(
        name
        for name, rule in rules.items()
        if rule in OF_CODES or (rule not in OF_NUMBERS and names_codes(name))
    )


def priced(hierarchy: Any) -> str:
    """Return by what a generalized cell of a column is priced; empty where there is none."""
    rule, _, rest = str(hierarchy).partition(":")
    if hierarchy is None or rule == "none":
        return ""
    if rule != "range":
        return "level"
    return "values" if "cost=values" in rest.split(",") else "width"


def in_words(rule: str) -> str:
    """Return a rule as readers of a release understand it; itself where it says so best."""
    name, _, numbers = rule.partition(":")
    if name == "date":
        return Dates.parse(numbers.split(",") if numbers else ()).in_words
    if name not in STEPS or re.fullmatch(r"[\d.,]+", numbers) is None:
        return rule
    steps = numbers.split(",")
    if name == "keep":
        steps.reverse()
    units = "" if name == "interval" else " character" + "s" * (steps[-1] != "1")
    return f"{STEPS[name]} {', then '.join(steps)}{units}"


def how(hierarchy: Any) -> str:
    """Return what may become of a column's cells, without a path or a value of the table."""
    if hierarchy is None or hierarchy == "none":
        return "suppressed"
    rule = str(hierarchy).partition(":")[0]
    if isinstance(hierarchy, str) and rule in PUBLIC_RULES:
        return f"{in_words(hierarchy)}, then suppressed"
    if rule == "range":
        options, _ = without_template(str(hierarchy).partition(":")[2])
        given = {name: value for _, name, _, value in options_in(options)}
        out = f", its ends moved out to multiples of {given['round']}" if "round" in given else ""
        wide = f", suppressed where wider than {given['most']}" if "most" in given else ""
        return f"the smallest interval that holds its class{out}{wide}"
    return "groups of its own, then suppressed"
