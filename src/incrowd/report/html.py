"""HTML that is escaped by construction: what is not ``Html`` becomes text."""

import unicodedata
from collections.abc import Iterable
from html import escape
from typing import Any

from incrowd.text.shell import JOINERS

SHOWN = 60  # characters of a name or value


class Html(str):
    """Markup that is safe to be part of a page."""

    __slots__ = ()


def visible(text: str, most: int = SHOWN) -> str:
    """Return text on one line: control and direction characters spelled out, long text cut."""
    if text and not text.strip(" "):
        return "␣" * min(len(text), most)
    shown = "".join(
        character if character.isprintable() or character in JOINERS else spelled(character)
        for character in text[: most + 1]
    )
    return shown if len(text) <= most else shown[:most] + "…"


def spelled(character: str) -> str:
    """Return a character that does not print as its name or number."""
    known = {"\n": "⏎", "\t": "⇥"}
    if unicodedata.category(character) in ("Zs", "Zl", "Zp"):
        return "␣"
    return known.get(character, f"‹U+{ord(character):04X}›")


def of(value: Any) -> Html:
    """Return a value as markup: ``Html`` as it is, anything else as escaped text."""
    return value if isinstance(value, Html) else Html(escape(str(value), quote=True))


def tag(name: str, *children: Any, **attributes: Any) -> Html:
    """Return an element; a trailing ``_`` of an attribute's name goes, other ``_`` become ``-``."""
    given = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(str(value), quote=True)}"'
        for key, value in attributes.items()
        if value is not None
    )
    return Html(f"<{name}{given}>{joined(*children)}</{name}>")


def joined(*parts: Any) -> Html:
    """Return parts one after the other; None leaves nothing."""
    return Html("".join(of(part) for part in parts if part is not None))


def listed(parts: Iterable[Any]) -> Html:
    """Return parts with commas between them."""
    return Html(", ".join(map(of, parts)))


def cell_text(text: str | None, most: int = SHOWN) -> Html:
    """Return a name or value of the table, isolated from the direction of the text around it."""
    if text is None:
        return tag("em", "missing")
    if text == "":
        return tag("em", "empty text")
    return tag("bdi", visible(text, most))


def table(caption: str, head: list[Any], rows: list[list[Any]], numbers: int = 1) -> Html:
    """Return a table; the first cell of each row heads it, columns from ``numbers`` on are figures.

    It scrolls by itself where the screen is narrow.
    """

    def kind(j: int) -> str | None:
        return "number" if j >= numbers else None

    top = tag("tr", *(tag("th", h, scope="col", class_=kind(j)) for j, h in enumerate(head)))
    body = [
        tag(
            "tr",
            tag("th", row[0], scope="row"),
            *(tag("td", cell, class_=kind(j)) for j, cell in enumerate(row[1:], 1)),
        )
        for row in rows
    ]
    whole = tag("table", tag("caption", caption), tag("thead", top), tag("tbody", *body))
    return tag("div", whole, class_="scroll", role="group", aria_label=caption, tabindex="0")


def facts(pairs: list[tuple[Any, Any]]) -> Html:
    """Return a list of facts, name and value."""
    items = [tag("div", tag("dt", name), tag("dd", value)) for name, value in pairs]
    return tag("dl", *items)


def alone_table(caption: str, head: list[str], rows: list[list[Any]], numbers: int = 1) -> Html:
    """A table that stands by itself."""
    return Html(table(caption, head, rows, numbers).replace('"scroll"', '"scroll alone"', 1))
