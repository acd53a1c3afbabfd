"""What commands print: the one JSON object, and messages."""

import codecs
import contextlib
import io
import json
import os
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, TextIO

import click

from incrowd.text.units import in_units
from incrowd.text.units import shown as figure

if TYPE_CHECKING:
    from incrowd.release import Release


PLAIN = {
    "−": "-", "–": "-", "─": "-", "…": "...", "×": "x", "→": "->", "≤": "<=", "≥": ">=", "≈": "~",
    "⟨": "<", "⟩": ">", "’": "'", "α": "alpha", "β": "beta", "δ": "delta", "ε": "epsilon",
}  # fmt: skip


def speak_plainly() -> None:
    """Let standard streams write plain signs for those that their encoding lacks.

    As pipes of Windows do, whose encoding is that of its older programs.
    """
    codecs.register_error("incrowd.plain", _plainly)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper) and not is_utf_8(stream):
            stream.reconfigure(errors="incrowd.plain")


def _plainly(error: UnicodeError) -> tuple[str, int]:
    """Return what stands for the signs that cannot be written: a plain sign, or its number."""
    assert isinstance(error, UnicodeEncodeError)
    signs = error.object[error.start : error.end]
    known = (PLAIN.get(sign, sign).encode("ascii", "backslashreplace") for sign in signs)
    return b"".join(known).decode(), error.end


def is_utf_8(stream: TextIO) -> bool:
    """Whether a stream writes UTF-8."""
    return codecs.lookup(stream.encoding or "utf-8").name == "utf-8"


def print_json(record: dict[str, Any]) -> None:
    """Print one object on standard output, of which every program reads the same texts.

    Characters that programs may read otherwise, or standard output cannot show, such as bytes of a
    path that are no text, are escaped.
    """
    text = json.dumps(record, ensure_ascii=False)
    try:
        text.encode("utf-8" if is_utf_8(sys.stdout) else "ascii")
    except UnicodeEncodeError:
        text = json.dumps(record)
    click.echo(text)


def print_tables(found: Any) -> None:
    """Print figures for people on standard output: as tables on a terminal, else as plain text."""
    from rich.console import Console

    if sys.stdout.isatty():
        Console(highlight=False).print(found)
    else:
        click.echo(str(found))


def aligned(rows: Sequence[Sequence[str]], just: Callable[[str, int], str] = str.rjust) -> str:
    """Return cells as lines of aligned text."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ("  ".join(map(just, row, widths)).rstrip() for row in rows)
    return "\n".join(lines)


def say(message: str, quiet: bool = False) -> None:
    """Print a message on standard error; who cannot be told is not told, and the work goes on."""
    if not quiet:
        try:
            click.echo(message, err=True)
        except OSError:
            give_up_on(sys.stderr)


def warn(warnings: Iterable[str]) -> None:
    """Say what does not protect, or may not be meant, also to who asked for quiet."""
    for warning in warnings:
        say(f"incrowd: warning: {warning}")


def give_up_on(stream: TextIO) -> None:
    """Send to nowhere what a standard stream cannot write; Python would fail on it at its end."""
    try:
        stream.flush()
    except OSError:
        with contextlib.suppress(OSError):
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, stream.fileno())
            os.close(nowhere)


def release_record(release: "Release", output: str | None, proof: str | None) -> dict[str, Any]:
    """Return the keys that docs/reference/json.md names, and no others."""
    extra: dict[str, Any] = {}
    if release.suppressed_rows:
        extra["suppressed_rows"] = release.suppressed_rows
    if release.deleted is not None:
        gone = release.deleted
        extra |= {"deleted_rows": len(gone.rows), "deletion_price": gone.price}
    if release.protected is not None:
        pairs = zip(release.policy.protect, release.smallest_groups, strict=True)
        extra["combinations"] = [
            {"columns": list(one.columns), "k": one.k, "smallest_group": size}
            for one, size in pairs
        ]
    extra |= {"warnings": list(release.warnings)} if release.warnings else {}
    veil = getattr(release, "veil", None)
    if veil is not None:
        factors = {name: float(factor) for name, factor in veil.factors.items()}
        extra |= {"veil": factors, "veiled_lower_bound": release.veiled_bound}
    if release.averaged is not None:
        extra |= {"averages": {a.column: a.rule.stated(a.digits) for a in release.averaged.axes}}
    extra |= {"unchecked": list(release.unchecked)} if release.unchecked else {}
    if release.people is not None:
        extra |= {"people": release.people, "fewest_people": release.fewest_people}
    held = getattr(release, "held", ())
    if len(held):  # numbers of the rows below the header of IN, from 1
        extra |= {"held_back": [int(row) + 1 for row in held]}
    joined = getattr(release, "joined", None)
    extra |= {} if joined is None else {"joined": joined}
    if release.rows_without_person:
        extra |= {"rows_without_person": release.rows_without_person}
    return {
        "rows": release.rows,
        "columns": release.columns,
        "cells": release.cells,
        "changed": dict(release.changed),
        "k": release.k,
        "models": list(release.models),
        "cost": release.cost,
        "cost_fraction": release.cost_fraction,
        "lower_bound": release.lower_bound,
        "gap": release.gap,
        "status": release.status,
        "ended": release.ended,
        "method": release.method,
        "classes": release.classes,
        "smallest_class": release.smallest_class,
        "seconds": round(release.seconds, 3),
        "seed": release.seed,
        "output": output,
        "proof": proof,
    } | extra


def proof_bound(release: Any, facts: dict[str, Any]) -> dict[str, Any]:
    """Return the bound that the proof file certifies, where that is not the release's own."""
    if not facts or facts["bound"] - facts["cost"] == release.bound_units - release.cost_units:
        return {}
    return {"proof_bound": in_units(facts["bound"], facts["scale"])}


def say_proof_bound(release: Any, facts: dict[str, Any], quiet: bool) -> None:
    """Say what the proof certifies, where that is another bound than the release's."""
    for bound in proof_bound(release, facts).values():
        if figure(bound) == figure(release.lower_bound):  # to the digits shown they are one
            continue
        higher = bound > release.lower_bound
        own = "more than the method's own" if higher else "that above is the method's own"
        say(f"proof    certifies the bound {figure(bound)}; {own}", quiet)
