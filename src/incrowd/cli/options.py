"""Options that several commands share, and their texts turned into values."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import click

from incrowd.errors import InputError, no_column
from incrowd.policy import Policy
from incrowd.policy.cap import caps_of, parse_cap
from incrowd.policy.file import read_keys
from incrowd.policy.options import MANY, Option
from incrowd.policy.table import OPTIONS
from incrowd.policy.veil import mapped
from incrowd.text.lists import names_of
from incrowd.text.missing import EVERY, marks_of

if TYPE_CHECKING:
    from incrowd.tables.base import Source

policy_option = click.option(
    "--policy",
    metavar="FILE",
    help="Take what is not said here from a policy file (TOML); see incrowd init.",
)

F = TypeVar("F", bound=Callable[..., Any])


def together(*options: Callable[[F], F]) -> Callable[[F], F]:
    """Apply several option decorators, first one first in the help."""

    def apply(function: F) -> F:
        for option in reversed(options):
            function = option(function)
        return function

    return apply


file_options = together(
    click.option("--delimiter", metavar="C", help="Of CSV input; guessed when not given."),
    click.option("--encoding", metavar="NAME", help="Of CSV input, e.g. latin-1. Default: UTF-8."),
    click.option("--sheet", metavar="NAME", help="Of a workbook with several, the one of IN."),
)
reading_options = together(
    file_options,
    click.option(
        "--table",
        "of_table",
        metavar="NAME",
        help="The table where IN is a database, such as postgresql://host/db. Without: the name "
        "behind the last /.",
    ),
    click.option("--query", metavar="SQL", help="Take what this selects from the database IN."),
)


def policy_options(*names: str, **helps: str) -> Callable[[F], F]:
    """Return the options of ``Policy`` with these names, all without any, in the table's order.

    ``helps``: what a command says of an option in place of the table.
    """
    return together(
        *(
            click_option(option, helps.get(option.name, option.help))
            for option in OPTIONS
            if not names or option.name in names
        )
    )


def click_option(option: Option, help: str) -> Callable[[F], F]:
    """Return an option of ``Policy`` as the command line takes it."""
    help = in_flags(help)
    if option.kind == "flag":
        return click.option(option.flag, option.name, is_flag=True, default=False, help=help)
    if option.kind in MANY:
        kind: dict[str, Any] = {"multiple": True}
    elif option.choices:
        kind = {"type": click.Choice(option.choices)}
    else:
        kind = {"type": {"whole": int, "number": float}.get(option.kind, str)}
    if option.kind not in MANY:
        kind |= {"default": option.typed_default, "show_default": True}
    names = [option.flag, "--k"] if option.flag == "-k" else [option.flag]  # as others are written
    return click.option(*names, option.name, metavar=option.metavar, help=help, **kind)


def in_flags(text: str) -> str:
    """Return a text with options, which stand in backticks, as one types them."""
    flags = {option.name: option.flag for option in OPTIONS}
    return re.sub(r"`([^`]*)`", lambda found: flags.get(found[1], found[1]), text)


ROLES = ("qi", "sensitive", "id", "person", "missing_person", "keep")
MODELS = ("k", "l", "l_kind", "c", "t", "distance", "models")
COSTS = ("hierarchies", "weights", "cost", "star", "na", "decimal", "derive")
CONSTRAINTS = ("fixed", "linked", "caps")
SEARCH = ("method", "reductions", "time_limit", "gap", "spend", "seed", "threads")

json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
quiet_option = click.option("--quiet", "-q", is_flag=True, help="No progress, no summary.")
no_figures_option = click.option(
    "--quiet", "-q", is_flag=True, help="No figures: only the exit code, and what is not met."
)


def opened(path: str, given: Mapping[str, Any]) -> "Source":
    """Read the table IN as the reading options say, with what is derived."""
    return with_derived(as_it_is(path, given), given)


def asked(path: str, given: Mapping[str, Any]) -> "tuple[Source, Policy]":
    """Read the table IN, and return it with all that is asked of it."""
    source = opened(path, given)
    return source, Policy(**policy_arguments(source.columns, given))


def as_it_is(path: str, given: Mapping[str, Any]) -> "Source":
    """Read the table IN as the reading options say."""
    from incrowd.tables.files import read

    of_in = [given.get(name) for name in ("sheet", "of_table", "query")]
    return read(path, given["delimiter"], given["encoding"], *of_in)


def with_derived(source: "Source", given: Mapping[str, Any]) -> "Source":
    """Return the table with the columns that --derive and the policy file ask for."""
    said: dict[str, Any] = {}
    if given.get("policy") is not None and "derive" in given:
        said = read_keys(given["policy"])
    rules = {**said.get("derive", {}), **new_pairs(given.get("derive", ()))}
    if not rules:
        return source
    from incrowd.policy.derive import derived, rules_of

    marks = marked(said.get("na"), given.get("na", ()), source.columns)
    return derived(source, rules_of(rules), marks_of(marks))


def new_pairs(given: Sequence[str]) -> dict[str, str]:
    """Return column → rule of ``--derive`` options; the columns are not there yet.

    Raises
    ------
    InputError: no ``=``, or a column twice.
    """
    pairs: dict[str, str] = {}
    for text in given:
        name, equals, rule = text.partition("=")
        if not equals or name in pairs:
            raise InputError("--derive: expected NEW=years(COLUMN, YYYY-MM-DD), each NEW once")
        pairs[name] = rule
    return pairs


def opened_beside(path: str, given: Mapping[str, Any]) -> "Source":
    """Read a table beside IN: the sheet, the table and the query are those of IN alone."""
    from incrowd.tables.files import read

    return read(path, given["delimiter"], given["encoding"])


def split_names(given: Sequence[str], columns: Sequence[str]) -> list[str]:
    """Return the column names in comma-separated texts.

    A text that is a column's name as it stands is that column; a name with a comma may also be
    written in double quotes.  Spaces around a name count only where a column is called so.
    """
    names: list[str] = []
    for text in given:
        names += [text] if text in columns else names_of(text, columns)
    return names


def require_columns(option: str, names: Sequence[str], columns: Sequence[str]) -> None:
    """Raise InputError for a name that no column bears."""
    for name in names:
        if name not in columns:
            raise no_column(option, name, columns)


def split_pairs(
    option: str, given: Sequence[str], columns: Sequence[str], alone: bool = False
) -> dict[str, str]:
    """Return column → text of ``COL=TEXT`` options; names may hold ``=``.

    ``alone``: a column may stand without a text, which is empty then.

    Raises
    ------
    InputError: no ``=``, or no column of that name.
    """
    pairs: dict[str, str] = {}
    for text in given:
        if alone and text in columns:
            pairs[text] = ""
            continue
        if alone and "=" not in text:
            raise no_column(option, text, columns)
        if "=" not in text:
            raise InputError(f"{option} {text!r}: expected COLUMN=…")
        cuts = [i for i, c in enumerate(text) if c == "="]
        known = [i for i in cuts if text[:i] in columns]
        if not known:
            raise no_column(option, text[: cuts[0]], columns)
        name = text[: known[-1]]
        if name in pairs:
            raise InputError(f"{option}: column {name!r} is named twice")
        pairs[name] = text[known[-1] + 1 :]
    return pairs


def spelled(name: str) -> str:
    """Return an option as it is typed, by the name of its parameter."""
    return f"--{name.removeprefix('of_').replace('_', '-')}"


def options_of(names: Iterable[str], given: Mapping[str, Any]) -> list[str]:
    """Return those of some options that are given, as they are typed."""
    return [spelled(name) for name in names if given.get(name)]


def spoken(given: Mapping[str, Any]) -> set[str]:
    """Return the names of the options that were typed, or stand in the policy file."""
    file = given.get("policy")
    return {name for name in given if is_typed(name)} | {*(read_keys(file) if file else ())}


def policy_arguments(columns: Sequence[str], options: Mapping[str, Any]) -> dict[str, Any]:
    """Turn the shared options, and the policy file among them, into the arguments of ``Policy``.

    What is typed on the command line goes before the file; hierarchies, weights and caps do so
    column by column.

    Raises
    ------
    InputError: an unknown column, or something wrong with the policy file.
    """
    said: dict[str, Any] = {}
    if options.get("policy") is not None:
        said = read_keys(options["policy"])
    given = [option for option in OPTIONS if option.name in options]
    arguments = said | {
        option.name: options[option.name]
        for option in given
        if option.kind not in MANY and (option.name not in said or is_typed(option.name))
    }
    unsaid = "k" not in said and not is_typed("k")
    if unsaid and (options.get("protect") or arguments.get("protect")):
        arguments.pop("k", None)  # so that it gives way to the combinations
    for name, owner in (("l_kind", "l"), ("distance", "t")):
        if is_typed(name) and arguments.get(owner) is None:
            raise InputError(f"{spelled(name)} goes with {spelled(owner)}, which is not given")
    for option in given:
        if option.kind in MANY and options[option.name]:
            before = arguments.get(option.name)
            arguments[option.name] = several(option, options[option.name], before, columns)
    return arguments


def several(option: Option, given: Sequence[str], before: Any, columns: Sequence[str]) -> Any:
    """Return the values of an option that may come several times; ``before``: in the file."""
    if option.kind == "names":
        return split_names(given, columns)
    if option.kind == "lists":
        return [split_names([text], columns) for text in given]
    if option.kind in ("models", "combinations"):
        return list(given)
    if option.name == "derive":
        return {**(before or {}), **new_pairs(given)}
    if option.kind == "marks":
        return marked(before, given, columns)
    if option.kind == "caps":
        return capped(before, given, columns)
    if option.kind == "number or by column":
        found = before if isinstance(before, Mapping) else {} if before is None else {EVERY: before}
        return {**found, **mapped(given, columns)}
    return {**(before or {}), **split_pairs(option.flag, given, columns, option.alone)}


def marked(before: Any, given: Sequence[str], columns: Sequence[str]) -> dict[str, Any]:
    """Return the texts of missing values by column, those typed in place of the file's.

    ``NA,-99`` is of all columns, ``COL=NA,-99`` of one.

    Raises
    ------
    InputError: a text with ``=`` that begins with no column's name.
    """
    found = dict(before) if isinstance(before, Mapping) else {EVERY: before} if before else {}
    typed: dict[str, list[str]] = {}
    for text in given:
        pair = split_pairs("--na", [text], columns) if "=" in text else {EVERY: text}
        for column, texts in pair.items():
            typed.setdefault(column, []).extend(split_names([texts], ()))
    return found | typed


def is_typed(name: str) -> bool:
    """Whether an option was given, rather than its default taken."""
    context = click.get_current_context(silent=True)
    source = None if context is None else context.get_parameter_source(name)
    return source not in (None, click.core.ParameterSource.DEFAULT)


def capped(before: Any, given: Sequence[str], columns: Sequence[str]) -> list[Any]:
    """Return the caps of the policy file, and those of ``--cap`` in place of or beside them."""
    typed = [
        parse_cap(*pair) for text in given for pair in split_pairs("--cap", [text], columns).items()
    ]
    places = {cap.place for cap in typed}
    return [cap for cap in caps_of(before) if cap.place not in places] + typed
