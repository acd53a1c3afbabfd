"""An extended release as one of all its rows: the originals of the earlier ones are at hand.

A proof and a report speak of originals.  Those of the earlier rows are in the file that the earlier
release was made from, and which of them each published row was is in its proof.  With both the
extended release is a release like any other: its cost counts all rows, and its bound is what no
lawful release of all rows, published anew, costs less than.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from incrowd.bounds.best import best_prices
from incrowd.checker.both import hash_at
from incrowd.checker.files import NONSENSE, Proof, read_proof
from incrowd.checker.recheck import classes_of
from incrowd.checker.rejection import RejectedError
from incrowd.constraints.plan import is_constrained
from incrowd.driver.solve import Solved
from incrowd.encoding.encoded import Coded, coded, edit_for
from incrowd.errors import InputError, VerificationError, listed
from incrowd.existing.served import differing
from incrowd.existing.union import union
from incrowd.hierarchy.labels import places_among
from incrowd.hierarchy.range_family import RangeFamily
from incrowd.hierarchy.template import BETWEEN, BETWEEN_WHOLE
from incrowd.kernels.types import Ints
from incrowd.policy.roles import Roles
from incrowd.problem.solution import Solution
from incrowd.release import Release
from incrowd.run.stop import Stop
from incrowd.tables.base import Column, Edit, FewerRows, Replacement, Source, Table, texts
from incrowd.tables.files import open_table, write_as_it_is
from incrowd.tables.inputs import ITSELF
from incrowd.text.units import counted

OTHER = (
    "the earlier release is not what its proof and its original say under this policy: {}; give "
    "the roles, models and hierarchies that it was made with"
)


@dataclass(frozen=True, eq=False, repr=False)
class WholeRelease(Release):
    """An extended release with the originals of its earlier rows.

    Attributes
    ----------
    earlier: how many rows were published before, and stay as they are.
    again: caution about people of both deliveries; None where there are none.
    given: what files it was made from, in words, and their names.
    """

    earlier: int = 0
    again: str | None = None
    given: tuple[tuple[str, str], ...] = ()

    @property
    def files_read(self) -> Iterator[tuple[str, str]]:
        """Those of any release, and what the two deliveries came from."""
        yield from self.given
        yield from super().files_read

    @cached_property
    def warnings(self) -> tuple[str, ...]:
        """Those of a release of all rows, and of people who were published before."""
        return (*super().warnings, *([self.again] if self.again else []))

    def write_original(self, path: str | Path) -> None:
        """Write the original of all rows, for its owner alone: what a proof is of.

        Raises
        ------
        InputError: the folder cannot be written.
        """
        self.require_kept(path, "the original of all rows")
        write_as_it_is(self.source, path)


def whole_of(
    release: Any,
    original: Source | str | Path,
    proof: str | Path,
    published: str | Path | None = None,
) -> WholeRelease:
    """Return an extended release as one of all rows.

    Parameters
    ----------
    release: an ``ExtendedRelease``: its source is the new rows, and its table has all.
    original: what the earlier release was made from; with derived columns, those too.
    proof: of the earlier release.
    published: the earlier release's file; None where it is not at hand.

    Raises
    ------
    InputError: they do not go with the earlier release, or with the policy, or earlier rows break
        its constraints.
    VerificationError: the re-check refuses what was made of them.
    """
    earlier = open_table(original) if isinstance(original, str | Path) else original
    new, policy, stop = release.source, release.policy, Stop(*release.policy.limits)
    differ = differing("the earlier original", earlier.columns, new.columns)
    if differ:
        raise InputError(f"the new rows come {differ}; they go with the same columns alone")
    given = {
        ITSELF: new.path, "read for existing original": earlier.path,
        "read for existing proof": proof, "read for existing": published,
    }  # fmt: skip
    place = place_of(original, earlier.rows, release.existing.rows, proof, published)
    like = new.source if isinstance(new, FewerRows) else new
    table = coded(union(earlier, new, like, new.columns), policy)
    place = np.append(place, np.arange(earlier.rows, table.source.rows))
    texts = release.texts_of_union()
    solution = solution_of(table, texts, place)
    prices = best_prices(table.instance, table.problem.smallest_class, stop)
    cost, bound = solution.cost, max(0, prices.bound(table.instance.counts))
    order = place if release.shuffle is None else place[release.shuffle]
    whole = WholeRelease(
        coded=table,
        edit=named_as(
            edit_for(table, solution, release.edit.columns, order),
            texts,
            place,
            table.roles.pseudonym,
        ),
        policy=policy,
        cost_units=cost,
        bound_units=bound,
        method=release.method,
        ended=release.ended,
        seconds=release.seconds + stop.elapsed(),
        solved=Solved(solution, cost, bound, release.method, release.ended, prices),
        earlier=earlier.rows,
        again=met_again(earlier, new, release.roles),
        given=tuple((what, str(name)) for what, name in given.items() if name is not None),
    )
    require_same_texts(whole, release)
    try:
        _ = whole.class_of_row  # the independent re-check
    except VerificationError as error:
        if not is_constrained(policy):
            raise
        raise InputError(
            f"proof and reports are of all rows, and the earlier ones break a constraint: {error}. "
            "Leave the option out, or make no proof, no joined file and no report"
        ) from None
    return whole


def named_as(edit: Edit, texts: pl.DataFrame, place: Ints, columns: Sequence[str]) -> Edit:
    """Return the edit that also shows the pseudonyms which the rows were published under.

    texts: the rows as published; place: int64, shape (rows,): which row of the original each is.
    """
    found = {}
    for name in columns:
        column = Column.of(texts[name].to_list(), np.arange(len(place)))
        ids = np.empty(len(place), np.int32)
        ids[place] = column.codes
        found[name] = Replacement(column.values, ids)
    return replace(edit, replacements={**edit.replacements, **found})


def met_again(earlier: Table, new: Table, roles: Roles) -> str | None:
    """Return a caution about people of new rows who have earlier rows, too; None for none.

    Who they are is said by the person columns, or else by those that are left out, where these
    together tell all earlier rows apart.  A row without a value in one of them is nobody's.
    """
    names = roles.person or roles.id
    if not names or any(name not in earlier.columns for name in names):
        return None
    before, now = (known(table, names) for table in (earlier, new))
    if not roles.person and bool(before.is_duplicated().any()):
        return None  # a ward, or a date: no identifier
    count = now.unique().join(before, on=now.columns, how="semi").height
    if not count:
        return None
    them = counted(count, "person", "people")
    if roles.person:
        return (
            f"{them} of the new rows had rows in the earlier release: each class counts a person "
            "once, but somebody who knows that a person is in both deliveries can combine what the "
            "person's classes tell. incrowd republish makes releases in which people may come back"
        )
    return (
        f"{them} (by {listed(names)}) of the new rows had rows in the earlier "
        "release: k counts them once for each row. Leave these rows out, or make both releases "
        "with --person, which counts people"
    )


def known(table: Table, names: Sequence[str]) -> pl.DataFrame:
    """Return whose the rows are that have a value in each of these columns, as text."""
    cells = [texts(table, [name]).to_series() for name in names]
    whose = pl.DataFrame([column.alias(str(j)) for j, column in enumerate(cells)])
    return whose.filter(pl.all_horizontal(pl.all() != ""))


def place_of(
    original: Source | str | Path,
    rows: int,
    published: int,
    path: str | Path,
    release: str | Path | None = None,
) -> Ints:
    """int64, shape (rows,): the original row of each row of an earlier release, by its proof."""
    try:
        proof: Proof = read_proof(path, max(rows, published))
    except (RejectedError, *NONSENSE) as error:
        reason = error.reason if isinstance(error, RejectedError) else "it makes no sense"
        raise InputError(f"the proof of the earlier release: {reason}") from None
    stated = proof.facts.get("original", {}).get("sha256")
    if isinstance(original, str | Path) and stated != hash_at(original):
        raise InputError("the proof of the earlier release is of another original than this one")
    stated = proof.facts.get("release", {}).get("sha256")
    if release is not None and Path(release).exists() and stated != hash_at(release):
        raise InputError(
            "the proof of the earlier release is of another release than this one: its rows may "
            "have changed since they were published; give the file as it was written"
        )
    place = proof.rows["original"].cast(int).to_numpy().astype(np.int64)
    if len(place) != published or not np.array_equal(np.sort(place), np.arange(rows)):
        raise InputError(
            f"the earlier release has {published:,} rows, its proof speaks of {len(place):,} and "
            f"its original holds {rows:,}; releases that leave rows out are not served here"
        )
    if "averaged" in proof.facts:
        raise InputError("the earlier release publishes averages, which are not served here")
    return place


def solution_of(table: Coded, released: pl.DataFrame, place: Ints) -> Solution:
    """Return the classes of a table by what its rows show.

    Parameters
    ----------
    released: a frame of texts, the rows as they were put together.
    place: int64, shape (rows,): the row of the table that each of them is.
    """
    # numbers for names: a column called "*" or "^a$" has a meaning of its own in polars
    names = [str(j) for j in range(len(table.roles.qi))]
    shown = pl.DataFrame(
        [released.get_column(qi).alias(n) for qi, n in zip(table.roles.qi, names, strict=True)]
    )
    number = classes_of(shown, names)
    classes = np.empty_like(number)
    classes[table.copy_of_row[place]] = number
    first = shown[np.unique(number, return_index=True)[1].tolist()]
    solution = Solution.of(table.instance, classes)
    least = np.zeros((first.height, len(table.instance.trees)), np.int64)
    for j, tree in enumerate(table.instance.trees):
        if not isinstance(tree, RangeFamily):
            labels = first[names[j]].to_list()
            known = places_among(tree, labels)
            if lacking := {*labels} - {*known}:
                told = f"{len(lacking)} of its labels in {tree.column!r} are not today's"
                raise InputError(OTHER.format(told))
            least[:, j] = [known[label][0] for label in labels]
    if (least > solution.levels).any():
        solution = Solution(table.instance, solution.classes, least=least)
    return solution


def require_same_texts(whole: Release, release: Release) -> None:
    """Raise unless a release of all rows reads as the extended one."""
    ranged = {tree.column for tree in whole.trees if isinstance(tree, RangeFamily)}
    for name in release.edit.columns:
        mine, theirs = (texts(one.table, [name]) for one in (whole, release))
        if mine.equals(theirs):
            continue
        one, other = (cells.to_series().str.replace_all(BETWEEN, BETWEEN_WHOLE, literal=True)
                      for cells in (mine, theirs))  # fmt: skip
        if name in ranged and one.equals(other):
            raise InputError(
                f"column {name!r} is written in two ways, which no proof can speak of: ends of "
                "new ranges may have a hyphen, so these are written with two dots, earlier ones "
                "are not; make both releases with "
                f"--hierarchy '{name}=range:show={{low}}..{{high}}'"
            )
        raise InputError(OTHER.format(f"column {name!r} would read otherwise"))
