"""A first policy file from guesses: each with its reason beside it, ready to be used and edited."""

from collections.abc import Sequence
from itertools import chain, count

from incrowd.hierarchy.tree import STAR
from incrowd.policy.guess import Guess
from incrowd.text.numerals import POINT

HEAD = """\
# What is asked of a release; see docs/reference/policy.md.
# The roles below are GUESSES from names, types and how many values differ. Check each one:
# what others may know about a person is not in the table.
"""
ROLES = {
    "qi": "Quasi-identifiers: what others may know about a person; changed where needed.",
    "sensitive": "Sensitive columns: published unchanged.",
    "id": "Identifiers: left out of the release.",
    "person": "Who is who: people are counted instead of rows; left out of the release.",
    "keep": "Other columns: published unchanged. A column belongs here only if nobody knows it.",
}


def policy_text(
    guesses: Sequence[Guess], k: int = 5, star: str | None = None, decimal: str = POINT
) -> str:
    """Return a policy file (TOML) with these guesses; without quasi-identifiers it is no policy.

    Parameters
    ----------
    star: the mark of a suppressed cell, where the table needs another than ``*``.
    decimal: what stands before the decimals of numbers that are texts.
    """
    lines = [HEAD, f"k = {k}  # least number of rows alike"]
    if star is not None and star != STAR:
        lines.append(f"star = {quoted(star)}  # some cell of the table is {STAR}")
    if decimal != POINT:
        lines.append(f"decimal = {quoted(decimal)}  # before the decimals of numbers")
    for role, meaning in ROLES.items():
        lines += ["", f"# {meaning}"]
        lines += listed(role, [guess for guess in guesses if guess.role == role])
    lines += [
        "",
        "# More that can be said: models, weights, fixed, linked, caps, time_limit and others.",
        "# time_limit = 60",
    ]
    if any(guess.role == "sensitive" for guess in guesses):
        lines.append("# l = 2  # at least two different values of each sensitive column in a class")
    weights = [guess for guess in guesses if guess.role == "keep"]
    if weights:
        weight = quoted(weights[0].column)
        lines.append(f"# survey_weight = {weight}  # for the figures of internal reports")
    lines += ages(guesses)
    lines += missing_texts(guesses)
    rules = [guess for guess in guesses if guess.hierarchy is not None]
    if rules:
        lines += ["", "# How values become more general; others are suppressed whole."]
        lines.append("[hierarchies]")
        lines += [f"{key(guess.column)} = {quoted(str(guess.hierarchy))}" for guess in rules]
    return "\n".join(lines) + "\n"


def ages(guesses: Sequence[Guess]) -> list[str]:
    """Return the lines that propose ages in place of birth dates, as comments: a day is wanted."""
    found = [guess for guess in guesses if guess.derive is not None]
    if not found:
        return []
    taken = {guess.column for guess in guesses}
    numbered = chain(["age"], (f"age_{i}" for i in count(2)))
    names = (name for name in numbered if name not in taken)
    return [
        "",
        "# A birth date tells more than an age. For an age in its place take the # away, say at",
        "# which day ages are counted, and name the new column in place of the old one: above, and",
        '# under [hierarchies], where its rule may be "interval:5,10,20".',
        "# [derive]",
        *(f"# {next(names)} = {quoted(str(guess.derive))}" for guess in found),
    ]


def missing_texts(guesses: Sequence[Guess]) -> list[str]:
    """Return the lines that say which texts stand for missing values, by column."""
    found = [guess for guess in guesses if guess.na and guess.role not in ("id", "person")]
    if not found:
        return []
    rows = [f"{key(g.column)} = [{', '.join(map(quoted, g.na))}]" for g in found]
    return [
        "",
        "# Texts that seem to stand for a missing value: no number, date or code.",
        "[na]",
        *rows,
    ]


def listed(role: str, guesses: Sequence[Guess]) -> list[str]:
    """Return the lines of one role, a column a line with its reason."""
    if not guesses:
        return [f"{role} = []"]
    names = [f"  {quoted(guess.column)}," for guess in guesses]
    width = min(30, max(map(len, names)))
    lines = [f"{name:<{width}}  # {guess.why}" for name, guess in zip(names, guesses, strict=True)]
    return [f"{role} = [", *lines, "]"]


def quoted(text: str) -> str:
    """Return a text as TOML writes it, on one line."""
    escapes = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t"}
    written = (
        escapes.get(c) or (f"\\u{ord(c):04x}" if ord(c) < 32 or ord(c) == 127 else c) for c in text
    )
    return f'"{"".join(written)}"'


def key(text: str) -> str:
    """Return a key as TOML writes it: bare where it may be."""
    bare = text.isascii() and text.replace("_", "").replace("-", "").isalnum()
    return text if bare else quoted(text)
