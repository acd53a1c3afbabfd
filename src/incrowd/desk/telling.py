"""The session's state as the page gets it: plain data, all but the table's own columns."""

from pathlib import Path
from typing import Any

from incrowd.desk.ask import Ask
from incrowd.desk.session import Session, but_for_k
from incrowd.desk.work import DONE, Making, Work


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
