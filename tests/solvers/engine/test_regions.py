"""Tests annealing by regions: each is a small table, and threads do not matter."""

import numpy as np
import pytest

from dial import few
from incrowd.bounds.prefix_tree import EMIT, PrefixTree, Slack
from incrowd.lattice.emission import new_sink
from incrowd.problem.instance import Instance, from_codes
from incrowd.problem.solution import Solution
from incrowd.solvers.engine import regions
from incrowd.solvers.engine.anneal import Annealing
from incrowd.solvers.engine.candidates import Candidates, build_candidates, find_join
from incrowd.solvers.engine.greedy import greedy
from incrowd.solvers.engine.regions import (
    FEW_REGIONS,
    cut_out,
    dealt,
    keys_of,
    new_room,
    order_of,
    work_of,
)

K = 3


def made(seed: int) -> tuple[Instance, Candidates, np.ndarray]:
    """A table, its candidates, and a greedy release."""
    rng = np.random.default_rng(seed)
    codes = np.minimum(rng.geometric(0.35, (600, 5)) - 1, 5)
    instance, _ = from_codes(codes)
    price, sink = np.full(instance.distinct, 2.0), new_sink(50_000, 500_000)
    state = PrefixTree(instance).run(EMIT, K, price, slack=Slack(1.0, False), sink=sink)
    candidates = build_candidates(instance, sink.first(int(state[0])))
    return instance, candidates, greedy(candidates, K, 1)


@pytest.mark.parametrize("seed", range(few(3, 1)))
def test_regions_are_whole_tables(seed: int) -> None:
    """Tests that copies are dealt out once, classes stay lawful, and candidates are those left."""
    instance, c, pattern = made(seed)
    parts = dealt(c, pattern, K, 5, seed)
    assert len(parts) == 5
    assert sorted(np.concatenate(parts).tolist()) == list(range(instance.rows))
    keys, room, joins = keys_of(c), new_room(c), 0
    for copies in parts:
        assert np.bincount(pattern[copies])[np.unique(pattern[copies])].min() >= K
        region = cut_out(c, copies, pattern, K, keys, room)
        own = region.candidates
        rows = set(c.row_of[copies].tolist())
        for p in range(len(c.cost)):
            held = [r for r in c.rows[c.offset[p] : c.offset[p + 1]].tolist() if r in rows]
            copies_held = int(np.isin(c.row_of[copies], held).sum())
            at = int(np.searchsorted(region.patterns, p))
            there = at < len(region.patterns) and region.patterns[at] == p
            assert there == (copies_held >= K or p == len(c.cost) - 1)
            if there:
                listed = own.rows[own.offset[at] : own.offset[at + 1]]
                assert sorted(region.rows[listed].tolist()) == sorted(held)
                assert (own.support[at], own.cost[at]) == (copies_held, c.cost[p])
                joins += same_join(c, region.patterns, own, at)
        assert np.array_equal(region.rows[own.row_of], c.row_of[copies])
        for r in range(len(region.rows)):
            listed = own.row_patterns[own.row_offset[r] : own.row_offset[r + 1]]
            assert np.all(np.diff(listed) > 0) and all(
                r in own.rows[own.offset[p] : own.offset[p + 1]] for p in listed
            )
    assert not room.held.any() and not room.local.any() and joins > 20


@pytest.mark.parametrize("regions", [3, FEW_REGIONS + 1])
def test_regions_share_out_work(regions: int) -> None:
    """Tests that no region has much more work than another if they are few, else many copies."""
    _, c, pattern = made(5)
    pattern[: len(pattern) // 2] = np.argmin(c.cost)  # what is whole gives little work
    work = work_of(c, pattern, regions)
    assert (work is None) == (regions > FEW_REGIONS)
    near = 2 * K  # copies of a pattern, with which a region may end
    parts = dealt(c, pattern, K, regions, 5, near, work=work)
    each = np.ones(len(pattern)) if work is None else work
    held, over = [int(each[copies].sum()) for copies in parts], near + 2 * K
    assert len(parts) == regions
    assert max(held) <= each.sum() / regions + over * int(each.max())
    if work is not None:
        most = max(len(copies) for copies in parts)
        assert most > len(pattern) / regions + over  # copies are not even then
        free = c.cost[pattern] == 0
        degree = np.diff(c.row_offset)[c.row_of]
        assert np.array_equal(work[free], degree[free]) and np.all(work[~free] > degree[~free])


def test_an_order_ahead_of_time_is_that_of_the_seed() -> None:
    """Tests that regions are the same where their order of rows was made before."""
    _, c, pattern = made(6)
    ahead = dealt(c, pattern, K, 4, 9, order=order_of(c.codes, 9))
    for one, other in zip(ahead, dealt(c, pattern, K, 4, 9), strict=True):
        assert np.array_equal(one, other)
    other = dealt(c, pattern, K, 4, 9, order=order_of(c.codes, 10))
    assert any(not np.array_equal(a, b) for a, b in zip(ahead, other, strict=False))


def same_join(c: Candidates, patterns: np.ndarray, own: Candidates, at: int) -> bool:
    """Whether the rows of a region's pattern have a join that the region has; it is the table's."""
    members = own.rows[own.offset[at] : own.offset[at + 1]].astype(np.int64)
    found = find_join(
        members, len(members), own.codes, own.tables, own.table_key, own.table_pattern
    )
    whole = [tuple(row) for row in c.codes.tolist()]
    there = np.array([whole.index(tuple(own.codes[r].tolist())) for r in members])
    known = find_join(there, len(there), c.codes, c.tables, c.table_key, c.table_pattern)
    assert found < 0 or patterns[found] == known
    return bool(found >= 0)


def test_threads_do_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that any number of threads finds the same, lawful and better than the start."""
    monkeypatch.setattr(regions, "REGION", 100)
    instance, c, pattern = made(7)
    price = np.full(instance.distinct, 2.0)

    def found(threads: int, seed: int) -> list[int]:
        annealing = Annealing(moves=300, least=0)
        return annealing.run(
            c, pattern, K, 1.0, seed, price=price, threads=threads
        ).tolist()  # fmt: skip

    one = found(1, 3)
    assert found(2, 3) == one and found(3, 3) == one
    assert found(1, 4) != one
    after = np.array(one)
    assert np.bincount(after)[np.unique(after)].min() >= K
    assert c.cost[after].sum() < c.cost[pattern].sum()
    assert Solution.of(instance, after).cost <= c.cost[after].sum()


def test_regions_are_as_good() -> None:
    """Tests that what borders cost is little, on a table of four regions of 150 rows."""
    _, c, pattern = made(8)
    costs = []
    for region in (150, 10_000):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(regions, "REGION", region)
            after = Annealing(moves=2_000, least=0).run(c, pattern, K, 1.0, 1)
        costs.append(int(c.cost[after].sum()))
    assert costs[0] <= 1.03 * costs[1]
