"""How threads share a walk over the prefix tree: each walks the top of it, and takes some pieces.

A *piece* is all that lies below a run of few rows, or of a late column.  Pieces are numbered in the
order of the walk, and a thread that is free takes the next number (``incrowd.kernels.claim``), so
what each thread emits is put together again in that order: nobody can tell how many there were.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from incrowd.bounds.top_copies import LOOKS, Pad
from incrowd.kernels.claim import claim
from incrowd.kernels.jit import inner_kernel, lean_kernel
from incrowd.lattice.emission import Emission, new_sink
from incrowd.run.threads import together

MOST_PIECES = 20_000
SHARE = 6  # a piece's root has at most the rows of the table divided by this
LATE = 2  # or so many columns from the last
# where ``Part.at`` keeps: the number of the last piece met, the depth of the root of that in which
# the walk is (−1: at the top), the number claimed, and the visits of the top
PIECE, ROOT, MINE, TOP = range(4)
# what ``Part.log`` says of a piece: who took it, where it begins and ends in what that thread has
# emitted (patterns, pairs), its visits, its looks, and the visits of the top before it
WHO, BEGIN, END, PAIRS_BEGIN, PAIRS_END, VISITS, PIECE_LOOKS, TOP_BEFORE = range(8)
OPEN = -1  # who has taken a piece that nobody has
UNDER_WAY = -2


class Part(NamedTuple):
    """What one thread knows of a shared walk.

    number: of the thread.  most: rows of the root of a piece, at most; 0 for a walk that is not
    shared.  late: the column from which on every run is the root of one.  next: int64, shape (1,),
    the next number to be claimed.  log: int64, shape (pieces, 8).  at: int64, shape (4,).
    """

    number: int
    most: int
    late: int
    next: NDArray[np.int64]
    log: NDArray[np.int64]
    at: NDArray[np.int64]


ALONE = Part(0, 0, 0, np.zeros(1, np.int64), np.zeros((1, 8), np.int64), np.zeros(4, np.int64))


def parts_of(threads: int, rows: int, columns: int) -> list[Part]:
    """Return a part for each thread."""
    log = np.full((MOST_PIECES, 8), OPEN, np.int64)
    word, late = np.zeros(1, np.int64), max(0, columns - 1 - LATE)
    at = np.array([-1, -1, -1, 0], np.int64)
    most = max(1, rows // SHARE)
    return [Part(number, most, late, word, log, at.copy()) for number in range(threads)]


@inner_kernel
def looks_of(lawful: Any) -> Any:
    """Return how many copies pricing has looked at so far."""
    if lawful is None:
        return np.int64(0)
    return lawful[1].state[LOOKS]


@inner_kernel
def close_piece(state: Any, lawful: Any, part: Any) -> None:
    """Note where the piece ends in which the walk was; claim another."""
    at = part.at
    entry = part.log[at[PIECE]]
    entry[END] = state[0]
    entry[PAIRS_END] = state[1]
    entry[VISITS] += state[2]
    entry[PIECE_LOOKS] += looks_of(lawful)
    entry[WHO] = part.number
    at[ROOT] = -1
    if at[PIECE] + 1 < part.log.shape[0]:  # the last number is that of all that follow
        at[MINE] = claim(part.next)


@inner_kernel
def open_piece(depth: int, state: Any, lawful: Any, part: Any) -> None:
    """Note where a piece begins."""
    at = part.at
    entry = part.log[at[PIECE]]
    if entry[WHO] == OPEN:
        entry[BEGIN] = state[0]
        entry[PAIRS_BEGIN] = state[1]
        entry[VISITS] = 0
        entry[PIECE_LOOKS] = 0
        entry[TOP_BEFORE] = at[TOP]
    entry[WHO] = UNDER_WAY
    entry[VISITS] -= state[2]
    entry[PIECE_LOOKS] -= looks_of(lawful)
    at[ROOT] = depth


@inner_kernel
def is_others(depth: int, rows: int, state: Any, lawful: Any, part: Any) -> bool:
    """Whether a run belongs to a piece of another thread; begin and end pieces of one's own."""
    at = part.at
    if part.most == 0:
        return False
    if at[ROOT] >= 0:
        if depth > at[ROOT]:
            return False
        close_piece(state, lawful, part)
    if rows > part.most and depth < part.late:
        return False
    if at[MINE] < 0:
        at[MINE] = claim(part.next)
    at[PIECE] = min(at[PIECE] + 1, part.log.shape[0] - 1)
    if at[PIECE] != at[MINE]:
        return True
    open_piece(depth, state, lawful, part)
    return False


@inner_kernel
def count_visit(state: Any, part: Any) -> Any:
    """Count a node; return how many there were that this thread knows of."""
    if part.most > 0 and part.at[ROOT] < 0:
        part.at[TOP] += 1
    else:
        state[2] += 1
    return state[2] + part.at[TOP]


@inner_kernel
def end_walk(state: Any, lawful: Any, part: Any) -> None:
    """End the piece in which the walk ended."""
    if part.most > 0 and part.at[ROOT] >= 0:
        close_piece(state, lawful, part)


@lean_kernel
def put_together(part: Any, before: Any, own: Any, sink: Any) -> None:
    """Copy what a thread emitted to its place in the whole.

    ``before``: int64, shape (pieces, 2), patterns and pairs of all earlier pieces.
    """
    for piece in range(len(before)):
        entry = part.log[piece]
        if entry[WHO] != part.number:
            continue
        p, z = before[piece]
        for own_p in range(entry[BEGIN], entry[END]):
            sink.cost[p] = own.cost[own_p]
            sink.offset[p + 1] = own.offset[own_p + 1] - entry[PAIRS_BEGIN] + before[piece, 1]
            p += 1
        for own_z in range(entry[PAIRS_BEGIN], entry[PAIRS_END]):
            sink.rows[z] = own.rows[own_z]
            z += 1


class Told(NamedTuple):
    """What the log says of the pieces, in their order, up to one that nobody ended.

    before: int64, shape (pieces + 1, 2): patterns and pairs of all pieces before each.
    visits, top: int64, shape (pieces,): nodes visited in all up to each, and at the top before it.
    looks: of all pieces.  whole: whether nothing is missing.
    """

    before: NDArray[np.int64]
    visits: NDArray[np.int64]
    top: NDArray[np.int64]
    looks: int
    whole: bool

    def visits_before(self, piece: int) -> int:
        """Return the visits of the pieces before this one."""
        return int(self.visits[piece - 1]) if piece else 0

    def doubt(self, sink: Emission, rows: int, visits: int, top: int) -> int | None:
        """Return the first piece in which one thread might have met with trouble; None for none.

        The one after the last where it can be at the top alone, or something is missing.
        """
        after = self.before[1:]
        over = (self.visits + self.top > visits) | (after[:, 0] + 2 >= len(sink.cost))
        over |= after[:, 1] + rows >= len(sink.rows)
        over &= (after[:, 0] > 0) | (self.visits + self.top > visits)
        if over.any():
            return int(np.argmax(over))
        fine = self.whole and self.visits_before(len(self.visits)) + top <= visits
        return None if fine else len(self.visits)

    def that_fit(self, sink: Emission, rows: int) -> "Told":
        """Return the first pieces, as many as there is room for: threads emit more together."""
        after = self.before[1:]
        fit = (after[:, 0] + 2 < len(sink.cost)) & (after[:, 1] + rows < len(sink.rows))
        pieces = len(fit) if fit.all() else int(np.argmin(fit))
        return self._replace(before=self.before[: pieces + 1], visits=self.visits[:pieces])


def told(parts: list[Part]) -> Told:
    """Read the log."""
    log = parts[0].log
    met = max(int(part.at[PIECE]) for part in parts) + 1
    ended = log[:met, WHO] >= 0
    pieces = met if ended.all() else int(np.argmin(ended))
    log = log[:pieces]
    before = np.zeros((pieces + 1, 2), np.int64)
    np.cumsum(log[:, [END, PAIRS_END]] - log[:, [BEGIN, PAIRS_BEGIN]], axis=0, out=before[1:])
    looks = int(log[:, PIECE_LOOKS].sum())
    return Told(before, np.cumsum(log[:, VISITS]), log[:, TOP_BEFORE], looks, pieces == met)


def again(part: Part, number: int, piece: int) -> Part:
    """Return the part of a thread that goes on alone from a piece on."""
    part.log[piece:] = OPEN
    part.next[0] = piece
    return part._replace(number=number, at=np.array([-1, -1, -1, 0], np.int64))


def end_early(part: Part, state: NDArray[np.int64]) -> None:
    """End the piece in which a walk met with trouble: what it emitted until then counts."""
    if part.at[ROOT] >= 0:
        entry = part.log[part.at[PIECE]]
        entry[[END, PAIRS_END]] = state[:2]
        entry[WHO] = part.number


class Looks:
    """How many copies pricing has looked at: as many as by one thread, whose top is walked once."""

    def __init__(self, pad: Pad | None) -> None:
        self.state = np.zeros(4, np.int64) if pad is None else pad.state
        self.begun = int(self.state[LOOKS])

    def since(self, part: Part) -> int:
        """Return the looks at the top of the first thread, whose part this is."""
        own = part.log[part.log[:, WHO] == part.number, PIECE_LOOKS].sum()
        return int(self.state[LOOKS]) - self.begun - int(own)

    def are(self, looks: int) -> None:
        """Set them to so many since the begin."""
        self.state[LOOKS] = self.begun + looks


Hand = Callable[[Part, NDArray[np.int64], Emission], None]
"""A thread's way to walk: its part, a state as that of ``prefix_tree.search``, and a sink."""


def shared(
    hands: Sequence[Hand],
    shape: tuple[int, int],
    sink: Emission,
    visits: int,
    stopped: int,
    pad: Pad | None,
) -> NDArray[np.int64]:
    """Walk by several threads; return the state that one alone would have left, and emit as it.

    Parameters
    ----------
    shape: rows and columns of the table.
    visits: nodes that may be touched.
    stopped: the trouble of a walk that was told to end.
    pad: that of the first hand, where copies looked at are counted.
    """
    parts, looks = parts_of(len(hands), *shape), Looks(pad)
    states = [np.zeros(4, np.int64) for _ in hands]
    sinks = [new_sink(len(sink.cost), len(sink.rows)) for _ in hands]
    together([partial(*each) for each in zip(hands, parts, states, sinks, strict=True)], len(hands))
    found, top = told(parts), int(parts[0].at[TOP])
    if any(state[3] == stopped for state in states):
        found = found.that_fit(sink, shape[0])
        state = np.array(
            [*found.before[-1], found.visits_before(len(found.visits)) + top, stopped], np.int64
        )
    elif (doubt := found.doubt(sink, shape[0], visits, top)) is None:
        state = np.array(
            [*found.before[-1], found.visits_before(len(found.visits)) + top, 0], np.int64
        )
        looks.are(looks.since(parts[0]) + found.looks)
    else:  # go on alone from there: what is in doubt is what one thread would have met
        looks.are(int(parts[0].log[:doubt, PIECE_LOOKS].sum()))
        rest = again(parts[0], len(hands), doubt)
        state = np.array([*found.before[doubt], found.visits_before(doubt), 0], np.int64)
        parts, sinks = [*parts, rest], [*sinks, new_sink(len(sink.cost), len(sink.rows))]
        hands[0](rest, state, sinks[-1])
        state[2] += rest.at[TOP]
        end_early(rest, state)
        found = told(parts)
    for part, own in zip(parts, sinks, strict=True):
        put_together(part, found.before[:-1], own, sink)
    return state
