"""What a lawful table does not protect from: sentences that name no cell."""

import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from incrowd.errors import few_of, listed
from incrowd.text.shell import quoted as word

DIVERSITY = (
    "l-diversity counts the values of each class; it does not limit what can be inferred: somebody "
    "who learns across classes, or knows some people, does better than 1/l (incrowd attack "
    "measures it)"
)

MOST_KEYS = 2_000_000
"""Different keys of people that are compared, in some 1.5 seconds."""

ANOTHER = (
    "these figures are of this table alone: somebody who has another release of the same people "
    "can intersect the classes of both, which no model here limits (incrowd attack --other "
    "measures it)"
)


def bare(text: str) -> str:
    """Return a text without what another type or program may write otherwise."""
    text = text.strip().casefold()
    whole, point, decimals = text.partition(".")
    if point and not decimals.strip("0"):
        text = whole
    return text.lstrip("0") or "0"


def key_of(text: str) -> str:
    """Return a key of a person without what may be written otherwise for the same person."""
    if not text.isascii():
        composed = unicodedata.normalize("NFKC", text)
        text = "".join(c for c in composed if unicodedata.category(c) != "Cf")
    return bare(" ".join(text.replace("\0", "").split()))


def people_twice(columns: Mapping[str, Sequence[str | None]]) -> Iterator[str]:
    """Yield the caution that keys of people are written in several ways; none is quoted.

    columns: the different values of each column that names people; more than ``MOST_KEYS`` are not
    looked at.
    """
    for name, values in columns.items():
        keys = [text for text in values if text is not None]
        alike = len(keys) - len({*map(key_of, keys)}) if len(keys) <= MOST_KEYS else 0
        if alike:
            verb = "value differs" if alike == 1 else "values differ"
            yield (
                f"{alike:,} {verb} from others of {name!r} by blanks, case, zeros in front, "
                "decimals behind or how characters are composed (Unicode) alone: each counts as a "
                "person of its own, and a class may hold fewer people than it says. Write them in "
                "one way first if they name the same people"
            )


def rewritten(name: str, before: Iterable[str | None], now: Iterable[str | None]) -> Iterator[str]:
    """Yield the caution that values of new rows are written otherwise than in earlier rows."""
    earlier = {text for text in before if text is not None}
    strange = [text for text in now if text is not None and text not in earlier]
    plain = {bare(text) for text in earlier} if strange else set()
    alike = sum(bare(text) in plain for text in strange)
    if alike:
        yield (
            f"{alike:,} {'value' if alike == 1 else 'values'} of {name!r} "
            f"{'stands' if alike == 1 else 'stand'} in the earlier release but for blanks, "
            "case, zeros in front or decimals behind: each way of writing counts as a value of its "
            "own, and tells new rows from earlier ones. Write them as they were"
        )


def twins(columns: Mapping[str, Sequence[str | None]]) -> Iterator[str]:
    """Yield the caution that a column has values which people read as one; none is quoted.

    columns: the different values by column.
    """
    for name, values in columns.items():
        texts = [text for text in values if text is not None]
        odd = [t for t in texts if not (t.isascii() and t.isprintable() and t == t.strip())]
        plain = {*texts} - {*odd}
        # without NUL bytes and outer spaces, characters composed
        seen = Counter(unicodedata.normalize("NFC", t.replace("\0", "")).strip() for t in odd)
        alike = sum(n if form in plain else n - 1 for form, n in seen.items())
        if alike:
            verb = "value differs" if alike == 1 else "values differ"
            yield (
                f"{alike:,} {verb} from others of {name!r} by outer spaces, NUL bytes or how "
                "characters are composed (Unicode) alone: each counts as a value of its own, and a "
                "class may hold both. Write them in one way first if they mean the same"
            )
        elif any("\0" in text for text in odd):
            yield f"values of {name!r} hold NUL bytes, which many programs end a text at"


def few_new(classes: int, joined: int, k: int) -> str:
    """Return the caution that the difference of two releases tells which rows are new.

    classes: how many of the ``joined`` published classes got fewer than k new rows.
    """
    of = "class" if joined == 1 else "classes"
    return (
        f"{classes:,} of {joined:,} published {of} that got new rows got fewer than {k:,}: "
        "somebody who has the earlier release as well sees which rows are new, and people known "
        "to be new hide only among the new rows of their class. Larger deliveries make that rarer"
    )


def pairs(cells: int, columns: Sequence[str], *, shown: bool = False) -> str:
    """Return the caution that hidden cells of two values in classes of two rows are no secret.

    A minimal method hides a cell of a pair only where the two differ: with two values, both are in.
    shown: two values are what the release shows; the original, which is not known, may have more.
    """
    names = listed(columns)
    two, where = ("that show", "If there is no third value, a") if shown else ("with", "A")
    return (
        f"{cells:,} cells of columns {two} two values ({names}) are hidden in classes of two rows. "
        f"{where} reader can tell that the two rows of such a class differ there, or the cells "
        "would be shown. Each of the two values, together with what the class shows, then often "
        "fits exactly one person. k = 3 or more makes that rarer (see incrowd attack --attack "
        "singling-out)"
    )


def pairs_under_a_veil(columns: Sequence[str]) -> str:
    """Return the caution that a dear column of two values is hidden less because of its values."""
    names, weights = listed(columns), few_of((f"--weight {word(f'{c}=3')}" for c in columns), " ")
    return (
        f"columns with two values ({names}): a pair that hides one because its rows differ singles "
        f"both out. With {weights} the method hides such cells less often itself, so that most of "
        "the hidden ones are the choice of coins, which tells nothing; it costs few stars more"
    )


def together(names: Sequence[str], rows: int, few: int, single: int, k: int) -> str:
    """Return the caution that unchanged columns, taken together, find most rows.

    few: how many of the ``rows`` agree in these columns with fewer than k - 1 others, k ≥ 2.
    single: how many of them agree with none.
    """
    if k == 2:
        found = f"{few:,} of {rows:,} rows agree with no other row"
    else:
        found = f"{few:,} of {rows:,} rows agree with fewer than {k - 1:,} others"
    alone = f" ({single:,} of them with none)" if single and k > 2 else ""
    return (
        f"{found} in {listed(names)}, taken together{alone}. These columns are published "
        "unchanged: somebody who knows such cells of a person finds the row, however large its "
        "class is. Publish fewer of them, or make those that others may know quasi-identifiers "
        "(--qi). "
        "incrowd measure with these columns as --qi, and --subsets 3, says which few are enough"
    )
