"""How the engine deals out a time limit."""

from dataclasses import dataclass

from incrowd.problem.instance import Instance

UNHURRIED = 1e-3  # seconds per row from which on time is given
LARGE = 10  # rows of a class, beyond which odd sets gain little where rows have many patterns


@dataclass(frozen=True, kw_only=True)
class Shares:
    """Shares of a time limit.

    Attributes
    ----------
    pricing: of the limit, for prices.
    searching: of what is left then, for annealing.
    blocks: of what is left then, for blocks of near classes, with hierarchies.
    lifting: of what is left then, for prices with odd sets of a large table; 0 for none.
    wide: whether there is time for many candidates; with hierarchies no time is much.
    early: whether a first release comes before the prices are done.
    """

    pricing: float
    searching: float
    blocks: float = 0.5
    lifting: float = 0.0
    wide: bool = False
    early: bool = True

    @classmethod
    def suited(cls, instance: Instance, k: int, limit: float | None) -> "Shares":
        """Return what measurements recommend (benchmarks/gaps.md)."""
        given = limit is not None and limit >= UNHURRIED * instance.rows
        if instance.plain and given:
            return cls(pricing=0.4, searching=0.3, lifting=0.7, wide=True)
        if instance.plain:
            return cls(pricing=0.4, searching=0.75)
        blocks = 0.5 if instance.ranged else 0.25
        if given and k <= LARGE:  # the program with odd sets raises plain prices as well
            return cls(pricing=0.25, searching=0.4, blocks=blocks, lifting=0.85, early=False)
        searching = 0.9 if given else 0.75
        return cls(pricing=0.5, searching=searching, blocks=blocks, early=not given)
