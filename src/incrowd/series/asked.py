"""What is asked of a series of releases."""

from dataclasses import dataclass

from incrowd.errors import InputError, quoted


@dataclass(frozen=True)
class Invariance:
    """What is asked of a series of releases.

    Attributes
    ----------
    m: least number of different sensitive values of a class.
    k: people who stand in all classes of a person, at least, the person among them.
    weight: what a counterfeit counts, in suppressed cells; None: as few as can be.
    all_new: whether nobody of an earlier release need be in the table.
    """

    m: int = 3
    k: int = 1
    weight: float | None = None
    all_new: bool = False

    def __post_init__(self) -> None:
        for name in ("m", "k"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or value < 1:
                raise InputError(f"{name} must be a whole number, at least 1, not {quoted(value)}")
        if self.k > self.m:
            raise InputError(
                f"k = {self.k} is above m = {self.m}: a class of m values may hold m people; ask "
                "for a larger m"
            )
        number = isinstance(self.weight, int | float) and not isinstance(self.weight, bool)
        if self.weight is not None and not (number and self.weight >= 0):
            raise InputError(
                f"the weight of a counterfeit must be a number, not {quoted(self.weight)}"
            )
