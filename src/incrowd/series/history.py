"""What was published so far of whom: the private file that the next release needs.

It names people and their values: nobody but its owner may open it.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from incrowd.checker.files import once, same
from incrowd.errors import InputError, listed, require_one_line
from incrowd.privacy.cautions import bare
from incrowd.series.asked import words_of

FORMAT, VERSION = "incrowd-history", 1
PARTS = {"format", "version", "asked", "releases", "people", "classes"}
SEAL = "sha256"  # of all the rest
DAMAGED = "{}: is not a history of incrowd republish, or a damaged one"


@dataclass(frozen=True, repr=False)  # which would quote cells
class Person:
    """What is remembered of a person who was published.

    Attributes
    ----------
    value: the sensitive value; signature: the set of values of each of the person's classes.
    beside: the people who stood in every class that the person stood in.
    """

    value: str
    signature: frozenset[str]
    beside: frozenset[str]


@dataclass(frozen=True, repr=False)  # which would quote cells
class History:
    """All releases so far.

    Attributes
    ----------
    asked: what was asked of them, which the next one has to be asked too; ``said`` of it is what
        the last one said of cells (``incrowd.series.asked.shape_of``).
    people: by key.
    classes: of the last release: value → key, None for a counterfeit.
    releases: what is known of each, in the order of publication.
    """

    asked: Mapping[str, Any]
    people: Mapping[str, Person] = field(default_factory=dict)
    classes: Sequence[Mapping[str, str | None]] = ()
    releases: Sequence[Mapping[str, int]] = ()

    @property
    def plain(self) -> dict[str, Any]:
        """What the file says, but for the hash of it."""
        return {
            "format": FORMAT,
            "version": VERSION,
            "asked": dict(self.asked),
            "releases": [dict(each) for each in self.releases],
            "people": {
                key: [p.value, sorted(p.signature), sorted(p.beside)]
                for key, p in self.people.items()
            },
            "classes": [dict(each) for each in self.classes],
        }

    @property
    def seal(self) -> str:
        """SHA-256 of what the file says, in hexadecimal.

        Whoever can guess all of it can test guesses by it: it is as private as the history.
        """
        return seal_of(self.plain)

    def text(self) -> bytes:
        """Return the file's bytes."""
        return written(self.plain | {SEAL: self.seal}) + b"\n"


def written(plain: Mapping[str, Any]) -> bytes:
    """Return JSON as it is written and hashed."""
    return json.dumps(plain, ensure_ascii=False).encode("utf-8", "surrogatepass")


def seal_of(plain: Mapping[str, Any]) -> str:
    """Return the hash of what a history says."""
    return hashlib.sha256(written(plain)).hexdigest()


def read_history(path: str | Path, asked: Mapping[str, Any]) -> History:
    """Return the history in a file; an empty one where there is no file yet.

    Raises
    ------
    InputError: it is none, or was made for other questions than ``asked``.
    """
    require_one_line(path, "the history")
    try:
        data = Path(path).read_bytes()
    except FileNotFoundError:
        return History(asked)
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from None
    try:
        plain = json.loads(data.decode("utf-8", "surrogatepass"), object_pairs_hook=once)
        require(plain.pop(SEAL) == seal_of(plain))
        require({*plain} == PARTS)
        require(plain["format"] == FORMAT and same(plain["version"], VERSION))
        people = {key: person_of(*entry) for key, entry in plain["people"].items()}
        classes = [dict(each) for each in plain["classes"]]
        require(isinstance(plain["releases"], list))
        require(all(isinstance(each, dict) for each in plain["releases"]))
        require(all(k is None or isinstance(k, str) for each in classes for k in each.values()))
        history = History(dict(plain["asked"]), people, classes, plain["releases"])
        for name, value in history.asked.get("said", {}).items():
            words_of(name, value)
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError, InputError):
        raise InputError(DAMAGED.format(path)) from None
    for name, value in asked.items():
        if not same(_unordered(history.asked.get(name)), _unordered(value)):
            raise InputError(
                f"{path}: the earlier releases of this series were made with another {name}"
                f"{_told(history.asked.get(name), value)}; all releases of a series are made with "
                "the same one"
            )
    return history


def _unordered(value: Any) -> Any:
    """Return names in one order: the columns of a table may stand in another one than before."""
    names = isinstance(value, list) and all(isinstance(each, str) for each in value)
    return sorted(value) if names else value


def _told(earlier: Any, now: Any) -> str:
    """Say which numbers or names differ; what else was asked may be long."""
    if type(earlier) is type(now) is int:
        return f" ({earlier}, now {now})"
    if isinstance(earlier, list) and isinstance(now, list):
        return f" ({listed(earlier)}; now {listed(now)})"
    return ""


def require_expected(path: str | Path, history: History, seal: str | None) -> None:
    """Raise InputError where a file holds another history than that of this hash.

    A history that was changed as a whole, its hash as well, holds together: only who has kept the
    hash elsewhere can tell.
    """
    if seal is not None and seal.strip().lower() != history.seal:
        raise InputError(
            f"{path}: not the history that is expected (--expect-history, expect_history=): it was "
            "changed since, is of another release (also of one whose run was killed before its "
            "file was there), or is not there"
        )


def require_followed(path: str | Path, *known: History) -> None:
    """Raise InputError where another history stands in a file than one of these.

    To write over it would forget who was published in which class, and the releases after it
    could be intersected.
    """
    if not Path(path).exists():
        return
    text = read_history(path, {}).text()
    if all(text != each.text() for each in known):
        raise InputError(
            f"{path}: holds another release than the one that this one follows: it was written "
            "meanwhile, perhaps by a second run; nothing was written. Run again, which follows it"
        )


def person_of(value: Any, signature: Any, beside: Any) -> Person:
    """Return what is remembered of a person; ValueError where it is not text and lists of text."""
    require(isinstance(value, str) and all(isinstance(one, list) for one in (signature, beside)))
    require(all(isinstance(text, str) for text in (*signature, *beside)))
    require(all(len({*one}) == len(one) for one in (signature, beside)))
    return Person(value, frozenset(signature), frozenset(beside))


def require(truth: bool) -> None:
    """Raise ValueError unless ``truth``."""
    if not truth:
        raise ValueError


def require_same_keys(history: History, keys: Sequence[str], all_new: bool) -> None:
    """Raise InputError where keys are written otherwise than before, or there are none.

    Whoever is taken for somebody new gets a new signature, and who intersects the two releases
    learns what both share.
    """
    if not history.people:
        return
    if not keys and not all_new:
        raise InputError(
            f"the table has no rows, and the history {len(history.people):,} people of earlier "
            "releases: was it cut off? If all of them have left, say so: --all-new (all_new=)"
        )
    known = set(history.people)
    strange = [key for key in keys if key not in known]
    plain = {bare(key) for key in known - set(keys)} if strange else set()
    alike = sum(bare(key) in plain for key in strange)
    if alike:
        raise InputError(
            f"{alike:,} keys are those of people of earlier releases but for blanks, case, zeros "
            "in front or decimals behind: write keys as they were"
        )
    if len(strange) == len(keys) and not all_new:
        raise InputError(
            f"none of the {len(keys):,} people is one of the {len(known):,} of earlier releases: "
            "are their keys of another type? If all of them are new, say so: --all-new (all_new=)"
        )
