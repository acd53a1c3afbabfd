"""The dearest mean price of a class that holds all rows of at least k people.

Each distinct row of the instance is a person: w copies, all in one class.  So a class S costs
|S|·cost(p), copies counted, and what is asked is the greatest mean

    μ = max over |S| ≥ k of Σ_S w·u / Σ_S w,

which is that μ at which max over S of Σ_S w·(u − μ) is 0 (Dinkelbach, On nonlinear fractional
programming, Management Science 13, 1967).  For a given μ the best S has the k persons with the
highest w·(u − μ), and all others for whom that is positive.  Its mean is the next μ; means rise
until none is higher, and each is that of a class.
"""

from typing import Any

from incrowd.bounds.diversity import IMPOSSIBLE, keep_dearest
from incrowd.bounds.top_copies import LOOKS
from incrowd.kernels.jit import inner_kernel

MOST_STEPS = 60


@inner_kernel
def chosen(
    rows: Any, begin: int, end: int, u: Any, counts: Any, k: int, mean: float, pad: Any
) -> Any:
    """Return (sum of prices, number of copies) of the best class at a mean; mark who is in it."""
    held = 0
    total = 0.0
    size = 0
    for i in range(begin, end):
        r = rows[i]
        held = keep_dearest(pad.price, pad.row, held, k, counts[r] * (u[r] - mean), r)
    for j in range(held):
        r = pad.row[j]
        pad.used[r] = 1
        total += counts[r] * u[r]
        size += counts[r]
    for i in range(begin, end):
        r = rows[i]
        if u[r] > mean and pad.used[r] == 0:
            pad.used[r] = 1
            total += counts[r] * u[r]
            size += counts[r]
    pad.state[LOOKS] += end - begin
    return total, size


@inner_kernel
def whole(rows: Any, begin: int, end: int, u: Any, counts: Any, data: Any, pad: Any) -> Any:
    """Return (dearest mean of k people with all their rows, number of weights); ``data`` = k."""
    k = int(data[0])
    if end - begin < k:
        return IMPOSSIBLE, 0
    mean = IMPOSSIBLE
    highest = IMPOSSIBLE
    for i in range(begin, end):
        highest = max(highest, u[rows[i]])
    guess, written = highest, 0
    for step in range(MOST_STEPS):
        total, size = chosen(rows, begin, end, u, counts, k, guess, pad)
        out = 0
        better = total / size > mean
        for i in range(begin, end):
            r = rows[i]
            if pad.used[r] == 1:
                pad.used[r] = 0
                if better:
                    pad.out_row[out] = r
                    pad.out_weight[out] = counts[r] / size
                    out += 1
        if not better:
            break
        mean = total / size
        guess = mean
        written = out
        if step == MOST_STEPS - 1:
            mean = highest
    return mean, written
