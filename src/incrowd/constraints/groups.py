"""Whether the groups of equal fixed values can be released at all."""

import numpy as np

from incrowd.constraints.plan import Plan
from incrowd.encoding.encoded import Coded
from incrowd.errors import NoLawfulReleaseError
from incrowd.privacy.classes import Classes
from incrowd.reduce.fixed import groups_of
from incrowd.text.units import counted


def require_lawful_groups(table: Coded, plan: Plan) -> None:
    """Raise unless each group is lawful as one class; then a lawful release exists.

    All models here are closed under union, so a group that is unlawful as a whole has no lawful
    partition.

    Raises
    ------
    NoLawfulReleaseError: names the fixed columns and the number of rows, never a value.
    """
    model, instance = table.model, table.instance
    if not plan.fixed or not instance.rows or not model.closed_under_union:
        return
    member = groups_of(instance.codes, plan.fixed)[instance.copies]
    everyone = table.problem.table
    broken = ~model.lawful_classes(Classes(member, everyone))
    if broken.any():
        lost = int(np.bincount(member)[broken].sum())
        names = ", ".join(repr(table.roles.qi[j]) for j in plan.fixed)
        lie = f"{counted(lost, 'row')} {'lies' if lost == 1 else 'lie'}"
        several = counted(int(broken.sum()), "group")
        models = model.in_words(table.roles.attributes)
        raise NoLawfulReleaseError(
            f"fixed {names}: {lie} in {several} of equal values (of {len(broken):,}) that cannot "
            f"obey {models} even as one class, so no lawful release "
            "leaves these columns unchanged; fix fewer columns, or generalize them beforehand"
        )
