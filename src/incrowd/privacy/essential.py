"""What of a combination of models decides: a k that the other models imply says nothing."""

from incrowd.privacy.base import Group
from incrowd.privacy.model import Model, all_of


def essential(model: Model, table: Group) -> Model:
    """Return a model that the same classes of ``table`` obey, with k once at most.

    k-anonymity is left out where the other models' smallest class has k rows anyway, so that
    methods for those models alone serve the combination.  1-anonymity alone stays as it is.
    """

    def least(part: Model) -> int:
        return part.smallest_class(table)

    others = [part for part in model.parts if not part.size_decides]
    sized = sorted((part for part in model.parts if part.size_decides), key=least)[-1:]
    needed = [part for part in sized if least(part) > max(map(least, others), default=0)]
    return all_of([*needed, *others])
