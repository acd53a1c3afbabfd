"""The call that makes a release again, and what its result may depend on."""

import platform
from dataclasses import replace
from importlib.metadata import PackageNotFoundError, version

from incrowd.policy.base import ROLES
from incrowd.policy.spell import ascii_of, call_of
from incrowd.published.base import Published

PACKAGES = ("incrowd", "numpy", "numba", "polars", "scipy", "highspy")
ADDED = "new_rows,\n    existing=earlier_release"


def python_call(release: Published, file: tuple[str, str] | None, added: bool = False) -> str:
    """Return the call of ``incrowd.anonymize`` that makes the release, defaults left out.

    added: its rows are those of an earlier release and new ones, which the call names apart.
    """
    roles = {role: list(getattr(release.roles, role)) for role in ROLES}
    policy = replace(release.policy, **roles)
    if added:
        return f"{call_of(policy, ADDED)}.whole(earlier_original, earlier_proof, earlier_release)"
    return call_of(policy, "frame" if file is None else ascii_of(file[0]))


def versions() -> list[tuple[str, str]]:
    """Versions of what the result may depend on, where installed."""
    found = [("Python", platform.python_version())]
    for package in PACKAGES:
        try:
            found.append((package, version(package)))
        except PackageNotFoundError:
            continue
    return found
