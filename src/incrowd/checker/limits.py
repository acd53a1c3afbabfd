"""What the checker does not look at, for it would take too long or too much memory."""

from incrowd.checker.rejection import require

BEYOND = ": a limit of the checker, which says nothing against the proof"
LONG = "holds too long texts"


def require_within(truth: bool, reason: str, column: str | None = None) -> None:
    """Reject unless ``truth``, saying that no lie was found: nothing was decided."""
    require(truth, reason + BEYOND, column=column)
