"""The call that makes a release again."""

import platform
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, fields
from fractions import Fraction
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from incrowd.policy import Policy
from incrowd.policy.cap import Cap
from incrowd.policy.model_spec import ModelSpec
from incrowd.published.base import Published
from incrowd.report.html import JOINERS

PACKAGES = ("incrowd", "numpy", "numba", "polars", "scipy", "highspy")


def shell_line(words: Sequence[str]) -> str:
    """Return words as a line for a shell, on which nothing is invisible."""
    return " ".join(quoted(word) for word in words)


def quoted(word: str) -> str:
    """Quote a word; one with characters that do not print in the way that shows them (``$'…'``)."""
    if all(character.isprintable() or character in JOINERS for character in word):
        return shlex.quote(word)
    parts = []
    for character in word:
        if character in "\\'":
            parts.append("\\" + character)
        elif character.isprintable():
            parts.append(character)
        elif ord(character) < 256:
            parts.append("".join(f"\\x{byte:02x}" for byte in character.encode()))
        else:
            parts.append(
                f"\\u{ord(character):04x}" if ord(character) < 65536 else f"\\U{ord(character):08x}"
            )
    return "$'" + "".join(parts) + "'"


def python_call(release: Published, file: tuple[str, str] | None) -> str:
    """Return the call of ``incrowd.anonymize`` that makes the release, defaults left out."""
    policy, defaults = release.policy, default_values()
    lines = []
    for field in fields(Policy):
        value = getattr(policy, field.name)
        if field.name in ("qi", "sensitive", "id", "keep"):
            value = list(getattr(release.roles, field.name))
            if not value:
                continue
        elif field.name != "k" and same(value, defaults.get(field.name, MISSING)):
            continue
        lines.append(f"    {field.name}={ascii_of(plain(value))},")
    data = "frame" if file is None else ascii_of(file[0])
    return "\n".join(["incrowd.anonymize(", f"    {data},", *lines, ")"])


def plain(value: Any) -> Any:
    """Return a value without names that the call does not import: caps and models as mappings."""
    if isinstance(value, Cap | ModelSpec):
        given = {field.name: (getattr(value, field.name), field.default) for field in fields(value)}
        return {name: plain(held) for name, (held, default) in given.items() if held != default}
    if isinstance(value, Mapping):
        return {name: plain(held) for name, held in value.items()}
    if isinstance(value, tuple | list):
        return [plain(held) for held in value]
    return str(value) if isinstance(value, Path | Fraction) else value


def default_values() -> dict[str, Any]:
    """The defaults of a policy."""
    found = {}
    for field in fields(Policy):
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


def versions() -> list[tuple[str, str]]:
    """Versions of what the result may depend on, where installed."""
    found = [("Python", platform.python_version())]
    for package in PACKAGES:
        try:
            found.append((package, version(package)))
        except PackageNotFoundError:
            continue
    return found
