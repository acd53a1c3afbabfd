"""How private a table is: figures of any table, ours or not.

of_table.py   measure(): wiring only       roles.py  the columns by role
figures.py    the result
people.py     rows that agree, and the people and households behind them
sensitive.py  diversity, closeness, likeness, disclosure
risk.py       prosecutor, journalist, marketer; who is unique on a few columns
loss.py       stars and entropy lost
orders.py     the natural order of a column's values; metric_file.py  orders and distances in files
"""

from typing import TYPE_CHECKING

from incrowd.run.late import importer

if TYPE_CHECKING:
    from incrowd.measures.figures import Measure as Measure
    from incrowd.measures.of_table import measure as measure

_HOME = {"Measure": "incrowd.measures.figures", "measure": "incrowd.measures.of_table"}

__all__ = ["Measure", "measure"]


__getattr__ = importer(__name__, _HOME)
