"""Reading tables as text, and proof files, with nothing but polars and the standard library."""

import csv
import hashlib
import json
import math
import re
from datetime import time, timedelta
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

import polars as pl

from incrowd.checker.archive import DAMAGED, LACKING, parts_of
from incrowd.checker.delimited import MARK, Reading, read_csv
from incrowd.checker.lean import once_each
from incrowd.checker.limits import LONG, require_within
from incrowd.checker.models import require_keys
from incrowd.checker.packed import (
    READERS,
    TEXT,
    UNREADABLE,
    form_of,
    length_of,
    read_packed,
    require_alone,
)
from incrowd.checker.parquet import SMALL, require_moderate
from incrowd.checker.rejection import PROOF, RejectedError, require, require_none

VERSION = 2
PLAIN = r"^'*[+-]?(\d[\d.,]*|[.,]\d+)([eE][+-]?\d+)?%?$"
NUMBERS = ("scale", "quantum", "price_k", "cost", "bound")
MANY, FEW = 1 << 20, 64  # rungs or members of odd sets, beside so many for each row
# what a proof that makes no sense ends in, or tables that do not go with it
NONSENSE = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError, RecursionError)
NONSENSE += (MemoryError, csv.Error, pl.exceptions.PolarsError, pl.exceptions.PanicException)
PARTS = {
    "rows.parquet": ["original", "class", "price"],
    "ladders.parquet": ["column", "leaf", "level", "label", "cost"],
    "sets.parquet": ["set", "row", "weight", "modulus"],
}


class Proof(NamedTuple):
    """A proof file: its JSON part and its tables, as documented in docs/reference."""

    facts: dict[str, Any]
    rows: pl.DataFrame
    ladders: pl.DataFrame
    sets: pl.DataFrame


def read_proof(path: str | Path, rows: int) -> Proof:
    """Read a proof file; reject one that is broken, altered in part, or of another version.

    And one whose parts say that they are larger than an original of so many rows calls for.
    """
    data = parts_of(ended(path).read_bytes(), ("proof.json", *PARTS))
    require_short(data["proof.json"], rows)
    try:
        facts = read_json(data.pop("proof.json"), parse_float=_no_number)
        tables = []
        for name, part in data.items():
            require_moderate(part, rows if name == "rows.parquet" else MANY + FEW * rows, name)
            tables.append(read_packed(part))
    except (LookupError, TypeError, ValueError, RecursionError):
        raise RejectedError(LACKING) from None
    except pl.exceptions.PolarsError:
        raise RejectedError(DAMAGED, mistaken=PROOF) from None
    require(isinstance(facts, dict), "the proof file's first part is no JSON object")
    require(facts.get("format") == "incrowd-proof", "this is not an incrowd proof file")
    version = facts.get("version")
    known = type(version) is int and version == VERSION
    require(known, f"the proof file is not of version {VERSION}")
    for (name, columns), part, table in zip(PARTS.items(), data.values(), tables, strict=True):
        stated = facts.get("parts", {}).get(name)
        require(stated == sha256(part), f"{name} is not the part whose hash the proof states")
        if name == "rows.parquet":
            columns = columns + prices_of(facts)[1:] + prices_of_fewer(facts)
        require(table.columns == columns, f"{name} has other columns than {', '.join(columns)}")
        for column, dtype in table.schema.items():
            text = column in ("column", "leaf", "label")
            right = dtype == pl.String if text else dtype.is_integer()
            require(right, f"{name}: {column} is not {'text' if text else 'a whole number'}")
            empty = column not in ("leaf", "label") and table[column].null_count() > 0
            require(not empty, f"{name}: {column} has an empty cell")
            size = table[column].str.len_bytes().cast(pl.Int64).sum() if text else 0
            require_within(size <= SMALL + TEXT * rows, f"{name}: {column} {LONG}")
    return Proof(facts, *tables)


def ended(path: str | Path, pipe: bool = False) -> Path:
    """Return the path of a file or folder; rejected is a device, which may have no end.

    ``pipe``: take one, as it is read once.
    """
    path = Path(path)
    fine = path.is_file() or path.is_dir() or not path.exists() or (pipe and path.is_fifo())
    require(fine, f"{path.name} is a pipe or a device, and no file")
    return path


def require_short(text: bytes, rows: int) -> None:
    """Reject JSON that is much longer, or holds many more values, than so many rows call for."""
    values = sum(text.count(mark) for mark in (b",", b"[", b"{"))
    fine = len(text) <= SMALL + 64 * FEW * rows and values <= 2 * MANY + FEW * rows
    require(fine, "proof.json is too large")


def prices_of(facts: dict[str, Any]) -> list[str]:
    """Return the columns of prices: one for each group of columns that the proof names."""
    groups = facts.get("groups") or [[]]
    fine = isinstance(groups, list) and all(isinstance(group, list) for group in groups)
    require(fine, "the proof does not list its groups of columns")
    return ["price", *(f"price_{n}" for n in range(1, len(groups)))]


def prices_of_fewer(facts: dict[str, Any]) -> list[str]:
    """Return the columns of prices for so many rows, of a proof of averages."""
    sizes = facts.get("sizes", [])
    fine = isinstance(sizes, list) and all(type(b) is int and b > 1 for b in sizes)
    fine = fine and sizes == sorted({*sizes}) and ("averaged" in facts or not sizes)
    require(fine, "the proof does not list its sizes of sets")
    return [f"price_of_{b}" for b in sizes]


def groups_of(proof: Proof, qi: list[str]) -> list[tuple[str, list[str]]]:
    """Return each group of quasi-identifiers with the name of its prices; all are one by default.

    No column may be in two: it would be paid for twice.
    """
    groups = proof.facts.get("groups") or [qi]
    named = [column for group in groups for column in group]
    fine = len(named) == len({*named} & {*qi})
    require(fine, "its groups of columns name one twice, or one that is not a quasi-identifier")
    require(len(groups) == 1 or not proof.sets.height, "groups of columns go with no odd sets")
    return list(zip(prices_of(proof.facts), groups, strict=True))


def read_json(text: bytes, **how: Any) -> Any:
    """Read JSON in which no key stands twice: readers differ on which of the two counts.

    Raises
    ------
    ValueError: it is none, or a text in it is none: halves of characters cannot be shown.
    """
    found = json.loads(text, parse_constant=_no_number, object_pairs_hook=once, **how)
    json.dumps(found, ensure_ascii=False).encode()
    return found


def same(one: Any, other: Any) -> bool:
    """Whether two values of JSON are one: true is not 1, and 1 is not 1.0."""
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


def is_release(version: Any) -> bool:
    """Whether it may be the version of a program, which says nothing of a table."""
    return isinstance(version, str) and re.fullmatch(r"[0-9][0-9a-z.+]{0,39}", version) is not None


def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object of JSON; ValueError where a key stands twice, of which one would be lost."""
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key stands twice")
    return found


def _no_number(constant: str) -> NoReturn:
    raise ValueError(constant)


def shaped(facts: dict[str, Any]) -> tuple[dict[str, list[str]], list[dict[str, Any]]]:
    """Return the proof's roles and models; reject facts of a wrong kind."""
    for name in NUMBERS:
        require(type(facts.get(name)) is int, f"the proof's {name} is not a whole number")
    small = min(facts[name] for name in NUMBERS[:3])
    require(small >= 1, "the proof's scale, quantum or price_k is not positive")
    roles: Any = facts.get("roles")
    models: Any = facts.get("models")
    fine = isinstance(roles, dict) and set(roles) - {"pseudonym"} == {
        "qi",
        "sensitive",
        "id",
        "keep",
    }
    fine = fine and all(isinstance(names, list) for names in roles.values())
    fine = fine and all(isinstance(c, str) for names in roles.values() for c in names)
    require(fine, "the proof does not say each column's role")
    fine = isinstance(models, list) and bool(models) and all(isinstance(m, dict) for m in models)
    require(fine, "the proof names no privacy model")
    other = facts.get("unchecked", [])
    fine = isinstance(other, list) and all(isinstance(name, str) for name in other)
    require(fine, "the proof does not name what it leaves unchecked")
    require_keys(models)
    known: Any = facts.get("hierarchies")
    fine = isinstance(known, dict) and all(map(_says_origin, known.values()))
    require(fine, "the proof does not say where its hierarchies come from")
    fine = {*known} <= {*roles["qi"], *roles["sensitive"]}  # of the latter for distances
    require(fine, "the proof names a hierarchy of what has none")
    return roles, models


def _says_origin(known: Any) -> bool:
    """Whether it may be what a proof says of a hierarchy: all that it says in words is text."""
    if not isinstance(known, dict):
        return False
    words, texts = [known.get(name) for name in ("origin", "sha256")], known.get("missing", [])
    fine = isinstance(texts, list) and all(isinstance(text, str) for text in texts)
    return fine and all(word is None or isinstance(word, str) for word in words)


def marked(
    proof: Proof, roles: dict[str, list[str]], models: list[dict[str, Any]]
) -> tuple[Proof, dict[str, list[str]], list[dict[str, Any]]]:
    """Return a proof with ``MARK`` before each column's name."""

    def entry(given: dict[str, Any]) -> dict[str, Any]:
        several = {"columns": [MARK + c for c in given["columns"]]} if "columns" in given else {}
        return given | several | ({"column": MARK + given["column"]} if "column" in given else {})

    known = {MARK + column: source for column, source in proof.facts["hierarchies"].items()}
    rules = [entry(rule) for rule in proof.facts.get("pricing") or []]
    groups = [[MARK + column for column in group] for group in proof.facts.get("groups") or []]
    facts = proof.facts | {"hierarchies": known, "pricing": rules, "groups": groups}
    if "constraints" in facts:
        said = facts["constraints"]
        linked = [[MARK + column for column in link] for link in said["linked"]]
        fixed = [MARK + column for column in said["fixed"]]
        facts["constraints"] = said | {"fixed": fixed, "linked": linked}
        for inside, key in ((facts["constraints"], "caps"), (facts, "cap_prices")):
            if key in inside:
                inside[key] = {MARK + column: number for column, number in inside[key].items()}
    ladders = proof.ladders.with_columns((MARK + pl.col("column")).alias("column"))
    names = {role: [MARK + column for column in columns] for role, columns in roles.items()}
    return proof._replace(facts=facts, ladders=ladders), names, [entry(model) for model in models]


def sha256(data: bytes) -> str:
    """Return the hash in hexadecimal."""
    return hashlib.sha256(data).hexdigest()


def read_table(
    data: bytes,
    dialect: Any,
    released: bool = False,
    reading: Reading | None = None,
    lean: bool = False,
) -> pl.DataFrame:
    """Read a table; delimited text by a dialect: delimiter, newline, encoding.

    ``MARK`` stands before each column's name.  ``released``: reject delimited text that writes
    equal cells in several ways: one text here, but whoever has the file tells rows of a class apart
    by them.
    ``reading``: what the verifier says of delimited text.  ``lean``: of columns of many rows hold
    each different text once.
    """
    try:
        form = form_of(data)
        if form is None:
            table = read_csv(data, dialect, released, reading, lean)
        else:
            require(form in READERS, f"a table is of a form that the checker does not read: {form}")
            table = read_packed(data, lean)
            if released:
                require_alone(data)
        table.columns = [MARK + name for name in table.columns]
        return table
    except (pl.exceptions.PolarsError, LookupError, TypeError, ValueError):
        raise RejectedError(UNREADABLE) from None


def words_of(column: pl.Series) -> pl.Series:
    """Return the same as ``as_text``, each different text held once where that is less."""
    if not isinstance(column.dtype, pl.Enum):
        return once_each(as_text(column))
    require_within(length_of(column) <= SMALL + TEXT * len(column), f"a column {LONG}")
    return column


def as_text(column: pl.Series) -> pl.Series:
    """Return a column's values as the text of a release; missing stays missing.

    Raises
    ------
    ValueError: several values may have one text.
    """
    if column.dtype.is_nested() or column.dtype in (pl.Binary, pl.Object):
        raise ValueError("lists, structs and bytes are not text")
    require_within(length_of(column) <= SMALL + TEXT * len(column), f"a column {LONG}")
    if column.dtype in (pl.String, pl.Null, pl.Categorical, pl.Enum):
        return column.cast(pl.String)
    kinds = column.drop_nulls().unique()
    values: list[Any] = kinds.to_list()
    if column.dtype.is_float() or column.dtype.is_decimal():
        texts = [str(int(v) if math.isfinite(v) and v == int(v) else v) for v in values]
    elif column.dtype.is_temporal():
        texts = times(kinds)
    else:
        texts = [str(v) for v in values]
    return column.replace_strict(kinds, texts, default=None, return_dtype=pl.String)


def times(column: pl.Series) -> list[str]:
    """Return dates, times and spans as text, with nine decimals where there are nanoseconds."""
    kind = column.dtype
    values: list[Any] = column.to_list()
    exact = isinstance(kind, pl.Time) or getattr(kind, "time_unit", "") == "ns"
    steps: list[int] = column.to_physical().to_list() if exact else [0] * len(values)
    fine = [step % 1000 for step in steps]
    if isinstance(kind, pl.Duration) and any(fine):  # as Python objects they are cut, not floored
        values = [timedelta(microseconds=step // 1000) for step in steps]
    if isinstance(kind, pl.Datetime):
        bare = kind.time_zone is None
        texts = [
            v.date().isoformat() if bare and v.time() == time() and not f else v.isoformat(sep=" ")
            for v, f in zip(values, fine, strict=True)
        ]
    else:
        texts = [str(v) for v in values]
    for i, nanoseconds in enumerate(fine):
        if nanoseconds:
            head, seconds, tail = re.split(r"(?<=:\d\d:)(\d\d(?:\.\d+)?)", texts[i], maxsplit=1)
            texts[i] = (
                f"{head}{seconds if '.' in seconds else seconds + '.000000'}{nanoseconds:03}{tail}"
            )
    return texts


def undone(column: pl.Series) -> pl.Series:
    """Take away the apostrophe that keeps spreadsheets from running a cell; reject one without.

    With and without would be one text here, but two in the release.
    """
    column = column.cast(pl.String)
    kinds = column.drop_nulls().unique()
    runs = ~kinds.str.contains(PLAIN)
    bare = kinds.filter(runs & kinds.str.contains(r"^[=+\-@\t\r]"))
    reason = "the cell lacks the apostrophe that the proof speaks of"
    require_none(column.is_in(bare.implode()).arg_true(), reason, column.name)
    marked = kinds.filter(runs & kinds.str.contains(r"^'+[=+\-@\t\r]"))
    return column.replace(marked, marked.str.slice(1))
