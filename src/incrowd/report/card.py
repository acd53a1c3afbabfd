"""A card for notebooks: figures of a release, none of its cells."""

from typing import TYPE_CHECKING

from incrowd.report.html import joined, tag
from incrowd.text.units import counted, shown, shown_gap

if TYPE_CHECKING:
    from incrowd.published.base import Published


def people_of(release: "Published") -> list[tuple[str, str]]:
    """Return the line that counts people, where they are counted."""
    if release.people is None:
        return []
    words = f"{release.people:,}, at least {release.fewest_people:,} in each class"
    return [("people", words)]


def card(release: "Published") -> str:
    """Return a small table."""
    changed = f"{release.changed_cells:,} of {release.cells:,} cells"
    if release.cells:
        changed += f" ({release.changed_cells / release.cells:.1%})"
    proof = "optimal" if release.status == "optimal" else f"gap {shown_gap(release.gap)}"
    facts = [
        ("rows", f"{release.rows:,} in {counted(release.classes, 'class', 'classes')}"),
        ("smallest class", f"{release.smallest_class:,} ({' and '.join(release.models)})"),
        *people_of(release),
        *(("not re-checked", name) for name in release.unchecked),
        ("changed", changed),
        ("cost", shown(release.cost)),
        ("bound", f"{shown(release.lower_bound)} ({proof})"),
    ]
    if release.warnings:  # their words name columns; nothing else in a notebook says them
        facts.append(("warnings", f"{len(release.warnings)}, in .warnings"))
    left = "text-align:left"
    rows = [
        tag("tr", tag("th", n, scope="row", style=left), tag("td", v, style=left)) for n, v in facts
    ]
    caption = tag("caption", "incrowd release", style="text-align:left;font-weight:bold")
    return str(tag("table", caption, joined(*rows)))
