"""Rows that are added to an earlier release: what proofs and reports then need, and speak of."""

from typing import TYPE_CHECKING, Any, cast

from incrowd.cli import options
from incrowd.cli.options import options_of
from incrowd.cli.places import require_file
from incrowd.errors import InputError
from incrowd.text.units import shown as figure

if TYPE_CHECKING:
    from incrowd.existing.of_table import ExtendedRelease
    from incrowd.release import Release

OF_WHOLE = ("proof", "report", "report_internal", "metadata")


def require_plain(given: dict[str, Any]) -> None:
    """Raise InputError for what does not go with --existing, or asks for more of it."""
    if asked := options_of(("spreadsheet_safe", "codebook"), given):
        raise InputError(f"{', '.join(asked)}: not served with --existing yet")
    wanted = options_of(OF_WHOLE, given)
    earlier = given["existing_original"] and given["existing_proof"]
    if wanted and not earlier:
        raise InputError(
            f"{', '.join(wanted)}: with --existing they speak of all rows, so they need what the "
            "earlier release was made from and its proof: --existing-original FILE and "
            "--existing-proof FILE"
        )
    if given["proof"] and not given["joined"]:
        raise InputError(
            "--proof with --existing: the proof is of the originals of all rows, which a verifier "
            "needs; name a file for them with --joined"
        )


def require_existing(given: dict[str, Any]) -> None:
    """Raise InputError for what goes with --existing alone."""
    asked = options_of(("existing_original", "existing_proof", "joined"), given)
    if asked and given["existing"] is None:
        raise InputError(f"{', '.join(asked)}: goes with --existing")
    if given["joined"] and not given["proof"]:
        raise InputError("--joined goes with --proof: it is what the proof is of")
    if given["joined"]:
        require_file("--joined", given["joined"])


def with_earlier(release: "Release", given: dict[str, Any]) -> tuple["Release", list[str]]:
    """Return what proofs and reports speak of, and cautions about people met before.

    Where rows were added, proofs and reports speak of these with those before them.  Whether people
    of new rows were published before can be said where the earlier original is at hand.
    """
    if given["existing"] is None or given["existing_original"] is None:
        return release, []
    original = options.opened_beside(given["existing_original"], given)
    if any(given[name] for name in OF_WHOLE):
        extended = cast("ExtendedRelease", release)
        release = extended.whole(original, given["existing_proof"], given["existing"])
        again = release.again
    else:
        from incrowd.existing.whole import met_again

        again = met_again(original, release.source, release.roles)
    return release, [again] if again else []


def of_all(release: "Release") -> str:
    """Say what proof and reports speak of where rows were added to an earlier release."""
    return (
        f"together {release.rows:,} rows, earlier and new: cost {figure(release.cost)}, bound "
        f"{figure(release.lower_bound)} for publishing all of them anew; proof and reports say this"
    )


def record_of_all(release: "Release") -> dict[str, Any]:
    """Return the same for programs."""
    found = {"rows": release.rows, "cost": release.cost, "lower_bound": release.lower_bound}
    return {"together": found}
