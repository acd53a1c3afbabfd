"""The section on attacks: for the publisher alone."""

from collections.abc import Mapping
from typing import Any

from incrowd.report.html import Html, cell_text, joined, tag
from incrowd.report.page import Section, paragraphs
from incrowd.report.sections import alone_table
from incrowd.report.view import Inside

HEADS = ["attack", "tries", "right", "control", "risk", "95 % interval"]


def attacks(inside: Inside) -> Section | None:
    """What attacks on the release found, each against its control."""
    if inside.attacks is None:
        return None
    found = inside.attacks.record()["attacks"]
    if not found:
        return None
    note = (
        "Attacks that a reader of the release could make, counted with the original at hand. Risk: "
        "(right − control)/(1 − control), which is 0 where the release tells no more of its people "
        "than the control."
    )
    sentences = [tag("p", tag("b", named(one), ": "), one["sentence"]) for one in found]
    sentences.append(paragraphs(*inside.attacks.advice))
    lines = [line(one) for one in found]
    body = joined(
        paragraphs(note, *inside.attacks.notes),
        alone_table("Attacks on this release", HEADS, lines),
        *sentences,
    )
    return Section("attacks", "Attacks", body)


def line(one: Mapping[str, Any]) -> list[Any]:
    """Return one line of the table."""
    tried, control = one["tries"] > 0, one["control_tries"] > 0
    return [
        named(one),
        f"{one['tries']:,}",
        f"{one['rate']:.1%}" if tried else "–",
        f"{one['control_rate']:.1%}" if control else "–",
        figure(one["risk"]),
        f"{figure(one['low'])} to {figure(one['high'])}",
    ]


def named(one: Mapping[str, Any]) -> Html:
    """Return the attack's name, and the column that it guesses."""
    if one["column"] is None:
        return cell_text(one["name"])
    return joined(cell_text(one["name"]), " (", cell_text(one["column"]), ")")


def figure(value: float | None) -> str:
    """Write a risk or a limit of it."""
    return "–" if value is None else f"{value:.3f}"
