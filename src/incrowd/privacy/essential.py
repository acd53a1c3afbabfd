"""What of a combination of models decides: a k that the other models imply says nothing."""

from incrowd.privacy.all_of import AllOf, parts
from incrowd.privacy.base import Group, Model
from incrowd.privacy.k_anonymity import KAnonymity


def essential(model: Model, table: Group) -> Model:
    """Return a model that the same classes of ``table`` obey, with k once at most.

    k-anonymity is left out where the other models' smallest class has k rows anyway, so that
    methods for those models alone serve the combination.  1-anonymity alone stays as it is.
    """
    others = [part for part in parts(model) if not isinstance(part, KAnonymity)]
    k = max((part.k for part in parts(model) if isinstance(part, KAnonymity)), default=1)
    least = max((part.smallest_class(table) for part in others), default=0)
    needed = [KAnonymity(k), *others] if k > least else others
    return needed[0] if len(needed) == 1 else AllOf(tuple(needed))
