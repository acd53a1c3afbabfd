"""How private a table is: figures of any table, ours or not.

of_table.py   measure(): wiring only
figures.py    the result
keys.py       rows that agree, as numbers
sensitive.py  diversity, closeness, likeness, disclosure
risk.py       prosecutor, journalist, marketer
subsets.py    who is unique on a few columns
loss.py       stars and entropy lost
orders.py     the natural order of a column's values
text.py       tables for people
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from incrowd.measures.figures import Measure as Measure
    from incrowd.measures.of_table import measure as measure

__all__ = ["Measure", "measure"]


def __getattr__(name: str) -> Any:
    """Import the two names when they are first used (PEP 562)."""
    if name == "measure":
        from incrowd.measures.of_table import measure

        return measure
    if name == "Measure":
        from incrowd.measures.figures import Measure

        return Measure
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
