"""Classes under prices and odd-set terms: the dearest of a pattern, or all of small reduced cost.

With lifted prices û and a penalty σ_S = 2·w_S for every two rows of an odd set S in one class, a
class C of pattern p is worth Σ_{r∈C} (û_r − cost(p)) − Σ_S σ_S·⌊|C∩S|/2⌋.  Prices are a
certificate when no class of k to 2k−1 rows is worth more than nothing (larger ones split without
paying more).

The search goes through the copies in order of falling prices and bounds what the rest of a class
can add by the next copies without penalties.  It works on floats within a linear program and, for
certificates, on integers: nothing is rounded.
"""

from typing import Any

from incrowd.bounds.odd_sets.pricing import ENDLESS
from incrowd.kernels.halt import halted
from incrowd.kernels.jit import inner_kernel, lean_kernel

TOO_FEW = 1 << 60
SHRINKING, SHRINKINGS = 0.6, 15  # of the slack of a pattern with too many classes


@lean_kernel
def line_up(p: int, pr: Any) -> int:
    """Fill the pad with p's copies by falling price; return their number."""
    lists, pad = pr.lists, pr.pad
    n = 0
    for i in range(lists.offset[p], lists.offset[p + 1]):
        r = lists.rows[i]
        worth = pr.price[r] - lists.cost[p] * pr.unit
        copies = min(pr.counts[r], 2 * pr.k - 1)
        j = n - 1
        while j >= 0 and pad.worth[j] < worth:
            pad.worth[j + copies] = pad.worth[j]
            pad.item[j + copies] = pad.item[j]
            j -= 1
        for z in range(copies):
            pad.worth[j + 1 + z] = worth
            pad.item[j + 1 + z] = r
        n += copies
    pad.ahead[0] = 0
    for i in range(n):
        pad.ahead[i + 1] = pad.ahead[i] + pad.worth[i]
    return n


@inner_kernel
def most_to_come(i: int, n: int, size: int, k: int, pad: Any) -> Any:
    """Bound what copies from position i on can add to a class of ``size``; −2⁶⁰ for too few."""
    least = max(1, k - size)
    if i + least > n:
        return pad.ahead[0] - TOO_FEW  # of the dtype of the prices
    end = i + least
    while end < n and end - i < 2 * k - 1 - size and pad.worth[end] > 0:
        end += 1
    return pad.ahead[end] - pad.ahead[i]


@inner_kernel
def enter(i: int, size: int, penalties: Any, pad: Any) -> None:
    """Add the copy at position i to the class at hand."""
    r = pad.item[i]
    gain = pad.worth[i]
    for z in range(penalties.first[r], penalties.first[r + 1]):
        s = penalties.sets[z]
        penalties.held[s] += 1
        if penalties.held[s] % penalties.modulus[s] == 0:
            gain -= penalties.penalty[s]
    pad.place[size] = i
    pad.row[size] = r
    pad.value[size + 1] = pad.value[size] + gain


@inner_kernel
def leave(size: int, penalties: Any, pad: Any) -> int:
    """Take the last copy out of a class of ``size``; return its position."""
    r = pad.row[size - 1]
    for z in range(penalties.first[r], penalties.first[r + 1]):
        penalties.held[penalties.sets[z]] -= 1
    return pad.place[size - 1]


@inner_kernel
def beyond(i: int, n: int, penalties: Any, pad: Any) -> int:
    """Return the next position that may be in a dearest class without the copy at position i.

    A copy that no set holds, or an equal one, could take the place of a later one at no loss.
    """
    r = pad.item[i]
    if penalties.first[r] == penalties.first[r + 1]:
        return n
    i += 1
    while i < n and pad.item[i] == r:
        i += 1
    return i


@inner_kernel
def looks(size: int, i: int, k: int, penalties: Any, pad: Any) -> int:
    """Return what the independent checker counts for trying copy i in a class of ``size``.

    The sizes that the class may come to, and the sets of the copy; see its ``oddsets.py``.
    """
    r = pad.item[i]
    return 2 * k - size - max(1, k - size) + penalties.first[r + 1] - penalties.first[r]


@lean_kernel
def dearest(n: int, floor: Any, pr: Any) -> Any:
    """Return (worth, rows) of the dearest class among the pad's n copies, (floor, 0) if none.

    Only classes worth more than ``floor`` count; their rows are left in ``pad.best``.  After
    ``tries`` steps, or when time ends, the number of rows is −1 and nothing is known.
    """
    worth, size, _ = dearest_within(n, floor, pr, ENDLESS)
    return worth, size


@lean_kernel
def dearest_within(n: int, floor: Any, pr: Any, most: int) -> Any:
    """As ``dearest``, with at most so many ``looks``; returns how many are left as well."""
    k, tries, penalties, pad = pr.k, pr.tries, pr.penalties, pr.pad
    best = floor
    found = 0
    size = 0
    i = 0
    pad.value[0] = 0
    while True:
        if size < 2 * k - 1 and pad.value[size] + most_to_come(i, n, size, k, pad) > best:
            tries -= 1
            most -= looks(size, i, k, penalties, pad)
            enter(i, size, penalties, pad)
            size += 1
            if size >= k and pad.value[size] > best:
                best = pad.value[size]
                found = size
                for z in range(size):
                    pad.best[z] = pad.row[z]
            i += 1
        elif size == 0:
            return best, found, most
        else:
            i = beyond(leave(size, penalties, pad), n, penalties, pad)
            size -= 1
        if tries < 0 or most < 0 or halted(pr.halt):
            while size > 0:
                leave(size, penalties, pad)
                size -= 1
            return best, -1, most


@inner_kernel
def dearest_mean(n: int, pr: Any) -> Any:
    """Return (worth per row, rows) of the class with the highest mean worth, (0, 0) if none.

    Taking the mean of the dearest class from all prices and looking again ends at the class of
    the highest mean (Dinkelbach, On nonlinear fractional programming, Management Science 13,
    1967).  Each class found is smaller than the one before it, so there are at most k; only
    rounding finds more, without end where costs lie far apart.  The rows are left in ``pad.best``;
    their number is −1 where a search is not through.
    """
    pad = pr.pad
    mean = pad.ahead[0]
    size = 0
    while True:
        worth, found = dearest(n, 1e-12, pr)
        if found < 0:
            return mean, -1
        if found == 0 or 0 < size <= found:
            return mean, max(size, found)
        size = found
        mean += worth / size
        for i in range(n):
            pad.worth[i] -= worth / size
            pad.ahead[i + 1] = pad.ahead[i] + pad.worth[i]


@inner_kernel
def classes_of(p: int, pr: Any, slack: float, found: Any, first: int, last: int) -> Any:
    """List every class of pattern p worth at least −``slack``.

    ``found`` (``Classes``) receives them from ``first`` on.  Returns where the list ends, and
    whether it is whole: it ends at ``last``, after ``tries`` steps or when time does.  Equal copies
    are taken in order, so that no class stands twice.
    """
    k, tries, penalties, pad = pr.k, pr.tries, pr.penalties, pr.pad
    pattern, size, rows = found
    n = line_up(p, pr)
    count = first
    held = 0
    i = 0
    pad.value[0] = 0
    while True:
        skip = (  # an equal copy before this one was left out
            i < n
            and i > 0
            and pad.item[i - 1] == pad.item[i]
            and (held == 0 or pad.place[held - 1] != i - 1)
        )
        if held < 2 * k - 1 and pad.value[held] + most_to_come(i, n, held, k, pad) >= -slack:
            if skip:
                i += 1
                continue
            enter(i, held, penalties, pad)
            held += 1
            tries -= 1
            one_more = held >= k and pad.value[held] >= -slack
            if tries < 0 or (one_more and count == last) or halted(pr.halt):
                while held > 0:
                    leave(held, penalties, pad)
                    held -= 1
                return count, False
            if one_more:
                pattern[count] = p
                size[count] = held
                for z in range(held):
                    rows[count, z] = pad.row[z]
                count += 1
            i += 1
        elif held == 0:
            return count, True
        else:
            i = leave(held, penalties, pad) + 1
            held -= 1


@lean_kernel
def all_classes(pr: Any, slack: float, found: Any) -> int:
    """List every class worth at least −``slack`` in ``found``, as ``classes_of``.

    Returns their number, −1 when they do not fit.
    """
    count = 0
    for p in range(pr.lists.cost.size):
        count, whole = classes_of(p, pr, slack, found, count, found.pattern.size)
        if not whole:
            return -1
    return count


@lean_kernel
def some_classes(pr: Any, slack: float, most: int, found: Any) -> int:
    """As ``all_classes``, for each pattern with a smaller slack until at most ``most`` are left.

    Returns their number; ends where ``found`` is full.  Patterns with more than that of no reduced
    cost give some of these.
    """
    count = 0
    for p in range(pr.lists.cost.size):
        if halted(pr.halt):
            break
        last = min(count + most, found.pattern.size)
        reach = slack
        end = count
        for _ in range(SHRINKINGS):
            end, whole = classes_of(p, pr, reach, found, count, last)
            if whole:
                break
            reach *= SHRINKING
        count = end
    return count
