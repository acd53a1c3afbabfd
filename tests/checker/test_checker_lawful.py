"""Tests of the price inequality for lawful classes: against all classes, and against forgers."""

import io
import json
import zipfile
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from hashlib import sha256
from itertools import combinations, product
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from proof_samples import coded, join_cost, problems, scaled

from dial import few
from incrowd._api import anonymize
from incrowd.bounds.lawful_price import LawfulPriceBound
from incrowd.bounds.prices import Prices
from incrowd.checker import charges as checker_charges
from incrowd.checker import inequality
from incrowd.checker import lawful as checker_lawful
from incrowd.checker import sizes as checker_sizes
from incrowd.checker.charges import Charges
from incrowd.checker.inequality import merged, violations
from incrowd.checker.lawful import Lawful, cases_of, entropy_cap, implied
from incrowd.checker.models import Histogram, lawful, least_class
from incrowd.checker.rejection import RejectedError
from incrowd.checker.sizes import Size, depth_of, histograms, sized_exceeds
from incrowd.checker.verify import Verdict, check
from incrowd.driver.solve import Solved, solve
from incrowd.hierarchy.tree import Tree
from incrowd.privacy.alpha_k import AlphaK
from incrowd.privacy.beta_likeness import BasicBetaLikeness, EnhancedBetaLikeness
from incrowd.privacy.delta_disclosure import DeltaDisclosure
from incrowd.privacy.distinct_diversity import DistinctDiversity
from incrowd.privacy.entropy_diversity import EntropyDiversity
from incrowd.privacy.frequency_diversity import FrequencyDiversity
from incrowd.privacy.k_anonymity import KAnonymity
from incrowd.privacy.model import Model
from incrowd.privacy.recursive_diversity import RecursiveDiversity
from incrowd.privacy.t_closeness import TCloseness
from incrowd.problem.instance import Instance, from_codes
from incrowd.problem.problem import Problem
from incrowd.problem.solution import Solution
from incrowd.proof.certificate import certificate
from incrowd.proof.lawful import rules_of
from incrowd.proof.prove import prove
from incrowd.proof.writing import pack
from incrowd.run.stop import Stop
from incrowd.solvers.base import Context
from incrowd.solvers.engine.engine import Engine
from incrowd.solvers.sensitive.engine import LawfulSearch
from oracle import optimum

K3 = {"model": "k-anonymity", "k": 3}
EXACT: list[list[dict[str, Any]]] = [
    [{"model": "distinct", "l": 2, "column": "a"}],
    [{"model": "distinct", "l": 3, "column": "a"}],
    [{"model": "distinct", "l": 2, "column": "a"}, K3],
    [{"model": "frequency", "l": 2, "column": "a"}],
    [{"model": "frequency", "l": 3, "column": "a"}],
    [{"model": "frequency", "l": 2, "column": "a"}, K3],
    [{"model": "entropy", "l": "2", "column": "a"}],
    [{"model": "entropy", "l": "17/10", "column": "a"}, K3],
    [{"model": "recursive", "c": "2", "l": 2, "column": "a"}],
    [{"model": "recursive", "c": "4/5", "l": 2, "column": "a"}],
    [{"model": "recursive", "c": "1/2", "l": 1, "column": "a"}],
]
CLOSE: list[list[dict[str, Any]]] = [
    [{"model": "t-closeness", "t": t, "distance": "equal", "column": "a"}, *more]
    for t in ("1/5", "2/5", "0.34", "0", "1") for more in ([], [K3])
]  # fmt: skip
RELAXED: list[list[dict[str, Any]]] = [
    [{"model": "distinct", "l": 2, "column": "a"}, {"model": "frequency", "l": 2, "column": "b"}],
    [{"model": "distinct", "l": 2, "column": "a"}, {"model": "distinct", "l": 2, "column": "b"}],
    [{"model": "disjoint", "l": 2, "columns": ["a", "b"]}],
    [{"model": "t-closeness", "t": "1/5", "distance": "equal", "column": "a"}],
    [{"model": "t-closeness", "t": "2/5", "distance": "equal", "column": "a"}, K3],
    [{"model": "alpha-k", "alpha": "1/2", "k": 2, "column": "a"}],
    [{"model": "alpha-k", "alpha": "1/3", "k": 2, "column": "a"}],
    [{"model": "alpha-k", "alpha": "2/5", "k": 1, "values": ["x", None], "column": "a"}],
    [{"model": "basic-beta", "beta": "1/2", "column": "a"}],
    [{"model": "basic-beta", "beta": "1", "column": "a"}, K3],
    [{"model": "enhanced-beta", "beta": "2", "column": "a"}],
    [{"model": "delta-disclosure", "delta": "3/4", "column": "a"}],
    [{"model": "delta-disclosure", "delta": "2", "column": "a"}, K3],
]

UNEVEN = {"model": "alpha-k", "alpha": "2/5", "k": 2, "column": "a"}


def obeys(models: list[dict[str, Any]], values: pl.DataFrame, rows: list[int]) -> bool:
    """Whether a class obeys all models, from their definitions."""
    for model in models:
        if model["model"] == "k-anonymity":
            if len(rows) < model["k"]:
                return False
            continue
        keys = values.select(model.get("columns", [model.get("column")]))
        group: Histogram = Counter(keys[rows].rows())
        if not lawful(model, group, Counter(keys.rows())):
            return False
    return True


def broken(models: Any, values: pl.DataFrame, codes: Any, price: Any, some: Any, unit: int) -> bool:
    """Whether some lawful class is worth more than it costs, by trying all classes."""
    for size in range(1, len(codes) + 1):
        for rows in map(list, combinations(range(len(codes)), size)):
            worth = sum(price[r] for r in rows)
            if worth > size * join_cost(codes[rows], some) * unit and obeys(models, values, rows):
                return True
    return False


def law_of(models: Any, values: pl.DataFrame, stated: Any = None) -> Lawful:
    """The checker's rules."""
    rules = implied(models, values) if stated is None else stated
    facts = {"pricing": rules, "price_k": least_class(models, values)}
    proof: Any = SimpleNamespace(facts=facts, sets=pl.DataFrame())
    return Lawful(proof, models, values)


@st.composite
def sensitive(draw: st.DrawFn, rows: int) -> pl.DataFrame:
    """Two sensitive columns of few values, one of them often missing."""
    cells = st.lists(st.sampled_from(["x", "y", "z", None]), min_size=rows, max_size=rows)
    return pl.DataFrame({c: pl.Series(draw(cells), dtype=pl.String) for c in "ab"})


@pytest.mark.parametrize("models", EXACT + RELAXED, ids=str)
@settings(max_examples=few(12), deadline=None)
@given(problems(rows=7), st.data())
def test_agrees_with_all_classes(models, problem, data) -> None:
    """Tests random prices: a dear lawful class is never missed; exact rules refuse no others."""
    instance, codes, _, _ = problem
    values = data.draw(sensitive(len(codes)))
    unit = data.draw(st.integers(1, 3))
    worth = st.integers(-3, max(1, 4 * unit))
    price = data.draw(st.lists(worth, min_size=len(codes), max_size=len(codes)))
    law = law_of(models, values)
    leaves, trees = coded(instance.trees, codes)
    with patch.object(inequality, "CHUNK", data.draw(st.sampled_from([1, 5, 1000]))):
        rows = merged(leaves, np.array(price), law.mark, scaled(trees, unit))
        found = bool(list(violations(rows, 1, law.kept)))
    truth = broken(models, values, codes, price, instance.trees, unit)
    assert found >= truth
    if models in EXACT:
        assert found == truth


def test_classes_that_only_two_values_can_fill() -> None:
    """Tests four rows of two values: three of them are no lawful class, two and two are."""
    values = pl.DataFrame({"a": ["x", "x", "y", "y"]})
    law = law_of([{"model": "frequency", "l": 2, "column": "a"}, K3], values)
    for price, broken in (([2, 2, 1, -4], True), ([2, 2, 1, -5], False)):
        one = np.zeros((1, 1), np.int64)
        rows = merged([np.zeros(4, np.int64)], np.array(price), law.mark, [(one, one)])
        assert bool(list(violations(rows, 1, law.kept))) == broken


def by_size(models: Any, sizes: int) -> list[dict[str, Any]]:
    """The rules of t-closeness, size by size as well."""
    rule = {"rule": "closeness", "t": models[0]["t"], "column": "a"}
    t = str(Fraction(models[0]["t"]))
    return [rule | {"t": t}, rule | {"t": t, "rule": "sizes", "sizes": sizes}]


@pytest.mark.parametrize("models", CLOSE, ids=str)
@settings(max_examples=few(20), deadline=None)
@given(problems(rows=7), st.data())
def test_sizes_agree_with_all_classes(models, problem, data) -> None:
    """Tests prices by size: never missed is a dear class; exact where all histograms are listed.

    With more sizes than rows every class is one of a size that is tried by itself.
    """
    instance, codes, _, _ = problem
    values = data.draw(sensitive(len(codes)))
    unit = data.draw(st.integers(1, 3))
    worth = st.integers(-3, max(1, 4 * unit))
    price = data.draw(st.lists(worth, min_size=len(codes), max_size=len(codes)))
    leaves, trees = coded(instance.trees, codes)
    truth = broken(models, values, codes, price, instance.trees, unit)

    def found(sizes: int, most: int) -> bool:
        with patch.object(checker_sizes, "LISTED", most), patch.object(checker_sizes, "CELLS", 30):
            law = law_of(models, values, by_size(models, sizes))
        rows = merged(leaves, np.array(price), law.mark, scaled(trees, unit))
        return bool(list(violations(rows, 1, law.kept)))

    assert found(8, 300) == truth
    assert found(data.draw(st.integers(1, 8)), data.draw(st.integers(0, 3))) >= truth
    assert law_of(models, values).rules  # and never more than without sizes
    plain = law_of(models, values)
    rows = merged(leaves, np.array(price), plain.mark, scaled(trees, unit))
    if not list(violations(rows, 1, plain.kept)):
        assert not found(3, 0)


@settings(max_examples=few(75), deadline=None)
@given(
    st.lists(st.tuples(st.integers(-9, 9), st.integers(1, 3), st.integers(0, 3)), max_size=7),
    st.lists(st.integers(0, 9), min_size=4, max_size=4),
    st.sampled_from(["0", "1/10", "1/4", "2/5", "3/4", "1"]),
    st.integers(1, 5),
    st.sampled_from([4000, 4000, 2, 0]),
)
def test_charges_are_what_the_dearest_class_is_worth(entries, others, t, k, choices) -> None:
    """Tests the charge of a pattern against all histograms; too few choices only raise it."""
    entries = sorted(entries, key=lambda entry: -entry[0])
    e, copies, value = np.array(entries, np.int64).reshape(-1, 3).T
    table = np.array(others, np.int64)
    np.add.at(table, value, copies)
    held = [np.repeat(e[value == v], copies[value == v]).tolist() for v in range(4)]
    within, total = Fraction(t), int(table.sum())
    most = 0
    for counts in product(*(range(len(one) + 1) for one in held)):
        n = sum(counts)
        far = sum(max(0, h * total - n * int(c)) for h, c in zip(counts, table, strict=True))
        if n >= max(k, 1) and far <= within * n * total:
            most = max(most, sum(sum(one[:h]) for one, h in zip(held, counts, strict=True)))
    with patch.object(checker_charges, "CHOICES", choices):
        found = Charges(within, k, table).worth(e, copies, value)
    assert found >= most
    if choices == 4000:
        assert found == most


FRACTIONS = st.fractions(0, 1, max_denominator=10**6)


@st.composite
def distances(draw: st.DrawFn, values: list[Any]) -> dict[str, Any]:
    """A ground distance over these values, as a proof states it."""
    n, kind = len(values), draw(st.sampled_from(["ordered", "hierarchical", "metric"]))
    order = draw(st.permutations(values))
    if kind == "hierarchical":
        middle = draw(st.lists(st.integers(0, 1), min_size=n, max_size=n))
        return {"distance": kind, "order": order, "levels": [list(range(n)), middle, [0] * n]}
    if kind == "metric":
        at = [[0 if i == j else draw(st.integers(3, 4)) for j in range(n)] for i in range(n)]
        most = max((at[i][j] for j in range(n) for i in range(j)), default=1)
        near = [[str(Fraction(at[min(i, j)][max(i, j)], most)) for j in range(n)] for i in range(n)]
        return {"distance": kind, "order": order, "matrix": near}
    return {"distance": kind, "order": order}


@settings(max_examples=few(60), deadline=None)
@given(problems(rows=7), st.data())
def test_other_distances_agree_with_all_classes(problem, data) -> None:
    """Tests the rules of t-closeness by total variation: no dear lawful class is missed."""
    instance, codes, _, _ = problem
    values = data.draw(sensitive(len(codes)))
    kinds = sorted(set(values["a"].to_list()), key=str)
    model = {"model": "t-closeness", "t": data.draw(st.sampled_from(["1/5", "2/5", "1/8"]))}
    model |= {"column": "a", **data.draw(distances(kinds))}
    assert implied([model], values) == rules_of([model], {"a": len(kinds)})
    price = data.draw(st.lists(st.integers(-3, 4), min_size=len(codes), max_size=len(codes)))
    stated = rules_of([model], {"a": len(kinds)}, 4)
    if stated:
        law = law_of([model], values, stated)
        leaves, trees = coded(instance.trees, codes)
        rows = merged(leaves, np.array(price), law.mark, trees)
        found = bool(list(violations(rows, 1, law.kept)))
        assert found >= broken([model], values, codes, price, instance.trees, 1)


@settings(max_examples=few(75), deadline=None)
@given(st.lists(st.integers(0, 5), min_size=1, max_size=4), FRACTIONS, st.integers(1, 7))
def test_listed_histograms(table, t, n) -> None:
    """Tests the list against all histograms."""
    table = [*table, 1]
    whole = [range(count + 1) for count in table]
    total = sum(table)

    def near(counts: tuple[int, ...]) -> bool:
        far = sum(max(0, h * total - n * c) for h, c in zip(counts, table, strict=True))
        return sum(counts) == n and far <= t * n * total

    expected = {counts for counts in product(*whole) if near(counts)}
    found = histograms(t, n, table)
    if found is None:
        assert len(expected) > checker_sizes.LISTED
    else:
        assert sorted(map(tuple, found)) == sorted(expected)
    deepest = depth_of(t, n, np.array(table))
    assert all((np.array(counts) <= deepest).all() for counts in expected)


def test_histograms_of_many_values() -> None:
    """Tests that a table of more values than functions can be nested is no obstacle."""
    table = [1] * 3000 + [3000]  # a class of two that is not all of the last value is .4998 away
    assert histograms(Fraction(1, 2), 2, table) is None
    assert histograms(Fraction(2, 5), 2, table) == []
    assert histograms(Fraction(0), 1000, [1] * 1000) == [[1] * 1000]


@settings(max_examples=few(30), deadline=None)
@given(st.data(), st.integers(1, 4), st.integers(0, 12))
def test_the_best_slope_is_found(data, n, spare) -> None:
    """Tests the search for a slope against all slopes up to the highest one tried."""
    slots = data.draw(st.integers(1, 6))
    row = st.lists(st.integers(-9, 9), min_size=slots, max_size=slots)
    worth = np.array(data.draw(st.lists(row, min_size=1, max_size=3)))
    far = np.array(data.draw(st.lists(st.integers(0, 3), min_size=slots, max_size=slots)))
    held = np.array(data.draw(st.lists(st.booleans(), min_size=slots, max_size=slots)))
    held = np.tile(held, (len(worth), 1))
    size = Size(n, 3, spare, np.zeros(0, np.int64), far, None)
    start = np.array(data.draw(st.lists(st.integers(0, 40), min_size=len(worth), max_size=3)))
    start = np.resize(start, len(worth)).astype(np.int64)
    found, _ = sized_exceeds(size, worth, held, start)
    near = np.sort(far[held[0]])[:n].sum() <= spare
    for x, answer in zip(worth, found, strict=True):
        keys = [np.sort((3 * x - s * far)[held[0]])[::-1][:n].sum() + s * spare
                for s in range(checker_sizes.STEEP * 18 + 1)]  # fmt: skip
        spread = checker_sizes.STEEP * int(np.ptp(np.where(held[0], x, 0)))
        assert answer == (held[0].sum() >= n and near and min(keys[: spread + 1]) > 0)


MODELS: list[Model] = [
    DistinctDiversity(2),
    DistinctDiversity(3) & KAnonymity(4),
    FrequencyDiversity(2),
    FrequencyDiversity(2) & KAnonymity(3),
    FrequencyDiversity(3),
    EntropyDiversity("1.7"),
    RecursiveDiversity(2, 2),
    RecursiveDiversity("0.8", 2),
    TCloseness("0.2"),
    TCloseness("0.4") & KAnonymity(2),
    DistinctDiversity(2) & TCloseness("0.3"),
    AlphaK("0.5", 2),
    AlphaK("0.4", attribute=0, values=(0,)) & DistinctDiversity(2),
    BasicBetaLikeness("0.5"),
    BasicBetaLikeness(1) & KAnonymity(3),
    EnhancedBetaLikeness(2),
    DeltaDisclosure("0.7"),
    DeltaDisclosure("1.5") & TCloseness("0.4"),
]


def instances(draw: Any) -> tuple[Instance, np.ndarray, np.ndarray]:
    """A small table: instance, values of its distinct rows by copy, codes by copy."""
    n = draw(st.integers(4, 9))
    row = st.tuples(*(st.integers(0, 2) for _ in range(4)))
    cells = np.array(draw(st.lists(row, min_size=n, max_size=n)), np.int64)
    _, cells[:, 3] = np.unique(cells[:, 3], return_inverse=True)
    instance, _ = from_codes(cells[:, :3], sensitive=cells[:, 3])
    return instance, instance.sensitive_codes[instance.copies], instance.codes[instance.copies]


@pytest.mark.parametrize("model", MODELS, ids=lambda m: m.name)
@settings(max_examples=4, deadline=None)
@given(st.data())
def test_what_the_prover_writes_is_accepted(model, data) -> None:
    """Tests the prover's prices against the checker's rules, and the bound against the optimum."""
    instance, values, codes = instances(data.draw)
    problem = Problem(instance, model)
    least = optimum(instance, model)
    if least is None:
        return
    names = ["x", "y", "z"][: instance.sensitive_sizes[0]]
    plain = model.claim({"a": names})
    engine = Engine(lawful=LawfulSearch(prices=LawfulPriceBound(rounds=3, iterations=40)))
    solved = solve(problem, engine, Context(stop=Stop(0.2)))
    known = certificate(problem, solved, plain, {"a": len(names)})
    price = known.prices.price[instance.copies]
    total = int(price.sum())
    if not known.rules:
        assert -(-total // known.prices.quantum) <= least
        return
    frame = pl.DataFrame({"a": [names[v] for v in values[:, 0]]})
    facts = {"pricing": list(known.rules), "price_k": problem.smallest_class}
    law = Lawful(SimpleNamespace(facts=facts, sets=pl.DataFrame()), plain, frame)  # type: ignore[arg-type]
    leaves, trees = coded(instance.trees, codes)
    rows = merged(leaves, price, law.mark, scaled(trees, known.prices.quantum))
    for at, cost in violations(rows, 1, law.kept):  # only where charges pay, as they may
        charge = law.charge(rows, at, cost)
        assert charge is not None
        total -= charge
    assert -(-total // known.prices.quantum) <= least


def test_prices_without_a_lawful_start() -> None:
    """Tests that a method without prices gets a proof of lawful classes all the same.

    So does one with prices of all classes alone, where these prove less than the method.
    """
    cells = np.array([[0, 0], [0, 0], [0, 1], [0, 1], [1, 0], [1, 0]])
    instance, _ = from_codes(cells, sensitive=np.array([0, 0, 1, 1, 0, 1]))
    problem = Problem(instance, DistinctDiversity(2))
    whole = Solution.of(instance, np.zeros(6, np.int64))
    solved = Solved(whole, whole.cost, 0, "none", "finished")
    free = replace(solved, bound=4, prices=Prices(np.zeros(instance.distinct, np.int64), 1))
    plain = problem.model.claim({"a": ["x", "y"]})
    for one in (solved, free):
        known = certificate(problem, one, plain, {"a": 2})
        assert known.rules  # two pairs of equal rows are no class each: k-anonymity proves 0
        bound = -(-int(known.prices.price @ instance.counts) // known.prices.quantum)
        assert bound == optimum(instance, problem.model) == 4
    assert not certificate(problem, replace(free, bound=0), plain, {"a": 2}).rules


def test_entropy_cap_is_the_least_that_is_true() -> None:
    """Tests the cap against the entropy of two values, and both sides against each other."""
    for text in ("3/2", "2", "5/2", "19/10"):
        for values in (2, 3, 5):
            l = Fraction(text)  # noqa: E741
            cap = entropy_cap(l, values)
            model = {"model": "entropy", "l": text, "column": "a"}
            assert str(cap) == str(shares(model, values))
            if cap < 1:
                least = np.log(float(l))
                assert entropy(float(cap), values) <= least + 1e-12
                assert entropy(float(cap) - 0.001, values) > least or cap * values <= 1.01


def shares(model: Any, values: int) -> Any:
    """The prover's cap."""
    caps = [r["cap"] for r in rules_of([model], {"a": values}) if r["rule"] == "share"]
    return caps[0] if caps else 1


def entropy(p: float, values: int) -> float:
    """The largest entropy of a class in which a value has the share p."""
    return float(-p * np.log(p) - (1 - p) * np.log((1 - p) / (values - 1)))


def test_both_sides_know_the_same_rules() -> None:
    """Tests that prover and checker derive the same rules from each model.

    Of the two of (α, k)-anonymity the prover takes the one by which it is priced.
    """
    values = pl.DataFrame({"a": ["x", "y", "z", "x"], "b": ["x", "y", "y", "y"]})
    for models in [*EXACT, *RELAXED, [UNEVEN]]:
        sizes = {c: values[c].n_unique() for c in values.columns}
        known = implied(models, values)
        if models[0]["model"] == "alpha-k" and "values" not in models[0]:
            known.pop(1 if models == [UNEVEN] else 0)
        assert known == rules_of(models, sizes)


HARD = (
    "zip;age;ill\n1;1;x\n1;1;x\n1;2;y\n1;2;y\n2;1;x\n2;1;x\n2;2;z\n2;2;z\n"
    "3;1;x\n3;1;y\n3;3;z\n3;3;z\n"
)


@pytest.fixture(scope="module")
def honest(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Release, original and proof; the prices prove more than those of k-anonymity could."""
    folder = tmp_path_factory.mktemp("lawful")
    paths = [folder / n for n in ("release.csv", "original.csv", "out.proof")]
    paths[1].write_text(HARD)
    model = FrequencyDiversity(2)
    release = anonymize(str(paths[1]), 2, sensitive="ill", models=[model], method=Engine())
    release.write(paths[0])
    facts = prove(release, paths[1], paths[0], paths[2])
    assert facts["bound"] == release.bound_units > 0
    assert facts["pricing"] == [{"rule": "frequency", "l": 2, "column": "ill"}]
    return paths


def test_a_bound_beyond_k_anonymity_is_confirmed(honest: list[Path]) -> None:
    """Tests a table whose rows are all doubles: 2-anonymity costs nothing, diversity does."""
    verdict = check(honest[0], honest[1], honest[2])
    assert verdict.accepted, verdict
    assert verdict.facts["bound"] > 0
    plain = anonymize(str(honest[1]), 2, sensitive="ill")
    assert plain.cost < verdict.facts["bound"]


class Forger:
    """An honest proof, taken apart to be changed and put together again."""

    def __init__(self, honest: list[Path], folder: Path) -> None:
        self.honest, self.path = honest, folder / "forged.proof"
        with zipfile.ZipFile(honest[2]) as archive:
            parts = {name: archive.read(name) for name in archive.namelist()}
        self.facts: dict[str, Any] = json.loads(parts.pop("proof.json"))
        self.parts = {name: pl.read_parquet(io.BytesIO(data)) for name, data in parts.items()}

    def price(self, row: int, by: int) -> None:
        """Change the price of a row."""
        table = self.parts["rows.parquet"]
        at = pl.int_range(pl.len()) == row
        self.parts["rows.parquet"] = table.with_columns(pl.col("price") + by * at.cast(pl.Int64))

    def verdict(self) -> Verdict:
        """Write all with matching hashes, and check."""
        data = {}
        for name, frame in self.parts.items():
            out = io.BytesIO()
            frame.write_parquet(out)
            data[name] = out.getvalue()
        self.facts["parts"] = {n: sha256(part).hexdigest() for n, part in data.items()}
        pack(self.path, self.facts, data)
        return check(self.honest[0], self.honest[1], self.path)


def rules(*stated: Any) -> Callable[[Forger], Any]:
    return lambda f: f.facts.__setitem__("pricing", list(stated))


def frequency(l: Any, column: Any = "ill") -> dict[str, Any]:  # noqa: E741
    return {"rule": "frequency", "l": l, "column": column}


def model(l: int) -> Callable[[Forger], Any]:  # noqa: E741
    def change(f: Forger) -> None:
        f.facts["models"] = [m | {"l": l} if "l" in m else m for m in f.facts["models"]]
        f.facts["pricing"] = [frequency(l)]

    return change


def odd_set(f: Forger) -> None:
    f.parts["sets.parquet"] = pl.DataFrame({"set": [0], "row": [0], "weight": [1], "modulus": [2]})


FORGERIES: dict[str, Callable[[Forger], Any]] = {
    "no rule": rules(),
    "no list": lambda f: f.facts.__setitem__("pricing", "frequency"),
    "rules left out": lambda f: f.facts.pop("pricing"),
    "a larger l": rules(frequency(3)),
    "a larger l beside the true one": rules(frequency(2), frequency(3)),
    "a smaller l": rules(frequency(1)),
    "l as text": rules(frequency("2")),
    "another column": rules(frequency(2, "zip")),
    "a column that is not there": rules(frequency(2, "none")),
    "a weaker rule that is not implied": rules({"rule": "distinct", "l": 2, "column": "ill"}),
    "a share": rules({"rule": "share", "cap": "1/3", "column": "ill"}),
    "closeness": rules({"rule": "closeness", "t": "1/100", "column": "ill"}),
    "an unknown rule": rules({"rule": "magic", "column": "ill"}),
    "rules that are no rules": rules(None, 3),
    "sizes of no closeness": rules(
        {"rule": "sizes", "t": "1/100", "sizes": 8, "column": "ill"}, frequency(2)
    ),
    "a model that the release breaks": model(3),
    "a weaker model and its rule": model(1),
    "larger classes": lambda f: f.facts.__setitem__("price_k", 3),
    "a higher bound": lambda f: f.facts.__setitem__("bound", f.facts["bound"] + 1),
    "an odd set": odd_set,
    "another quantum": lambda f: f.facts.__setitem__("quantum", f.facts["quantum"] // 2),
}


def require_rejected(paths: list[Path], folder: Path, forge: Callable[[Forger], Any]) -> None:
    """Accepted as it is, rejected once forged."""
    forger = Forger(paths, folder)
    assert forger.verdict().accepted
    forge(forger)
    assert not forger.verdict().accepted


@pytest.mark.parametrize("name", FORGERIES)
def test_forgeries_are_rejected(name: str, honest: list[Path], tmp_path: Path) -> None:
    """Tests rules, models and figures changed by a forger, all hashes made to fit."""
    require_rejected(honest, tmp_path, FORGERIES[name])


def close_table() -> str:
    """Twenty-four rows for which whole rows matter."""
    rng, rows = np.random.default_rng(0), 24
    columns = [rng.integers(0, 3, rows), rng.integers(0, 3, rows), rng.integers(0, 2, rows)]
    ill = rng.choice(list("xyz"), rows, p=[0.5, 0.3, 0.2])
    lines = (f"{a};{b};{c};{d}\n" for a, b, c, d in zip(*columns, ill, strict=True))
    return "zip;age;sex;ill\n" + "".join(lines)


@pytest.fixture(scope="module")
def close(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Release, original and proof of t-closeness, whose prices are lawful by size only."""
    folder = tmp_path_factory.mktemp("close")
    paths = [folder / n for n in ("release.csv", "original.csv", "out.proof")]
    paths[1].write_text(close_table())
    model = TCloseness("0.25")
    release = anonymize(str(paths[1]), 2, sensitive="ill", models=[model], method=Engine())
    release.write(paths[0])
    facts = prove(release, paths[1], paths[0], paths[2])
    assert [rule["rule"] for rule in facts["pricing"]] == ["closeness", "sizes"]
    assert facts["bound"] == release.bound_units > 0
    return paths


def test_prices_by_size_are_confirmed(close: list[Path], tmp_path: Path) -> None:
    """Tests that the engine's whole bound is certified, which the rule for all sizes cannot."""
    assert check(*close).accepted
    forger = Forger(close, tmp_path)
    forger.facts["pricing"] = forger.facts["pricing"][:1]
    assert not forger.verdict().accepted


def test_a_proof_that_would_be_refused_is_not_written(close: list[Path], tmp_path: Path) -> None:
    """Tests that prices by size give way to weaker rules where the checker cannot confirm them."""
    paths = [tmp_path / "release.csv", close[1], tmp_path / "out.proof"]
    asked: Any = {"sensitive": "ill", "models": [TCloseness("0.25")], "method": Engine()}
    release = anonymize(str(paths[1]), 2, **asked, seed=1)
    release.write(paths[0])
    with patch.object(checker_lawful, "MOST_SIZES", 0):
        facts = prove(release, paths[1], paths[0], paths[2])
    assert [rule["rule"] for rule in facts["pricing"]] == ["closeness"]
    assert facts["bound"] <= release.bound_units
    assert check(*paths).accepted


def sized(**changes: Any) -> Callable[[Forger], Any]:
    def change(f: Forger) -> None:
        f.facts["pricing"][1] |= changes

    return change


SIZED: dict[str, Callable[[Forger], Any]] = {
    "no size": sized(sizes=0),
    "more sizes than are allowed": sized(sizes=65),
    "sizes as text": sized(sizes="8"),
    "sizes as a truth": sized(sizes=True),
    "no sizes": lambda f: f.facts["pricing"][1].pop("sizes"),
    "another t": sized(t="1/100"),
    "another column": sized(column="zip"),
    "another key": sized(k=3),
    "classes that are larger": lambda f: f.facts.__setitem__("price_k", f.facts["price_k"] + 1),
    "a smaller t": lambda f: f.facts.__setitem__(
        "models", [m | {"t": "1/5"} if "t" in m else m for m in f.facts["models"]]
    ),
    "a higher bound": lambda f: f.facts.__setitem__("bound", f.facts["bound"] + 1),
    "a higher price": lambda f: f.price(0, f.facts["quantum"] // 4),
}


@pytest.mark.parametrize("name", SIZED)
def test_forged_sizes_are_rejected(name: str, close: list[Path], tmp_path: Path) -> None:
    """Tests rules by size that do not follow, and prices that they forbid."""
    require_rejected(close, tmp_path, SIZED[name])


def written(
    folder: Path, rows: int, shares: list[float], model: Model, rules: list[str]
) -> list[Path]:
    """Write release, original and proof under a model, whose bound takes rules; return them."""
    paths = [folder / n for n in ("release.csv", "original.csv", "out.proof")]
    rng = np.random.default_rng(1)
    columns = [rng.integers(0, 3, rows) for _ in range(3)]
    ill = rng.choice(list("wxyz"), rows, p=shares)
    lines = (f"{a};{b};{c};{d}\n" for a, b, c, d in zip(*columns, ill, strict=True))
    paths[1].write_text("zip;age;sex;ill\n" + "".join(lines))
    release = anonymize(str(paths[1]), 3, sensitive="ill", models=[model], method=Engine())
    release.write(paths[0])
    facts = prove(release, paths[1], paths[0], paths[2])
    assert [rule["rule"] for rule in facts["pricing"]] == rules
    assert facts["bound"] == release.bound_units
    return paths


@pytest.fixture(scope="module")
def charged(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Release, original and proof of t-closeness, whose bound takes charges."""
    rules = ["closeness", "sizes", "once"]
    folder, shares = tmp_path_factory.mktemp("charged"), [0.4, 0.3, 0.2, 0.1]
    return written(folder, 40, shares, TCloseness("0.25"), rules)


def stated_once(**changes: Any) -> Callable[[Forger], Any]:
    return lambda f: f.facts["pricing"][2].update(changes)


CHARGED: dict[str, Callable[[Forger], Any]] = {
    "no charges": lambda f: f.facts["pricing"].pop(),
    "charges twice": lambda f: f.facts["pricing"].append(f.facts["pricing"][2]),
    "another t": stated_once(t="1/100"),
    "another column": stated_once(column="zip"),
    "another key": stated_once(k=3),
    "larger classes": lambda f: f.facts.__setitem__("price_k", f.facts["price_k"] + 1),
    "a higher bound": lambda f: f.facts.__setitem__("bound", f.facts["bound"] + 1),
    "higher prices": lambda f: [f.price(row, 20 * f.facts["quantum"]) for row in range(12)],
}


@pytest.mark.parametrize("name", CHARGED)
def test_forged_charges_are_rejected(name: str, charged: list[Path], tmp_path: Path) -> None:
    """Tests charges that do not follow, prices that break the law without, and claims too high."""
    require_rejected(charged, tmp_path, CHARGED[name])


@pytest.mark.parametrize("row", range(12))
def test_raised_prices_are_rejected(row: int, honest: list[Path], tmp_path: Path) -> None:
    """Tests each price raised by a hundredth of a cell, far less than a forged bound asks for."""
    forger = Forger(honest, tmp_path)
    forger.price(row, forger.facts["quantum"] // 20)
    assert not forger.verdict().accepted


def grouped(f: Forger, groups: list[list[str]], prices: list[list[int]]) -> None:
    """State groups of columns and their prices."""
    f.facts["groups"] = groups
    table = f.parts["rows.parquet"].select("original", "class")
    columns = {f"price_{n}" if n else "price": pl.Series(p) for n, p in enumerate(prices)}
    f.parts["rows.parquet"] = table.with_columns(**columns)


def total_bound(prices: list[list[int]], quantum: int) -> int:
    """What the prices prove."""
    return -(-sum(map(sum, prices)) // quantum)


LONELY = (  # in each column a value has one disease only
    "zip;age;ill\n1;1;x\n1;1;y\n1;2;x\n1;2;y\n2;1;x\n2;2;y\n4;1;z\n4;2;z\n1;3;z\n2;3;z\n"
)


def test_rules_go_with_groups(tmp_path: Path) -> None:
    """Tests prices by groups under a rule: as high as may be, beyond 2-anonymity, and no higher."""
    paths = [tmp_path / n for n in ("release.csv", "original.csv", "out.proof")]
    paths[1].write_text(LONELY)
    asked: Any = {"sensitive": "ill", "models": [FrequencyDiversity(2)]}
    release = anonymize(str(paths[1]), 2, **asked, method=Engine())
    release.write(paths[0])
    prove(release, paths[1], paths[0], paths[2])
    f = Forger(paths, tmp_path)
    f.facts |= {"quantum": 2, "pricing": [frequency(2)]}
    origin = f.parts["rows.parquet"]["original"].to_list()
    table = pl.read_csv(paths[1], separator=";", infer_schema=False)[origin]
    codes = table.select("zip", "age").cast(pl.Int64).to_numpy()
    root = Tree.suppression("", tuple("01234"), f.facts["scale"])

    def breaks(prices: list[int], column: int) -> bool:
        some = codes[:, [column]]
        return broken(f.facts["models"], table.select("ill"), some, prices, [root], 2)

    groups, prices = [["age"], ["zip"]], [[0] * len(codes) for _ in range(2)]
    for group, column in zip(prices, (1, 0), strict=True):
        for row in range(len(codes)):
            while not breaks(group, column):
                group[row] += 1
            group[row] -= 1
    assert all(map(any, prices))
    grouped(f, groups, prices)
    f.facts["bound"] = total_bound(prices, 2)
    assert f.verdict().accepted
    f.facts["bound"] += 1
    assert "the prices prove" in str(f.verdict().reason)
    f.facts["bound"] = 0
    for n, column in enumerate((1, 0)):
        for row in range(len(codes)):
            forged = [list(group) for group in prices]
            forged[n][row] += 1
            assert breaks(forged[n], column)
            grouped(f, groups, forged)
            assert "too high" in str(f.verdict().reason)
    assert breaks(prices[0], 0)
    grouped(f, groups, prices[::-1])
    assert "too high" in str(f.verdict().reason)
    grouped(f, groups, prices)
    assert f.verdict().accepted
    f.facts["pricing"] = []
    assert "too high" in str(f.verdict().reason)


def test_charges_of_groups_add_up(charged: list[Path], tmp_path: Path) -> None:
    """Tests that each group is charged for the patterns of its own columns, and for all of them."""
    f = Forger(charged, tmp_path)
    quantum, table = f.facts["quantum"], f.parts["rows.parquet"]
    original = pl.read_csv(charged[1], separator=";", infer_schema=False)
    original = original[table["original"].to_list()]
    law = law_of(f.facts["models"], original.select("ill"), f.facts["pricing"])
    root = np.array([[0] * 3, [f.facts["scale"]] * 3])
    f.facts["bound"], seen = 0, set()

    def left(columns: list[str], price: np.ndarray) -> int:
        leaves = [original[column].cast(pl.Int64).to_numpy() for column in columns]
        node = np.array([[0, 1, 2], [0, 0, 0]])
        rows = merged(leaves, price, law.mark, scaled([(node, root)] * len(columns), quantum))
        charges = [law.charge(rows, at, cost) for at, cost in violations(rows, 1, law.kept)]
        assert any(charges)
        return int(price.sum()) - sum(charge or 0 for charge in charges)

    whole = table["price"].to_numpy()
    three, two, one = ["zip", "age", "sex"], ["zip", "age"], ["sex"]
    for groups, shares in (
        ([three], [1]),
        ([two], [0.75]),
        ([two, one], [0.75, 0.5]),
        ([one, two], [0.25, 0.5]),
        ([["zip"], ["age"], one], [0.1, 0.2, 0.3]),
    ):
        prices = [np.floor(whole * share).astype(np.int64) for share in shares]
        every = [left(c, price) for c, price in zip(groups, prices, strict=True)]
        assert any(total < price.sum() for total, price in zip(every, prices, strict=True))
        grouped(f, groups, [price.tolist() for price in prices])
        verdict = f.verdict()
        assert verdict.accepted and verdict.facts["proven"] == max(0, -(-sum(every) // quantum))
        seen.add(verdict.facts["proven"])
    assert len(seen) >= 3


SMUGGLED = {
    "a rule in a model": (
        {"model": "alpha-k", "alpha": "1", "k": 2, "column": "ill", "rule": "distinct", "l": 99},
        {"model": "alpha-k", "alpha": "1", "k": 2, "column": "ill", "rule": "distinct", "l": 99},
    ),
    "pairs of values in place of values": (
        {"model": "distinct", "l": 2, "columns": ["ill", "one"]},
        {"rule": "distinct", "l": 2, "column": "one"},
    ),
    "an order where none is asked for": (
        {"model": "t-closeness", "t": "2", "distance": "equal", "column": "ill", "order": ["y"]},
        {"rule": "frequency", "l": 2, "column": "ill"},
    ),
    "numbers for the values guarded": (
        {"model": "alpha-k", "alpha": "1/9", "k": 2, "column": "ill", "values": [5]},
        {"rule": "frequency", "l": 2, "column": "ill"},
    ),
}


@pytest.mark.parametrize("name", SMUGGLED)
def test_models_have_no_keys_but_their_own(name: str, tmp_path: Path) -> None:
    """Tests models that one part of the checker could read otherwise than another does."""
    paths = [tmp_path / n for n in ("release.csv", "original.csv", "out.proof")]
    head, *rows = HARD.split()
    paths[1].write_text("".join(f"{line}\n" for line in (f"{head};one", *(f"{r};0" for r in rows))))
    more = {"sensitive": ["ill", "one"], "models": [FrequencyDiversity(2, attribute=0)]}
    release = anonymize(str(paths[1]), 2, **more, method=Engine())
    release.write(paths[0])
    prove(release, paths[1], paths[0], paths[2])
    forger = Forger(paths, tmp_path)
    assert forger.verdict().accepted
    model, rule = SMUGGLED[name]
    forger.facts["models"].append(model)
    forger.facts["pricing"] = [rule]
    assert not forger.verdict().accepted


def test_a_rule_must_follow_from_the_models() -> None:
    """Tests rules of other models, and of none."""
    values = pl.DataFrame({"a": ["x", "y", "z", "x"], "b": ["x", "y", "y", "y"]})
    for models in EXACT + RELAXED:
        for others in EXACT + RELAXED:
            for rule in implied(others, values):
                if rule not in implied(models, values):
                    with pytest.raises(RejectedError):
                        law_of(models, values, [rule])


def test_sums_that_could_wrap_are_refused() -> None:
    """Tests a threshold so fine that adding up its units would leave 64 bits."""
    values = pl.DataFrame({"a": ["x", "y", "z", "x"]})
    fine = {"model": "t-closeness", "t": f"1/{2**58}", "distance": "equal", "column": "a"}
    with pytest.raises(RejectedError, match="64 bits"):
        law_of([fine], values)
    table = np.array([0, 2, 1, 1])
    cases = cases_of({"rule": "closeness", "t": "1/1024"}, 1, table)
    assert cases[0].unit == 4 * 1024
    assert law_of([fine | {"t": "1/1024"}], values).terms >= 2 * 4 * 1024


@pytest.fixture(scope="module")
def capped(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Release, original and proof of δ-disclosure, whose bound takes charges."""
    rules = ["shares", "once", "distinct"]
    folder, shares = tmp_path_factory.mktemp("capped"), [0.5, 0.3, 0.15, 0.05]
    paths = written(folder, 60, shares, DeltaDisclosure("1.2"), rules)
    verdict = check(*paths)
    assert verdict.accepted, verdict.reason
    return paths


def said_of_charges(**changes: Any) -> Callable[[Forger], Any]:
    return lambda f: f.facts["pricing"][1].update(changes)


CAPPED: dict[str, Callable[[Forger], Any]] = {
    "no charges": lambda f: f.facts["pricing"].pop(1),
    "charges twice": lambda f: f.facts["pricing"].append(f.facts["pricing"][1]),
    "a smaller delta": said_of_charges(delta="1"),
    "another model": said_of_charges(model="enhanced-beta"),
    "no model": lambda f: f.facts["pricing"][1].pop("model"),
    "a t": said_of_charges(t="1/100"),
    "another column": said_of_charges(column="zip"),
    "larger classes": lambda f: f.facts.__setitem__("price_k", f.facts["price_k"] + 20),
    "a higher bound": lambda f: f.facts.__setitem__("bound", f.facts["bound"] + 1),
    "higher prices": lambda f: [f.price(row, 20 * f.facts["quantum"]) for row in range(12)],
}


@pytest.mark.parametrize("name", CAPPED)
def test_forged_charges_under_caps_are_rejected(
    name: str, capped: list[Path], tmp_path: Path
) -> None:
    """Tests charges of classes under a law of shares that do not follow, or take too little."""
    require_rejected(capped, tmp_path, CAPPED[name])
