"""What lots decide: the order of a release, which of equal rows is the first, and of equal people.

Searches break ties by numbers: of rows, and of people.  Were these the numbers of the table, a
release would tell its order, however it is shuffled: of two equal rows the later one would mostly
be the one that is changed; and of two equal people the one whose name is the later.
"""

from collections.abc import Iterable, Iterator, Sequence
from hashlib import sha256

import numpy as np
from numpy.typing import NDArray

from incrowd.hierarchy.family import Family
from incrowd.kernels.types import Ints
from incrowd.policy.base import Policy
from incrowd.run import entropy
from incrowd.tables.base import Column

STEP, FIRST, SECOND = (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB)
"""Of splitmix64 (Steele, Lea, Flood 2014)."""


def drawn(rows: int, word: str, known: Iterable[bytes]) -> Ints:
    """int64, shape (rows,): an order that follows from a word and all that is known of a table.

    From a seed alone, which is easily guessed, who knows the order of the original would undo it.
    """
    told = sha256(word.encode())
    for each in known:
        told.update(each)
    key = int.from_bytes(told.digest())
    return np.random.default_rng(key).permutation(rows).astype(np.int64)


def cells_of(trees: Sequence[Family], columns: Iterable[NDArray[np.integer]]) -> Iterator[bytes]:
    """Yield the bytes of what rows hold: values of the quasi-identifiers, and codes by column."""
    for tree in trees:
        yield repr(tree.leaves).encode()
    for codes in columns:
        yield codes.astype(np.int32).tobytes()


def first_of_equals(
    policy: Policy, trees: Sequence[Family], columns: Sequence[NDArray[np.integer]]
) -> Ints:
    """int64, shape (rows,): an order by lot, in which equal rows become copies one after the other.

    It is the operating system's where nobody asked for what can be made again, and under a veil,
    whose theorem takes lots that know no cell.
    """
    rows = len(columns[0]) if columns else 0
    fresh = policy.order == "shuffle" and policy.seed is None
    if fresh or policy.veil is not None:
        return entropy.shuffled(rows)
    return drawn(rows, f"equals {policy.search_seed}", cells_of(trees, columns))


def by_content(people: Column, columns: Sequence[NDArray[np.integer]], lot: Ints) -> Column:
    """Return people renumbered by what their rows hold, so that no number follows from a name.

    People whose rows hold the same are numbered by ``lot`` of the first of these; they are not
    neighbours, for ties are broken in favour of these, and classes would be more alike.
    """
    row = np.zeros(len(people.codes), np.uint64)
    for codes in columns:
        row = mixed(row + codes.astype(np.uint64))
    content = np.zeros(len(people.values), np.uint64)
    np.add.at(content, people.codes, mixed(row))
    place = np.full(len(people.values), len(lot))
    turn = np.empty(len(lot), np.int64)
    turn[lot] = np.arange(len(lot))
    np.minimum.at(place, people.codes, turn)
    order = np.lexsort((place, content))
    falls = np.diff(content[order], prepend=content[order][:1]) != 0
    start = np.maximum.accumulate(np.where(falls, np.arange(len(order)), 0))
    number = (np.arange(len(order)) - start).astype(np.uint64)
    order = order[np.argsort(mixed(content[order] + mixed(number)), kind="stable")]
    code = np.empty(len(order), np.int32)
    code[order] = np.arange(len(order))
    return Column(tuple(people.values[i] for i in order.tolist()), code[people.codes])


def mixed(numbers: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """uint64: each number mixed, different ones into different ones."""
    found = numbers + np.uint64(STEP)
    found = (found ^ (found >> np.uint64(30))) * np.uint64(FIRST)
    found = (found ^ (found >> np.uint64(27))) * np.uint64(SECOND)
    return found ^ (found >> np.uint64(31))
