"""The section on what was asked."""

from incrowd.report.html import Html, alone_table, cell_text, joined, listed, tag
from incrowd.report.page import Section, paragraphs
from incrowd.report.view import View
from incrowd.text.models import models_in_words
from incrowd.text.units import counted, up

AT_MOST = (
    "at least as many as were asked for, and at most as many as the class has rows. How many there "
    "are depends on whose each row is; the release hides that, so this report does not tell it"
)


def asked(view: View) -> Section:
    """What was asked: models, roles, hierarchies, weights, cost."""
    rows = [
        [cell_text(c), "quasi-identifier", view.how[c], view.weights.get(c, "1")] for c in view.qi
    ]
    rows += [[cell_text(c), "sensitive", "published unchanged", "–"] for c in view.sensitive]
    rows += [[cell_text(c), "other", "published unchanged", "–"] for c in view.keep]
    rows += [[cell_text(c), "pseudonym", "a keyed hash of its value", "–"] for c in view.pseudonyms]
    names = models_in_words(view.models)
    left = ""
    if view.left_out:
        words = "column is" if view.left_out == 1 else "columns are"
        left = f" {view.left_out} {words} left out."
    cost = {
        "level": by_level(view),
        "stars": "Every changed cell costs 1.",
        "averages": "A class costs the squares of its values about their mean (distances from "
        "the median where medians are published), as a share of those of the whole column.",
        "ncp": "A cell costs the share of its column that it may stand for (NCP), a star 1.",
    }.get(view.cost_name, "What a changed cell costs is given by the publisher.")
    agree = f": every row agrees with {others(view)} on all quasi-identifiers" * (view.k > 1)
    body = joined(
        paragraphs(
            f"The release obeys {names}{agree}.{left}",
            *(f"{name[0].upper()}{name[1:]}: {told}." for name, told in view.meanings.items()),
            together(view) or None,
            who_counts(view),
            linked_rows(view),
            no_longer_true(view) or None,
            *(f"{x}: by its own definition alone; no checker knows it." for x in view.unchecked),
            constraints(view) or None,
            veiled(view) or None,
            joined(cost, " Weights multiply that." if view.weights else None, star(view)),
        ),
        alone_table("Columns of the release", ["column", "role", "may become", "weight"], rows, 9),
    )  # fmt: skip
    return Section("asked", "What was asked", body)


def star(view: View) -> Html:
    """What a suppressed cell shows; averages take the place of all."""
    if view.averaged:
        return joined()
    return joined(" ", tag("bdi", f"“{view.star}”"), " stands for a suppressed cell.")


def by_level(view: View) -> str:
    """What changed cells cost where that goes by their level, or their interval."""
    ways = {
        "level": "a generalized cell its level divided by its hierarchy's height",
        "width": "an interval of its class its width divided by that of the whole column",
        "values": "an interval of its class the share of its column's other values in it",
    }
    if {"width", "values"} <= view.priced:
        ways["values"] = "in other columns the share of the other values that are in it"
    told = ("A suppressed cell costs 1", *(way for by, way in ways.items() if by in view.priced))
    return f"{', '.join(told)}."


def others(view: View) -> str:
    """With how many others each row agrees, in words."""
    if view.people is None:
        return f"at least {view.k - 1:,} others"
    return f"rows of at least {view.k - 1:,} other people"


def together(view: View) -> str:
    """What holds of combinations of columns, and what not."""
    if not view.combinations:
        return ""
    return (
        "A combination is a set of columns that others may know together: in its columns every row "
        "reads like at least so many rows, itself among them. Whoever knows columns of several "
        "combinations at once may find a row."
    )


def no_longer_true(view: View) -> Html:
    """Which cells are averages."""
    if not view.averaged:
        return joined()
    return joined(
        "Cells of ",
        listed(map(cell_text, view.averaged)),
        " are averages of their class, rounded as stated below: they are no "
        "longer the true values of single rows, and values of one class are less spread than they "
        "were.",
    )


def who_counts(view: View) -> str:
    """What is counted: rows, of which a person may have several, or people."""
    if view.people is None:
        return "Rows are counted: where a person has several, fewer people than rows are alike."
    were = "row that does not say whose it is was", "rows that do not say whose they are were"
    left = f" {counted(view.ownerless, *were)} left out."
    return (
        "People are counted: the rows of every class belong to that many different people."
        f"{left if view.ownerless else ''} Sizes of classes below are in people"
        + (f": {AT_MOST}." if view.inside is None and view.crowds is None else ".")
    )


def linked_rows(view: View) -> str | None:
    """What holds of the rows of a person together, and what a pseudonym is."""
    told = ""
    if view.links_rows:
        told = (
            f"All rows of a person together read like those of at least {view.k - 1:,} other "
            "people. "
        )
    if view.pseudonyms:
        told += (
            "A pseudonym is a keyed hash: one value has one pseudonym, in every release with the "
            "same key, and without the key nobody can tell the value."
        )
    return told.strip() or None


def constraints(view: View) -> Html:
    """What else was asked, in words; no value of the table is named."""
    found = []
    for columns_ in view.linked:
        columns = listed(map(cell_text, columns_))
        found.append(joined("Suppressed together, row by row: ", columns, ". "))
    if view.caps:
        found.append(f"Caps on the share of changed cells, of columns or subgroups: {view.caps}.")
    return joined(*found)


def veiled(view: View) -> Html:
    """What the coins limit; they go with reports for the publisher alone."""
    veil = None if view.inside is None else view.inside.release.veil
    if veil is None:
        return joined()
    each = [joined(cell_text(c), f" {up(x)}") for c, x in veil.factors.items()]
    return joined(
        "Coins hid cells beforehand: seeing the release changes the odds of a hidden cell's values "
        "by a factor of at most ",
        listed(each),
        ".",
    )
