"""What an option is, and what else there is to say of it than its type and default.

The table of all options is the class ``incrowd.policy.table.Asked``: a row for each.  From it come
the signatures and docstrings of ``anonymize`` and of the transformer, the command line, the policy
file with its schema, and the reference page.
"""

import inspect
import textwrap
from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING, dataclass, field, fields, replace
from typing import Any, TypeVar

DIVERSITIES = ("distinct", "frequency", "entropy", "recursive", "disjoint")
LIKENESSES = ("basic", "enhanced")
ORDERS = ("keep", "shuffle")
MISSING_PERSON = ("error", "own", "drop")
REDUCTIONS = ("paper", "all", "none")
DISTANCE = "`equal`, `ordered` (numbers by size, dates by time), `hierarchy`, or a file"
MANY = (
    *("names", "lists", "models", "caps", "marks", "combinations"),
    *("texts by column", "numbers by column", "number or by column"),
)
"""Kinds of which the command line takes several."""

F = TypeVar("F", bound=Callable[..., Any] | type)


@dataclass(frozen=True)
class Option:
    """One option of a release, or one key of a table in a policy file.

    Attributes
    ----------
    kind: ``whole``, ``number``, ``exact`` (a number, or a text such as ``"1/5"``), ``text``,
        ``names`` (a text or a list of texts), ``lists`` (of lists of texts), ``texts by column``,
        ``numbers by column``, ``text or by column``, ``number or by column``, ``models``, ``caps``,
        ``combinations``, ``flag`` (true or false).
        ``marks`` (a list of texts, or such lists by column), ``rows`` (``20``, or ``"2%"``).
    meaning: for readers, in Markdown; without a full stop.
    flag: on the command line; ``metavar`` stands for its value there.
    choices: the texts that are allowed; none: any.
    least, most: the numbers that are allowed; ``above``: the number that is too little.
    file: whether the text may name a file, then relative to the policy file.
    alone: of texts by column: whether a column may stand without a text.
    words: the default in words, where the value alone says little.
    command: the default of the command line where it is another than Python's; ``why`` it is.
    typed, python: what is to say of the command line alone, and of Python alone.
    name, default, type: taken from the row; ``default`` is Python's, None where none is said.
    """

    kind: str
    meaning: str
    flag: str = ""
    metavar: str | None = None
    choices: tuple[str, ...] = ()
    least: float | None = None
    most: float | None = None
    above: float | None = None
    file: bool = False
    alone: bool = False
    words: str = ""
    command: Any = None
    why: str = ""
    typed: str = ""
    python: str = ""
    name: str = ""
    default: Any = None
    type: Any = None

    @property
    def names_columns(self) -> bool:
        """Whether its texts are names of columns, or hold some, and no rules or files."""
        return self.kind in ("names", "lists", "combinations", "caps") or self.metavar == "COLUMN"

    @property
    def typed_default(self) -> Any:
        """The default on the command line."""
        return self.default if self.command is None else self.command

    @property
    def default_in_words(self) -> str:
        """The default, for readers; empty where there is none."""
        if self.command is not None:
            return f"{self.command} on the command line, {self.default} in Python"
        plain = str(self.default).lower() if self.kind == "flag" else str(self.default)
        return self.words or ("" if self.default in (None, ()) else plain)

    @property
    def help(self) -> str:
        """What ``--help`` says, names in backticks, without a default that the program adds."""
        parts = [self.meaning, self.typed]
        if self.words:
            parts.append(f"Default: {self.words}")
        if self.command is not None:
            parts.append(f"In Python the default is {self.default}: {self.why}")
        return " ".join(f"{part[:1].upper()}{part[1:]}." for part in parts if part)

    @property
    def documentation(self) -> str:
        """The lines of a docstring."""
        parts = [self.meaning.replace("`", "``")]
        parts += [f"default: {self.words}"] if self.words else []
        parts += [self.python] if self.python else []
        if self.command is not None:
            parts.append(f"``{self.command}`` by default on the command line: {self.why}")
        text = f"{self.name}: {'; '.join(parts)}."
        return textwrap.fill(text, 96, subsequent_indent="    ", break_long_words=False)


def row(default: Any, option: Option) -> Any:
    """Return a row of the table: a dataclass's field with its default and all that is said of it.

    A mapping is made anew for each instance, as dataclasses ask; None may be given for it.
    """
    metadata = {"option": option}
    if isinstance(default, Mapping):
        return field(default_factory=dict, metadata=metadata)
    return field(default=default, metadata=metadata)


def table_of(rows: type) -> tuple[Option, ...]:
    """Return the options of a dataclass that is a table of them, in its order."""
    return tuple(
        replace(
            each.metadata["option"],
            name=each.name,
            default=None if each.default is MISSING else each.default,
            type=each.type,
        )
        for each in fields(rows)
    )


def named(options: Iterable[Option]) -> dict[str, Option]:
    """Return the options by name."""
    return {option.name: option for option in options}


def documentation(options: Iterable[Option]) -> str:
    """Return what a docstring says of options, an entry for each."""
    return "\n".join(option.documentation for option in options)


def documented(options: Iterable[Option]) -> Callable[[F], F]:
    """Put the documentation of options into a docstring, in place of ``{options}`` in it."""
    text = documentation(options)

    def apply(target: F) -> F:
        if target.__doc__ is not None:  # Python may have been told to forget it
            lines = target.__doc__.splitlines(keepends=True)
            target.__doc__ = "".join(
                textwrap.indent(text, line[: line.index("{")]) + "\n"
                if line.strip() == "{options}"
                else line
                for line in lines
            )
        return target

    return apply


def taking(options: Iterable[Option]) -> Callable[[F], F]:
    """Give a function that takes ``**asked`` the signature that names the options in full."""

    def apply(function: F) -> F:
        own = inspect.signature(function)  # pyright: ignore[reportArgumentType]
        kept = [p for p in own.parameters.values() if p.kind != p.VAR_KEYWORD]
        taken = [
            inspect.Parameter(
                option.name,
                inspect.Parameter.KEYWORD_ONLY,
                default=option.default,
                annotation=option.type,
            )
            for option in options
            if option.name not in own.parameters
        ]
        first = [p for p in kept if p.kind != p.KEYWORD_ONLY]
        named_only = [p for p in kept if p.kind == p.KEYWORD_ONLY]
        signature = own.replace(parameters=[*first, *taken, *named_only])
        function.__signature__ = signature  # pyright: ignore[reportFunctionMemberAccess]
        return function

    return apply


MODEL_KEYS = (
    Option("names", "sensitive columns it is asked of; each of them where not said", name="on"),
    Option(
        "text",
        "of `l`: which diversity, `distinct` where not said; of `beta`: always say which",
        choices=(*DIVERSITIES, *LIKENESSES),
        name="kind",
    ),
    Option("whole", "least size of a class, alone or beside `alpha`", least=1, name="k"),
    Option("exact", "l-diversity; whole, except for `entropy`", least=1, name="l"),
    Option("exact", "the c of recursive (c, l)-diversity", above=0, name="c"),
    Option("exact", "t-closeness", least=0, most=1, name="t"),
    Option("text", f"of t-closeness: {DISTANCE}", default="equal", file=True, name="distance"),
    Option("exact", "(α, k)-anonymity: largest share of a value", above=0, most=1, name="alpha"),
    Option("names", "the values that `alpha` guards; all where not said", name="values"),
    Option("exact", "β-likeness", least=0, name="beta"),
    Option("exact", "δ-disclosure", above=0, name="delta"),
)

COMBINATION_KEYS = (
    Option("names", "quasi-identifiers that others may know together", name="columns"),
    Option("whole", "least number of rows alike in these columns", least=1, name="k"),
)

CAP_KEYS = (
    Option("text", "a quasi-identifier; with `value` any column", name="column"),
    Option("text", "caps all quasi-identifiers of the rows whose cell is this one", name="value"),
    Option("exact", "largest share of changed cells", least=0, most=1, name="share"),
)
