"""Figures of a release as a frame."""

from typing import TYPE_CHECKING, Any

import numpy as np

from incrowd.errors import InputError, did_you_mean
from incrowd.tables.files import alike
from incrowd.text.units import at_most

if TYPE_CHECKING:
    from incrowd.published.base import Published

BY = ("release", "column", "class")


def summary_columns(release: "Published", by: str) -> Any:
    """Return the frame; see ``Release.summary``."""
    makers = {"release": whole, "column": by_column, "class": by_class}
    if by not in makers:
        raise InputError(f"summary: by is {by!r}{did_you_mean(str(by), BY)}")
    return alike(release.source, makers[by](release))


def whole(release: "Published") -> dict[str, list[Any]]:
    """One row about the release."""
    facts = {
        "rows": release.rows,
        "columns": release.columns,
        "cells": release.cells,
        "changed_cells": release.changed_cells,
        **({} if release.deleted is None else {"deleted_rows": len(release.deleted.rows)}),
        "k": int(release.k),
        "models": " and ".join(release.models),
        **({"unchecked": " and ".join(release.unchecked)} if release.unchecked else {}),
        "cost": float(release.cost),
        "cost_fraction": release.cost_fraction,
        "lower_bound": at_most(release.bound_units, release.scale),
        "gap": release.gap,
        "status": release.status,
        "method": release.method,
        "classes": release.classes,
        "smallest_class": release.smallest_class,
        **people_of(release),
        "seconds": release.seconds,
        "seed": int(release.seed),
    }
    return {name: [value] for name, value in facts.items()}


def people_of(release: "Published") -> dict[str, Any]:
    """Return the people, and those of the class with the fewest, where they are counted."""
    if release.people is None:
        return {}
    return {"people": release.people, "fewest_people": release.fewest_people}


def by_column(release: "Published") -> dict[str, list[Any]]:
    """One row for each quasi-identifier."""
    names = list(release.roles.qi)
    counts = [release.changed[name] for name in names]
    star = release.policy.star
    before = [release.source.encode(name) for name in names]
    after = [release.table.encode(name).compact() for name in names]
    return {
        "column": names,
        "changed": counts,
        "changed_fraction": [count / max(release.rows, 1) for count in counts],
        "suppressed": [
            int(sum((c.codes == i).sum() for i, v in enumerate(c.values) if v == star))
            for c in after
        ],
        "values_before": [len(c.values) for c in before],
        "values_after": [len(c.values) for c in after],
    }


def by_class(release: "Published") -> dict[str, list[Any]]:
    """One row for each size of class."""
    sizes, number = np.unique(release.class_sizes, return_counts=True)
    return {
        "class_size": sizes.tolist(),
        "classes": number.tolist(),
        "rows": (sizes * number).tolist(),
    }
