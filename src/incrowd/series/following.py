"""A table of today and what was published of it: the search for the next release."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import inf
from typing import Any

import numpy as np
import polars as pl

from incrowd.driver.solve import solve
from incrowd.encoding.encoded import Coded
from incrowd.errors import NoLawfulReleaseError
from incrowd.policy import Policy
from incrowd.privacy.frequency_diversity import FrequencyDiversity
from incrowd.problem.instance import from_codes
from incrowd.problem.problem import Problem
from incrowd.published.ladders import ladders_of, ranges_of
from incrowd.run import entropy
from incrowd.run.stop import Share, Stop
from incrowd.series.asked import Invariance, shape_of
from incrowd.series.bound import least_cost
from incrowd.series.checked import require_alike, require_lawful, require_true
from incrowd.series.companions import beside, with_company
from incrowd.series.damage import PEOPLE
from incrowd.series.exchange import SLOWLY, exchanged
from incrowd.series.history import History, Person
from incrowd.series.plan import KEEP_ALL, Layer, Planner
from incrowd.series.release import CLASS, Republished, cost_of
from incrowd.solvers.base import Context
from incrowd.tables.base import texts
from incrowd.text.units import counted

NOBODY = 10**6
"""More survivors than any class has: none is kept for their sake."""
OWN = 2  # cells that a newcomer costs in a class of newcomers
ENOUGH = 0.02  # gap of the classes of newcomers


@dataclass(eq=False)
class Series:
    """A table of today and what was published: the next release is made from both."""

    table: Coded
    policy: Policy
    asked: Invariance
    before: History
    keys: Sequence[str]
    values: Sequence[str]
    stop: Stop
    dealt_bound: int = 0  # of releases without counterfeits of those for whom there is no place

    def next(self) -> Republished:
        """Return the next release, re-checked."""
        people = self.before.people
        here = [
            row
            for row, key in enumerate(self.keys)
            if key not in people or people[key].value == self.values[row]
        ]
        changed = len(self.keys) - len(here)
        known = Counter(self.values[row] for row in here)
        for person in people.values():
            known.update(dict.fromkeys(sorted(person.signature), 0))
        if here and len(known) < self.asked.m:
            raise NoLawfulReleaseError(
                f"the table has {counted(len(known), 'sensitive value')}, and each class needs "
                f"{self.asked.m:,}: ask for a smaller m, or publish more people together"
            )
        classes, fewest = self.classes(here, [v for v, _ in known.most_common()])
        named = [{v: self.keys[r] if r >= 0 else None for v, r in one.items()} for one in classes]
        lawful, withheld = with_company(named, people, self.asked.k)
        row_of = {key: row for row, key in enumerate(self.keys)}
        left = [{v: -1 if key is None else row_of[key] for v, key in c.items()} for c in lawful]
        order = entropy.shuffled(len(left))
        left, lawful = [left[i] for i in order], [lawful[i] for i in order]
        why = {
            "changed": changed,
            "company": sum(key in people for key in withheld),
            "newcomers": sum(key not in people for key in withheld),
        }
        cost = cost_of(self.table, left)
        history = self.recorded(lawful, why)
        bound = self.bound(left, why)
        release = Republished(
            self.table, self.asked, left, self.before, history, cost, bound, fewest, why
        )
        self.check(release, lawful)
        return release

    def bound(self, classes: Sequence[Layer], why: Mapping[str, int]) -> int:
        """Return what a release of the same people with no more counterfeits costs at least."""
        places = [row for one in classes for row in one.values()]
        rows, people = [row for row in places if row >= 0], self.before.people
        if not any(self.keys[row] in people for row in rows):
            whole = len(rows) == len(places) and not why["newcomers"]
            return self.dealt_bound if whole else 0
        values, trees = [self.values[row] for row in rows], self.table.instance.trees
        fakes, leaves = len(places) - len(rows), self.table.leaves[rows]
        return least_cost(self.signatures(rows), values, leaves, trees, fakes, self.stop)

    def signatures(self, rows: Sequence[int]) -> list[frozenset[str] | None]:
        """Return the signature of each of some rows; None for a newcomer."""
        known = (self.before.people.get(self.keys[row]) for row in rows)
        return [None if person is None else person.signature for person in known]

    def classes(self, here: list[int], known: list[str]) -> tuple[list[Layer], int]:
        """Return the best classes under the weight, and the fewest counterfeits."""
        people, values = self.before.people, [self.values[row] for row in here]
        signature = self.signatures(here)
        leaves, trees = self.table.leaves[here], self.table.instance.trees
        planner = Planner(values, signature, leaves, trees, self.asked.m, known, self.dealt(here))
        place = {self.keys[row]: at for at, row in enumerate(here)}
        last = [
            {v: -1 if key is None else place.get(key, -1) for v, key in one.items()}
            for one in self.before.classes
        ]
        together = self.asked.k > 1
        scale, weight = self.table.instance.scale, self.asked.weight
        ways = [(KEEP_ALL, inf)] if together else [(NOBODY, inf)]
        if weight is not None and not together and people:  # else all ways are alike
            dear = weight * scale + OWN * self.table.instance.cell
            ways += product(range(self.asked.m + 1, 0, -1), (inf, dear))
        # a first release gains little by changes, and several ways share moves with the last turn
        moves = SLOWLY // (3 if len(ways) > 1 else 1 if people else 4)
        best, least = [], inf
        for keep_from, most in ways:
            found = planner.plan(last, keep_from, most)
            found = self.settled(found, planner, together, moves // len(ways))
            cost = sum(planner.cost([r for r in one.values() if r >= 0]) for one in found)
            fakes = sum(row < 0 for one in found for row in one.values())
            weighed = cost + (weight or 0) * fakes * scale
            if weighed < least:
                best, least = found, weighed
        if len(ways) > 1:
            best = self.settled(best, planner, together, moves)
        rows = [{v: here[r] if r >= 0 else -1 for v, r in one.items()} for one in best]
        return rows, planner.needed.counterfeits

    def settled(
        self, found: list[Layer], planner: Planner, together: bool, slowly: int
    ) -> list[Layer]:
        """Let rows change places; ``together``: those who were published before stay."""
        code = {v: i for i, v in enumerate(sorted({v for one in found for v in one}))}
        signed = [None if s is None else frozenset(code[v] for v in s) for s in planner.signature]
        coded_ = [{code[v]: row for v, row in one.items()} for one in found]
        instance = self.table.instance
        moved = exchanged(
            coded_, signed, together, planner.leaves, instance.tables, instance.cell,
            self.policy.search_seed, slowly,
        )  # fmt: skip
        names = sorted(code, key=code.__getitem__)
        return [{names[v]: row for v, row in one.items()} for one in moved]

    def dealt(self, here: list[int]) -> Any:
        """Return what makes classes of newcomers without counterfeits."""
        table = self.table
        codes = {v: i for i, v in enumerate(sorted(set(self.values)))}

        def deal(rows: list[int]) -> Iterable[list[int]]:
            whole_rows = [here[row] for row in rows]
            secret = np.array([[codes[self.values[row]]] for row in whole_rows], np.int32)
            trees, scale = table.instance.trees, table.instance.scale
            instance, copy_of_row = from_codes(table.leaves[whole_rows], trees, secret, scale)
            share = Share.of(self.stop, float("inf"))
            share.gap = ENOUGH
            context = Context(self.policy.search_seed, share)
            problem = Problem(instance, FrequencyDiversity(self.asked.m))
            solved = solve(problem, "auto", context)
            self.dealt_bound = solved.bound
            own = solved.solution.classes[copy_of_row]
            for c in range(int(own.max()) + 1):
                members = sorted(
                    (rows[i] for i in np.flatnonzero(own == c)),
                    key=lambda row: (self.values[here[row]], row),
                )
                number = len(members) // self.asked.m
                yield from (members[at::number] for at in range(number))

        return deal

    def recorded(
        self, classes: Sequence[Mapping[str, str | None]], withheld: Mapping[str, int]
    ) -> History:
        """Return the history with the next release, in an order that is no draw of the system's.

        What is drawn orders the published classes alone: the next search starts from the history.
        """
        classes = [dict(sorted(one.items())) for one in classes]
        classes.sort(key=lambda one: [(value, key or "") for value, key in one.items()])
        people = dict(self.before.people)
        company = beside(classes, self.before.people)
        for one in classes:
            for value, key in one.items():
                if key is not None:
                    people[key] = Person(value, frozenset(one), company[key])
        places = sum(map(len, classes))
        real = sum(key is not None for one in classes for key in one.values())
        facts = {
            "rows": real, "counterfeits": places - real, "classes": len(classes),
            "withheld": sum(withheld.values()), PEOPLE: len(people),
        }  # fmt: skip
        releases = [*self.before.releases, facts]
        asked = {**self.before.asked, "said": shape_of(self.policy)}
        return History(asked, dict(sorted(people.items())), classes, releases)

    def check(self, release: Republished, classes: Sequence[Mapping[str, str | None]]) -> None:
        """Count again, on what is to be written."""
        values = dict(zip(self.keys, self.values, strict=True))
        asked = self.asked
        require_lawful(classes, self.before.people, values, asked.m, asked.k)
        rows = np.array([r for one in release.classes for r in one.values()], np.int64)
        real = np.flatnonzero(rows >= 0)
        names = {name: str(j) for j, name in enumerate(self.table.roles.qi)}
        original = texts(self.table.source, list(names))[rows[real]]
        frame = release.frame
        released = pl.DataFrame([frame.get_column(n) for n in names])[real]
        original.columns = released.columns = list(names.values())
        ladders = {names[n]: ladder for n, ladder in ladders_of(self.table.instance.trees).items()}
        ranges = {names[n]: own for n, own in ranges_of(self.table.instance.trees).items()}
        require_true(original, released, ladders, ranges, release.cost_units)
        require_alike(frame, list(names), CLASS)
