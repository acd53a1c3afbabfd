"""The ends of an earlier release's ranges, which new rows may join: their columns reach to them."""

from incrowd.hierarchy.missing import bare_of, declared
from incrowd.hierarchy.ranges import Ranges
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
        bare = bare_of(rule)
        if isinstance(bare, Ranges) and name in qi and name in existing.columns:
            values = declared(source.encode(name).values, getattr(rule, "marks", ()))
            found[name] = bare.ends_in(name, values, existing.encode(name).values)
    return found
