"""All that the page shows: the table, what is asked of it, undo, runs and scenarios.

One user, one table at a time; every method may be called from any thread.
"""

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from incrowd.attacks import attack
from incrowd.desk import figures, files, publish
from incrowd.desk.analysis import compared
from incrowd.desk.ask import Ask
from incrowd.desk.columns import columns_of
from incrowd.desk.levels import fits, fitting, in_order
from incrowd.desk.spelling import Spelling
from incrowd.desk.work import RUNNING, Making, Sweeping, Work, facts_of
from incrowd.errors import InputError, no_column
from incrowd.policy import Policy
from incrowd.policy.derive import derived, rules_of
from incrowd.policy.file import read_keys
from incrowd.policy.guess import Guess, decimal_of, guess
from incrowd.proof.proven import require_unchanged
from incrowd.release import Release
from incrowd.tables.addresses import is_address
from incrowd.tables.atomic import alone_in, stamp_of
from incrowd.tables.base import Column, Source
from incrowd.tables.files import open_table
from incrowd.text.missing import marks_of
from incrowd.text.models import models_in_words

KS = (2, 3, 4, 5, 6, 7, 8, 10, 12, 15, 20, 25, 30, 40, 50)
SWEEP_SECONDS, SWEEP_GAP = 20.0, 0.05
MOST_UNDONE = 200
NONE: Mapping[str, Any] = {}
INSTEAD = {
    "--encoding": "for the desk, save it as UTF-8 (a spreadsheet calls this “CSV UTF-8”)",
    "--delimiter": "for the desk, mend that line, or save it with commas, semicolons or tabs",
    "--table": "for the desk, write that table into a file",
}
"""What helps where a message names an option: the desk has none of how a table is read."""


@dataclass(frozen=True)
class Moment:
    """What undo goes back to: what is asked, and the scenarios that are kept."""

    ask: Ask
    kept: tuple[Mapping[str, Any], ...] = ()


@dataclass(frozen=True, eq=False)
class Opened:
    """A table with what was guessed of it; ``decimal`` stands before decimals.

    ``seen``: its file's ``stamp_of`` when it was read.
    """

    path: str
    source: Source
    guesses: Sequence[Guess]
    columns: Sequence[Mapping[str, Any]]
    decimal: str
    seen: tuple[int, ...] | None = None
    held: dict[str, Column] = field(default_factory=dict)

    @classmethod
    def at(cls, path: str, derive: Any, na: Any) -> "Opened":
        """Open a table, with the columns that a policy derives, and guess.

        Raises
        ------
        InputError: it cannot be read; where an option of the command line would help, which the
        page does not have, it says what else does.
        """
        seen = stamp_of(path)
        try:
            source = derived(open_table(path), rules_of(derive), marks_of(na))
        except InputError as error:
            helps = [help for option, help in INSTEAD.items() if option in str(error)]
            raise InputError("; ".join([str(error), *helps])) from None
        decimal = decimal_of(source)
        guesses = guess(source, decimal=decimal)
        return cls(path, source, guesses, columns_of(source, guesses, decimal), decimal, seen)

    def column(self, name: str) -> Column:
        """Return a column."""
        if name not in self.source.columns:
            raise no_column("column", name, self.source.columns)
        if name not in self.held:
            self.held[name] = self.source.encode(name)
        return self.held[name]


def but_for_k(ask: Ask) -> Ask:
    """Return what is asked apart from k and from how long to search for it."""
    but = ("k", "gap", "time_limit", "order")
    rest = {name: value for name, value in ask.further.items() if name not in but}
    return replace(ask, further=rest)


def shuffling(path: str) -> Policy:
    """Read a policy file; like the command line, one that says nothing of the order shuffles."""
    return Policy.of_file(path, {"order": "shuffle"} | read_keys(path))


class Session:
    """The desk's state.

    Attributes
    ----------
    opened: the table, or None; moments: what undo and redo go through, ``at`` the present one.
    making: the run of a release, the last one; sweeping, attacking, studying: likewise.
    folder: where was published or saved last; published: what was, see ``publish``.
    """

    def __init__(self, path: str | None = None, policy: str | None = None) -> None:
        self.lock, self.counting = threading.RLock(), threading.Lock()
        self.opened: Opened | None = None
        self.population: tuple[str, Source] | None = None
        self.analyses: tuple[str, ...] = ()
        self.forget()
        if path is not None:
            self.open(path, policy)

    def forget(self) -> None:
        """Let go of all that belongs to a table."""
        self.moments: list[Moment] = []
        self.at = 0
        self.making: Making | None = None
        self.sweeping: Sweeping | None = None
        self.attacking: Work | None = None
        self.studying: Work | None = None
        self.folder, self.names = "", list(publish.FIRST)
        self.published: list[dict[str, Any]] = []
        self._measured: tuple[Any, Any] | None = None
        self._figures: tuple[Any, Any] | None = None

    def open(self, path: str, policy: str | None = None, further: Mapping[str, Any] = NONE) -> None:
        """Open a table in place of the present one.

        ``further``: what was asked of it when it was saved: columns may be derived.

        Raises
        ------
        InputError: it cannot be read, a run goes on, or the policy is not for it.
        """
        with self.lock:
            self.require_rest()
            if is_address(path):
                raise InputError("the desk opens files; write the table of the database into one")
            place = str(Path(path).expanduser().resolve())
            if policy is None:
                opened = Opened.at(place, further.get("derive"), further.get("na"))
                first = Ask.first(opened.source, opened.guesses, opened.decimal)
            else:
                said = shuffling(policy)
                opened = Opened.at(place, said.derive, said.na)
                first = Ask.of_policy(said, opened.source.columns)
            self.opened = opened
            self.forget()
            self.moments = [Moment(first)]

    def require_rest(self) -> None:
        """Raise InputError while a release is made."""
        if self.making is not None and self.making.state == RUNNING:
            raise InputError("a release is being made: stop it, or wait for its end")

    @property
    def table(self) -> Opened:
        """The open table.

        Raises
        ------
        InputError: there is none.
        """
        if self.opened is None:
            raise InputError("no table is open: choose one first")
        return self.opened

    @property
    def now(self) -> Moment:
        """What is asked at present."""
        _ = self.table
        return self.moments[self.at]

    @property
    def ask(self) -> Ask:
        """What is asked at present."""
        return self.now.ask

    @property
    def release(self) -> Release:
        """The release that was made last.

        Raises
        ------
        InputError: there is none.
        """
        if self.making is None or self.making.release is None:
            raise InputError("there is no release yet: make one first")
        return self.making.release

    def become(self, moment: Moment) -> None:
        """Make this the present; what had been undone is gone."""
        with self.lock:
            if moment != self.now:
                self.moments = [*self.moments[: self.at + 1], moment][-MOST_UNDONE:]
                self.at = len(self.moments) - 1

    def change(self, changes: Mapping[str, Any]) -> None:
        """Ask for something else; see ``Ask.changed``."""
        with self.lock:
            ask = self.ask.changed(changes, self.table.source.columns)
            if "rules" not in changes:
                ask = ask.proposed(self.ask, self.table.column)
            for name in changes.get("rules", {}):  # a rule must fit before it counts
                fits(name, self.table.column(name), ask.source(name))
            self.become(replace(self.now, ask=ask))

    def regroup(self, column: str, rows: Sequence[Sequence[str]]) -> None:
        """Give a column a hierarchy of one's own."""
        with self.lock:
            rows = fitting(column, self.table.column(column), [list(row) for row in rows])
            self.become(replace(self.now, ask=self.ask.with_own(column, rows)))

    def order(self, column: str, values: Sequence[str], rule: str) -> None:
        """Give a column an order of one's own, of which classes show ranges."""
        with self.lock:
            ask = self.ask.changed({"rules": {column: rule}}, self.table.source.columns)
            rows = in_order(column, self.table.column(column), values)
            ask = ask.with_own(column, rows, rule)
            fits(column, self.table.column(column), ask.source(column))
            self.become(replace(self.now, ask=ask))

    def step(self, by: int) -> None:
        """Undo (−1) or redo (1)."""
        with self.lock:
            _ = self.table
            self.at = min(max(self.at + by, 0), len(self.moments) - 1)

    def make(self) -> None:
        """Start to make the release that is asked for."""
        with self.lock:
            self.require_rest()
            policy = self.ask.policy()
            policy.roles(self.table.source.columns)
            self.making = Making(self.table.source, policy, self.ask).start()

    def stop(self, what: str) -> None:
        """End a run: ``"release"``, ``"sweep"``, or ``"attacks"``, which only end by themselves."""
        work = {"release": self.making, "sweep": self.sweeping}.get(what)
        if work is None:
            raise InputError(f"nothing of that name runs: {what!r}")
        work.stop.interrupt()

    def sweep(self) -> None:
        """Start to look what each k costs, unless that is known."""
        with self.lock:
            asked = but_for_k(self.ask)
            known = self.sweeping
            if known is not None and known.asked == asked and known.state != "failed":
                return
            if known is not None:
                known.stop.interrupt()
            ks = [k for k in KS if k <= self.table.source.rows]
            if not ks:
                raise InputError("in a table of fewer than two rows nobody hides: no k can be had")
            policy = replace(self.ask.policy(), gap=SWEEP_GAP)
            source = self.table.source
            self.sweeping = Sweeping(source, ks, policy, asked, SWEEP_SECONDS).start()

    def keep(self, name: str = "") -> None:
        """Keep the present release's figures and what was asked for it as a scenario."""
        with self.lock:
            release, making = self.release, self.making
            assert making is not None
            facts = facts_of(release) | {
                "k": release.k,
                "cost": float(release.cost),
                "bound": float(release.lower_bound),
                "gap": release.gap,
                "name": name or models_in_words(release.models),
                "ask": making.asked.record(),
            }
            self.become(replace(self.now, kept=(*self.now.kept, facts)))

    def drop(self, number: int) -> None:
        """Drop a scenario."""
        with self.lock:
            self._scenario(number)
            kept = tuple(each for i, each in enumerate(self.now.kept) if i != number)
            self.become(replace(self.now, kept=kept))

    def ask_again(self, number: int) -> None:
        """Ask for what was asked for a scenario."""
        with self.lock:
            ask = Ask.read(self._scenario(number)["ask"], self.table.source.columns)
            self.become(replace(self.now, ask=ask))

    def _scenario(self, number: int) -> Mapping[str, Any]:
        if not 0 <= number < len(self.now.kept):
            raise InputError(f"there is no scenario {number + 1}")
        return self.now.kept[number]

    def figures(self) -> dict[str, Any]:
        """Return risk and use of the release; see ``figures.figures_of``."""
        release, people = self.release, self.population
        source = None if people is None else people[1]
        known = (release.source, release.roles, source)
        with self.counting:  # that takes seconds on large tables: the page asks for more meanwhile
            if self._measured is None or self._measured[0] != known:
                self._measured = known, figures.measured(release.source, release, source)
            if self._figures is None or self._figures[0] != (release, source):
                found = figures.figures_of(release, self._measured[1], source)
                self._figures = (release, source), found
            return self._figures[1]

    def compare_with(self, path: str | None) -> None:
        """Take a table of the population for journalist risk, or none."""
        with self.lock:
            further = self.ask.further
            derive = rules_of(further.get("derive")), marks_of(further.get("na"))
            self.population = None if not path else (path, derived(open_table(path), *derive))

    def attack(self, register: str = "") -> None:
        """Start to attack the release, with a table of people that an attacker has, where named."""
        with self.lock:
            release = self.release
            if self.attacking is None or self.attacking.state != RUNNING:
                people = register or None
                self.attacking = Work(
                    lambda work: (release, attack(release, register=people).record())
                ).start()

    def study(self, number: int) -> None:
        """Run one's own analysis on both tables; its file was named when the desk was started."""
        with self.lock:
            release = self.release
            if not 0 <= number < len(self.analyses):
                raise InputError("name the file when the desk is started: --analysis FILE")
            path = self.analyses[number]
            if self.studying is None or self.studying.state != RUNNING:
                self.studying = Work(lambda work: (release, compared(path, release))).start()

    def place(self, folder: str, names: Sequence[str]) -> None:
        """Say where to publish, and what; nothing is written."""
        with self.lock:
            self.names = publish.chosen(names, self.names)
            self.folder = str(Path(folder).expanduser().resolve()) if folder else ""

    @property
    def spelling(self) -> Spelling:
        """What is asked as others write it."""
        table = self.table
        return Spelling(self.ask, table.path, self.folder, self.names, table.guesses)

    def publish(self, replace_files: bool, another: bool) -> list[str]:
        """Write the outputs into the folder.

        Raises
        ------
        InputError: no folder, files that are there, or another scenario was published before.
        """
        with self.lock:
            release, making = self.release, self.making
            assert making is not None
            if making.asked != self.ask:
                raise InputError("something else is asked by now: make that release first")
            if not self.folder:
                raise InputError("say in which folder the files are to stand")
            if not another and any(each["ask"] != making.asked for each in self.published):
                raise InputError(
                    "another release of these people was published from here: who has both can "
                    "intersect them. Publish one alone, or say that you know"
                )
            if {"proof", "internal"} & {*self.names}:
                require_unchanged(release, self.table.path, self.table.seen)
            files.made(self.folder)
            more = {
                "command": self.spelling.words(), "guesses": self.table.guesses,
                "frontier": self.sweeping.result if self.sweeping else None,
            }  # fmt: skip
            with alone_in(Path(self.folder)):
                derives = bool(release.policy.derive)
                where = publish.places(self.folder, self.names, self.table.path, derives)
                made = publish.hierarchy_places(making.asked, self.folder)
                publish.require_free([*where.values(), *made.values()], replace_files)
                written = publish.publish(
                    release, making.asked, self.table.path, self.folder, self.names, more
                )
            self.published.append({"ask": making.asked, "folder": self.folder, "files": written})
            return written
