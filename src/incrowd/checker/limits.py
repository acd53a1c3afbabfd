"""What the checker does not look at, for it would take too long or too much memory."""

from incrowd.checker.rejection import require

# more than any table needs; without an end a proof of some kilobytes takes hours
MOST_LEVELS, MOST_DEPTH = 1000, 100  # of a hierarchy, and of one of sensitive values
MOST_MODELS, MOST_DIGITS = 1000, 100  # of a model's number
BEYOND = ": a limit of the checker, which says nothing against the proof"
LONG = "holds too long texts"


def require_within(truth: bool, reason: str, column: str | None = None) -> None:
    """Reject unless ``truth``, saying that no lie was found: nothing was decided."""
    require(truth, reason + BEYOND, column=column)
