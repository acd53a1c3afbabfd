"""One's own analysis, before and after: a file that was named when the desk was started.

It is never taken from the page: who may speak to the page could else run anything.
"""

import json
import runpy
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from incrowd.errors import InputError
from incrowd.release import Release

NAME = "analyse"
MOST = 200  # figures that are shown


def function_of(path: str) -> Callable[[Any], Any]:
    """Return the function ``analyse`` of a Python file, or of the cells of a notebook.

    Raises
    ------
    InputError: there is no such file, it is not a notebook, or it has no such function.
    """
    if not Path(path).is_file():
        raise InputError(f"{path}: no such file")
    found = (of_notebook if path.endswith(".ipynb") else runpy.run_path)(path).get(NAME)
    if not callable(found):
        raise InputError(f"{path}: has no function {NAME}(frame)")
    return found


def of_notebook(path: str) -> dict[str, Any]:
    """Return the names that a notebook's cells give, up to the cell that defines ``analyse``.

    Lines for the notebook's own machinery (``%`` and ``!``) are left out.
    """
    try:
        book = json.loads(Path(path).read_text("utf-8"))
        cells = ["".join(c["source"]) for c in book["cells"] if c["cell_type"] == "code"]
    except (ValueError, LookupError, TypeError):
        raise InputError(f"{path}: is not a notebook") from None
    names: dict[str, Any] = {"__name__": "__main__"}
    for number, cell in enumerate(cells, 1):
        lines = (line for line in cell.split("\n") if not line.lstrip().startswith(("%", "!")))
        exec(compile("\n".join(lines), f"{Path(path).name}, cell {number}", "exec"), names)
        if NAME in names:
            break
    return names


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
