"""Options that several commands share, and their texts turned into values."""

import csv
import io
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import click

from incrowd.errors import InputError, no_column

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


reading_options = together(
    click.option("--delimiter", metavar="C", help="Of CSV input; guessed when not given."),
    click.option("--encoding", metavar="NAME", help="Of CSV input, e.g. latin-1. Default: UTF-8."),
)

role_options = together(
    click.option(
        "--qi",
        multiple=True,
        metavar="A,B,…",
        help="Quasi-identifiers: what others may know about a person. "
        "Default: every column not named otherwise.",
    ),
    click.option(
        "--sensitive", multiple=True, metavar="S,…", help="Sensitive columns: published unchanged."
    ),
    click.option(
        "--id", multiple=True, metavar="I,…", help="Identifiers: left out of the release."
    ),
    click.option(
        "--person",
        multiple=True,
        metavar="P,…",
        help="Columns that together name a person; left out, and k counts people, not rows.",
    ),
    click.option(
        "--keep", multiple=True, metavar="C,…", help="Other columns: published unchanged."
    ),
)

hierarchy_options = together(
    click.option(
        "--hierarchy",
        "hierarchies",
        multiple=True,
        metavar="COL=SPEC",
        help="How a column is generalized: interval:5,10, prefix:1,2, date, or a file with "
        "lines leaf;level1;…;*. Columns without one are suppressed whole.",
    ),
    click.option(
        "--weight",
        "weights",
        multiple=True,
        metavar="COL=X",
        help="How dear a column's cells are, against 1.",
    ),
    click.option(
        "--cost",
        default="level",
        show_default=True,
        metavar="COST",
        help="What a changed cell costs: level (of its hierarchy's height), ncp, stars, "
        "or a file with lines label;cost.",
    ),
    click.option(
        "--star",
        default="*",
        show_default=True,
        metavar="SYMBOL",
        help="What is written for a suppressed cell.",
    ),
)

veil_option = click.option(
    "--veil",
    metavar="Q|COL=Q,…",
    help="Hide each cell by a coin of this probability first, e.g. 0.05 or age=0.5,sex=0.1: then "
    "what a hidden cell may have been becomes more or less likely by a factor of 1/Q at most.",
)

constraint_options = together(
    click.option(
        "--fixed", multiple=True, metavar="A,…", help="Quasi-identifiers that are never changed."
    ),
    click.option(
        "--linked",
        multiple=True,
        metavar="A,B,…",
        help="Quasi-identifiers that are suppressed together, row by row.",
    ),
    click.option(
        "--cap",
        "caps",
        multiple=True,
        metavar="COL=X",
        help="Largest share of a column's cells that may change, e.g. age=0.1; COL=VALUE:X caps "
        "the cells of the rows in which COL is VALUE.",
    ),
)

k_option = click.option(
    "-k", "k", type=int, default=5, show_default=True, help="Least number of rows alike."
)

model_options = together(
    click.option("--l", "l", metavar="L", help="Also l-diversity of each sensitive column."),
    click.option(
        "--l-kind",
        type=click.Choice(["distinct", "frequency", "entropy", "recursive", "disjoint"]),
        default="distinct",
        show_default=True,
        help="Which l-diversity.",
    ),
    click.option("--c", "c", metavar="X", help="The c of recursive (c, l)-diversity."),
    click.option("--t", "t", metavar="X", help="Also t-closeness of each sensitive column."),
    click.option(
        "--distance",
        default="equal",
        show_default=True,
        metavar="equal|ordered|hierarchy|FILE",
        help="How far apart sensitive values are, for t-closeness.",
    ),
    click.option(
        "--model",
        "models",
        multiple=True,
        metavar="NAME=X,…",
        help="A model with its own parameters, e.g. l=3,kind=entropy,on=disease; of k, l, c, t, "
        "distance, alpha, beta, delta, kind, values, on.",
    ),
)

suppress_option = click.option(
    "--suppress-rows",
    type=int,
    default=0,
    metavar="MAX",
    help="Where the table itself breaks the model: leave out the fewest rows, at most MAX.",
)

search_options = together(
    click.option("--method", default="auto", show_default=True, help="See incrowd methods."),
    click.option(
        "--reductions",
        type=click.Choice(["paper", "all", "none"]),
        help="What an exact method does before it starts; the default is the method's own.",
    ),
    click.option("--time-limit", type=float, metavar="S", help="Wall seconds to search at most."),
    click.option("--gap", type=float, metavar="X", help="End at this gap, e.g. 0.01."),
    click.option(
        "--seed",
        type=int,
        help="Of all randomness, the order of shuffled rows among it. Default: 0 for the search, "
        "and an order that nobody can make again.",
    ),
    click.option(
        "--threads",
        type=int,
        default=1,
        show_default=True,
        help="At most so many; the result does not depend on it.",
    ),
)

json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
quiet_option = click.option("--quiet", "-q", is_flag=True, help="No progress, no summary.")


def opened(path: str, given: Mapping[str, Any]) -> "Source":
    """Read a table as the reading options say."""
    from incrowd.tables.files import read

    return read(path, given["delimiter"], given["encoding"])


def split_names(given: Sequence[str], columns: Sequence[str]) -> list[str]:
    """Return the column names in comma-separated texts.

    A text that is a column's name as it stands is that column; a name with a comma may also be
    written in double quotes.  Spaces around a name count only where a column is called so.
    """
    names = []
    for text in given:
        if text in columns:
            names.append(text)
            continue
        for fields in csv.reader(io.StringIO(text, newline=""), skipinitialspace=True):
            names += [f if f in columns else f.strip() for f in fields]
    return names


def require_columns(option: str, names: Sequence[str], columns: Sequence[str]) -> None:
    """Raise InputError for a name that no column bears."""
    for name in names:
        if name not in columns:
            raise no_column(option, name, columns)


def split_pairs(option: str, given: Sequence[str], columns: Sequence[str]) -> dict[str, str]:
    """Return column → text of ``COL=TEXT`` options; names may hold ``=``.

    Raises
    ------
    InputError: no ``=``, or no column of that name.
    """
    pairs: dict[str, str] = {}
    for text in given:
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


ASKED = (
    *("k", "l", "l_kind", "c", "t", "distance", "cost", "star", "veil"),
    *("method", "reductions", "time_limit", "gap", "seed", "threads", "suppress_rows", "order"),
)


ROLES = ("qi", "sensitive", "id", "person", "keep", "fixed")


def policy_arguments(columns: Sequence[str], options: Mapping[str, Any]) -> dict[str, Any]:
    """Turn the shared options, and the policy file among them, into the arguments of ``Policy``.

    What is typed on the command line goes before the file; hierarchies, weights and caps do so
    column by column.

    Raises
    ------
    InputError: an unknown column, or something wrong with the policy file.
    """
    arguments: dict[str, Any] = {name: options[name] for name in ASKED if name in options}
    if options.get("policy") is not None:
        from incrowd.policy.file import read_keys

        said = read_keys(options["policy"])
        arguments = {n: x for n, x in arguments.items() if n not in said or is_typed(n)}
        arguments = said | arguments
    for name, owner in (("l_kind", "l"), ("distance", "t")):
        if is_typed(name) and arguments.get(owner) is None:
            raise InputError(f"--{name.replace('_', '-')} goes with --{owner}, which is not given")
    for role in ROLES:
        if options.get(role):
            arguments[role] = split_names(options[role], columns)
    if options.get("linked"):
        arguments["linked"] = [split_names([text], columns) for text in options["linked"]]
    if options.get("models"):
        arguments["models"] = list(options["models"])
    for name, option in (("hierarchies", "--hierarchy"), ("weights", "--weight")):
        typed = split_pairs(option, options.get(name, ()), columns)
        arguments[name] = {**arguments.get(name, {}), **typed}
    if options.get("caps"):
        arguments["caps"] = capped(arguments.get("caps"), options["caps"], columns)
    return arguments


def is_typed(name: str) -> bool:
    """Whether an option was given, rather than its default taken."""
    context = click.get_current_context(silent=True)
    source = None if context is None else context.get_parameter_source(name)
    return source not in (None, click.core.ParameterSource.DEFAULT)


def capped(before: Any, given: Sequence[str], columns: Sequence[str]) -> list[Any]:
    """Return the caps of the policy file, and those of ``--cap`` in place of or beside them."""
    from incrowd.policy.cap import caps_of, parse_cap

    typed = [
        parse_cap(*pair) for text in given for pair in split_pairs("--cap", [text], columns).items()
    ]
    places = {cap.place for cap in typed}
    return [cap for cap in caps_of(before) if cap.place not in places] + typed
