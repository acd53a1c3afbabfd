"""Large neighbourhoods: blocks of classes re-solved exactly by mixed-integer programming."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray

from incrowd.linear.highs import branched, model_of
from incrowd.run.silence import standard_output_kept_clean
from incrowd.run.stop import Stop
from incrowd.solvers.engine.assignment import State, link, new_state, total_cost, unlink
from incrowd.solvers.engine.block import Block, BlockMaker
from incrowd.solvers.engine.candidates import Candidates


class BlockProgram(NamedTuple):
    """A block as a mixed-integer program: one binary per pattern, then one number per choice.

    Once the open patterns are known the choices are a flow from rows and lenders to patterns, whose
    vertices are integral: only the binaries need to be branched on.

    cost: reduced by the prices of the rows, which pay ``paid`` whatever is chosen; so columns of
    very different weight do not blur the small ones.
    """

    matrix: Any
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    cost: NDArray[np.float64]
    most: NDArray[np.float64]
    patterns: int
    paid: float


def program_of(
    block: Block, k: int, outside: NDArray[np.bool_], state: State, price: NDArray[np.float64]
) -> BlockProgram:
    """Write down the block's program.

    Rows, in this order: every loose copy goes somewhere; an opened pattern gets at least k; no
    class lends more than its surplus; no class lends more copies of a row than it holds; only
    opened patterns receive.
    """
    inside = ~outside[block.pattern]
    patterns, opened = np.unique(block.pattern[inside], return_inverse=True)
    loan = block.lender >= 0
    lenders, lender_at = np.unique(block.lender[loan], return_inverse=True)
    lent = np.stack([block.lender[loan], block.lent_row[loan]])
    sources, source_at = np.unique(lent, axis=1, return_inverse=True)
    held = np.zeros(sources.shape[1])
    np.maximum.at(held, source_at.ravel(), block.most[loan])
    choice = np.arange(len(block.row)) + len(patterns)
    own = block.row >= 0
    links = np.arange(int(inside.sum()))
    sizes = [len(block.rows), len(patterns), len(lenders), len(held), len(links)]
    first = np.concatenate([[0], np.cumsum(sizes)])
    entries = [  # (row, column, value)
        (first[0] + block.row[own], choice[own], 1.0),
        (first[1] + np.arange(len(patterns)), np.arange(len(patterns)), -float(k)),
        (first[1] + opened, choice[inside], 1.0),
        (first[2] + lender_at.ravel(), choice[loan], 1.0),
        (first[3] + source_at.ravel(), choice[loan], 1.0),
        (first[4] + links, choice[inside], 1.0),
        (first[4] + links, opened, -block.most[inside].astype(float)),
    ]
    row = np.concatenate([r for r, _, _ in entries])
    column = np.concatenate([c for _, c, _ in entries])
    value = np.concatenate([np.broadcast_to(v, len(r)) for r, _, v in entries])
    free = block.free.astype(float)
    infinite = [np.full(n, -np.inf) for n in sizes[2:]]
    low = np.concatenate([free, np.zeros(len(patterns)), *infinite])
    high = np.concatenate(
        [free, np.full(len(patterns), np.inf), state.size[lenders] - k, held, np.zeros(len(links))]
    )
    paid = price[block.rows]
    reduced = block.cost - np.where(own, paid[block.row], 0.0)
    return BlockProgram(
        scipy.sparse.csc_array(
            (value, (row, column)), shape=(int(first[-1]), len(patterns) + len(choice))
        ),
        low.astype(np.float64),
        high.astype(np.float64),
        np.concatenate([np.zeros(len(patterns)), reduced]).astype(np.float64),
        np.concatenate([np.ones(len(patterns)), block.most]).astype(np.float64),
        len(patterns),
        float(paid @ block.free),
    )


def solve_block(
    block: Block,
    k: int,
    outside: NDArray[np.bool_],
    state: State,
    price: NDArray[np.float64],
    nodes: int,
    budget: Stop,
) -> tuple[NDArray[np.int64] | None, int]:
    """Find a strictly cheaper solution of the block.

    Returns
    -------
    how many copies take each choice (int64, choices), or None when nothing cheaper was found; and
    a lower bound on the block's cost, as far as the branch and bound came.
    """
    program = program_of(block, k, outside, state, price)
    above = max(1.0, block.pays - program.paid)
    limits = program.most, program.low, program.high
    whole = np.arange(len(program.cost)) < program.patterns
    with standard_output_kept_clean():
        model = model_of(scipy.sparse.csc_array(program.matrix), program.cost, *limits, whole)
        model.setOptionValue("mip_max_nodes", nodes)
        model.setOptionValue("mip_rel_gap", 0.5 / above)
        result = branched(model, budget)
    bound = -1
    if np.isfinite(result.bound):
        # HiGHS is right to within its tolerances times the largest number it sees; the prices
        # were summed in floating point
        doubt = 1e-6 * max(above, float(np.abs(program.cost).max(initial=0.0)))
        bound = math.ceil(program.paid + result.bound - doubt - 1e-12 * program.paid)
    if result.x is None:
        return None, bound
    found = np.rint(result.x)
    filled = program.matrix @ found
    if np.any(filled < program.low) or np.any(filled > program.high):  # not a vertex
        return None, bound
    taken = found[program.patterns :].astype(np.int64)
    return (taken if int(taken @ block.cost) < block.pays else None), bound


def apply_block(
    block: Block,
    taken: NDArray[np.int64],
    torn: NDArray[np.int64],
    k: int,
    state: State,
    c: Candidates,
) -> int:
    """Carry out a solution; return the change of cost, 0 if it was not lawful after all."""
    loose: dict[int, list[int]] = {}
    for q in torn:
        i = int(state.head[q])
        while i >= 0:
            loose.setdefault(int(c.row_of[i]), []).append(i)
            i = int(state.next[i])
    moves: list[tuple[int, int]] = []
    for z in np.flatnonzero(taken):
        r, p, number = int(block.lent_row[z]), int(block.pattern[z]), int(taken[z])
        if block.row[z] >= 0:
            moves += [(loose[r].pop(), p) for _ in range(number)]
        else:
            held = range(c.first_copy[r], c.first_copy[r + 1])
            moved = {i for i, _ in moves}
            lender = int(block.lender[z])
            ready = [i for i in held if state.pattern[i] == lender and i not in moved]
            moves += [(i, p) for i in ready[:number]]
    back = [(i, int(state.pattern[i])) for i, _ in moves]
    change = 0
    for i, p in moves:
        change += int(c.cost[p] - c.cost[state.pattern[i]])
        unlink(state, i)
        link(state, i, p)
    concerned = np.unique([p for _, p in moves] + [p for _, p in back])
    size = state.size[concerned]
    if change < 0 and bool(((size == 0) | (size >= k)).all()):
        return change
    for i, p in reversed(back):
        unlink(state, i)
        link(state, i, p)
    return 0


@dataclass(frozen=True, kw_only=True)
class Neighbourhoods:
    """Re-solve blocks around rows that pay above their price.

    Attributes
    ----------
    size: copies per block.
    nodes: branch-and-bound nodes per block: a limit that does not depend on the clock.
    blocks: blocks per round.
    """

    size: int = 120
    nodes: int = 20
    blocks: int = 20

    def run(
        self,
        candidates: Candidates,
        pattern: NDArray[np.int64],
        price: NDArray[np.float64],
        k: int,
        cell: float,
        seed: int,
        budget: Stop | None = None,
        stop: Callable[[], bool] = lambda: False,
        report: Callable[[int, float], None] = lambda cost, share: None,
    ) -> NDArray[np.int64]:
        """Improve an assignment (int64, copies → patterns) by one round of blocks."""
        c = candidates
        state = new_state(c, pattern)
        maker = BlockMaker(c)
        rng = np.random.default_rng([seed, 7])
        dice = np.array([seed * 0x2545F491 + 99], np.uint64)
        cost = total_cost(state, c)
        visited = np.zeros(len(pattern))
        unit = max(1, round(cell))
        for n in range(self.blocks):
            if stop():
                break
            over = np.maximum(c.cost[state.pattern] - price[c.row_of], 0)
            weight = over / (1.0 + visited) ** 2
            if not weight.any():
                break
            start = int(rng.choice(len(weight), p=weight / weight.sum()))
            torn = maker.grow(int(state.pattern[start]), self.size, state, dice)
            visited[start] += 1
            if len(torn):
                visited[np.isin(state.pattern, torn)] += 1
                cost += self.resolve(maker, torn, k, unit, state, price, budget or Stop())
            report(cost, (n + 1) / self.blocks)
        return state.pattern.astype(np.int64)

    def resolve(
        self,
        maker: BlockMaker,
        torn: NDArray[np.int64],
        k: int,
        unit: int,
        state: State,
        price: NDArray[np.float64],
        budget: Stop,
    ) -> int:
        """Re-solve one block; return the change of cost."""
        block = maker.make(torn, k, unit, 4 * unit, state)
        if block is None:
            return 0
        outside = state.size >= k
        outside[torn] = False
        taken, _ = solve_block(block, k, outside, state, price, self.nodes, budget)
        if taken is None:
            return 0
        return apply_block(block, taken, torn, k, state, maker.candidates)
