"""What an m-invariant next release costs at least, given the signatures.

Claim.  Let survivors be the people who were published before, each with a signature; let f(v) be
the newcomers with value v.  Take prices u(r) of survivors, n(v) ≥ 0 of the places that newcomers
fill, and c ≥ 0 of counterfeits, such that for every signature S and every set A of survivors of S
with different values, whose join costs d a row,

    Σ u(r) over A  ≤  |A|·d + Σ over the values v of S that A lacks of min(d + n(v), c).

Then no m-invariant release of all these people with at most C counterfeits costs less than
Σ u − Σ n(v)·f(v) − c·C.

Argument.  A class with survivors has a signature S, that of each of them (m-invariance), and one
row of each value of S.  Let A be its survivors.  Each other place is a newcomer's, who pays at
least d, as all rows of a class pay what their join costs, and that is at least the join of A; or a
counterfeit's.  So the prices of A are at most what the class costs, and n(v) for each newcomer and
c for each counterfeit in it.  Classes without survivors cost at least 0.  Sum over classes: each
survivor stands in one, at most f(v) places of value v are newcomers', at most C are counterfeits'.

The best prices are the duals of a linear program, one column for each S, A and choice between the
two for each place that A lacks; columns are made where prices ask for them.  Then prices are
rounded, those of too dear sets are lowered, and all sets are asked again in whole numbers.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array

from incrowd.errors import VerificationError
from incrowd.hierarchy.family import Family
from incrowd.linear.highs import append_columns, model_of

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
MOST_SETS = 1_000_000
"""Sets of survivors that are looked at; those of the largest signatures beyond are left out."""
ROUNDS, NEW = 40, 6_000  # of columns, and how many in each
QUANTUM = 1 << 16  # parts of a unit of cost that prices are counted in


@dataclass(frozen=True, eq=False)
class Sets:
    """All sets of survivors of one signature with pairwise different values.

    Attributes
    ----------
    rows: int64, shape (sets, values): a survivor of each value, or −1.
    lacking: bool, same shape: where there is none.
    values: int64, shape (values,): numbers of the signature's values.
    each: int64, shape (sets,): what the join costs a row; size: int64, survivors in each.
    """

    rows: Ints
    lacking: NDArray[np.bool_]
    values: Ints
    each: Ints
    size: Ints

    def excess(self, u: NDArray, n: NDArray, c: float, unit: int = 1) -> NDArray:
        """Return Σ u less what the claim allows; ``unit``: parts of a unit of cost in prices."""
        held = np.where(self.lacking, 0, u[self.rows]).sum(1)
        each = self.each * unit
        place = np.minimum(each[:, None] + n[self.values][None, :], c)
        return held - self.size * each - np.where(self.lacking, place, 0).sum(1)


def sets_of(
    members: Sequence[Sequence[int]], values: Sequence[int], leaves: Ints, trees: Sequence[Family]
) -> Sets:
    """Return the sets of a signature; ``members``: of each value, the survivors."""
    choices = [np.array([-1, *each], np.int64) for each in members]
    rows = np.stack(np.meshgrid(*choices, indexing="ij"), -1).reshape(-1, len(choices))[1:]
    lacking = rows < 0
    each = np.zeros(len(rows), np.int64)
    for j, tree in enumerate(trees):
        codes = leaves[rows, j]
        low = np.where(lacking, np.iinfo(np.int32).max, codes).min(1)
        high = np.where(lacking, -1, codes).max(1)
        each += tree.join_costs(low, high)
    return Sets(rows, lacking, np.array(values, np.int64), each, (~lacking).sum(1))


def least_cost(
    signature: Sequence[frozenset[str] | None],
    values: Sequence[str],
    leaves: NDArray[np.int32],
    trees: Sequence[Family],
    counterfeits: int,
) -> int:
    """Return what such a release of these people costs at least, in units of 1/scale.

    Parameters
    ----------
    signature: of each person published before, None for a newcomer; values: the sensitive ones.
    leaves: int32, shape (people, columns): leaf codes; trees: of the columns.
    counterfeits: how many such a release may have.
    """
    number = {v: i for i, v in enumerate(sorted({*values}.union(*(s or () for s in signature))))}
    fresh = np.zeros(len(number), np.int64)
    for s, v in zip(signature, values, strict=True):
        fresh[number[v]] += s is None
    known = list(listed(signature, values, number, leaves.astype(np.int64), trees))
    if not known:
        return 0
    rows = np.unique(np.concatenate([one.rows.ravel() for one in known]))
    u, n, c = best_prices(known, rows[rows >= 0], len(values), fresh, counterfeits)
    return proven(known, u, n, c, fresh, counterfeits)


def listed(
    signature: Sequence[frozenset[str] | None],
    values: Sequence[str],
    number: Mapping[str, int],
    leaves: Ints,
    trees: Sequence[Family],
) -> Iterator[Sets]:
    """Yield the sets of each signature, the smallest first, while there is room."""
    members: dict[frozenset[str], dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
    for row, s in enumerate(signature):
        if s is not None:
            members[s][values[row]].append(row)
    found = []
    for s, of in members.items():
        each = [of.get(v, []) for v in sorted(s)]
        found.append((int(np.prod([len(one) + 1.0 for one in each])), sorted(s), each))
    left = MOST_SETS
    for size, names, each in sorted(found, key=lambda one: one[:2]):
        left -= size
        if left < 0:
            return
        yield sets_of(each, [number[v] for v in names], leaves, trees)


def best_prices(
    known: Sequence[Sets], rows: Ints, people: int, fresh: Ints, counterfeits: int
) -> tuple[Floats, Floats, float]:
    """Return prices of survivors, of newcomers' places and of counterfeits: the duals."""
    place = np.full(people, -1, np.int64)
    place[rows] = np.arange(len(rows))
    first, values = len(rows), len(fresh)
    lower = np.concatenate([np.ones(first), np.full(values + 1, -np.inf)])
    upper = np.concatenate([np.ones(first), fresh, [counterfeits]]).astype(float)
    # a survivor may be left out at the price of a whole table of stars: the program has a solution
    dear = float(max(int(one.each.max(initial=0)) for one in known)) * 8 + 1
    start = csc_array(
        (np.ones(first), (np.arange(first), np.arange(first))), shape=(len(upper), first)
    )
    model = model_of(start, np.full(first, dear), np.full(first, np.inf), lower, upper)
    seen: list[set[int]] = [set() for _ in known]
    u, n, c = np.full(people + 1, 0.0), np.zeros(values), 0.0
    for round_ in range(ROUNDS):
        made = columns_for(known, u, n, c, place, first, values, seen, round_ == 0)
        if made is None:
            break
        cost, matrix = made
        append_columns(model, cost, matrix)
        model.run()
        dual = np.array(model.getSolution().row_dual)
        u = np.zeros(people + 1)
        u[rows] = dual[:first]
        n, c = np.maximum(-dual[first : first + values], 0), max(float(-dual[-1]), 0.0)
    return u, n, c


def columns_for(
    known: Sequence[Sets],
    u: Floats,
    n: Floats,
    c: float,
    place: Ints,
    first: int,
    values: int,
    seen: list[set[int]],
    begin: bool,
) -> tuple[Floats, csc_array] | None:
    """Return the columns that prices ask for; at first each survivor with a near one, and alone."""
    chosen: list[tuple[int, int]] = []
    worth: list[float] = []
    for s, one in enumerate(known):
        if begin:
            score = -(one.each / one.size)
            picked = np.argsort(-score, kind="stable")[: 40 * one.rows.shape[1]]
        else:
            score = one.excess(u, n, c)
            picked = np.flatnonzero(score > 1e-7)
            if len(picked) > NEW:
                picked = picked[np.argpartition(-score[picked], NEW)[:NEW]]
        chosen += [(s, int(i)) for i in picked if int(i) not in seen[s]]
        worth += [float(score[i]) for i in picked if int(i) not in seen[s]]
    if not begin and len(chosen) > NEW:
        top = np.argsort(-np.array(worth), kind="stable")[:NEW]
        chosen = [chosen[i] for i in top]
    if not chosen:
        return None
    cost, index, start = [], [], [0]
    for s, i in chosen:
        seen[s].add(i)
        one = known[s]
        lacks = one.values[one.lacking[i]].tolist()
        mine = place[one.rows[i][~one.lacking[i]]].tolist()
        for kinds in product((True, False), repeat=len(lacks)):
            index += [*mine, *(first + v for v, new in zip(lacks, kinds, strict=True) if new)]
            fakes = len(kinds) - sum(kinds)
            cost.append(float((one.size[i] + sum(kinds)) * one.each[i]))
            index += [first + values] * bool(fakes)
            start.append(len(index))
    data = np.ones(len(index))
    matrix = csc_array((data, index, start), shape=(first + values + 1, len(cost)))
    return np.array(cost), with_fakes(matrix, chosen, known, first + values)


def with_fakes(
    matrix: csc_array, chosen: Sequence[tuple[int, int]], known: Sequence[Sets], last: int
) -> csc_array:
    """Write how many counterfeits each column has."""
    at = 0
    for s, i in chosen:
        for kinds in product((True, False), repeat=int(known[s].lacking[i].sum())):
            end = matrix.indptr[at + 1]
            if not all(kinds):
                matrix.data[end - 1] = len(kinds) - sum(kinds)
            at += 1
    return matrix


def proven(
    known: Sequence[Sets], u: Floats, n: Floats, c: float, fresh: Ints, counterfeits: int
) -> int:
    """Return what prices prove, in whole numbers: all sets are asked, and too dear ones lowered.

    Raises
    ------
    VerificationError: prices that were lowered break a set still; no input can do that.
    """
    price = np.floor(u * QUANTUM).astype(np.int64)
    place, fake = np.ceil(n * QUANTUM).astype(np.int64), int(np.ceil(c * QUANTUM))
    fall = np.zeros(len(price), np.int64)
    for one in known:
        over = np.maximum(-(-one.excess(price, place, fake, QUANTUM) // one.size), 0)
        for j in range(one.rows.shape[1]):
            held = ~one.lacking[:, j]
            np.maximum.at(fall, one.rows[held, j], over[held])
    price -= fall
    for one in known:
        if (one.excess(price, place, fake, QUANTUM) > 0).any():
            raise VerificationError("the bound of this release does not stand up to its own test")
    total = int(price.sum()) - int(place @ fresh) - fake * counterfeits
    return max(0, -(-total // QUANTUM))
