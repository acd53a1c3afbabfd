"""What a class would be spared without each of its copies: most trades are given up by that alone.

Claim.  Let z leave a class S that r has joined.  Where costs are ``submodular`` its rows are spared
no more by that than those of S are when z leaves S.  So after a trade of r for z a row of S pays at
least cost(S + r) less the relief of z, and one of the class that r left at least its cost less the
relief of r.

Argument.  By column.  Ranges cost the distance of their ends, moved outward by rounding, and single
values nothing: how far an end moves back when z leaves is farther without r.  In a tree the joins
of S, S − z, S + r and S + r − z are all above that of S − z, so one above the other.  If that of S
is not above that of S + r − z nothing is spared; else it is that of S + r as well, and the join of
S + r − z costs no less than that of S − z.
"""

from typing import Any

import numpy as np

from incrowd.hierarchy.range_family import RangeFamily
from incrowd.kernels.jit import inner_kernel, lean_kernel
from incrowd.problem.instance import Instance
from incrowd.solvers.engine.traded import AHEAD, FAR, NOBODY, clear, pays_in, widen

FREE = 1 << 40  # a relief beyond all costs: what is not known


def submodular(instance: Instance) -> bool:
    """Whether no class is spared more by a copy's leaving because another one has joined it.

    So it is with trees and with ranges, unless these end at a widest interval: where a class is
    beyond that, one copy's leaving may spare it all of ``*``.
    """
    for family in instance.trees:
        if isinstance(family, RangeFamily):
            open_ended = np.flatnonzero(family.reach > np.arange(len(family.reach)))
            top = family.reach[open_ended].max(initial=0)
            if (family.reach[:top] != top).any():
                return False
    return True


@inner_kernel
def set_out_members(b: Any, m: Any, pad: Any) -> Any:
    """Work out the spans of all members of b before each one, and of all behind."""
    span = pad.span
    n = m.size[b]
    behind = AHEAD + m.member.shape[1] + 1
    clear(span[AHEAD])
    clear(span[behind + n])
    for z in range(n):
        widen(span[AHEAD + z + 1], span[AHEAD + z], m.row_of[m.member[b, z]], m.codes)
    for z in range(n - 1, -1, -1):
        widen(span[behind + z], span[behind + z + 1], m.row_of[m.member[b, z]], m.codes)
    return behind


@inner_kernel
def note(b: Any, known: bool, m: Any, pad: Any, tables: Any) -> None:
    """Note the span of class b and what it would be spared without each of its copies."""
    span, n = pad.span, m.size[b]
    behind = set_out_members(b, m, pad)
    for j in range(m.span.shape[2]):
        m.span[b, 0, j] = span[AHEAD + n, 0, j]
        m.span[b, 1, j] = span[AHEAD + n, 1, j]
    m.ease[b] = 0
    for z in range(n):
        less = m.cost[b]
        if known:
            less -= pays_in(span[AHEAD + z], span[behind + z + 1], NOBODY, FAR, m, tables)
        else:
            less = FREE
        m.relief[m.member[b, z]] = less
        m.ease[b] = max(m.ease[b], less)


@lean_kernel
def note_all(known: bool, m: Any, pad: Any, tables: Any) -> None:
    """Do so for all classes."""
    for b in range(m.size.size):
        if m.size[b] > 0:
            note(b, known, m, pad, tables)
