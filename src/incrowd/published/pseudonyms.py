"""Columns under pseudonyms of a release that is verified without a proof.

Each value of such a column is in one row: rows of a person that stay linked need a proof.  So all
pseudonyms differ, and of a row it is known whether it has one.
"""

from collections.abc import Iterator

import numpy as np

from incrowd.encoding.pseudonyms import FORM
from incrowd.tables.base import Column

KEY = "whether the pseudonyms' key is secret, and what other releases with it link"
"""What nobody can check of pseudonyms."""


def pseudonyms_broken(name: str, released: Column) -> Iterator[str]:
    """Yield why the cells of a column are no pseudonyms, or not one for each row."""
    strange = [text is not None and not FORM.fullmatch(text) for text in released.values]
    rows = np.flatnonzero(np.array(strange, bool)[released.codes])
    if len(rows):
        yield f"column {name!r}, released row {int(rows[0]) + 1}: the cell is not a pseudonym"
    known = np.array([text is not None for text in released.values], bool)
    if (np.bincount(released.codes, minlength=len(known))[known] > 1).any():
        yield f"column {name!r}: several rows have one pseudonym"


def there(column: Column) -> Column:
    """Return whether each cell holds something: a missing or empty one has no pseudonym."""
    held = np.array([bool(text) for text in column.values], bool)[column.codes]
    return Column(("", "there"), held.astype(np.int32))
