"""Stars and entropy lost, by column; rows of release and original need not be aligned."""

from collections.abc import Iterable, Mapping

import numpy as np
from numpy.typing import NDArray

from incrowd.hierarchy.family import Family
from incrowd.hierarchy.labels import leaves_under
from incrowd.hierarchy.ladder import is_missing
from incrowd.measures.figures import ColumnFigures
from incrowd.tables.base import Column


def column_figures(
    name: str, column: Column, star: str, original: Column | None = None, tree: Family | None = None
) -> ColumnFigures:
    """Describe one quasi-identifier; ``tree`` is its hierarchy over the original's values."""
    counts = dict(zip(column.values, column.counts.tolist(), strict=True))
    loss = whole = None
    if original is not None:
        before = dict(zip(original.values, original.counts.tolist(), strict=True))
        loss = entropy_loss(counts, before, star, tree)
        whole = entropy(np.array(list(before.values()))) * sum(before.values())
    return ColumnFigures(
        name=name,
        values=len(column.values),
        missing=sum(count for value, count in counts.items() if is_missing(value)),
        stars=counts.get(star, 0),
        entropy=entropy(np.array(list(counts.values()))),
        entropy_loss=loss,
        entropy_loss_fraction=None
        if loss is None or whole is None
        else loss / whole
        if whole
        else 0.0,
    )


def entropy(counts: NDArray[np.int64]) -> float:
    """Shannon entropy in bits."""
    if not counts.sum():
        return 0.0
    share = counts[counts > 0] / counts.sum()
    return max(0.0, float(-(share * np.log2(share)).sum()))


def entropy_loss(
    released: Mapping[str | None, int],
    original: Mapping[str | None, int],
    star: str,
    tree: Family | None,
) -> float | None:
    """Return Σ over cells of −log₂ P(value | released label), in bits, or None if undefined.

    (Non-uniform entropy, Gionis and Tassa 2009.)  Cells that still show value v add nothing, so
    what is lost of v are its original less its released cells; a label whose values hold the share
    s of the original takes off −log₂ s per cell.  No row needs to be matched with its original:
    only counts enter.  A row that was left out counts as suppressed.
    """
    rows = sum(original.values())
    share: dict[str | None, float] = {star: 1.0}
    if tree is not None:
        share |= label_shares(tree, original, released)
    total = 0.0
    for value, count in original.items():
        shown = released.get(value, 0)
        if shown > count:
            return None  # not a release of this original
        total -= (count - shown) * np.log2(count / rows)
    for label, count in released.items():
        if label in original:
            continue
        if label not in share:
            return None  # a generalized value, and no hierarchy that says what is below it
        total += count * np.log2(share[label])
    return max(0.0, float(total))


def label_shares(
    tree: Family, original: Mapping[str | None, int], labels: Iterable[str | None]
) -> dict[str | None, float]:
    """Return the share of the original's rows below each of these labels, leaves left out."""
    rows = sum(original.values())
    weight = np.array([original.get(value, 0) for value in tree.leaves], float)
    under = leaves_under(tree, labels).items()
    shares = {label: float(weight[leaves].sum()) / rows for label, leaves in under}
    return {label: share for label, share in shares.items() if label not in original and share}
