"""A page from sections: one file, nothing to load, nothing that runs."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from incrowd.report.html import Html, cell_text, joined, of, tag, visible
from incrowd.report.style import SHEET
from incrowd.report.svg import inline

# even markup that slipped through could load nothing and run nothing
NOTHING = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"


@dataclass(frozen=True)
class Section:
    """A part of the page with a heading."""

    id: str
    title: str
    body: Html


def page(title: str, name: str, top: Html, sections: Sequence[Section], foot: Html) -> str:
    """Return a whole page.

    Parameters
    ----------
    title: what kind of report; name: of the release.
    top: below the heading; foot: at the end.
    """
    head = tag(
        "head",
        Html('<meta charset="utf-8">'),
        Html('<meta name="viewport" content="width=device-width, initial-scale=1">'),
        Html(f'<meta http-equiv="Content-Security-Policy" content="{NOTHING}">'),
        Html('<meta name="referrer" content="no-referrer">'),
        tag("title", f"{title}: ", of(visible(name))),
        tag("style", Html(SHEET)),
    )
    links = [tag("li", tag("a", part.title, href=f"#{part.id}")) for part in sections]
    nav = tag("nav", tag("ul", *links), aria_label="Sections")
    parts = [
        tag("section", tag("h2", part.title, id=part.id), part.body, aria_labelledby=part.id)
        for part in sections
    ]
    heading = tag("h1", f"{title}: ", cell_text(name))
    body = tag("body", tag("header", heading, top, nav), tag("main", *parts), tag("footer", foot))
    return f'<!DOCTYPE html>\n<html lang="en" dir="ltr">{head}{body}</html>\n'


class Pictures:
    """Figures of a page, each with a heading, a sentence and a table beside it."""

    def __init__(self) -> None:
        self._count = 0

    def show(
        self, heading: Any, figure: Any, label: str, words: Any, table: Html, wide: bool = False
    ) -> Html:
        """Return one figure.

        Parameters
        ----------
        figure: of matplotlib.
        label: what it shows, for those who do not see it.
        words: how to read it.
        table: the same as figures; to be opened below, or beside the picture where ``wide``.
        """
        self._count += 1
        prefix = f"f{self._count}"
        title = tag("h3", heading, id=f"{prefix}-title")
        drawn = inline(figure, label, prefix)
        if wide:
            body = tag("div", drawn, table, class_="beside")
        else:
            body = joined(drawn, tag("details", tag("summary", "As a table"), table))
        return tag(
            "figure",
            title,
            tag("p", words) if words else None,
            body,
            role="group",
            aria_labelledby=f"{prefix}-title",
        )


def grid(*items: Html) -> Html:
    """Put figures beside each other where there is room."""
    return tag("div", *items, class_="grid")


def paragraphs(*texts: Any) -> Html:
    """Return paragraphs."""
    return joined(*(tag("p", text) for text in texts if text is not None))
