"""Tests of tables that turn out to be too wide only when their prices rise."""

import numpy as np

from incrowd.bounds.prefix_tree import PrefixTree
from incrowd.bounds.price import PriceBound, certify
from incrowd.bounds.support import support_prices
from incrowd.privacy.k_anonymity import KAnonymity
from incrowd.problem.instance import Instance, from_codes
from incrowd.problem.problem import Problem
from incrowd.run.stop import Stop
from incrowd.solvers.base import Context
from incrowd.solvers.engine import pricing
from incrowd.solvers.engine.engine import Engine, Run


def sparse(rows: int = 120, columns: int = 14) -> Instance:
    """Columns of two values, the second of them rare: support prices are low."""
    drawn = np.random.default_rng(61).random((rows, columns)) < 0.15
    return from_codes(drawn.astype(np.int64))[0]


def test_rounds_end_where_a_list_takes_too_many_visits() -> None:
    """Tests that the last list is the first that was too long, and that prices hold."""
    instance, k = sparse(), 3
    tree = PrefixTree(instance, Stop())
    start, _ = support_prices(tree, k)
    most, lists = tree.visits, []
    run = tree.run

    def noted(*given, **more):
        state = run(*given, **more)
        lists.append(tree.visits)
        return state

    tree.run = noted  # type: ignore[method-assign]
    u = PriceBound(visits=most, once=True).ascend(tree, k, start.astype(float))
    assert lists[-1] > most and all(visits <= most for visits in lists[:-1])
    assert certify(tree, k, u).bound(instance.counts) > 0


def test_such_a_table_counts_as_wide(monkeypatch) -> None:
    """Tests that it is traded on, and priced by rows, where small classes suit that."""
    instance, k = sparse(), 3
    tree = PrefixTree(instance, Stop())
    support, _ = support_prices(tree, k)
    monkeypatch.setattr(pricing, "priceable", lambda seconds=0.0: tree.visits)
    run = Run(Engine(), Problem(instance, KAnonymity(k)), Context(0, Stop(None, None)))
    stages = []
    for stage in run.stages():
        stage()
        stages.append(stage.__name__)
        assert run.search.wide == (stages[-1] != "at_once")
    assert stages == ["at_once", "first_prices", "trade", "repartition"]
    assert support @ instance.counts < run.progress.bound <= run.progress.best.cost
    certificate = run.progress.certificate
    assert certificate is not None and certificate.bound(instance.counts) == run.progress.bound
    assert run.progress.best.sizes.min() >= k
