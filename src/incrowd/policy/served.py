"""Which options go together, and which are not served where: one row for each rule."""

from typing import Any

from incrowd.errors import InputError, OutOfScopeError
from incrowd.policy.table import OPTION

CONSTRAINTS = "fixed linked caps"
OF_ALL_ROWS = "constant_alike linked_rows"  # these laws look at all rows of a person together
FURTHER = "models l t"
MODEL = ", or name the model with its own parameters, such as --model "
OTHER_COST = "cost!=level|ncp"  # averages have a cost of their own, beside which these are no wish
ONE_MACHINE = "make the release on one machine"

OWNERS = (  # an option, the one without which nobody would look at it, and what else will do
    ("l_kind", "l", MODEL + "l=3,kind=entropy"),
    ("c", "l", MODEL + "l=3,c=2,kind=recursive"),
    ("distance", "t", MODEL + "t=0.2,distance=ordered"),
    ("missing_person", "person", ""),
    ("linked_rows", "person", ""),
    ("constant_alike", "person", ""),
    ("survey_stratum", "survey_weight", ""),
)
APART = (  # an option, those that it is not served with, and why
    (
        "suppress_rows",
        "links_rows constant_alike",
        "leaving out rows makes no table lawful for laws on all rows of a person; leave it out",
    ),
    ("links_rows", f"{CONSTRAINTS} veil", "leave one of them out"),
    (
        "constant_alike",
        f"linked_rows pseudonym {CONSTRAINTS} veil {FURTHER}",
        "it is made for k people in a class, and for nothing beside that",
    ),
    (
        "delete_rows",
        f"suppress_rows pseudonym {CONSTRAINTS} veil {OF_ALL_ROWS} missing_person=drop",
        "rows are deleted under models of classes by themselves, without constraints",
    ),
    (
        "protect",
        f"person pseudonym veil {CONSTRAINTS} {FURTHER} suppress_rows delete_rows hold_back "
        "method!=combinations reductions",
        "each combination is k-anonymous, without further models or constraints, by a search of "
        "its own",
    ),
)
UNSERVED = (  # where, options that are not served there, and why, or what to do instead
    ("by bound", "delete_rows suppress_rows protect", "make a release, which says its own bound"),
    (
        "by frontier",
        "delete_rows suppress_rows protect constant_alike links_rows veil",
        "make single releases (incrowd anonymize)",
    ),
    (
        "by republish",
        f"keep pseudonym suppress_rows delete_rows protect {FURTHER} veil missing_person "
        f"{CONSTRAINTS}",
        "leave it out, or make a single release (incrowd anonymize)",
    ),
    (
        "by averages",
        f"person pseudonym {FURTHER} veil {CONSTRAINTS} suppress_rows delete_rows protect "
        "reductions",
        "give the column a range or a hierarchy with levels, or leave it out",
    ),
    ("by averages", OTHER_COST, "the spread of a class is what averages cost; leave it out"),
    ("by republish", "hold_back", "ask for -k 2 or more, which withholds people on its own"),
    (
        "by the page",
        f"{OF_ALL_ROWS} protect veil delete_rows hold_back strict pseudonym missing_person",
        "give the policy file to incrowd anonymize",
    ),
    ("with existing", "veil", "earlier rows had none; publish the whole table anew"),
    (
        "with existing",
        "constant_alike links_rows",
        "nobody says whose the earlier rows are; publish the whole table anew",
    ),
    ("with existing", "missing_person=drop", "leave such rows out before"),
    ("with existing", "method reductions", "adding rows is a method of its own; leave it out"),
    (
        "with existing",
        "delete_rows protect suppress_rows",
        "leave it out, or publish the whole table anew",
    ),
    ("with existing on Spark", "person", ONE_MACHINE),
    ("on Spark", "derive", "derive the column with Spark before"),
    ("on Spark", "suppress_rows hold_back", f"{ONE_MACHINE}, or take the rows out before"),
    (
        "on Spark",
        "missing_person=own",
        "give each such row a person of its own before (coalesce(person, uuid())), or leave them "
        "out (drop)",
    ),
    (
        "on Spark",
        f"{OF_ALL_ROWS} {CONSTRAINTS} pseudonym strict veil delete_rows protect",
        ONE_MACHINE,
    ),
)


def require_together(policy: Any) -> None:
    """Raise InputError for an option without the one that it belongs to, or beside another."""
    for name, owner, more in OWNERS:
        if asked_among(policy, name) and not asked_among(policy, owner):
            raise InputError(
                f"{name} goes with {owner}, which is not given: add {OPTION[owner].flag} "
                f"({owner}= in Python){more}"
            )
    for name, others, why in APART:
        if (one := asked_among(policy, name)) and (asked := asked_among(policy, others)):
            raise InputError(f"{one[0]} is not served with {', '.join(asked)}: {why}")


def require_served(policy: Any, where: str, begin: str = "") -> None:
    """Raise OutOfScopeError for an option that is not served.

    ``where``: one of ``UNSERVED``; ``begin``: what the error begins with.
    """
    for place, names, why in UNSERVED:
        if place == where and (asked := asked_among(policy, names)):
            be = "is" if len(asked) == 1 else "are"
            raise OutOfScopeError(f"{begin}{', '.join(asked)} {be} not served {where}: {why}")


def asked_among(policy: Any, names: str) -> list[str]:
    """Return those of some options, a text with spaces, that ask for another thing than by default.

    ``name=value`` counts with that value alone, ``name!=value|other`` with any but those;
    ``links_rows`` is ``linked_rows``, or a pseudonym of the person, which asks for the same.
    """
    asked = [name.partition("!")[0] for name in names.split() if _is_asked(policy, name)]
    linking = "linked_rows" if policy.linked_rows else "a pseudonym of the person"
    return [linking if name == "links_rows" else name for name in asked]


def _is_asked(policy: Any, name: str) -> bool:
    name, equals, value = name.partition("=")
    bare = name.rstrip("!")
    given = getattr(policy, bare)
    if equals and (given in value.split("|")) == (bare != name):
        return False
    default = OPTION[bare].default if bare in OPTION else False
    return given not in (default, None, (), {})
