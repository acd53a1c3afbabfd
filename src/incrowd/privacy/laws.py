"""The models as integer laws over histograms, in the flat form that search kernels take.

``laws_of`` turns a model into arrays once; ``incrowd.privacy.violation`` answers from them for
any class.  All numbers are integers.  Irrational shares are rounded to the strict side in steps
far below 1/rows, so a kernel never admits a class that the exact definition refuses.
"""

from collections.abc import Callable
from fractions import Fraction
from math import exp, log
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from incrowd.errors import OutOfScopeError
from incrowd.privacy.all_of import parts
from incrowd.privacy.alpha_k import AlphaK
from incrowd.privacy.attribute import PerAttribute
from incrowd.privacy.base import Group, Model
from incrowd.privacy.beta_likeness import BasicBetaLikeness, EnhancedBetaLikeness
from incrowd.privacy.carriage import scratch
from incrowd.privacy.delta_disclosure import DeltaDisclosure
from incrowd.privacy.disjoint_diversity import DisjointDiversity
from incrowd.privacy.distance import Equal, Hierarchical, Ordered
from incrowd.privacy.distinct_diversity import DistinctDiversity
from incrowd.privacy.entropy_diversity import EntropyDiversity
from incrowd.privacy.frequency_diversity import FrequencyDiversity
from incrowd.privacy.k_anonymity import KAnonymity
from incrowd.privacy.metric import Metric
from incrowd.privacy.numbers import log_sign
from incrowd.privacy.recursive_diversity import RecursiveDiversity
from incrowd.privacy.t_closeness import TCloseness

SHARES, DISTINCT, EQUAL, CUMULATED, NODES, ENTROPY, RECURSIVE, CARRIED = range(8)
STEP = Fraction(1, 2**60)
LARGEST = 2**62


class Laws(NamedTuple):
    """Several laws in flat arrays, the form that kernels take.

    Law i looks at ``width[i]`` places of a class's histogram from ``place[i]``; its numbers stand
    in ``data`` from ``first[i]``.  ``least`` (shape (1,)) is the least number of rows.  ``pad`` is
    room to calculate in, for one thread at a time: law i's own from ``room[i]`` on.
    """

    least: NDArray[np.int64]
    kind: NDArray[np.int64]
    place: NDArray[np.int64]
    width: NDArray[np.int64]
    first: NDArray[np.int64]
    data: NDArray[np.int64]
    room: NDArray[np.int64]
    pad: NDArray[np.int64]


def laws_of(model: Model, table: Group) -> Laws:
    """Turn a model into laws over histograms that hold the attributes one after the other.

    Attribute a's value v stands at place ``sum(table.sizes[:a]) + v``.

    Raises
    ------
    OutOfScopeError: disjoint diversity, or numbers too large for 64 bits.
    """
    least, laws = 1, []
    starts = np.concatenate([[0], np.cumsum(table.sizes)]).astype(int)
    for part in parts(model):
        if isinstance(part, KAnonymity):
            least = max(least, part.k)
            continue
        if isinstance(part, DisjointDiversity) or not isinstance(part, PerAttribute):
            raise OutOfScopeError(f"{part.name} has no law over histograms")
        if isinstance(part, AlphaK):
            least = max(least, part.k)
        for a in part.attributes(table):
            kind, data = numbers(part, [int(c) for c in table.histograms[a]])
            limit(max(data), part)
            laws.append((kind, int(starts[a]), table.sizes[a], data))
    first = np.cumsum([0] + [len(data) for *_, data in laws])[:-1]
    pads = [scratch(width if kind == CARRIED else 0) for kind, _, width, _ in laws]
    return Laws(
        np.array([least], np.int64),
        np.array([kind for kind, *_ in laws], np.int64),
        np.array([place for _, place, *_ in laws], np.int64),
        np.array([width for _, _, width, _ in laws], np.int64),
        np.array(first, np.int64),
        np.array([x for *_, data in laws for x in data], np.int64),
        np.cumsum([0] + [len(pad) for pad in pads])[:-1],
        np.concatenate([*pads, scratch(0)]),
    )


def numbers(part: PerAttribute, table: list[int]) -> tuple[int, list[int]]:
    """Return the kind and the numbers of one model on one attribute."""
    rows = sum(table)
    if isinstance(part, DistinctDiversity):
        return DISTINCT, [part.l]
    if isinstance(part, EntropyDiversity):
        return ENTROPY, [part.l.numerator, part.l.denominator]
    if isinstance(part, RecursiveDiversity):
        limit(max(part.c.numerator, part.c.denominator) * rows, part)
        return RECURSIVE, [part.c.numerator, part.c.denominator, part.l]
    if isinstance(part, TCloseness):
        return closeness(part, table)
    return SHARES, shares(part, table)


def closeness(part: TCloseness, table: list[int]) -> tuple[int, list[int]]:
    """Numbers of t-closeness: t's numerator (times the paths), its denominator, N, and the table.

    Equal: C(v) by value.  Ordered: C(v), then the values in order.  Hierarchical: the number of
    levels, then for each its number of nodes, the node of each value, C of each node.  Metric: the
    unit U of distances, C(v), then all distances in 1/U,
    and for each value all others, the nearest first.
    """
    values, rows, t = len(table), sum(table), part.t
    mass = t.denominator * rows * rows
    metric = part.distance if isinstance(part.distance, Metric) else None
    if isinstance(part.distance, Equal) or (metric is not None and metric.nearest == 1):
        limit(mass, part)
        return EQUAL, [t.numerator, t.denominator, rows, *table]
    if isinstance(part.distance, Ordered):
        limit(mass * values, part)
        order = np.argsort(part.distance.rank(values)).tolist()
        return CUMULATED, [t.numerator * max(values - 1, 1), t.denominator, rows, *table, *order]
    if metric is not None:
        unit = metric.unit
        limit(mass * unit * 2, part)
        units = metric.units
        near = np.argsort(units, axis=1, kind="stable")
        both = *units.ravel().tolist(), *near.ravel().tolist()
        return CARRIED, [t.numerator, t.denominator, rows, unit, *table, *both]
    if not isinstance(part.distance, Hierarchical):
        raise OutOfScopeError(f"{part.name} has no law over histograms")
    levels = part.distance.below_root(values)
    limit(mass * max(len(levels), 1), part)
    data = [t.numerator * max(len(levels), 1), t.denominator, rows, len(levels)]
    for level in levels:
        data += [int(level.max()) + 1, *level.tolist()]
        data += np.bincount(level, table).astype(np.int64).tolist()
    return NODES, data


def limit(size: int, part: PerAttribute) -> None:
    """Raise when sums may leave 64 bits."""
    if size >= LARGEST:
        raise OutOfScopeError(
            f"{part.name} needs numbers too large for this table; write its parameter with "
            "fewer digits"
        )


def shares(part: PerAttribute, table: list[int]) -> list[int]:
    """Numbers of y(v)·n ≤ D·h(v) ≤ x(v)·n: D, all x, all y."""
    rows = sum(table)
    low = [Fraction(0)] * len(table)
    if isinstance(part, FrequencyDiversity):
        unit, high = part.l, [Fraction(1, part.l)] * len(table)
    elif isinstance(part, AlphaK):
        free = [part.values is not None and v not in part.values for v in range(len(table))]
        unit = part.alpha.denominator
        high = [Fraction(1) if unguarded else part.alpha for unguarded in free]
    elif isinstance(part, BasicBetaLikeness):
        unit = rows * part.beta.denominator
        high = [min(Fraction(1), (1 + part.beta) * Fraction(c, rows)) for c in table]
    elif isinstance(part, EnhancedBetaLikeness):
        unit = rows * part.beta.denominator
        high = [enhanced_share(part.beta, Fraction(c, rows)) for c in table]
    elif isinstance(part, DeltaDisclosure):
        unit = rows
        high = [below_exp(part.delta, Fraction(c, rows)) for c in table]
        low = [above_exp(part.delta, Fraction(c, rows)) for c in table]
    else:
        raise OutOfScopeError(f"{part.name} has no law over histograms")
    # Rational shares are multiples of 1/unit; the rest gets what room is left for finer steps.
    limit(unit * rows, part)
    while unit * rows < LARGEST // 4:
        unit *= 2
    return [unit, *(x * unit // 1 for x in high), *(-(-y * unit // 1) for y in low)]


def enhanced_share(beta: Fraction, share: Fraction) -> Fraction:
    """The largest share that enhanced likeness allows, the logarithm rounded down."""
    if share in (0, 1):
        return share
    rest = {share.denominator: 1, share.numerator: -1}
    gain = below(lambda x: log_sign(rest, x) > 0, -log(share))
    return min(Fraction(1), share * (1 + min(beta, gain)))


def below_exp(delta: Fraction, share: Fraction) -> Fraction:
    """A fraction just below e^δ·share, at most 1."""
    if not share or float(delta) + log(share) > 0.01:
        return Fraction(bool(share))
    most = share * below(lambda x: grows_less(x, delta), exp(float(delta)))
    return min(Fraction(1), most)


def above_exp(delta: Fraction, share: Fraction) -> Fraction:
    """A fraction just above e^−δ·share; above 0 for a share above 0."""
    most = below(lambda x: grows_less(x, delta), exp(min(float(delta), 40.0)))
    return share / most


def grows_less(ratio: Fraction, delta: Fraction) -> bool:
    """Whether ln(ratio) < δ."""
    if ratio <= 1:
        return True
    return log_sign({ratio.numerator: 1, ratio.denominator: -1}, delta) < 0


def below(fits: Callable[[Fraction], bool], guess: float) -> Fraction:
    """Return a fraction just below the threshold of ``fits``, which a double guesses."""
    step = max(Fraction(guess) / 2**50, STEP)
    found = Fraction(guess) + step
    while not fits(found):
        found -= step
    return found
