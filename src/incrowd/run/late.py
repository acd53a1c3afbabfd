"""Names of a package that are imported when they are first used (PEP 562)."""

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def importer(package: str, homes: Mapping[str, str]) -> Callable[[str], Any]:
    """Return what a package calls ``__getattr__``.

    Parameters
    ----------
    homes: name → the module that has it.
    """

    def get(name: str) -> Any:
        """Import a name when it is first used."""
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(import_module(homes[name]), name)
        setattr(sys.modules[package], name, value)
        return value

    return get
