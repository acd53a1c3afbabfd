"""Downcoding: what stands in the hidden cells?  A shadow attack.

The attacker has people of the same kind, and the method: he makes a release of his own people, of
which he knows all, and learns from it how hidden cells go with what a release shows: which classes
exist beside this one, how large they are.  The control predicts the same cells from the published
ones alone; it is learnt from his own people under masks that chance put on their rows, so that what
the choice of cells tells is all the attack's.

Both are conditional logits: a value's chance is the exponential of a weighted sum of few figures.

References
----------
A. Cohen. Attacks on deidentification's defenses. USENIX Security 2022.
R. Shokri, M. Stronati, C. Song, V. Shmatikov. Membership inference attacks against machine learning
models. IEEE S&P 2017 (shadow models).
"""

from dataclasses import dataclass

import numpy as np

from incrowd.attacks.cells import Cells, affordable, cells_of, hidden_cells, opened, swapped
from incrowd.attacks.findings import Outcome
from incrowd.attacks.fits import Fits, fits_of
from incrowd.attacks.rates import Rate, Z
from incrowd.attacks.scene import People, Scene, Seen
from incrowd.hierarchy.family import Family
from incrowd.hierarchy.labels import SPAN, WHOLE, ends
from incrowd.hierarchy.range_family import RangeFamily
from incrowd.kernels.types import Floats, Ints

CLASSES = 1_200  # of each release
MASKS = 2_500  # rows under masks by lot
PAIRS = 4_000_000  # of values of two columns: beyond, the one tells nothing of the other
SURE = 0.95
RIDGE = 1e-3


def downcoding(scene: Scene, secret: int, rng: np.random.Generator) -> Outcome:
    """Guess the value of each hidden cell."""
    shadow = scene.shadow
    assert shadow is not None
    own = Counts(scene.seen.trees, scene.strangers.codes)
    masked, at_random = under_masks(scene.seen, scene.strangers, rng)
    learnt_from = hidden_cells(shadow.seen, shadow.members, CLASSES, rng)
    aimed = hidden_cells(scene.seen, scene.members, CLASSES, rng)
    if not len(aimed.label) or not len(learnt_from.label) or not len(masked.label):
        nothing = Rate.of([])
        says = "No cell is hidden, or none in the release of other people to learn from."
        return Outcome(attack=nothing, control=nothing, says=says)
    known = own.figures(masked, at_random, leave=True)
    training = own.figures(learnt_from, fitting(learnt_from, scene.strangers), leave=True)
    target = own.figures(aimed, fitting(aimed, scene.strangers), leave=False)
    plain = chances(fit(masked, known), aimed, target)
    beside = np.column_stack([training, structure(learnt_from, shadow.seen)])
    seen = np.column_stack([target, structure(aimed, scene.seen)])
    attacked = chances(fit(learnt_from, beside), aimed, seen)
    return told(aimed, attacked, plain)


def told(cells: Cells, attack: Floats, control: Floats) -> Outcome:
    """Count hits and bits."""
    mine, theirs = (Rate.of(*cells.by_cell(hits(cells, p))) for p in (attack, control))
    gain = np.log2(np.maximum(attack, 1e-9) / np.maximum(control, 1e-9)) * cells.truth
    bits, low, high = mean_by_class(cells, cells.total(gain).astype(np.float64))
    first = tops(cells, attack)
    sure = attack[first] > SURE
    certain, fine = int(cells.rows[sure].sum()), int(cells.truth[first][sure].sum())
    return Outcome(
        attack=mine,
        control=theirs,
        says=f"Somebody who makes a release of other people guesses {mine.rate:.1%} of the hidden "
        f"cells rightly, {theirs.rate:.1%} from the published cells alone; a hidden cell tells "
        f"{bits:.2f} bits more ({low:.2f} to {high:.2f}). {certain:,} cells are surer than "
        f"{SURE:.0%}, and {fine:,} of those right.",
        more={"bits": bits, "bits_low": low, "bits_high": high, "sure": certain,
              "sure_right": fine},
    )  # fmt: skip


def tops(cells: Cells, chance: Floats) -> Ints:
    """int64, shape (entries,): the likeliest candidate of each, the first of equal ones."""
    order = np.lexsort((-chance, cells.entry))
    return order[cells.start]


def hits(cells: Cells, chance: Floats) -> Floats:
    """float64, shape (entries,): hidden cells that the likeliest value names rightly."""
    return cells.truth[tops(cells, chance)].astype(np.float64)


def mean_by_class(cells: Cells, gain: Floats) -> tuple[float, float, float]:
    """Return gain per hidden cell with its 95 % interval; cells of one class hang together."""
    if not len(gain):
        return 0.0, 0.0, 0.0
    labels = len(cells.levels)
    sums = np.bincount(cells.label, gain, labels)
    rows = np.bincount(cells.label, cells.rows, labels)
    mean = float(sums.sum() / rows.sum())
    spread = float(((sums - mean * rows) ** 2).sum())
    half = Z * np.sqrt(spread * labels / max(1, labels - 1)) / float(rows.sum())
    return mean, mean - half, mean + half


def fitting(cells: Cells, people: People) -> Fits:
    """Return which people each label fits."""
    sizes = np.ones(len(cells.levels), np.int64)
    return fits_of(cells.trees, cells.levels, cells.nodes, sizes, people.codes)


def under_masks(seen: Seen, people: People, rng: np.random.Generator) -> tuple[Cells, Fits]:
    """Return people by lot, each under the levels of a released row by lot, and whom those fit.

    The labels are each person's own ancestors: cells hidden without regard to what stands in them.
    """
    masks = rng.choice(len(seen.sizes), MASKS, p=seen.sizes / seen.rows)
    who = rng.integers(0, len(people), MASKS)
    levels, codes = seen.levels[masks], people.codes[who]
    nodes = np.empty_like(levels)
    hidden = np.zeros(levels.shape, bool)
    for j, tree in enumerate(seen.trees):
        if isinstance(tree, RangeFamily):
            both = around(tree, levels[:, j], seen.nodes[masks, j], codes[:, j], rng)
            levels[:, j], nodes[:, j] = both
        else:
            nodes[:, j] = tree.node[levels[:, j], codes[:, j]]
        low, high = ends(tree, levels[:, j], nodes[:, j])
        hidden[:, j] = high - low > 1
    some = affordable(seen.trees, levels, nodes, rng)
    levels, nodes, codes = levels[some], nodes[some], codes[some]
    cells = cells_of(seen.trees, levels, nodes, hidden[some], np.arange(len(some)), codes)
    return cells, fitting(cells, people)


def around(
    family: RangeFamily, levels: Ints, nodes: Ints, codes: Ints, rng: np.random.Generator
) -> tuple[Ints, Ints]:
    """Return level and node of intervals as long as these, moved by lot so that they hold a value.

    ``*`` where no interval holds it.
    """
    size, known = len(family.leaves), len(family.leaves) - sum(not text for text in family.first)
    low, end = ends(family, levels, nodes)
    length = end - low
    first = np.clip(codes - (rng.random(len(codes)) * length).astype(np.int64), 0, known - length)
    levels = np.where((levels == SPAN) & (codes >= known), WHOLE, levels)
    spans = first * size + first + length - 1
    return levels, np.where(levels == 0, codes, np.where(levels == SPAN, spans, 0))


@dataclass(frozen=True, eq=False)
class Counts:
    """What the attacker's own people say of how values go together.

    Attributes
    ----------
    trees: one for each quasi-identifier.  codes: int64, shape (people, columns).
    """

    trees: tuple[Family, ...]
    codes: Ints

    def figures(self, cells: Cells, fits: Fits, leave: bool) -> Floats:
        """float64, shape (candidates, 4): what published cells alone say of each value.

        Naive Bayes over the other columns, the people who agree in all of them, how common the
        value is, and how many agree.

        Parameters
        ----------
        leave: the rows under the labels are among the people: they are left out.
        """
        own = cells.truth if leave else np.zeros(len(cells.entry), np.int64)
        margin, bayes = self._bayes(cells, own)
        normal = bayes - peak(cells, bayes)
        shares = np.exp(normal)
        shares /= cells.total(shares)[cells.entry]
        match = np.maximum(matches(cells, fits, self.codes) - own, 0)
        exact = np.log((match + 2 * shares) / (cells.total(match) + 2)[cells.entry])
        return np.column_stack([np.log(shares + 1e-12), exact, np.log(margin), np.log1p(match)])

    def _bayes(self, cells: Cells, own: Ints) -> tuple[Floats, Floats]:
        """Return each value's count, smoothed, and the logarithm of its naive Bayes score."""
        margin, score = np.zeros(len(cells.entry)), np.zeros(len(cells.entry))
        shown = [
            ends(tree, cells.levels[:, j], cells.nodes[:, j]) for j, tree in enumerate(self.trees)
        ]
        for c, tree in enumerate(self.trees):
            mine = np.flatnonzero(cells.by == c)
            width = len(tree.leaves)
            count = np.bincount(self.codes[:, c], minlength=width)[cells.value[mine]] - own[mine]
            margin[mine] = count + 0.1
            score[mine] += np.log(margin[mine])
            at, value = cells.at[mine], cells.value[mine]
            for d, other in enumerate(self.trees):
                leaves = len(other.leaves)
                if d == c or not len(mine) or width * leaves > PAIRS:
                    continue
                pairs = np.bincount(
                    self.codes[:, c] * leaves + self.codes[:, d], minlength=width * leaves
                ).reshape(width, leaves)
                sums = np.hstack([np.zeros((width, 1), np.int64), np.cumsum(pairs, axis=1)])
                low, high = (end[at] for end in shown[d])
                both = sums[value, high] - sums[value, low] - own[mine]
                smooth = 0.2 * (high - low)
                score[mine] += np.log((both + smooth) / (count + 0.2 * leaves))
        return margin, score


def matches(cells: Cells, fits: Fits, codes: Ints) -> Ints:
    """int64, shape (candidates,): people under the label who bear the value."""
    found = np.zeros(len(cells.entry), np.int64)
    for j, tree in enumerate(cells.trees):
        leaves = len(tree.leaves)
        key, count = np.unique(fits.place * leaves + codes[fits.person, j], return_counts=True)
        mine = np.flatnonzero(cells.by == j)
        if len(key):
            sought = cells.at[mine] * leaves + cells.value[mine]
            spot = np.minimum(np.searchsorted(key, sought), len(key) - 1)
            found[mine] = np.where(key[spot] == sought, count[spot], 0)
    return found


def structure(cells: Cells, seen: Seen) -> Floats:
    """float64, shape (candidates, 5): what the release's classes say of each value."""
    rows = cells.rows[cells.entry]
    wide = (rows > seen.k).astype(np.float64)
    size, beside = opened(cells, seen), swapped(cells, seen)
    there = (size > 0).astype(np.float64)
    return np.column_stack(
        [there, there * wide, np.log1p(size), np.log1p(beside), np.log1p(beside) * wide]
    )


def fit(cells: Cells, figures: Floats) -> Floats:
    """float64, shape (figures,): weights of the likeliest conditional logit, slightly shrunk.

    The likelihood is concave in the weights, so that where it starts does not matter.
    """
    from scipy.optimize import minimize

    total = max(1, int(cells.truth.sum()))
    scale = np.maximum(np.abs(figures).max(axis=0, initial=0.0), 1e-9)
    scaled = figures / scale

    def loss(weights: Floats) -> tuple[float, Floats]:
        chance = softmax(cells, scaled @ weights)
        expected = chance * cells.rows[cells.entry]
        value = -float((cells.truth * np.log(np.maximum(chance, 1e-300))).sum()) / total
        slope = -scaled.T @ (cells.truth - expected) / total
        return value + RIDGE * float(weights @ weights), slope + 2 * RIDGE * weights

    return minimize(loss, np.zeros(figures.shape[1]), jac=True, method="L-BFGS-B").x / scale


def chances(weights: Floats, cells: Cells, figures: Floats) -> Floats:
    """float64, shape (candidates,): chance of each value; they sum to 1 over an entry."""
    return softmax(cells, figures @ weights)


def softmax(cells: Cells, score: Floats) -> Floats:
    """float64, shape (candidates,): exponentials that sum to 1 over each entry."""
    found = np.exp(score - peak(cells, score))
    return found / cells.total(found)[cells.entry]


def peak(cells: Cells, score: Floats) -> Floats:
    """float64, shape (candidates,): the largest of its entry, for each candidate."""
    return cells.most(score)[cells.entry]
