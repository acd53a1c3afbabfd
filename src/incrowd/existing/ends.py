"""The ends of an earlier release's ranges, which new rows may join: their columns reach to them."""

from incrowd.hierarchy.family import FamilySource
from incrowd.policy import Policy
from incrowd.tables.base import Source


def ends_beyond(source: Source, existing: Source, policy: Policy) -> dict[str, tuple[str, ...]]:
    """Return by column the ends of published ranges that are no values of the new rows.

    Parameters
    ----------
    source: the new rows; existing: the earlier release.
    """
    found = {}
    qi = policy.roles(source.columns).qi
    for name, rule in policy.sources().items():
        if isinstance(rule, FamilySource) and name in qi and name in existing.columns:
            own, published = (table.encode(name).values for table in (source, existing))
            found[name] = rule.ends_in(name, own, published)
    return found
