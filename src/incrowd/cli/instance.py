"""``incrowd instance ID [parameters] -o OUT``: write one of the papers' hard instances.

The families are imported only when one is asked for, so ``incrowd --help`` stays fast.
"""

from __future__ import annotations

import json
import sys
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from incrowd.cli.options import spelled
from incrowd.cli.output import say
from incrowd.cli.places import require_apart
from incrowd.errors import InputError, did_you_mean
from incrowd.tables.atomic import whole
from incrowd.text.exact import fraction_of

if TYPE_CHECKING:
    from incrowd.instances.base import Family, Option


class _Fraction(click.ParamType):
    """An exact number: 1/3, 0.4."""

    name = "number"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        try:
            return fraction_of(value)
        except (ValueError, ZeroDivisionError, TypeError):
            self.fail("expected a number such as 1/3 or 0.4", param, ctx)


class _Families(click.Group):
    """One subcommand for each family, made on demand from its options."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        from incrowd.instances import FAMILIES

        return [family.id for family in FAMILIES]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        from incrowd.instances import FAMILIES

        family = next((f for f in FAMILIES if f.id == cmd_name), None)
        return None if family is None else _command(family)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        known = self.list_commands(ctx)
        if args and args[0] not in known:
            ctx.fail(f"there is no instance {args[0]!r}{did_you_mean(args[0], known)}")
        return super().resolve_command(ctx, args)


@click.command(cls=_Families)
def instance() -> None:
    """Write one of the papers' hard instances: a table, and what is known of its optimum.

    The table goes to OUT as CSV; a JSON file beside it holds the model, k, the roles of the
    columns, the equation of the optima and, for a planted instance, the optimum.
    """


def _parameter(option: Option) -> click.Option:
    kind: Any = click.INT
    if option.choices:
        kind = click.Choice(option.choices)
    elif isinstance(option.default, Fraction):
        kind = _Fraction()
    names = [spelled(option.name), *(["-k"] if option.name == "k" else [])]  # as other commands
    shown = {"default": option.default, "show_default": True, "help": f"{option.help}."}
    return click.Option(names, type=kind, **shown)


def _of_source(family: type[Family[Any]]) -> list[click.Parameter]:
    """The options of a family with a source problem: where it is read, or how it is drawn."""
    return [
        click.Option(
            ["--from", "source"],
            type=click.Path(dir_okay=False, allow_dash=True),
            help=f"Read the source problem ({family.file_format}); - is standard input.",
        ),
        click.Option(
            ["--random", "random"],
            is_flag=True,
            help="Plant no answer: the optimum is then not known in advance.",
        ),
        click.Option(["--seed"], type=int, default=0, show_default=True, help="Random seed."),
    ]


def _of_output() -> list[click.Parameter]:
    """The options that every family has: what is written, and where."""
    return [
        click.Option(
            ["-o", "--output"],
            type=click.Path(dir_okay=False, allow_dash=True),
            required=True,
            help="CSV file to write; - is standard output.",
        ),
        click.Option(
            ["--about"],
            type=click.Path(dir_okay=False),
            help="JSON file to write [default: OUT with .json; none when OUT is -].",
        ),
        click.Option(
            ["--json", "as_json"], is_flag=True, help="Print what the JSON file holds as well."
        ),
    ]


def _command(family: type[Family[Any]]) -> click.Command:
    """The subcommand of one family."""
    own: list[click.Parameter] = [_parameter(option) for option in family.options]
    source = _of_source(family) if family.file_format else []

    text = f"{family.problem[0].upper()}{family.problem[1:]}.\n\n{family.equation}.\n\n"
    return click.Command(
        family.id,
        params=[*own, *source, *_of_output()],
        callback=lambda **given: _run(family, given),
        short_help=family.problem,
        help=f"{text}Source: {family.source}.",
    )


def _run(family: type[Family[Any]], given: dict[str, Any]) -> None:
    """Make or read the problem, and write both files."""
    import numpy as np

    from incrowd.instances import write

    output, about = given["output"], given["about"]
    if output == "-" and given["as_json"]:
        raise InputError("--json needs standard output for itself: give -o a file")
    options = {option.name: given[option.name] for option in family.options}
    source, seed, answer = given.get("source"), None, None
    if output != "-":
        about = about or str(Path(output).with_suffix(".json"))
    require_apart({"-o": output, "--about": about}, source, {})
    if source is not None:
        if given["random"]:
            raise InputError("--random makes a problem and --from reads one: give one of them")
        made = family.read(_text(source), options)
        options = {
            option.name: options[option.name] for option in family.options if option.of_table
        }
    else:
        seed = given.get("seed")
        rng = np.random.default_rng(seed)
        made, answer = family.make(rng, not given.get("random", False), options)
    table = made.to_table()
    described = write.describe(made, table, options, seed, answer)
    known = json.dumps(described, ensure_ascii=False, indent=1) + "\n"
    if output == "-":
        click.echo(write.csv_text(table), nl=False)
    else:
        with whole(output) as file:
            file.write(write.csv_text(table).encode())
    if about:
        with whole(about) as file:
            file.write(known.encode())
    if given["as_json"]:
        click.echo(known, nl=False)
    else:
        say(f"{table.rows} rows, {len(table.columns)} columns; {made.equation}")


def _text(source: str) -> str:
    try:
        if source == "-":
            return sys.stdin.read()
        return Path(source).read_text(encoding="utf-8-sig")
    except OSError as error:
        raise InputError(f"cannot read {source!r}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise InputError(f"cannot read {source!r}: it is not UTF-8 text") from None
