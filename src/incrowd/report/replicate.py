"""The call that makes a release again, and what its result may depend on."""

import platform
from dataclasses import replace
from importlib.metadata import PackageNotFoundError, version

from incrowd.policy.base import ROLES
from incrowd.policy.spell import ascii_of, call_of
from incrowd.published.base import Published

PACKAGES = ("incrowd", "numpy", "numba", "polars", "scipy", "highspy")


def python_call(release: Published, file: tuple[str, str] | None) -> str:
    """Return the call of ``incrowd.anonymize`` that makes the release, defaults left out."""
    roles = {role: list(getattr(release.roles, role)) for role in ROLES}
    data = "frame" if file is None else ascii_of(file[0])
    return call_of(replace(release.policy, **roles), data)


def versions() -> list[tuple[str, str]]:
    """Versions of what the result may depend on, where installed."""
    found = [("Python", platform.python_version())]
    for package in PACKAGES:
        try:
            found.append((package, version(package)))
        except PackageNotFoundError:
            continue
    return found
