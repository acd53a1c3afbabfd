"""The work in a folder: what is asked, its history and its scenarios; for its owner alone.

No row of the table is in it, but hierarchies that were made on the page list their columns' values.
"""

import json
from pathlib import Path
from typing import Any

from incrowd.desk import files
from incrowd.desk.ask import Ask
from incrowd.desk.session import Moment, Session
from incrowd.errors import InputError
from incrowd.tables.atomic import whole

FILE, VERSION = "desk.json", 1


def save(session: Session, folder: str) -> str:
    """Write the work into a folder; return the file.

    Raises
    ------
    InputError: no table is open, or the folder cannot be written.
    """
    with session.lock:
        place = Path(folder).expanduser().resolve()
        record = {
            "incrowd desk": VERSION,
            "table": session.table.path,
            "at": session.at,
            "moments": [
                {"ask": moment.ask.record(), "kept": [dict(each) for each in moment.kept]}
                for moment in session.moments
            ],
            "folder": session.folder,
            "names": session.names,
            "population": session.population and session.population[0],
        }
        files.made(place)
        file = place / FILE
        with whole(file, private=True) as out:
            out.write(json.dumps(record, ensure_ascii=False, indent=1).encode())
        return str(file)


def load(session: Session, folder: str) -> None:
    """Open the work that was saved in a folder; its table is read again.

    Raises
    ------
    InputError: there is no such work, its table has gone, or has other columns by now.
    """
    file = Path(folder).expanduser().resolve() / FILE
    try:
        record = json.loads(file.read_text("utf-8"))
    except FileNotFoundError:
        raise InputError(f"{file}: no such file; the work is saved in a folder as {FILE}") from None
    except (OSError, ValueError, RecursionError):
        raise InputError(f"{file}: cannot be read") from None
    _restore(session, record)


def _restore(session: Session, record: Any) -> None:
    try:
        moments, at, table = record["moments"], int(record["at"]), record["table"]
        folder, names = str(record["folder"]), list(record["names"])
        asks = [moment["ask"] for moment in moments]
        kept = [tuple(moment["kept"]) for moment in moments]
        further = dict(asks[at]["further"])
        known = record["incrowd desk"] == VERSION and 0 <= at < len(moments)
    except (LookupError, TypeError, ValueError):
        known, asks, kept, at, table, folder, names = False, [], [], 0, "", "", []
        further = {}
    if not known or not isinstance(table, str):
        raise InputError("the saved work is not one that the desk wrote")
    with session.lock:
        session.open(table, further=further)
        columns = session.table.source.columns
        asked = [Ask.read(ask, columns) for ask in asks]
        session.moments = [Moment(a, k) for a, k in zip(asked, kept, strict=True)]
        session.at = at
        session.place(folder, names)
        session.compare_with(record.get("population"))
