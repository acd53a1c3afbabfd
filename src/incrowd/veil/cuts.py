"""Cuts, and what they decide: a program in whole numbers before it is searched.

Linear programs of HiGHS, in floating point, only propose: which rows to add up, and how often.  The
sums are made again in whole numbers.  Two things follow from them.

- *Cuts* (Gomory's): whole multiples of rows add up to Σ a·t + Σ u·s = b over columns t, counted
  from one of their ends, and slacks s of rows; all are whole and not negative.  With D, F = a mod D
  and R = b mod D > 0: Σ min(F·(D − R), R·(D − F)) ≥ R·(D − R) over both.  Slacks are written as the
  rows that they are of, so that columns alone are left.
- *A bound*: for all u ≥ 0 no x that meets each row Σ factor·x ≤ most gains more than
  Σ u·most + Σ of what each column gains, less u times its factors, at its better end.  A column
  that is so far from this end that nothing as heavy as the known way is left cannot stand there.

Both hold for every u, however it was found.  Source: Gomory, *An algorithm for the mixed integer
problem* (RAND, 1960); Dantzig, Fulkerson and Johnson (1954) for the columns.
"""

from typing import Any, NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray

from incrowd.kernels.types import Ints
from incrowd.linear.highs import model_of, optimum
from incrowd.run.stop import Stop

Row = tuple[dict[int, int], int]
ROUNDS, CUTS = 12, 100
"""How often cuts are added, and how many at once."""
ASKED, LONGEST, WIDEST = 400, 400, 600
"""Of how many columns cuts are asked, from how many rows, over how many columns."""
LARGEST, COMMON = 5000, 200
"""What no factor of a cut exceeds, and no common denominator."""
NEAR = 1e-5
ALIKE = 0.7  # the cosine from which on two cuts are too much alike
FINER = 10  # bits of a dual below the unit of gains
SAFE = 2.0**60


class Narrowed(NamedTuple):
    """What is left of a program: the ends of each column, and rows (≥) that all ways meet."""

    low: list[int]
    high: list[int]
    cuts: list[Row]


def matrix_of(rows: list[Row], columns: int) -> Any:
    """Return the factors of rows as a sparse matrix of int64."""
    entries = [(i, j, factor) for i, (row, _) in enumerate(rows) for j, factor in row.items()]
    i, j, factor = np.array(entries, np.int64).reshape(-1, 3).T
    return scipy.sparse.csr_matrix((factor, (i, j)), (len(rows), columns))


class Cutting:
    """A program with its cuts, and the linear program that HiGHS keeps of it.

    Attributes
    ----------
    rows, most: each row, times x, is so much at most; int64.
    low, high: int64, shape (columns,): the ends between which x lies if it gains enough.
    scale: float64, shape (rows,): by what HiGHS has each row multiplied.
    """

    def __init__(self, gains: list[int], high: list[int], rows: list[Row], enough: int) -> None:
        self.rows = -matrix_of(rows, len(gains))
        self.most = np.array([-least for _, least in rows], np.int64)
        self.first, self.enough = len(rows), enough
        self.gains = np.array(gains, np.int64)
        self.low, self.high = np.zeros(len(gains), np.int64), np.array(high, np.int64)
        self.scale = np.ones(len(rows))
        below = np.full(len(rows), -np.inf)
        unit = max(1.0, float(np.abs(self.gains).mean()))
        self.unit = unit
        self.model = model_of(
            scipy.sparse.csc_matrix(self.rows.astype(float)),
            -self.gains / unit,
            self.high.astype(float),
            below,
            self.most.astype(float),
        )

    def solved(self) -> bool:
        """Solve the linear program; whether it has an optimum."""
        self.model.run()
        point = optimum(self.model)
        if point is None or not np.isfinite(point.y).all():
            return False
        self.x, self.dual = point.x, np.maximum(0.0, -point.y)
        return True

    def add(self, cuts: list[tuple[Ints, Ints, int]]) -> None:
        """Add cuts: columns, factors, and what they add up to at most."""
        begin = np.cumsum([0, *(len(columns) for columns, _, _ in cuts)])
        columns = np.concatenate([columns for columns, _, _ in cuts])
        factors = np.concatenate([factors for _, factors, _ in cuts])
        most = np.array([most for _, _, most in cuts], np.int64)
        scale = np.array([1 / np.abs(factors).max() for _, factors, _ in cuts])
        new = scipy.sparse.csr_matrix((factors, columns, begin), (len(cuts), len(self.gains)))
        self.rows = scipy.sparse.vstack([self.rows, new], format="csr")
        self.most = np.concatenate([self.most, most])
        self.scale = np.concatenate([self.scale, scale])
        self.model.addRows(
            len(cuts), np.full(len(cuts), -np.inf), most * scale, len(factors),
            begin[:-1].astype(np.int32), columns.astype(np.int32),
            factors * np.repeat(scale, np.diff(begin)),
        )  # fmt: skip

    def drop(self) -> None:
        """Drop cuts that the optimum does not touch."""
        slack = self.most - self.rows @ self.x
        idle = (slack * self.scale > NEAR) & (self.dual < NEAR)
        idle[: self.first] = False
        dropped = np.flatnonzero(idle)
        if len(dropped):
            self.model.deleteRows(len(dropped), dropped.astype(np.int32))
            self.rows, self.most = self.rows[~idle], self.most[~idle]
            self.scale = self.scale[~idle]

    def narrow(self) -> bool:
        """Move the ends of columns, by the bound in whole numbers; whether any moved."""
        dual = np.round(self.dual * self.scale * self.unit * 2.0**FINER)
        size = abs(self.rows).T @ dual + np.abs(self.gains) * 2.0**FINER
        if (size * self.high).sum() + (dual * np.abs(self.most)).sum() > SAFE:
            return False
        whole = dual.astype(np.int64)
        rest = (self.gains << FINER) - self.rows.T @ whole
        bound = (whole * self.most).sum() + np.maximum(rest * self.low, rest * self.high).sum()
        steps = max(0, int(bound) - (self.enough << FINER)) // np.maximum(1, np.abs(rest))
        high = np.where(rest < 0, np.minimum(self.high, self.low + steps), self.high)
        low = np.where(rest > 0, np.maximum(self.low, self.high - steps), self.low)
        moved = np.flatnonzero((low > self.low) | (high < self.high))
        self.low, self.high = low, high
        ends = low[moved].astype(float), high[moved].astype(float)
        self.model.changeColsBounds(len(moved), moved.astype(np.int32), *ends)
        return len(moved) > 0

    def proposed(self) -> list[tuple[Ints, Ints, int]]:
        """Return cuts that the optimum of the linear program does not meet, the deepest first."""
        _, basic = self.model.getBasicVariables()
        broken = [(abs(self.x[j] % 1 - 0.5), i) for i, j in enumerate(basic) if j >= 0]
        found = []
        for off, i in sorted(broken)[:ASKED]:
            if off > 0.48:
                break
            factor = np.array(self.model.getBasisInverseRow(i)[1]) * self.scale
            used = np.flatnonzero(np.abs(factor) > NEAR)
            common = denominator(factor[used]) if len(used) <= LONGEST else 0
            times = np.round(factor[used] * common).astype(np.int64)
            for sign in (1, -1) if common else ():
                cut = self.cut(used, sign * times, common)
                if cut is not None:
                    found.append((self.depth(cut), cut))
        found.sort(key=lambda one: -one[0])
        return [cut for depth, cut in found if depth > 0.01]

    def depth(self, cut: tuple[Ints, Ints, int]) -> float:
        """Return how far the optimum lies beyond a cut."""
        columns, factors, most = cut
        return float(factors @ self.x[columns] - most) / float(np.linalg.norm(factors))

    def cut(self, used: Ints, times: Ints, common: int) -> tuple[Ints, Ints, int] | None:
        """Return the cut of so many times some rows, all divided by ``common``; None for none."""
        rows = self.rows[used]
        size = abs(rows).T @ np.abs(times).astype(float) * self.high.max(initial=1)
        if size.sum() + float(np.abs(times) @ np.abs(self.most[used])) > SAFE / common**2:
            return None
        added = rows.T @ times
        turned = self.x > (self.low + self.high) / 2  # these columns count from their upper end
        end, sign = np.where(turned, self.high, self.low), np.where(turned, -1, 1)
        left = int(times @ self.most[used] - added @ end) % common
        if not left:
            return None
        of_columns, of_slacks = rounded(sign * added, left, common), rounded(times, left, common)
        factors = rows.T @ of_slacks - sign * of_columns
        least = left * (common - left) + int(of_columns @ (sign * end))
        most = int(of_slacks @ self.most[used]) - least
        fixed = self.low == self.high
        most -= int(factors[fixed] @ self.low[fixed])
        columns = np.flatnonzero((factors != 0) & ~fixed)
        if not 0 < len(columns) <= WIDEST:
            return None
        shared = int(np.gcd.reduce(np.abs(factors[columns])))
        found = factors[columns] // shared
        return (columns, found, most // shared) if np.abs(found).max() <= LARGEST else None


def rounded(factor: Ints, left: int, common: int) -> Ints:
    """Return the factors of a cut, times ``common``; see the head of this file."""
    over = factor % common
    return np.minimum(over * (common - left), left * (common - over))


def denominator(factor: NDArray[np.float64]) -> int:
    """Return the least common denominator, 0 where it is too large."""
    for common in range(2, COMMON):
        times = factor * common
        if np.abs(times - np.round(times)).max(initial=0.0) < NEAR:
            return common
    return 0


def varied(cuts: list[tuple[Ints, Ints, int]], columns: int) -> list[tuple[Ints, Ints, int]]:
    """Return the first cuts of which no two are alike."""
    found: list[tuple[Ints, Ints, int]] = []
    directions = np.zeros((0, columns))
    for cut in cuts:
        direction = np.zeros(columns)
        direction[cut[0]] = cut[1] / np.linalg.norm(cut[1])
        if (np.abs(directions @ direction) < ALIKE).all():
            found.append(cut)
            directions = np.vstack([directions, direction])
        if len(found) == CUTS:
            break
    return found


def narrowed(
    gains: list[int], high: list[int], rows: list[Row], enough: int, stop: Stop
) -> Narrowed:
    """Return ends and cuts that every whole x meets which gains ``enough`` or more.

    Parameters
    ----------
    gains, high: of each column; x lies between 0 and high.
    rows: column → factor, and what Σ factor·x is at least.
    """
    program: Any = Cutting(gains, high, rows, enough)
    for _ in range(ROUNDS):
        if stop.now() or not program.solved():
            break
        if program.narrow() and not program.solved():
            break
        program.drop()
        if not program.solved():
            break
        cuts = varied(program.proposed(), len(gains))
        if not cuts:
            break
        program.add(cuts)
    parts = (program.rows[i] for i in range(program.first, program.rows.shape[0]))
    factors = [dict(zip(row.indices.tolist(), (-row.data).tolist(), strict=True)) for row in parts]
    least = (-program.most[program.first :]).tolist()
    cuts = list(zip(factors, least, strict=True))
    return Narrowed(program.low.tolist(), program.high.tolist(), cuts)
