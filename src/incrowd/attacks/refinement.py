"""Refinement: values that a hidden cell cannot be, if the method changes as little as it can.

In a class of more than k rows no row bears a value with which it would fit an open class of fewer
changes: it would stand there, and its class would still be one without it.
"""

import numpy as np

from incrowd.attacks.cells import hidden_cells, opened
from incrowd.attacks.findings import Outcome
from incrowd.attacks.rates import Rate
from incrowd.attacks.scene import Scene
from incrowd.attacks.singling import published

CLASSES = 20_000


def refinement(scene: Scene, secret: int, rng: np.random.Generator) -> Outcome:
    """Guess a value that is left, as likely as it is common; control: without ruling out any."""
    seen = scene.seen
    cells = hidden_cells(seen, scene.members, CLASSES, rng)
    shares = published(seen)
    common = np.zeros(len(cells.entry))
    for j, share in enumerate(shares):
        mine = cells.by == j
        common[mine] = share[cells.value[mine]]
    out = (cells.rows[cells.entry] > seen.k) & (opened(cells, seen) > 0)
    left = np.where(out, 0.0, common)
    before, after = cells.total(common), cells.total(left)
    told = cells.total(out.astype(np.int64)) > 0
    plain = cells.total(cells.truth * common) / np.maximum(before, 1e-300)
    knowing = cells.total(cells.truth * left) / np.maximum(after, 1e-300)
    attack = Rate.of(*cells.by_cell(np.where(after > 0, knowing, plain)))
    control = Rate.of(*cells.by_cell(plain))
    read = (cells.total((~out).astype(np.int64)) == 1) & told
    certain = int(cells.rows[read].sum())
    fine = int(cells.total(np.where(out, 0, cells.truth))[read].sum())
    wrong = int(cells.truth[out].sum())
    return Outcome(
        attack=attack,
        control=control,
        says=f"Values can be ruled out for {int(cells.rows[told].sum()):,} of "
        f"{attack.tries:,} hidden cells, if the method is minimal; that was wrong for {wrong:,} of "
        f"them. One value is left for {certain:,}, and it is the true one for {fine:,}.",
        more={
            "told": int(cells.rows[told].sum()),
            "wrongly_ruled_out": wrong,
            "one_left": certain,
            "one_left_right": fine,
        },
    )
