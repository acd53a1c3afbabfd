"""Tests of histories of which an entry was taken out, doubled or changed."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import incrowd as ic
from incrowd.errors import InputError
from incrowd.series.history import seal_of

ASKED: dict[str, Any] = {"person": "pid", "sensitive": "s", "m": 2, "k": 2, "seed": 1}
Plain = dict[str, Any]


def table(first: int, last: int) -> pl.DataFrame:
    """People of three values in turn."""
    people = range(first, last)
    return pl.DataFrame(
        {
            "pid": [f"P{i}" for i in people],
            "x": ["ab"[i % 2] for i in people],
            "s": ["stu"[i % 3] for i in people],
        }
    )


@pytest.fixture
def history(tmp_path: Path) -> Path:
    """Two releases; P0 to P2 are in the first alone."""
    for rows in (table(0, 9), table(3, 12)):
        release = ic.republish(rows, tmp_path / "h", **ASKED)
        release.write(tmp_path / "o.csv", tmp_path / "h")
    return tmp_path / "h"


def one_of(plain: Plain) -> tuple[dict[str, Any], str]:
    """A class of the last release, and a value of it that somebody has."""
    each = next(c for c in plain["classes"] if None not in c.values())
    return each, min(each)


def left_out(plain: Plain) -> None:
    """P0 was in no release."""
    del plain["people"]["P0"]
    for entry in plain["people"].values():
        entry[2] = [key for key in entry[2] if key != "P0"]


def left(plain: Plain) -> None:
    """Somebody of the last release was in none."""
    each, value = one_of(plain)
    plain["people"].pop(each[value])
    each[value] = None


def counterfeit(plain: Plain) -> None:
    """Somebody of the last release is called a counterfeit."""
    each, value = one_of(plain)
    each[value] = None


def moved(plain: Plain) -> None:
    """Somebody stands under another value."""
    each, value = one_of(plain)
    other = max(each)
    each[value], each[other] = each[other], each[value]


def wider(plain: Plain) -> None:
    """A class has a value more than its people's signature."""
    one_of(plain)[0]["v"] = None


def counted(plain: Plain) -> None:
    """The last release is said to have more counterfeits."""
    plain["releases"][-1]["counterfeits"] += 1


def no_number(plain: Plain) -> None:
    """The first release's rows are no whole number."""
    plain["releases"][0]["rows"] = 9.0


def stranger(plain: Plain) -> None:
    """P0 stood beside somebody who is not known."""
    plain["people"]["P0"][2].append("nobody")


def company(plain: Plain) -> None:
    """Somebody stood beside all others."""
    plain["people"]["P0"][2] = [key for key in plain["people"] if key != "P0"]


def signature(plain: Plain) -> None:
    """P0's signature has a value of which nobody knows."""
    plain["people"]["P0"][1].append("v")


CHANGES: tuple[Callable[[Plain], None], ...] = (
    left_out, left, counterfeit, moved, wider, counted, no_number, stranger, company, signature,
    lambda plain: plain["classes"].append(plain["classes"][0]),
    lambda plain: plain["classes"].pop(),
    lambda plain: plain["releases"].pop(0) and plain["releases"].pop(),
    lambda plain: plain["releases"].reverse(),
    lambda plain: plain.update(more=1),
    lambda plain: plain["people"].update({"": plain["people"]["P0"]}),
    lambda plain: plain["asked"].update(said={"na": 3}),
    lambda plain: plain["asked"].update(said={"na": [None]}),
    lambda plain: plain["asked"].update(said={"other": "x"}),
)  # fmt: skip


@pytest.mark.parametrize("change", CHANGES)
def test_what_does_not_hold_together(change: Callable[[Plain], None], history: Path) -> None:
    """Tests that nothing follows a history of which one entry was changed, in a plain answer."""
    plain = json.loads(history.read_text())
    change(plain)
    rest = {name: part for name, part in plain.items() if name != "sha256"}
    for changed in (plain, rest, rest | {"sha256": seal_of(rest)}):  # a stale, no, a new hash
        history.write_text(json.dumps(changed))
        with pytest.raises(InputError, match="or a damaged one"):
            ic.republish(table(0, 12), history, **ASKED)


def test_what_holds_together_is_told_by_its_hash(tmp_path: Path) -> None:
    """Tests the signature of an absent person without company, widened: by the hash, and anew."""
    path, asked = tmp_path / "h", ASKED | {"k": 1}
    known: list[str | None] = [None]
    for rows in (table(0, 9), table(3, 12)):
        release = ic.republish(rows, path, expect_history=known[-1], **asked)
        release.write(tmp_path / "o.csv", path)
        known.append(release.history.seal)
    honest = json.loads(path.read_text())
    path.write_text(json.dumps(honest, indent=1))  # says the same
    assert ic.republish(table(0, 12), path, expect_history=known[-1], **asked).rows == 12
    honest["people"]["P0"][2] = []
    honest["people"]["P0"][1].append("v")
    path.write_text(json.dumps(honest))
    with pytest.raises(InputError, match="or a damaged one"):
        ic.republish(table(0, 12), path, **asked)
    del honest["sha256"]
    path.write_text(json.dumps(honest))
    with pytest.raises(InputError, match="or a damaged one"):
        ic.republish(table(0, 12), path, **asked)
    path.write_text(json.dumps(honest | {"sha256": seal_of(honest)}))  # made anew
    _ = ic.republish(table(0, 12), path, **asked)
    for other in (path, tmp_path / "not there"):
        with pytest.raises(InputError, match="not the history that is expected"):
            ic.republish(table(0, 12), other, expect_history=known[-1], **asked)
    with pytest.raises(InputError, match="not the history that is expected"):
        ic.republish(table(0, 12), path, expect_history=known[1], **asked)


def test_an_entry_stands_once(history: Path) -> None:
    """Tests that of two entries of one person none is dropped silently."""
    entry = json.dumps({"P3": ["s", ["s", "t"], []]})[1:-1]
    history.write_text(history.read_text().replace('"people": {"', f'"people": {{{entry}, "', 1))
    with pytest.raises(InputError, match="or a damaged one"):
        ic.republish(table(0, 12), history, **ASKED)
