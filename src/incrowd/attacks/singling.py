"""Predicate singling out: a description that fits exactly one person of the original.

The predicate is a class's published cells with one value for one of its hidden cells.  A column
that a minimal method hides holds two values at least in the class, which makes the
chance that one bears a value higher than that of chance: in a pair with a hidden column of two
values it is certain.

References
----------
A. Cohen, K. Nissim. Towards formalizing the GDPR's notion of singling out. PNAS 117(15), 2020.
"""

from math import exp

import numpy as np
from scipy.special import gammaln

from incrowd.attacks.findings import Outcome
from incrowd.attacks.fits import Fits
from incrowd.attacks.rates import Rate
from incrowd.attacks.scene import People, Scene, Seen
from incrowd.hierarchy.labels import ends
from incrowd.kernels.types import Floats, Ints

BY_CHANCE = exp(-1)  # of who knows nothing and takes a predicate that one person in the table meets
CLASSES = 2_000  # looked at, by lot: each is held against all others


def singling_out(scene: Scene, secret: int, rng: np.random.Generator) -> Outcome:
    """Try a predicate for each class in which one looks better than any without a release.

    Control: the same predicates on as many people who are not in the table.  Where there are fewer
    of them, both are counted among as many people of the table as there are others.
    """
    tried, column, value, chance = predicates(scene.seen, rng)
    mine_in_all, theirs_in_all = scene.members.persons, scene.strangers.persons
    size = min(mine_in_all, theirs_in_all)
    mine = bearers(scene.fits, scene.members, tried, column, value)
    theirs = bearers(scene.fits_of_others, scene.strangers, tried, column, value)
    attack = Rate.of(just_one(mine, mine_in_all, size))
    control = Rate.of(just_one(theirs, theirs_in_all, size))
    whole = int((mine == 1).sum())
    says = (
        f"{len(tried):,} descriptions (published cells and one value more) looked better than "
        f"chance; {whole:,} of them fit exactly one person of the table"
        + (f", {control.rate:.1%} exactly one of as many others" if len(tried) else "")
        + f"; descriptions without a release reach {BY_CHANCE:.0%}."
    )
    return Outcome(
        attack=attack,
        control=control,
        says=says,
        more={
            "singled_out": whole,
            "by_chance": BY_CHANCE,
            "expected": float(chance.mean()) if len(chance) else None,
            "counted_among": size,
        },
    )


def predicates(seen: Seen, rng: np.random.Generator) -> tuple[Ints, Ints, Ints, Floats]:
    """Return class, column and value of each predicate, and its chance as the attacker sees it.

    From the release alone: how common a value is comes from the cells that are published.
    """
    found = []
    classes = np.flatnonzero(seen.hidden.any(axis=1))
    if len(classes) > CLASSES:
        classes = np.sort(rng.choice(classes, CLASSES, replace=False))
    shares = published(seen)
    reach = elsewhere(seen, shares, classes)
    for c, around in zip(classes.tolist(), reach.tolist(), strict=True):
        best = (BY_CHANCE, -1, -1)
        for j in np.flatnonzero(seen.hidden[c]).tolist():
            low, end = ends(seen.trees[j], seen.levels[[c], j], seen.nodes[[c], j])
            under = np.arange(int(low[0]), int(end[0]))
            share = shares[j][under] / shares[j][under].sum()
            p = one_of(share, int(seen.sizes[c])) * np.exp(-share * around)
            top = int(p.argmax())
            best = max(best, (float(p[top]), j, int(under[top])))
        if best[1] >= 0:
            found.append((c, best[1], best[2], best[0]))
    table = np.array(found, np.float64).reshape(-1, 4)
    c, j, v = table[:, :3].astype(np.int64).T
    return c, j, v, table[:, 3]


def one_of(share: Floats, rows: int) -> Floats:
    """float64, shape (values,): chance that one of the rows bears a value, if not all are alike."""
    once = rows * share * (1 - share) ** (rows - 1)
    return np.minimum(1.0, once / max(1e-12, 1 - float((share**rows).sum())))


def published(seen: Seen) -> list[Floats]:
    """Return the share of each value among the published cells of its column, none of them 0."""
    found = []
    for j, tree in enumerate(seen.trees):
        open_cells = seen.levels[:, j] == 0
        counts = np.bincount(
            seen.nodes[open_cells, j], seen.sizes[open_cells], minlength=len(tree.leaves)
        )
        found.append((counts + 0.5) / (counts + 0.5).sum())
    return found


def elsewhere(seen: Seen, shares: list[Floats], classes: Ints) -> Floats:
    """float64, shape (classes,): rows of other classes that may well fit the labels of these.

    Columns of a row are taken as independent, as the attacker has nothing better.
    """
    chance = [label_shares(seen, j, shares[j]) for j in range(len(seen.trees))]
    found = np.zeros(len(classes))
    for i, c in enumerate(classes.tolist()):
        fit = seen.sizes.astype(np.float64)
        fit[c] = 0.0
        for first, last, sums in chance:
            low, high = first[c], last[c]
            a, b = np.maximum(first, low), np.minimum(last, high)
            shared = np.where(a <= b, sums[b + 1] - sums[a], 0.0)
            fit *= np.maximum(shared, 0.0) / (sums[last + 1] - sums[first])
        found[i] = fit.sum()
    return found


def label_shares(seen: Seen, j: int, share: Floats) -> tuple[Ints, Ints, Floats]:
    """Return the first and last leaf under each class's label, and running sums of the shares."""
    first, end = ends(seen.trees[j], seen.levels[:, j], seen.nodes[:, j])
    return first, end - 1, np.concatenate([[0.0], np.cumsum(share)])


def bearers(fits: Fits, people: People, classes: Ints, column: Ints, value: Ints) -> Ints:
    """int64, shape (predicates,): people whom each one fits, by one of their rows or more."""
    predicate = np.full(int(classes.max(initial=-1)) + 1, -1)
    predicate[classes] = np.arange(len(classes))
    mine = fits.place < len(predicate)
    person, at = fits.person[mine], predicate[fits.place[mine]]
    person, at = person[at >= 0], at[at >= 0]
    bears = people.codes[person, column[at]] == value[at]
    at, person = at[bears], person[bears]
    if people.whose is not None:
        at = np.unique(np.column_stack([at, people.whose[person]]), axis=0)[:, 0]
    return np.bincount(at, minlength=len(classes)).astype(np.int64)


def just_one(count: Ints, whole: int, size: int) -> Floats:
    """float64, shape (predicates,): chance that exactly one of ``size`` people by lot is a bearer.

    Where ``count`` of ``whole`` are; 0 or 1 where all are taken (hypergeometric).
    """
    rest = whole - count
    fine = (count >= 1) & (rest >= size - 1)
    c, r = np.where(fine, count, 1), np.where(fine, rest, size - 1)
    logs = np.log(c) + choose(r, size - 1) - choose(np.full_like(r, whole), size)
    return np.where(fine, np.exp(np.minimum(logs, 0.0)), 0.0)


def choose(n: Ints, k: int) -> Floats:
    """Logarithms of binomial coefficients."""
    return gammaln(n + 1.0) - gammaln(k + 1.0) - gammaln(n - k + 1.0)
