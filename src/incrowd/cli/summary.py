"""The closing summary that a person reads."""

from typing import TYPE_CHECKING

from incrowd.text.models import models_in_words
from incrowd.text.units import counted, shown, shown_gap, shown_price, up

if TYPE_CHECKING:
    from incrowd.release import Release


def summary(release: "Release") -> str:
    """Return the closing summary: one fact a line, the columns that changed below."""
    if not release.rows:
        return "The table has no rows; the release has its header alone."
    classes = counted(release.classes, "class", "classes")
    cells, changed = release.cells, release.changed_cells
    lines = [
        (
            "rows",
            f"{release.rows:,}{_beside(release)} in {classes}, the smallest of "
            f"{release.smallest_class:,} ({models_in_words(release.models)})",
        ),
        *_combinations(release),
        *_people(release),
        *_unchecked(release),
        ("changed", f"{changed:,} of {cells:,} cells ({changed / cells:.2%})"),
    ]
    if release.suppressed_rows:
        lines.append(
            ("left out", f"{counted(release.suppressed_rows, 'row')}, each counted as all stars")
        )
    lines += [*_deleted(release), *_averaged(release)]
    if release.cost != changed:
        lines.append(("cost", f"{shown(release.cost)} ({release.cost_fraction:.2%} of the most)"))
    if release.k == 1 and len(release.models) == 1 and not release.policy.protect:
        lines.append(("note", "with k = 1 nobody hides: the table is published as it is"))
    held = len(getattr(release, "held", ()))
    if held:
        why = getattr(release, "held_for", "")
        lines.append(("held", f"{counted(held, 'new row')}, until the next delivery: {why}"))
    lines.append(("bound", _bound_in_words(release)))
    for name, bound in release.further_bounds.items():
        lines.append(("", f"{shown(bound)}: the {name}, also a lower bound"))
    lines += _veil(release)
    lines.append(("status", _status_in_words(release)))
    text = "\n".join(f"{name:<8} {fact}" for name, fact in lines)
    return text + "\n" + _columns_in_words(release)


def _combinations(release: "Release") -> list[tuple[str, str]]:
    """The smallest group of each combination of columns that has its own k."""
    if release.protected is None:
        return []
    sizes = release.smallest_groups
    names = [", ".join(map(printable, one.columns)) for one in release.policy.protect]
    return [
        ("" if n else "groups", f"{counted(size, 'row')} at least are alike in {name}")
        for n, (name, size) in enumerate(zip(names, sizes, strict=True))
    ]


def _deleted(release: "Release") -> list[tuple[str, str]]:
    """How many rows were deleted, and at what price, where that was asked for."""
    if release.deleted is None:
        return []
    rows, price = len(release.deleted.rows), shown_price(release.deleted.price)
    return [("deleted", f"{counted(rows, 'row')} at {price} each, as --delete-rows asks")]


def _averaged(release: "Release") -> list[tuple[str, str]]:
    """Which columns show averages, as each is rounded."""
    if release.averaged is None:
        return []
    told = [f"{printable(axis.column)} ({axis.published})" for axis in release.averaged.axes]
    return [("averages", f"{', '.join(told)}: of each class, not true of single rows")]


def _people(release: "Release") -> list[tuple[str, str]]:
    """How many people the rows are, where the release counts people."""
    if release.people is None:
        return []
    left = release.rows_without_person
    whose = "row that does not say whose it is", "rows that do not say whose they are"
    told = [("left out", counted(left, *whose))] if left else []
    people = f"{release.people:,}, at least {release.fewest_people:,} in each class"
    return [("people", people), *told]


def _veil(release: "Release") -> list[tuple[str, str]]:
    """What the veil promises, and a bound of the table under it."""
    if release.veil is None:
        return []
    factors = release.veil.factors
    if len({*factors.values()}) == 1 and len(factors) == release.columns:
        each = up(next(iter(factors.values())))
    else:
        each = ", ".join(f"{up(x)} ({printable(name)})" for name, x in factors.items())
    return [
        ("veil", f"odds of a hidden cell's values change by a factor of at most {each}"),
        ("", f"{shown(release.veiled_bound or 0)}: the bound with the cells that coins hid"),
    ]


def _unchecked(release: "Release") -> list[tuple[str, str]]:
    """The models that nobody but they themselves has checked."""
    told = "by its own definition alone; the independent checker does not know it"
    return [("checked", f"{name}: {told}") for name in release.unchecked]


def _beside(release: "Release") -> str:
    """What the new rows of a release were added to, if they were."""
    earlier = getattr(release, "existing", None)
    if earlier is None:
        return ""
    joined = getattr(release, "joined", 0)
    return f" new ({joined:,} in published classes) beside {earlier.rows:,} published,"


def _bound_in_words(release: "Release") -> str:
    lawful = "lawful release of the rows kept" if release.suppressed_rows else "lawful release"
    lawful += " with deletions" if release.deleted is not None else ""
    if release.status == "optimal":
        return f"{shown(release.cost)}: no {lawful} costs less than this one"
    if release.lower_bound == 0:
        return "none was found, so a better release may exist"
    bound = shown(release.lower_bound)
    return f"{bound}: no {lawful} costs less; the gap is {shown_gap(release.gap)}"


def _status_in_words(release: "Release") -> str:
    how = {
        "finished": "the search finished",
        "stopped paying": "the search ended when it stopped paying",
        "gap reached": "the search ended at the gap that was asked for",
        "time limit": "the search ended at the time limit",
        "interrupted": "the search was interrupted; this is the best release until then",
    }
    state = "proven optimal" if release.status == "optimal" else "lawful, not proven optimal"
    ended = how.get(release.ended, release.ended)
    limit = release.policy.time_limit
    if release.ended == "time limit" and limit is not None and release.seconds < limit:
        # caps take several attempts, fixed columns several parts
        ended = "the search ended when its part of the time limit was over"
    return f"{state}; {ended} ({release.method}, {release.seconds:.1f} s)"


def _columns_in_words(release: "Release") -> str:
    """One line per quasi-identifier with its changed cells, the most changed first."""
    ranked = sorted(release.changed.items(), key=lambda item: (-item[1], item[0]))
    width = max((len(printable(name)) for name, _ in ranked), default=0)
    rows = release.rows
    return "\n".join(
        f"  {printable(name):<{width}}  {count:>{len(f'{rows:,}')},} changed ({count / rows:.1%})"
        for name, count in ranked
    )


def printable(name: str) -> str:
    """A column name on one line of a terminal, control characters made visible."""
    return name if name and name.isprintable() else repr(name)
