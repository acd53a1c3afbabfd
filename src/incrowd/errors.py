"""Every error incrowd raises on purpose, with the exit code the command line gives it.

The texts say what was found, what is allowed and the nearest fix.  They quote no cell of the
input, nor what a rule makes of one: they stand on screens and in logs that more people read than
the table.  Row and column are named, a file's line, or a cell's form (letters as a, digits as 9).

    IncrowdError
    ├── InputError            the table, a file or an argument is wrong            exit 2
    │   ├── HierarchyError    a hierarchy is broken or does not fit the table
    │   │   └── LackingError  it lacks values of the table
    │   │       └── UnfitError      they do not fit a rule
    │   │           ├── UnorderedError   they have no place in a column's order
    │   │           ├── UnnumberedError  they are not numbers
    │   │           ├── OutsideError     they lie outside all bands of a rule
    │   │           └── TooLongError     they have more digits than a rule works with
    │   ├── OutOfScopeError   the chosen method does not serve this table or model
    │   └── MissingExtraError an optional package is not installed
    ├── NoLawfulReleaseError  no release can obey the model                        exit 1
    ├── VerificationError     a release failed its independent re-check            exit 1
    └── StoppedError          stopped before any lawful release was found          exit 3
"""

import re
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from numbers import Real
from typing import Any
from unicodedata import normalize


class IncrowdError(Exception):
    """Base of all errors that incrowd raises on purpose."""

    exit_code = 2

    def __reduce__(self) -> tuple[Any, ...]:
        """Travel between processes: a pool breaks where an error cannot be made again.

        By message and attributes, as what an error is made of need not be its message.
        """
        return _again, (type(self), self.args), self.__dict__


def _again(kind: type[IncrowdError], args: tuple[Any, ...]) -> IncrowdError:
    """Return an error with this message, past its own way to make one."""
    return kind.__new__(kind, *args)


class InputError(IncrowdError):
    """The table, a file or an argument is wrong."""


class HierarchyError(InputError):
    """A hierarchy is broken, or does not fit the table."""


class LackingError(HierarchyError):
    """A hierarchy lacks values of the table; they are told to who asks, and in no message.

    Attributes
    ----------
    column: whose values; absent: those that are lacking, sorted; origin: the file or rows.
    """

    def __init__(
        self, column: str, absent: Sequence[str], origin: str, row: int | None = None
    ) -> None:
        self.column, self.absent, self.origin = column, tuple(absent), origin
        one = len(absent) == 1
        first = "" if row is None else f"{'in' if one else 'the first in'} row {row}"
        super().__init__(self.told(f"{len(absent):,} value", one, first))

    def told(self, count: str, one: bool, first: str) -> str:
        """Say what is wrong; ``count``: ``2 value``; ``first``: where, empty if that is unknown."""
        where = f" ({first})" if first else ""
        return (
            f"column {self.column!r}: {count}{' is' if one else 's are'} not in the hierarchy "
            f"{self.origin}{where}; incrowd hierarchy check, with --table and --column, names "
            f"{'it' if one else 'them'}"
        )


DIGITS = "with up to 60 digits before and behind the point"


class UnfitError(LackingError):
    """Values do not fit a rule, which is ``origin``."""

    def told(self, count: str, one: bool, first: str) -> str:
        """Say what is wrong, and what is allowed."""
        where = f", {first}" if first else ""
        wrong = f"{count}{self.wrong(one)}{where}"
        return f"column {self.column!r}, {self.origin}: {wrong}; {self.allowed()}"

    def wrong(self, one: bool) -> str:
        """Return what one value or several do, as it stands behind ``2 value``."""
        raise NotImplementedError

    def allowed(self) -> str:
        """Return what would fit."""
        raise NotImplementedError


class UnorderedError(UnfitError):
    """Values of an ordered column have no place in its order; ``origin`` is the rule."""

    def wrong(self, one: bool) -> str:
        """They have no place."""
        return f"{' has' if one else 's have'} no place in its order"

    def allowed(self) -> str:
        """Numbers, dates, or what a file lists."""
        return (
            f"allowed are numbers like 35, -4 or 12.50, {DIGITS}, or dates like 2021-03-15, of one "
            "kind in the whole column (only numbers where ends are rounded), or the values that a "
            "file lists (range:order=FILE); leave missing ones empty, or name what stands for them "
            f"({missing_hint(self.absent)}){decimal_hint(self.absent)}"
        )


class UnnumberedError(UnfitError):
    """Values of a column that is to be averaged are no numbers; ``origin`` is the rule."""

    def wrong(self, one: bool) -> str:
        """They are no numbers."""
        return " is not a number" if one else "s are not numbers"

    def allowed(self) -> str:
        """Numbers."""
        return (
            f"allowed are numbers like 35, -4 or 12.50, {DIGITS}, and neither NaN nor infinity; "
            f"leave missing ones empty, or name what stands for them ({missing_hint(self.absent)})"
            f"{decimal_hint(self.absent)}"
        )


class OutsideError(UnfitError):
    """Numbers lie outside all bands of a rule, which is ``origin``."""

    def wrong(self, one: bool) -> str:
        """They lie outside."""
        return f"{' lies' if one else 's lie'} outside all bands"

    def allowed(self) -> str:
        """Open bands would hold them."""
        return "write < before the first border, or + behind the last one, for an open band"


class TooLongError(UnfitError):
    """Numbers have more digits than a rule, which is ``origin``, works with."""

    def wrong(self, one: bool) -> str:
        """They are too long."""
        return f"{' has' if one else 's have'} more than 60 digits before or behind the point"

    def allowed(self) -> str:
        """A file would hold them."""
        return "use a hierarchy file"


def not_finite(values: Sequence[str]) -> list[str]:
    """Return the texts that say NaN or infinity, as they are written; they tell of nobody."""
    words = ("nan", "inf", "infinity")
    return [value for value in values if value.strip().lower().lstrip("+-") in words]


THOUSANDS = re.compile(r"\s*[+-]?[1-9][0-9]{0,2}(,[0-9]{3})+(\.[0-9]+)?\s*")
SIGNED = re.compile(  # $1,200, 12 %, 70 kg, 1 200, 1'200
    r"\s*[+-]?([$€£¥]\s?[+-]?[0-9][0-9.,'\u2019 \u00a0\u202f]*"
    r"|[0-9][0-9.,'\u2019 \u00a0\u202f]*[$€£¥%°µa-zA-Z][^0-9\s]{0,8}"
    r"|[1-9][0-9]{0,2}(['\u2019 \u00a0\u202f][0-9]{3})+(\.[0-9]+)?)\s*"
)


def between_thousands(values: Iterable[str]) -> bool:
    """Whether every comma may stand between thousands: before three digits, as in ``1,200``."""
    commas = [value for value in values if "," in value]
    return bool(commas) and all(map(THOUSANDS.fullmatch, commas))


def decimal_hint(values: Iterable[str]) -> str:
    """Return what makes numbers of texts that are written otherwise.

    It tells the form of some value, and none of them.
    """
    values = list(values)
    if between_thousands(values):
        way = "--decimal , is for numbers with a decimal comma, and would read 1,200 as 1.2"
        return f"; if these are numbers with commas between thousands, take the commas out ({way})"
    for value in values:
        if re.fullmatch(r"\s*[+-]?[0-9][0-9.'\u2019 \u00a0\u202f]*,[0-9]+\s*", value):
            return "; if these are numbers with a decimal comma, like 12,5, say so (--decimal ,)"
        if re.fullmatch(r"\s*[+-]?[0-9]+\.[0-9]+\s*", value):
            return "; --decimal , reads 12,5 and 1.234,5 as numbers, and not 12.5"
        if SIGNED.fullmatch(value):
            return "; write numbers without currency, unit, % and marks between thousands"
    return ""


def missing_hint(absent: Sequence[str]) -> str:
    """Return the option that makes NaN and infinities missing, as the table writes them."""
    return f"--na {','.join(not_finite(absent)) or 'NaN'}"


class OutOfScopeError(InputError):
    """The chosen method does not serve this table or model."""


class MissingExtraError(InputError):
    """An optional package is not installed; one that no extra is about has ``extra`` None."""

    def __init__(self, package: str, extra: str | None, purpose: str) -> None:
        wanted = f'"incrowd[{extra}]"' if extra else package
        super().__init__(
            f"{purpose} needs the package {package!r}, which is not installed: pip install {wanted}"
        )


class NoLawfulReleaseError(IncrowdError):
    """No release of this table can obey the model."""

    exit_code = 1


class VerificationError(IncrowdError):
    """A release failed its independent re-check; nothing was written."""

    exit_code = 1


class StoppedError(IncrowdError):
    """The search was stopped before any lawful release was found."""

    exit_code = 3


NUMBER = re.compile(r"[+-]?[0-9]+([.,][0-9]+)?")


def no_column(what: str, name: object, known: Iterable[str]) -> InputError:
    """Return the error that an argument names a column which is not there; names may be no text."""
    unread = (
        " (its letters came in as bytes that this locale has no letters for: set PYTHONUTF8=1)"
        if re.search("[\udc80-\udcff]", str(name))
        else ""
    )
    known = list(known)
    hint = column_meant(name, known)
    several = [part.strip() for part in name.split(",")] if isinstance(name, str) else []
    if len(several) > 1 and {*several} <= {*known}:
        hint = f"; several names are a list in Python: {several}"
    parted = [part for part in re.split(r"[;|\s]+", str(name)) if part]
    if len(parted) > 1 and {*parted} <= {*known}:
        hint = f"; write commas between names: {','.join(parted)}"
    elif "did you mean" not in hint and any(map(NUMBER.fullmatch, map(str, known))):
        hint = (
            "; columns are called like numbers: if the table lacks its header, add a line of names"
        )
    elif len(known) == 1 and re.search(r"[^\w]", str(known[0])):
        hint = (
            "; the table has one column alone: if more stand in it, say what parts them "
            "(--delimiter ';')"
        )
    return InputError(f"{what}: no column is called {quoted(name)}{unread}{hint}")


def no_quasi_identifier() -> InputError:
    """Return the error that no column is one that others may know."""
    return InputError(
        "no column is a quasi-identifier; name those that others may know about a person "
        "with qi (--qi)"
    )


def home_hint(path: object) -> str:
    """Return what to do about a name that starts with ``~``, which a shell would have replaced."""
    home = str(path).startswith("~")
    return "; ~ is not read as your home folder here: write it in full" if home else ""


def no_folder(path: object, folder: object) -> InputError:
    """Return the error that the folder of a file or folder to be written is not there."""
    return InputError(f"{path}: the folder {str(folder)!r} does not exist{home_hint(path)}")


NEAR = 0.6  # share of letters in common; below it a guess misleads more often than it helps


def require_one_line(path: object, what: str = "the input") -> None:
    """Raise InputError for a table's text in place of a file's name: messages quote names."""
    if "\n" in str(path):
        raise InputError(
            f"the name of {what} has several lines: it is taken for the text of a table; give "
            "the name of a file, or a frame, as polars.read_csv(io.StringIO(text)) makes one"
        )


def did_you_mean(word: object, known: Iterable[str]) -> str:
    """Return ``"; did you mean 'x'?"`` for the nearest known word, or a list of the known ones."""
    known, text = list(known), str(word)  # in Python a name may be given as a number
    folded = {normalize("NFC", other.casefold()): other for other in reversed(known)}
    near = get_close_matches(normalize("NFC", text.casefold()), folded, n=1, cutoff=NEAR)
    if near and normalize("NFC", found := folded[near[0]]) == normalize("NFC", text):
        return f"; {found!a} looks the same, but is not {text!a}: copy the name"
    if near:
        return f"; did you mean {folded[near[0]]!r}?"
    if not known:
        return ""
    return f"; known: {listed(known)}"


def column_meant(name: object, known: Iterable[str]) -> str:
    """Return ``did_you_mean`` of columns, of which one may have been cut at its comma."""
    known = list(known)
    whole = next((other for other in known if name in str(other).split(",")[:-1]), None)
    if whole is None:
        return did_you_mean(name, known)
    return f"; on the command line a name with a comma stands in quotes: '\"{whole}\"'"


def quoted(value: object) -> str:
    """Return what was given, as a message quotes it: of what may be a table only the type."""
    plain = type(value).__module__ == "builtins" or isinstance(value, Real)
    text = repr(value) if plain else ""
    return text if 0 < len(text) <= QUOTED else f"a {type(value).__name__}"


QUOTED = 80  # characters of one value
LISTED, SHORT = 12, 60  # names in a message, and characters of one: who reads it looks for a cause


def listed(names: Iterable[object]) -> str:
    """Return names of columns and the like as a message quotes them, the first few of many."""
    quoted = map(repr, names)
    return few_of(name if len(name) <= SHORT else f"{name[:SHORT]}…{name[0]}" for name in quoted)


def few_of(texts: Iterable[str], between: str = ", ") -> str:
    """Return the first few of many texts in a row, and how many more there are."""
    texts = list(texts)
    more = len(texts) - LISTED
    return between.join(texts[:LISTED]) + (f" and {more:,} more" if more > 0 else "")
