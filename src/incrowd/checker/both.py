"""Reading the two tables, each a file or a folder of files, one after the other.

A folder is one table: its files that are not hidden (``.`` or ``_`` before the name), in the order
of their names.  Its hash is that of the lines that ``sha256sum`` writes of them in that order.
"""

import hashlib
import zlib
from collections import defaultdict
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import IO, Any, NamedTuple

import polars as pl

from incrowd.checker import files
from incrowd.checker.delimited import Reading
from incrowd.checker.dictionaries import WORDS
from incrowd.checker.limits import require_within
from incrowd.checker.packed import READERS, UNREADABLE, form_of, require_sizes
from incrowd.checker.parquet import SMALL, rows_of
from incrowd.checker.rejection import RejectedError, require

TEXTS = (".csv", ".tsv", ".tab", ".txt", ".psv")
PIECE = 1 << 24
LINE = 1 << 20  # bytes of a mean line, beyond ``SMALL`` of all
LEAST_STEP = 1 << 9  # bytes of which Hadoop keeps one checksum, or more
BESIDE = "the folder of the release holds what is no part of its table (hidden, or empty):"


class Both(NamedTuple):
    """The original and the release, as far as they could be read; what they are not; why not.

    ``listed``: by column the words that types of the release's files list (Enum).
    """

    tables: list[pl.DataFrame]
    other: list[str]
    no: RejectedError | None
    listed: dict[str, set[str]]

    @property
    def strange(self) -> str:
        """What is to be said of the tables whose hashes are others."""
        one = len(self.other) == 1
        named = f"the {' and the '.join(self.other)} {'is' if one else 'are'} not the file"
        return f"{named}{'' if one else 's'} whose hash the proof states"

    def reason(self, why: str) -> str:
        """Return why a table is rejected, with that: it says more."""
        return f"{why}; {self.strange}" if self.other else why

    def whole(self) -> list[pl.DataFrame]:
        """Return both tables, or raise why one cannot be read."""
        if self.no is not None:
            raise self.no
        before, after = self.tables
        for column in {*self.listed} & {*before.columns}:
            known, shown = ({*files.as_text(table[column].unique())} for table in (before, after))
            require(not (self.listed[column] - shown) & known, WORDS, column=column)
        return self.tables


def read_both(original: Path, release: Path, facts: Any, reading: Reading | None = None) -> Both:
    """Read two tables, and hold their hashes against those that the proof states.

    Rejected is one that is text by its name and another by its bytes: whoever opens it by its name
    would see another table than the one that is checked.  And a release that says it has more rows
    than the original.
    """
    both, form = Both([], [], None, {}), facts.get("csv") or {}
    lean = facts.get("spreadsheet_safe") is not True  # of such a one each text is looked at
    places = {"original": files_of(original), "release": files_of(release)}
    hidden = hidden_in(release) if release.is_dir() else None
    require(hidden is None, f"{BESIDE} {hidden!r}")
    for path in (path for found in places.values() for path in found):
        head = form_of(start_of(path))
        other = head and path.suffix.lower() in TEXTS
        require(not other, f"{path.name} is named like text, but its bytes are {head}")
    packed = any(form_of(start_of(path)) in READERS for path in places["release"])
    most = most_rows(original) if packed else None
    for (name, found), path in zip(places.items(), (original, release), strict=True):
        hashes, parts = [], []
        for place in found:
            data = place.read_bytes()
            limited = name == "release" and form_of(data) in READERS
            require_sizes(data, most if limited else None, f"the {name}")
            hashes.append(files.sha256(data))
            try:
                if both.no is None:
                    parts.append(files.read_table(data, form, name == "release", reading, lean))
            except RejectedError as no:
                both = both._replace(no=no)
            del data
        stated = (facts.get(name) or {}).get("sha256")
        if stated != hash_of(path, found, hashes):
            both.other.append(name)
        if both.no is None:
            both.tables.append(parts[0] if len(parts) == 1 else one_table(parts))
    return both if both.no else both._replace(listed=listed_in(places["release"]))


def listed_in(found: list[Path]) -> dict[str, set[str]]:
    """Return by column the words that types of files list (Enum), shown or not."""
    listed: dict[str, set[str]] = defaultdict(set)
    for path in found:
        form = form_of(start_of(path))
        schema = READERS[form](path, n_rows=0).schema if form in READERS else {}
        for name, kind in schema.items():
            if isinstance(kind, pl.Enum):
                listed[files.MARK + name] |= {*kind.categories}
    return listed


def one_table(parts: list[pl.DataFrame]) -> pl.DataFrame:
    """Join the parts of a table; rejected are other columns."""
    fine = all(part.columns == parts[0].columns for part in parts)
    require(fine, "the files of a folder have other columns")
    words = [name for name in parts[0].columns if any(p[name].dtype == pl.Enum for p in parts)]
    parts = [part.with_columns(pl.col(words).cast(pl.String)) for part in parts]
    try:
        table = pl.concat(parts)
    except pl.exceptions.PolarsError:
        raise RejectedError(UNREADABLE) from None
    return table.with_columns([files.words_of(table[name]) for name in words])


def files_of(path: Path) -> list[Path]:
    """Return the files that make a table up, in the order of their rows."""
    if not files.ended(path).is_dir():
        return [path]
    found = sorted(p for p in path.iterdir() if p.name[:1] not in ("_", "."))
    fine = found and all(p.is_file() and p.name.isprintable() for p in found)
    require(bool(fine), f"{path.name} is a folder of something else than the files of one table")
    return found


def hidden_in(folder: Path) -> str | None:
    """Return the name of a file below a folder of a release that no reader shows; None of none.

    Or of an empty folder: mostly the name is that of a value that its rows had before.  Whoever
    gets the folder has it.  Hadoop's marks, which say nothing of a cell, are none: an empty
    ``_SUCCESS``, and ``.NAME.crc`` of a file NAME beside it, with the checksums of what that holds;
    those of what it held before would tell of that.
    """
    found = sorted(folder.rglob("*"))
    full = {above for path in found if not path.is_dir() for above in path.parents}
    found = [path for path in found if path not in full]
    names = [path.relative_to(folder) for path in found]
    odd = [
        name
        for path, name in zip(found, names, strict=True)
        if path.is_dir() or any(part[:1] in ("_", ".") for part in name.parts)
    ]
    return next((str(name) for name in odd if not _is_mark(folder / name)), None)


def _is_mark(path: Path) -> bool:
    """Whether a file is a mark of Hadoop's."""
    if path.is_symlink() or not path.is_file():
        return False
    if path.name == "_SUCCESS":
        return not path.stat().st_size
    own = path.with_name(path.name[1:].removesuffix(".crc"))
    if path.suffix != ".crc" or not own.is_file():
        return False
    step = int.from_bytes(start_of(path)[4:8])
    if step < LEAST_STEP or path.stat().st_size != 8 + 4 * -(-own.stat().st_size // step):
        return False
    with own.open("rb", buffering=PIECE) as file:  # a part may be larger than memory
        return path.read_bytes() == sums_of(file, step)


def sums_of(file: IO[bytes], step: int) -> bytes:
    """Return what a file of Hadoop's holds that checks another, so many bytes at a time."""
    sums = (zlib.crc32(piece) for piece in iter(partial(file.read, step), b""))
    return b"crc\0" + step.to_bytes(4) + b"".join(each.to_bytes(4) for each in sums)


def hash_of(path: Path, found: list[Path], hashes: list[str]) -> str:
    """Return the hash of a table from those of its files."""
    if not path.is_dir():
        return hashes[0]
    lines = (f"{one}  {place.name}\n" for one, place in zip(hashes, found, strict=True))
    return files.sha256("".join(lines).encode())


def hash_at(path: str | Path) -> str:
    """Return the hash of a table: a file, or a folder of files."""
    found, hashes = files_of(Path(path)), []
    for place in found:
        with place.open("rb") as file:
            hashes.append(hashlib.file_digest(file, "sha256").hexdigest())
    return hash_of(Path(path), found, hashes)


def most_rows(original: str | Path, release: str | Path | None = None) -> int:
    """Return a number of rows that a table does not exceed, mostly without reading it.

    A release as text counts as well: it is as large as it is, and has rows too many, perhaps.
    """
    texts = [p for p in files_of(Path(release)) if not form_of(start_of(p))] if release else []
    return max(sum(map(_most, files_of(Path(original)))), sum(map(_most, texts)))


def _most(path: Path) -> int:
    form = form_of(start_of(path))
    try:
        if form == "Parquet":
            return rows_of(path.read_bytes())
        if form in READERS:
            return files.read_packed(path.read_bytes()).height
    except (pl.exceptions.PolarsError, LookupError, TypeError, ValueError):
        raise RejectedError(UNREADABLE) from None
    lines = size = 0
    for data in pieces(path):  # a file of zeros takes no place on a disk, and has no end of a line
        lines, size = lines + data.count(b"\n") + data.count(b"\r"), size + len(data)
        require_within(size <= SMALL + LINE * lines, f"{path.name} has too long lines")
    return lines + 1


def start_of(path: Path) -> bytes:
    """Return what a file begins with."""
    with path.open("rb") as file:
        return file.read(1 << 12)


def pieces(path: Path) -> Iterator[bytes]:
    """Yield a file's bytes, some at a time."""
    with path.open("rb") as file:
        while data := file.read(PIECE):
            yield data
