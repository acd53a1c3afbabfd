"""The bound that a proof file certifies, where that is not the release's own."""

from typing import Any

from incrowd.cli.output import say
from incrowd.text.units import in_units
from incrowd.text.units import shown as figure


def proof_bound(release: Any, facts: dict[str, Any]) -> dict[str, Any]:
    """Return the bound that the proof file certifies, where that is not the release's own."""
    if not facts or facts["bound"] - facts["cost"] == release.bound_units - release.cost_units:
        return {}
    return {"proof_bound": in_units(facts["bound"], facts["scale"])}


def say_proof_bound(release: Any, facts: dict[str, Any], quiet: bool) -> None:
    """Say what the proof certifies, where that is another bound than the release's."""
    for bound in proof_bound(release, facts).values():
        higher = bound > release.lower_bound
        own = "more than the method's own" if higher else "that above is the method's own"
        say(f"proof    certifies the bound {figure(bound)}; {own}", quiet)
