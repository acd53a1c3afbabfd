"""Prices on their way from a task to the driver: one text, of numbers alone."""

import base64
import io
import json
from typing import Any

import numpy as np

from incrowd.bounds.prices import ColumnGroup, Prices, WeightedSet
from incrowd.driver.solve import Solved
from incrowd.privacy.model import Claims, claims_of
from incrowd.problem.problem import Problem
from incrowd.proof.certificate import Certificate, certificate
from incrowd.proof.lawful import lawful_prices, rules_of
from incrowd.proof.prove import of_checked
from incrowd.spark.task import Task


def certified(task: Task, problem: Problem, solved: Solved) -> Certificate:
    """Return the best prices behind a release made in one task that the checker can confirm."""
    models, unchecked = claims(task)
    problem, solved = of_checked(problem, solved, unchecked)
    sizes = {name: len(codec.values) for name, codec in hidden(task).items()}
    return certificate(problem, solved, models, sizes, by_size=False)


def claims(task: Task) -> Claims:
    """Return what the independent checker is told of the models."""
    return claims_of(task.model, {name: codec.ordered for name, codec in hidden(task).items()})


def certified_whole(task: Task, problem: Problem, prices: Prices) -> Certificate:
    """Return prices for classes of k people, found in blocks, as the checker reads them."""
    rules = rules_of(claims(task).models, {name: len(c.values) for name, c in hidden(task).items()})
    found = lawful_prices(problem, rules, task.names, prices, prices.bound(problem.instance.counts))
    return Certificate(prices) if found is None else Certificate(found, rules)


def hidden(task: Task) -> dict[str, Any]:
    """Return the codes of the columns that a model looks at, by name: of the persons, too."""
    return dict(zip(task.names, task.sensitive, strict=True)) if task.sensitive else {}


def packed(known: Certificate) -> str:
    """Return a certificate as text: arrays, compressed, in base 64."""
    prices = known.prices
    said = {
        "quantum": prices.quantum,
        "charge": prices.charge,
        "by_rows": prices.by_rows,
        "rules": [dict(rule) for rule in known.rules],
        "groups": [{"columns": [*map(int, g.columns)], "k": g.k} for g in prices.groups],
        "sets": [[int(one.weight), int(one.modulus)] for one in prices.odd_sets],
    }
    arrays = {"price": prices.price, "said": np.array(json.dumps(said))}
    arrays |= {f"group{i}": group.price for i, group in enumerate(prices.groups)}
    arrays |= {f"set{i}": np.asarray(s.copies, np.int64) for i, s in enumerate(prices.odd_sets)}
    file = io.BytesIO()
    np.savez_compressed(file, **arrays)  # pyright: ignore[reportArgumentType]
    return base64.b64encode(file.getvalue()).decode()


def unpacked(text: str) -> Certificate:
    """Return the certificate that ``packed`` made a text of."""
    with np.load(io.BytesIO(base64.b64decode(text)), allow_pickle=False) as held:
        said = json.loads(str(held["said"]))
        groups = tuple(
            ColumnGroup(tuple(group["columns"]), held[f"group{i}"], group["k"])
            for i, group in enumerate(said["groups"])
        )
        sets = tuple(
            WeightedSet(held[f"set{i}"], weight, modulus)
            for i, (weight, modulus) in enumerate(said["sets"])
        )
        prices = Prices(
            held["price"],
            said["quantum"],
            odd_sets=sets,
            groups=groups,
            charge=said["charge"],
            by_rows=said["by_rows"],
        )
    return Certificate(prices, said["rules"])
