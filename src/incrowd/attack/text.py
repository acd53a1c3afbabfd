"""What attacks found, for people."""

from rich.console import Group
from rich.text import Text

from incrowd.attack.findings import Finding, Findings
from incrowd.attack.rates import Rate
from incrowd.measure.text import as_lines, grid, named

VERDICTS = {"met": "kept", "broken": "broken", "inconclusive": "inconclusive"}


def as_text(found: Findings, width: int = 100) -> str:
    """Return the findings as plain text."""
    return as_lines(as_tables(found), width)


def as_tables(found: Findings) -> Group:
    """Return a table of figures, and a sentence for each attack."""
    asked = any(one.required is not None for one in found)
    heads = ["attack", "tries", "right", "control", "risk", "95 % interval"]
    made = grid("", heads + (["limit"] if asked else []))
    made.title = None
    for one in found:
        attack = one.outcome.attack
        cells = [f"{attack.tries:,}", percent(attack), percent(one.outcome.control)]
        cells += [figure(one.risk), f"{figure(one.low)} to {figure(one.high)}"]
        made.add_row(named(title(one)), *cells, *([limit(one)] if asked else []))
    sentences = [Text.assemble((f"{title(one)}: ", "bold"), one.outcome.says) for one in found]
    notes = [Text(note) for note in found.notes]
    return Group(made, *sentences, *([Text(""), *notes] if notes else []))


def title(one: Finding) -> str:
    """Name an attack and the column that it guesses."""
    return one.name if one.column is None else f"{one.name} ({one.column})"


def percent(rate: Rate) -> str:
    """Write a rate."""
    return f"{rate.rate:.1%}" if rate.tries else "–"


def figure(value: float | None) -> str:
    """Write a risk or a limit of it."""
    return "–" if value is None else f"{value:.3f}"


def limit(one: Finding) -> str:
    """Write what was required of an attack and how it stands."""
    if one.required is None or one.verdict is None:
        return ""
    return f"{one.required:g}: {VERDICTS[one.verdict]}"
