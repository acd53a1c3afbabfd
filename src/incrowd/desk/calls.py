"""The calls of the page, by name: plain data in, plain data out."""

import json
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from incrowd.desk import files, levels, saved
from incrowd.desk.ask import Ask
from incrowd.desk.publish import OUTPUTS
from incrowd.desk.session import Session, but_for_k
from incrowd.desk.work import DONE, RUNNING, Making, Work
from incrowd.errors import InputError

Given = Mapping[str, Any]
Call = Callable[[Session, Given], Any]
MOST_ROWS = 500
TICK, BEAT = 0.1, 0.5  # seconds: how often a stream looks, and how often it tells at least


def text(given: Given, name: str, default: str | None = None) -> str:
    """Return a text."""
    value = given.get(name, default)
    if not isinstance(value, str):
        raise InputError(f"{name}: expected a text")
    return value


def number(given: Given, name: str, default: int | None = None) -> int:
    """Return a whole number, also from a text, of at most 15 digits."""
    value = given.get(name, default)
    if isinstance(value, str) and len(value) <= 15 and value.lstrip("-").isdecimal():
        value = int(value)
    if not isinstance(value, int) or isinstance(value, bool):
        raise InputError(f"{name}: expected a whole number")
    return value


def texts(given: Given, name: str) -> list[str]:
    """Return a list of texts."""
    value = given.get(name)
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
        raise InputError(f"{name}: expected a list of texts")
    return value


def state(session: Session, given: Given) -> dict[str, Any]:
    """What everything is like now; with ``table``, the table's columns as well."""
    found = told(session)
    if "table" in given:
        found["table"] = None if session.opened is None else table(session)
    return found


def table(session: Session) -> dict[str, Any]:
    """The table's columns, and what may be published."""
    opened = session.table
    return {
        "name": Path(opened.path).name,
        "path": opened.path,
        "rows": opened.source.rows,
        "columns": list(opened.columns),
        "outputs": {
            name: {"name": each.name, "what": each.what, "public": each.public}
            for name, each in OUTPUTS.items()
        },
    }


def show_levels(session: Session, given: Given) -> dict[str, Any]:
    """The hierarchy of a column, level by level."""
    name = text(given, "column")
    column = session.table.column(name)
    k = session.ask.further.get("k", 2)
    return levels.preview(name, column, session.ask.source(name), k, *session.ask.reading(name))


def rows(session: Session, given: Given) -> dict[str, Any]:
    """A window of rows before and after."""
    release = session.release
    changed: bool | str = given.get("changed") or False
    if changed not in (False, "any") and changed not in release.roles.qi:
        raise InputError("changed: expected a quasi-identifier, or any")
    of_class = number(given, "class") - 1 if given.get("class") else None
    where = (text(given, "column"), given.get("value")) if given.get("column") else None
    count = min(max(number(given, "count", 50), 0), MOST_ROWS)
    found = release.window(
        max(number(given, "start", 0), 0),
        count,
        changed=True if changed == "any" else changed,
        of_class=of_class,
        where=where,
    )
    return {
        "columns": found.columns,
        "total": found.total,
        "rows": found.rows,
        "before": found.before,
        "after": found.after,
        "classes": [each + 1 for each in found.classes],
        "sizes": found.sizes,
    }


def figures(session: Session, given: Given) -> dict[str, Any]:
    """What risk is left, and what use."""
    return session.figures()


def list_files(session: Session, given: Given) -> dict[str, Any]:
    """Folders and tables to choose from, those beside the open table first."""
    beside = Path(session.opened.path).parent if session.opened else "."
    return files.listed(text(given, "folder", "") or str(beside))


def events(session: Session, given: Given) -> Iterator[bytes]:
    """What runs, told as it changes, a line each; ends when nothing runs."""
    seen, last = None, 0.0
    while True:
        works = [session.making, session.sweeping, session.attacking, session.studying]
        going = any(work is not None and work.state == RUNNING for work in works)
        now = [(id(work), work.version) for work in works if work is not None]
        if now != seen or time.monotonic() - last > BEAT:
            seen, last = now, time.monotonic()
            yield json.dumps(running(session)).encode() + b"\n"
        if not going:
            return
        time.sleep(TICK)


def open_file(session: Session, given: Given) -> dict[str, Any]:
    """Open a table, with a policy file where one is named."""
    path, policy = bare(text(given, "path")), bare(text(given, "policy", ""))
    if not path:
        raise InputError("say which table: type its path, or choose it from the list")
    session.open(path, policy or None)
    return told(session)


def bare(path: str) -> str:
    """Return a path without the quotes in which Windows copies it."""
    path = path.strip()
    return path[1:-1] if path[:1] == path[-1:] == '"' else path


def change(session: Session, given: Given) -> dict[str, Any]:
    """Ask for something else."""
    session.change(given)
    return told(session)


def group(session: Session, given: Given) -> dict[str, Any]:
    """Make some nodes of a level one group."""
    name = text(given, "column")
    found = levels.rows_of(name, session.table.column(name), session.ask.source(name))
    members = texts(given, "members")
    session.regroup(
        name, levels.grouped(found, number(given, "level"), members, text(given, "name"))
    )
    return told(session)


def ungroup(session: Session, given: Given) -> dict[str, Any]:
    """Undo a group."""
    name = text(given, "column")
    found = levels.rows_of(name, session.table.column(name), session.ask.source(name))
    session.regroup(name, levels.ungrouped(found, number(given, "level"), text(given, "group")))
    return told(session)


def borders(session: Session, given: Given) -> dict[str, Any]:
    """Make intervals by their borders: ``18, 30, 65``, a level after each semicolon."""
    name = text(given, "column")
    cuts = [part.split(",") for part in text(given, "borders").split(";")]
    reading = session.ask.reading(name)
    session.regroup(name, levels.bordered(name, session.table.column(name), cuts, *reading))
    return told(session)


def order(session: Session, given: Given) -> dict[str, Any]:
    """Put a column's values in an order, of which classes show ranges: ``range:most=2``."""
    session.order(text(given, "column"), texts(given, "values"), text(given, "rule", "range"))
    return told(session)


def step(by: int) -> Call:
    """Return the call that undoes or redoes."""

    def call(session: Session, given: Given) -> dict[str, Any]:
        session.step(by)
        return told(session)

    return call


def doing(do: Callable[[Session, Given], Any]) -> Call:
    """Return a call that does something and returns the state."""

    def call(session: Session, given: Given) -> dict[str, Any]:
        do(session, given)
        return told(session)

    return call


def place(session: Session, given: Given) -> dict[str, Any]:
    """Say where to publish, and what."""
    session.place(text(given, "folder"), texts(given, "names"))
    return told(session)


def publish(session: Session, given: Given) -> dict[str, Any]:
    """Write the outputs."""
    written = session.publish(given.get("replace") is True, given.get("another") is True)
    return told(session) | {"written": written}


def save(session: Session, given: Given) -> dict[str, Any]:
    """Save the work."""
    return told(session) | {"saved": saved.save(session, text(given, "folder"))}


def load(session: Session, given: Given) -> dict[str, Any]:
    """Open saved work."""
    saved.load(session, text(given, "folder"))
    return told(session)


READ: dict[str, Call] = {
    "state": state,
    "levels": show_levels,
    "rows": rows,
    "figures": figures,
    "files": list_files,
    "events": events,
}
"""Calls that change nothing, by GET."""

WRITE: dict[str, Call] = {
    "open": open_file,
    "ask": change,
    "group": group,
    "ungroup": ungroup,
    "borders": borders,
    "order": order,
    "undo": step(-1),
    "redo": step(1),
    "run": doing(lambda session, given: session.make()),
    "stop": doing(lambda session, given: session.stop(text(given, "what", "release"))),
    "sweep": doing(lambda session, given: session.sweep()),
    "attack": doing(lambda session, given: session.attack(bare(text(given, "register", "")))),
    "study": doing(lambda session, given: session.study(number(given, "number"))),
    "population": doing(lambda session, given: session.compare_with(bare(text(given, "path", "")))),
    "keep": doing(lambda session, given: session.keep(text(given, "name", ""))),
    "drop": doing(lambda session, given: session.drop(number(given, "number"))),
    "again": doing(lambda session, given: session.ask_again(number(given, "number"))),
    "place": place,
    "publish": publish,
    "save": save,
    "load": load,
}
"""Calls that change something, by POST."""


def told(session: Session) -> dict[str, Any]:
    """Return the state of everything."""
    with session.lock:
        found: dict[str, Any] = {
            "open": session.opened is not None,
            "folder": session.folder,
            "names": session.names,
            "analyses": [Path(path).name for path in session.analyses],
            "population": session.population and session.population[0],
        }
        if session.opened is None:
            return found
        return found | session.spelling.record() | {
            "ask": session.ask.record(),
            "undo": session.at > 0,
            "redo": session.at < len(session.moments) - 1,
            "kept": [dict(each) for each in session.now.kept],
            "published": [each["files"] for each in session.published],
        } | running(session)  # fmt: skip


def running(session: Session) -> dict[str, Any]:
    """Return what runs or has run: what a stream of events tells."""
    with session.lock:
        making = session.making
        return {
            "job": making and making.record(),
            "stale": making is not None and making.asked != session.ask,
            "sweep": swept(session),
            "attacks": of_release(session.attacking, making),
            "study": of_release(session.studying, making),
        }


def swept(session: Session) -> dict[str, Any] | None:
    """Return the sweep over k, improved by the releases that were made meanwhile."""
    sweep, making = session.sweeping, session.making
    if sweep is None or sweep.asked != but_for_k(session.ask):
        return None
    found = sweep.record()
    columns = session.table.source.columns
    made = [(Ask.read(each["ask"], columns), each) for each in session.now.kept]
    if making is not None and making.release is not None:
        release = making.release
        made.append((making.asked, {"k": release.k, "share_of_worst": release.cost_fraction}))
    alike = [each for ask, each in made if but_for_k(ask) == sweep.asked]
    for point in found["points"]:
        serve = [each["share_of_worst"] for each in alike if each["k"] >= point[0]]
        point[1] = min([point[1], *serve])
    return found


def of_release(work: Work | None, making: Making | None) -> dict[str, Any] | None:
    """Return what is known of work on the present release."""
    if work is None:
        return None
    found = work.record()
    if work.state == DONE:
        release, result = work.result
        if making is None or making.release is not release:
            return None
        found["result"] = result
    return found
