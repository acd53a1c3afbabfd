"""Minimality: what does the class tell because no smaller one was made of it?

Who knows everybody's quasi-identifiers and classes sees rows of a class that agree in a hidden
column.  Enough of them would have been a class of their own at lower cost, had they and the rest
obeyed the model.  They did not: so of all ways of dealing the values of the class out to its people
those remain in which no such split is lawful.  The attacker draws them, and guesses each person's
commonest value.

References
----------
R. C.-W. Wong, A. W.-C. Fu, K. Wang, J. Pei. Minimality attack in privacy preserving data
publishing. VLDB 2007.
"""

from collections.abc import Callable, Iterator
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from incrowd.attacks.findings import Outcome
from incrowd.attacks.rates import Rate
from incrowd.attacks.scene import Scene, Seen
from incrowd.hierarchy.range_family import RangeFamily
from incrowd.kernels.types import Ints
from incrowd.privacy.base import Group

DRAWS = 2_000  # ways of dealing out, at most
ENOUGH = 200  # of those that remain
CLASSES = 250  # looked at, by lot: each takes its draws


def minimality(scene: Scene, secret: int, rng: np.random.Generator) -> Outcome:
    """Guess the value that is likeliest once the splits that were not made are ruled out.

    The control is the guess of who does not think of the method: the commonest of the class.
    """
    after, before, unit, truth = [], [], [], []
    for members, shares in affected(scene, secret, rng):
        worn = scene.members.secrets[members, secret]
        bag = np.bincount(worn, minlength=shares.shape[1]) / len(members)
        after.append(best(shares, worn))
        before.append(best(np.tile(bag, (len(members), 1)), worn))
        truth.append([shares[np.arange(len(members)), worn].mean(), bag[worn].mean()])
        unit.append(np.full(len(members), len(unit)))
    every = np.concatenate(unit) if unit else np.zeros(0, np.int64)
    attack = Rate.of(np.concatenate(after) if after else [], every)
    control = Rate.of(np.concatenate(before) if before else [], every)
    if not attack.tries:
        return Outcome(
            attack=attack,
            control=control,
            says="No class shows a split that only the model can have forbidden: nothing follows "
            "from its not having been made.",
        )
    known, plain = np.average(np.array(truth), axis=0, weights=np.bincount(every))
    return Outcome(
        attack=attack,
        control=control,
        says=f"Of {attack.tries:,} people, splits that were not made tell something; who reckons "
        f"with that guesses {attack.rate:.1%} rightly, who does not, {control.rate:.1%}; the true "
        f"value's probability rises from {plain:.3f} to {known:.3f}.",
        more={"truth_before": float(plain), "truth_after": float(known)},
    )


def affected(
    scene: Scene, secret: int, rng: np.random.Generator
) -> Iterator[tuple[Ints, NDArray[np.float64]]]:
    """Yield the members of each class that shows a forbidden split, and what follows for each.

    Yields
    ------
    int64, shape (rows of the class,): members; float64, shape (rows, values): probability of each
    value.
    """
    seen, place = scene.seen, scene.members.place
    assert place is not None
    if seen.model is None:
        return
    least = 2 * max(seen.k, 1)
    order = np.argsort(place, kind="stable")
    cuts = np.searchsorted(place[order], np.arange(len(seen.sizes) + 1))
    wide = np.flatnonzero((np.diff(cuts) >= least) & seen.hidden.any(axis=1))
    if len(wide) > CLASSES:
        wide = np.sort(rng.choice(wide, CLASSES, replace=False))
    for c in wide.tolist():
        members = order[cuts[c] : cuts[c + 1]]
        parts = splits(seen, c, scene.members.codes[members])
        if len(parts):
            shares = left(scene, secret, members, parts, rng)
            if shares is not None:
                yield members, shares


def splits(seen: Seen, place: int, codes: Ints) -> NDArray[np.bool_]:
    """bool, shape (splits, rows): rows that agree at some finer level of a hidden column.

    Of a range those up to one of its values.

    Both sides have k rows at least, so that the model alone can forbid the split.
    """
    found = []
    for j, tree in enumerate(seen.trees):
        if isinstance(tree, RangeFamily):
            cuts = np.unique(codes[:, j])[:-1] if seen.levels[place, j] else ()
            parts = [codes[:, j] <= cut for cut in cuts]
            found += [part for part in parts if seen.k <= part.sum() <= len(codes) - seen.k]
            continue
        for level in range(int(seen.levels[place, j])):
            node = tree.node[level][codes[:, j]]
            for value, rows in zip(*np.unique(node, return_counts=True), strict=True):
                if seen.k <= rows <= len(codes) - seen.k:
                    found.append(node == value)
    return np.unique(np.array(found, bool).reshape(len(found), len(codes)), axis=0)


def left(
    scene: Scene, secret: int, members: Ints, parts: NDArray[np.bool_], rng: np.random.Generator
) -> NDArray[np.float64] | None:
    """Return each member's probabilities when no split may be lawful.

    None where that rules nothing out, or everything, as it may where the method is not minimal.
    """
    seen = scene.seen
    kinds, kind = np.unique(scene.members.secrets[members], axis=0, return_inverse=True)
    kind, lawful = kind.ravel(), lawful_class(seen, kinds)
    every = np.bincount(kind)
    counts = np.zeros((len(members), len(seen.secrets[secret].values)))
    kept = drawn = 0
    while drawn < DRAWS and kept < ENOUGH:
        drawn += 1
        dealt = kind[rng.permutation(len(members))]
        sides = (np.bincount(dealt[part], minlength=len(kinds)) for part in parts)
        if not any(lawful(one.tobytes()) and lawful((every - one).tobytes()) for one in sides):
            counts[np.arange(len(members)), kinds[dealt, secret]] += 1
            kept += 1
    if kept in (0, drawn):
        return None
    _, alike = np.unique(parts, axis=1, return_inverse=True)  # people in the same parts: the same
    alike = alike.ravel()
    pooled = np.zeros((alike.max() + 1, counts.shape[1]))
    np.add.at(pooled, alike, counts)
    return (pooled / pooled.sum(axis=1, keepdims=True))[alike]


def whole(seen: Seen) -> tuple[Group, tuple[int, ...]]:
    """Return the table as one class, each sensitive column by itself, and their numbers of values.

    Models look at the histogram of each column in the table, never at how columns go together.
    """
    sizes = tuple(len(secret.values) for secret in seen.secrets)
    columns = [np.repeat(np.arange(len(s.values)), s.table) for s in seen.secrets]
    values = np.column_stack(columns) if columns else np.zeros((seen.rows, 0))
    return Group(values.astype(np.int32), sizes), sizes


def lawful_class(seen: Seen, kinds: Ints) -> Callable[[bytes], bool]:
    """Return whether so many rows of each kind (int64) would be a lawful class.

    Ways of dealing out differ in who has which values, seldom in how many: few classes are looked
    at more than once.
    """
    model, (table, sizes) = seen.model, whole(seen)
    assert model is not None

    @lru_cache(maxsize=1024)
    def lawful(counts: bytes) -> bool:
        values = np.repeat(kinds, np.frombuffer(counts, np.int64), axis=0)
        return model.lawful(Group(values.astype(np.int32), sizes), table)

    return lawful


def best(shares: NDArray[np.float64], worn: Ints) -> NDArray[np.float64]:
    """float64, shape (rows,): chance that the likeliest value is right; ties are broken by lot."""
    top = np.isclose(shares, shares.max(axis=1, keepdims=True))
    return top[np.arange(len(worn)), worn] / top.sum(axis=1)
