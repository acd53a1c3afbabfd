"""One's own analysis, before and after: a Python file that was named when the desk was started.

It is never taken from the page: who may speak to the page could else run anything.
"""

import runpy
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from incrowd.errors import InputError
from incrowd.release import Release

NAME = "analyse"
MOST = 200  # figures that are shown


def function_of(path: str) -> Callable[[Any], Any]:
    """Return the function ``analyse`` of a file.

    Raises
    ------
    InputError: there is no such file, or no such function in it.
    """
    if not Path(path).is_file():
        raise InputError(f"{path}: no such file")
    found = runpy.run_path(path).get(NAME)
    if not callable(found):
        raise InputError(f"{path}: has no function {NAME}(frame)")
    return found


def compared(path: str, release: Release) -> list[list[Any]]:
    """Return name, figure before and figure after; ``analyse`` gets each table as a frame.

    It returns a number, a text, or a mapping of names to them.
    """
    try:
        analyse = function_of(path)
        before = named(analyse(release.source.native()))
        after = named(analyse(release.data))
    except InputError:
        raise
    except Exception as error:  # theirs: its words are for them, who have the table
        raise InputError(f"{Path(path).name}: {type(error).__name__}: {error}") from None
    names = list(dict.fromkeys([*before, *after]))[:MOST]
    return [[name, before.get(name), after.get(name)] for name in names]


def named(result: Any) -> dict[str, Any]:
    """Return figures by name."""
    given = result if isinstance(result, Mapping) else {"result": result}
    return {
        str(name): value if isinstance(value, int | float | str) else str(value)
        for name, value in given.items()
    }
