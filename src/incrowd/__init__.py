"""incrowd: releases of microdata in which everyone hides in a crowd of at least k.

import incrowd as ic

release = ic.anonymize(frame, k=5, qi=["age", "sex", "zip"], sensitive="diagnosis")
release.data, release.cost, release.lower_bound
"""

from importlib import import_module

TYPE_CHECKING = False  # typing takes a while, in which Ctrl-C would show a traceback
if TYPE_CHECKING:
    from incrowd._api import anonymize as anonymize
    from incrowd.attacks import attack as attack
    from incrowd.codebooks import codebook as codebook
    from incrowd.errors import HierarchyError as HierarchyError
    from incrowd.errors import IncrowdError as IncrowdError
    from incrowd.errors import InputError as InputError
    from incrowd.errors import MissingExtraError as MissingExtraError
    from incrowd.errors import NoLawfulReleaseError as NoLawfulReleaseError
    from incrowd.errors import OutOfScopeError as OutOfScopeError
    from incrowd.errors import StoppedError as StoppedError
    from incrowd.errors import VerificationError as VerificationError
    from incrowd.frontiers import frontier as frontier
    from incrowd.measures import measure as measure
    from incrowd.policy import Policy as Policy
    from incrowd.policy.guess import guess as guess
    from incrowd.proof.verified import verify as verify
    from incrowd.release import Release as Release
    from incrowd.run.events import Event as Event
    from incrowd.run.stop import Stop as Stop
    from incrowd.series.of_table import republish as republish
    from incrowd.tables.files import open_table as open_table
    from incrowd.text.version import __version__ as __version__

_HOME = {
    "__version__": "incrowd.text.version",
    "Event": "incrowd.run.events",
    "HierarchyError": "incrowd.errors",
    "IncrowdError": "incrowd.errors",
    "InputError": "incrowd.errors",
    "MissingExtraError": "incrowd.errors",
    "NoLawfulReleaseError": "incrowd.errors",
    "OutOfScopeError": "incrowd.errors",
    "Policy": "incrowd.policy",
    "Release": "incrowd.release",
    "Stop": "incrowd.run.stop",
    "StoppedError": "incrowd.errors",
    "VerificationError": "incrowd.errors",
    "anonymize": "incrowd._api",
    "attack": "incrowd.attacks",
    "codebook": "incrowd.codebooks",
    "frontier": "incrowd.frontiers",
    "guess": "incrowd.policy.guess",
    "measure": "incrowd.measures",
    "open_table": "incrowd.tables.files",
    "republish": "incrowd.series.of_table",
    "verify": "incrowd.proof.verified",
}

__all__ = sorted(_HOME)  # pyright: ignore[reportUnsupportedDunderAll]


def __getattr__(name: str) -> object:
    """Import a public name when it is first used (PEP 562).

    By itself: who loads the checker alone loads no other part of the package.
    """
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOME})
