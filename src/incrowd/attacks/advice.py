"""What helps against attacks that did better than chance."""

from collections.abc import Iterable, Mapping

from incrowd.attacks.findings import Finding

HELPS = {
    "linkage": "a larger -k makes classes larger, and a guess at a row more often wrong",
    "register": "a larger -k; columns of the register that are made coarser before the release "
    "(--derive) or left out (--id)",
    "inference": "--t makes the values of each class more like those of the table, which helps "
    "less against de-finetti than against the others; --l puts different values into it, which "
    "ends homogeneity; a column that need not be published can be left out (--id)",
    "reconstruction": "--veil hides some cells at random, so that hidden cells tell less; a larger "
    "-k and columns that are made coarser before the release (--derive) help a little",
    "singling-out": "a larger -k, above all k = 3 or more where columns have two values; --veil "
    "hides some cells at random",
    "composition": "publish only one of the two releases, or make the second one from the first",
}
"""By family; which families there are, the catalog says."""

AGAIN = (
    "Make the release anew with it, attack that release again, and publish one of them only. A "
    "risk counts here if its interval lies above 0; whether it is too high is for you to judge"
)


def advised(found: Iterable[Finding], family: Mapping[str, str]) -> tuple[str, ...]:
    """Return what helps against the families of which an attack did better than its control.

    Better than by chance: the lower limit of the risk is above 0.  ``family``: of each attack.
    """
    hit = {family[one.name]: None for one in found if one.low is not None and one.low > 0}
    lines = [f"What helps against {name}: {HELPS[name]}." for name in hit]
    return (*lines, f"{AGAIN}.") if lines else ()
