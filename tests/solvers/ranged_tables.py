"""Small random tables of columns with intervals, trees and stars."""

from collections.abc import Iterator
from decimal import Decimal

import numpy as np
from tests.solvers.small_tables import random_tree

from dial import few
from incrowd.hierarchy.costs import RULES
from incrowd.hierarchy.range_family import RangeFamily
from incrowd.hierarchy.ranges import Ranges
from incrowd.problem.instance import Instance, from_codes

NUMBERS = ["-7", "-2.5", "0", "-0.0", "1", "1.0", "3", "4", "11", "12", "30"]


def random_rule(rng: np.random.Generator, most: bool = True) -> Ranges:
    """A rule with or without rounding, a widest interval, and costs by values."""
    options = {}
    if rng.random() < 0.4:
        options["round"] = Decimal(int(rng.integers(1, 6)))
    if most and rng.random() < 0.4:
        options["most"] = Decimal(int(rng.integers(2, 15)))
    return Ranges(**options, cost=str(rng.choice(["width", "values"])))


def random_range(
    name: str, values: int, rng: np.random.Generator, most: bool = True
) -> RangeFamily:
    """A column of so many numbers (and perhaps a missing value)."""
    chosen = [str(value) for value in rng.choice(NUMBERS, values, replace=False)]
    if rng.random() < 0.25:
        chosen[0] = None  # type: ignore[call-overload]
    alike = len({float(x) for x in chosen if x is not None}) < sum(x is not None for x in chosen)
    cost = RULES["stars" if rng.random() < 0.1 and not alike else "level"]
    family, _ = random_rule(rng, most).family(name, chosen, cost)
    return family.times(int(rng.integers(1, 3)))


def ranged_tables(
    seed: int, number: int, rows: tuple[int, int] = (2, 10), most: bool = True, values: int = 6,
    sensitive: tuple[int, ...] = (),
) -> Iterator[tuple[Instance, np.random.Generator]]:  # fmt: skip
    """Yield tables with one to three columns, one with intervals at least."""
    rng = np.random.default_rng(seed)
    for _ in range(few(number, 12)):
        n, columns = int(rng.integers(*rows)), int(rng.integers(1, 4))
        families = []
        for j in range(columns):
            size = int(rng.integers(2, values))
            if j == 0 or rng.random() < 0.4:
                families.append(random_range(f"r{j}", size, rng, most))
            else:
                families.append(random_tree(f"q{j}", size, rng).times(400_000))
        order = rng.permutation(columns)
        families = tuple(families[j] for j in order)
        codes = np.column_stack([rng.integers(0, len(each.leaves), n) for each in families])
        secret = [rng.integers(0, v, n) for v in sensitive]
        yield from_codes(codes, families, np.column_stack(secret) if secret else None)[0], rng
