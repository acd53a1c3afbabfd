"""A release by fixed patterns against its statement."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from math import isfinite, log
from pathlib import Path
from typing import TYPE_CHECKING, Any

from incrowd.checker.files import is_release, read_json, same
from incrowd.checker.hockey import require_delta
from incrowd.checker.rejection import RejectedError
from incrowd.codebooks.delta import Asked
from incrowd.codebooks.patterns import NONE, Cell, Patterns, rows_of
from incrowd.codebooks.statement import FORMAT, VERSION, statement
from incrowd.errors import InputError
from incrowd.proof.coins import SURE, distance
from incrowd.proof.writing import sha256_of
from incrowd.published.spelled import told_apart

if TYPE_CHECKING:
    from incrowd.hierarchy.ladder import Source as Hierarchy
    from incrowd.tables.base import Source

OPEN = (
    "whether the patterns were fixed without the table",
    "whether the coins were tossed as stated, and once",
    "whether each person has one row",
)


def read_statement(path: str | Path) -> dict[str, Any]:
    """Return a statement.

    Raises
    ------
    InputError: the file is none.
    """
    no = InputError(f"{path}: not the statement of a release by patterns")
    try:
        said = read_json(Path(path).read_bytes())
    except OSError as error:
        raise InputError(f"{path}: {error.strerror or 'cannot be read'}") from None
    except (ValueError, RecursionError):
        said = None
    if not isinstance(said, dict) or said.get("format") != FORMAT:
        raise no
    if not same(said.get("version"), VERSION):
        raise no
    return said


def reasons(
    said: Mapping[str, Any],
    paths: tuple[str | Path, str | Path],
    release: "Source",
    patterns: Patterns,
    original: "Source | None",
    hierarchies: "Mapping[str, Hierarchy]",
) -> Iterator[str]:
    """Yield why a release is not what its statement says.

    Parameters
    ----------
    paths: files of release and patterns.
    original: where it is at hand; hierarchies: then what labels stand for.
    """
    for path, name in zip(paths, ("release", "patterns"), strict=True):
        if sha256_of(path) != said.get(f"{name}_sha256"):
            yield f"the file of the {name} is not the one of the statement"
            return
    k, delta, others = (said.get(name) for name in ("k", "delta", "published_as_they_are"))
    sample, epsilon = (_exact(said.get(name)) for name in ("sample", "epsilon"))
    fine = type(k) is int and type(delta) is float and isfinite(delta)  # 1e999 is read as infinite
    fine = fine and isinstance(others, list) and all(isinstance(name, str) for name in others)
    if not fine or sample is None or epsilon is None:
        yield "the statement lacks a number, or has one of another form"
        return
    assert isinstance(others, list) and isinstance(k, int) and isinstance(delta, float)
    try:
        require_delta(k, sample, epsilon, Fraction(str(delta)))
    except RejectedError as error:
        yield error.reason
        return
    expected = statement(Asked(k, sample, epsilon), delta, patterns, others, paths)
    if is_release(said.get("incrowd")):  # of another version, perhaps
        expected["incrowd"] = said["incrowd"]
    both = {*said} & {*expected}
    differ = {*said, *expected} - {name for name in both if same(said[name], expected[name])}
    if wrong := sorted(differ):
        yield f"the statement's {wrong[0]} is not what goes with the rest of it"
        return
    wanted = (*patterns.columns, *others)
    if sorted(wanted) != sorted(release.columns):
        yield "the release has other columns than its statement says"
        return
    yield from told_apart(release, None, ())
    yield from _rows_broken(release, patterns, others, k)
    if original is None:
        return
    if lacking := sorted({*wanted} - {*original.columns}):
        yield f"the original lacks the column {lacking[0]!r}"
        return
    yield from _more_than_there_are(release, patterns, others, original, hierarchies, said)


def _exact(text: Any) -> Fraction | None:
    """Return the number that a text writes as a fraction of whole numbers above 0."""
    written = isinstance(text, str) and re.fullmatch(r"[1-9]\d{0,98}(/[1-9]\d{0,98})?", text)
    return Fraction(text) if written else None


def _rows_broken(
    release: "Source", patterns: Patterns, others: Sequence[str], k: int
) -> Iterator[str]:
    width, known = len(patterns.columns), set(patterns.cells)
    counts = Counter(rows_of(release, (*patterns.columns, *others)))
    strange = sum(row[:width] not in known for row in counts)
    if strange:
        yield f"{strange:,} different rows of the release are not patterns of the file"
    idle = known & patterns.shadowed
    hidden = sum(row[:width] in idle for row in counts)
    if hidden:
        yield (
            f"{hidden:,} different rows of the release are patterns that an earlier one of the "
            "file goes before: no row becomes them"
        )
    small = sum(count < k for count in counts.values())
    if small:
        yield f"{small:,} different rows of the release stand there fewer than {k:,} times"


def _more_than_there_are(
    release: "Source",
    patterns: Patterns,
    others: Sequence[str],
    original: "Source",
    hierarchies: "Mapping[str, Hierarchy]",
    said: Mapping[str, Any],
) -> Iterator[str]:
    number = patterns.of_rows(original, hierarchies).tolist()
    beside = rows_of(original, others) if others else [()] * original.rows
    there = Counter(
        (*patterns.cells[i], *row) for i, row in zip(number, beside, strict=True) if i != NONE
    )
    found = Counter(rows_of(release, (*patterns.columns, *others)))
    more = sum((found - there).values())
    if more:
        yield f"{more:,} rows of the release are of no row of the original"
    elif _other_coins(found, there, said["k"], float(Fraction(said["sample"]))):
        yield (
            f"coins that take each row with probability {said['sample']} leave other numbers of "
            "rows: too many are there, or too few"
        )


def _other_coins(
    found: Counter[tuple[Cell, ...]], there: Counter[tuple[Cell, ...]], k: int, share: float
) -> bool:
    """Whether numbers of rows, of one kind or together, are next to impossible with such coins.

    Of n rows of a kind that is not published fewer than k were taken; of others as many as stand
    there.  One in e²⁸ honest releases is called false; see ``incrowd.proof.coins``.
    """
    pairs = [(found[kind], found[kind] or min(n, k - 1), n) for kind, n in there.items()]
    pairs.append((found.total(), sum(most for _, most, _ in pairs), there.total()))
    limit = SURE + log(2 * len(pairs))
    return any(
        n and n * max(distance(least / n, share), distance(1 - most / n, 1 - share)) > limit
        for least, most, n in pairs
    )
