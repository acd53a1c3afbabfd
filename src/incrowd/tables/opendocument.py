"""What the cells of OpenDocument sheets show: the text of their paragraphs, and nothing beside it.

Comments, pictures and text boxes are elements of the cell too.  What a comment says of a person
must never reach a release.
"""

from typing import Any

TEXT = "urn:oasis:names:tc:opendocument:xmlns:text:1.0"
NOT_SHOWN = {"note", "ruby-text"}
"""Elements of a paragraph that hold words beside its own."""


def shown(cell: Any) -> str | None:
    """Return the paragraphs of a cell, a line each; None where it has none.

    Parameters
    ----------
    cell: an element ``table:table-cell`` of odfpy.
    """
    found = [_words(part) for part in cell.childNodes if getattr(part, "qname", 0) == (TEXT, "p")]
    return "\n".join(found) if found else None


def _words(node: Any) -> str:
    """Return the text below a node; runs of spaces, tabs and ends of lines are elements of it."""
    if node.nodeType == node.TEXT_NODE:
        return str(node.data)
    home, kind = getattr(node, "qname", ("", ""))
    if home != TEXT or kind in NOT_SHOWN:
        return ""
    if kind == "s":
        return " " * int(node.getAttribute("c") or 1)
    special = {"tab": "\t", "line-break": "\n"}
    return special.get(kind) or "".join(map(_words, node.childNodes))
