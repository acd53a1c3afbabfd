"""A policy as others write it: a policy file, a command line, a call in Python.

Each says the same: read again, it is the same policy.  ``policy`` is always a
``incrowd.policy.base.Policy``, whose methods stand on these functions.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import MISSING, fields
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from incrowd.errors import InputError
from incrowd.policy.cap import Cap
from incrowd.policy.model_spec import ModelSpec
from incrowd.policy.options import Option, table_of
from incrowd.policy.write import ROLES, listed, quoted
from incrowd.policy.write import key as toml_key
from incrowd.privacy.combination import Combination
from incrowd.text.lists import joined
from incrowd.text.missing import EVERY

if TYPE_CHECKING:
    from incrowd.policy.guess import Guess

HEAD = "# What is asked of a release; see docs/reference/policy.md."


def toml_of(policy: Any, guesses: "Sequence[Guess]" = ()) -> str:
    """Return the policy as a policy file.

    Parameters
    ----------
    guesses: of its columns; the reason of each stands beside the column where the guess still does.

    Raises
    ------
    InputError: it holds a value that no file can, such as a hierarchy made in Python.
    """
    why = {(guess.role, guess.column): guess for guess in guesses}
    lines, tables = [HEAD], []
    for name, value in said(policy, {}):
        if name in ROLES and guesses:
            chosen = [why.get((name, each)) or _own(name, each) for each in value]
            lines += ["", *listed(name, chosen)]
        elif isinstance(value, Mapping):
            rows = [f"{toml_key(column)} = {_toml(held, name)}" for column, held in value.items()]
            tables += ["", f"[{name}]", *rows]
        elif isinstance(value, list) and value and isinstance(value[0], Mapping):
            for each in value:
                rows = [f"{toml_key(n)} = {_toml(held, name)}" for n, held in each.items()]
                tables += ["", f"[[{name}]]", *rows]
        else:
            lines.append(f"{name} = {_toml(value, name)}")
    return "\n".join([*lines, *tables]) + "\n"


def _own(role: str, column: str) -> "Guess":
    from incrowd.policy.guess import Guess

    return Guess(column, role, "chosen by hand")


def words_of(policy: Any, table: str, output: str, *more: str) -> tuple[str, ...]:
    """Return the words of the command line that makes the release of a table.

    Parameters
    ----------
    more: further words, such as ``--proof`` and its file; survey weights go with
        ``--report-internal`` alone.

    Raises
    ------
    InputError: it holds what the command line cannot say; a policy file may.
    """
    found = ["incrowd", "anonymize", _file(table), "-o", _file(output)]
    keys = {option.name: option for option in table_of(type(policy))}
    typed = {name: key.command for name, key in keys.items() if key.command is not None}
    for name, value in said(policy, typed):
        if name in ("survey_weight", "survey_stratum") and "--report-internal" not in more:
            continue
        found += typed_as(keys[name], value)
    return (*found, *more)


def typed_as(key: Option, value: Any) -> list[str]:
    """Return an option with a plain value as words of a command line.

    Raises
    ------
    InputError: the command line cannot say it.
    """
    if key.kind == "flag":
        return [key.flag]
    return [word for text in _texts(key, value) for word in (key.flag, text)]


def call_of(policy: Any, data: str) -> str:
    """Return the call of ``incrowd.anonymize`` that makes the release, defaults left out.

    Parameters
    ----------
    data: its first argument, as Python writes it.
    """
    lines = [f"    {name}={ascii_of(value)}," for name, value in said(policy, {}, ("seed",))]
    return "\n".join(["incrowd.anonymize(", f"    {data},", *lines, ")"])


def said(
    policy: Any, otherwise: Mapping[str, Any], always: Sequence[str] = ()
) -> Iterator[tuple[str, Any]]:
    """Yield what a policy says, as plain values: k, what is ``always`` said, and no defaults.

    Parameters
    ----------
    otherwise: defaults where they are not those of ``Policy``.
    """
    defaults = {**default_values(policy), **otherwise}
    for key in table_of(type(policy)):
        value = getattr(policy, key.name)
        if key.kind == "number or by column" and {*(value or ())} == {EVERY}:
            value = value[EVERY]
        if key.name in ("k", *always) or not same(value, defaults[key.name]):
            yield key.name, plain(value)


def _file(path: str) -> str:
    """Return a path that is no option."""
    return f"./{path}" if path.startswith("-") and path != "-" else path


def _texts(key: Option, value: Any) -> list[str]:
    """Return what stands behind an option, once for each time that it is given."""
    if key.name == "caps":
        return [_cap(**each) for each in value]
    if key.kind == "combinations":
        return [f"{joined(each['columns'])}:{each['k']}" for each in value]
    if key.name == "models":
        return [_model(each) for each in value]
    if key.kind == "marks":
        return _marks(value)
    if key.kind == "lists":
        return [joined(names) for names in value]
    if isinstance(value, Mapping):
        if key.kind == "text or by column":
            raise InputError(f"{key.name} by column goes into a policy file, not an option")
        if key.alone:
            return [f"{column}={held}" if held else column for column, held in value.items()]
        held = {column: _plain_text(each, key.name) for column, each in value.items()}
        return [f"{column}={text}" if column else text for column, text in held.items()]
    return [_plain_text(each, key.name) for each in (value if isinstance(value, list) else [value])]


def _marks(value: Any) -> list[str]:
    """Return texts of missing values as ``--na`` reads them."""
    if not isinstance(value, Mapping):
        return [joined(value)]
    return [f"{column}={joined(t)}" if column else joined(t) for column, t in value.items()]


def _cap(column: str, share: Any, value: str | None = None) -> str:
    return f"{column}={share}" if value is None else f"{column}={value}:{share}"


def _model(given: Any) -> str:
    """Return a model as ``--model`` reads it."""
    if not isinstance(given, Mapping):
        raise InputError(f"models: {type(given).__name__} can be said in Python alone")
    lists = {name: held if isinstance(held, list) else [held] for name, held in given.items()}
    return joined([f"{name}={each}" for name, held in lists.items() for each in held])


def _plain_text(value: Any, name: str) -> str:
    if isinstance(value, str | int | float):
        return str(value)
    if hasattr(value, "numerator") or hasattr(value, "as_tuple"):  # fractions, decimals
        return str(value)
    raise InputError(f"{name}: {type(value).__name__} can be said in Python alone")


def _toml(value: Any, name: str) -> str:
    """Return a value as TOML writes it."""
    if isinstance(value, bool | int | float):
        return str(value).lower()
    if isinstance(value, list):
        return "[" + ", ".join(_toml(each, name) for each in value) + "]"
    return quoted(_plain_text(value, name))


def plain(value: Any) -> Any:
    """Return a value without names that the call does not import: caps and models as mappings."""
    if isinstance(value, Cap | ModelSpec | Combination):
        given = {field.name: (getattr(value, field.name), field.default) for field in fields(value)}
        return {name: plain(held) for name, (held, default) in given.items() if held != default}
    if isinstance(value, Mapping):
        return {name: plain(held) for name, held in value.items()}
    if isinstance(value, tuple | list):
        return [plain(held) for held in value]
    return str(value) if isinstance(value, Path | Fraction) else value


def default_values(policy: Any) -> dict[str, Any]:
    """The defaults of a policy."""
    found = {}
    for field in fields(policy):
        if field.default is not MISSING:
            found[field.name] = field.default
        elif field.default_factory is not MISSING:
            found[field.name] = field.default_factory()
    return found


def same(value: Any, default: Any) -> bool:
    """Whether a value is its default; empty lists of any kind are the same."""
    if isinstance(value, tuple | list | dict) and not value:
        return not default
    return bool(value == default)


def ascii_of(value: Any) -> str:
    """Return a value as Python writes it; what does not print is spelled out."""
    text = repr(value)
    return "".join(c if c.isprintable() or c == "\n" else ascii(c)[1:-1] for c in text)
