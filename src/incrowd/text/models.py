"""Privacy models on one line."""

from ast import literal_eval
from collections.abc import Sequence
from contextlib import suppress

OF = " of "


def models_in_words(names: Sequence[str]) -> str:
    """Return the names of models that all hold, as a sentence has them.

    One that is asked of several columns, of each by itself, is named once.

    Parameters
    ----------
    names: such as ``5-anonymity`` and ``0.3-closeness (equal distance) of 'illness'``.
    """
    columns: dict[str, list[str]] = {}
    for name in names:
        title, column = name, ""
        head, _, tail = name.partition(OF)
        with suppress(SyntaxError, ValueError):  # no name of a column stands at the end
            if isinstance(literal_eval(tail), str):
                title, column = head, tail
        columns.setdefault(title, []).extend([column] if column else [])
    return " and ".join(
        title + (OF + "each of " * (len(those) > 1) + ", ".join(those) if those else "")
        for title, those in columns.items()
    )
