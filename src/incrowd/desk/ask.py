"""What is asked of a release, as plain data that can be undone, saved and sent to the page."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from incrowd.errors import InputError, did_you_mean, no_column
from incrowd.hierarchy.file import HierarchyRows
from incrowd.hierarchy.ranges import Ranges
from incrowd.hierarchy.spec import ORDERED, RULES, in_folder, source_of
from incrowd.policy import Policy
from incrowd.policy.file import Reader
from incrowd.policy.guess import Guess, free_star, rule_for
from incrowd.policy.served import require_served
from incrowd.policy.spell import said
from incrowd.policy.table import OPTIONS
from incrowd.tables.base import Column, Source
from incrowd.text.missing import marks_for, marks_of
from incrowd.text.numerals import POINT
from incrowd.text.paths import names_file

ROLES = ("qi", "sensitive", "keep", "id", "person")
OF_COLUMNS = ("fixed", "weights", "linked", "caps")
FURTHER = (
    *("k", "l", "l_kind", "c", "t", "distance", "models", *OF_COLUMNS, "cost", "star", "method"),
    *("time_limit", "gap", "seed", "suppress_rows", "order", "na", "decimal", "derive"),
    *("survey_weight", "survey_stratum"),
)
LONGEST_NAME = 40  # letters of a column in the name of a file
FIRST = {"k": 5, "gap": 0.01, "order": "shuffle"}
Own = tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Ask:
    """What is asked.

    Attributes
    ----------
    roles: column → one of ``ROLES``, for every column in the table's order.
    rules: column → rule or file of its hierarchy.
    own: column → rows of a hierarchy made on the page, from the leaf to ``*``; where the column has
        a rule as well, the values in the order of that rule's ranges, a row of one text each.
    further: other keys of a policy file.
    """

    roles: Mapping[str, str]
    rules: Mapping[str, str] = field(default_factory=dict)
    own: Mapping[str, Own] = field(default_factory=dict)
    further: Mapping[str, Any] = field(default_factory=lambda: dict(FIRST))

    @classmethod
    def first(cls, source: Source, guesses: Sequence[Guess], decimal: str) -> "Ask":
        """Return what the guesses propose."""
        star = free_star(source, guesses)
        further = FIRST | ({} if star == "*" else {"star": star})
        marks = {guess.column: list(guess.na) for guess in guesses if guess.na}
        further |= {"na": marks} if marks else {}
        further |= {"decimal": decimal} if decimal != POINT else {}
        return cls(
            roles={guess.column: guess.role for guess in guesses},
            rules={guess.column: guess.hierarchy for guess in guesses if guess.hierarchy},
            further=further,
        )

    @classmethod
    def of_policy(cls, policy: Policy, columns: Sequence[str]) -> "Ask":
        """Return what a policy asks of a table.

        Raises
        ------
        InputError: a column has no role, there is no such column, or the page cannot keep to it.
        """
        require_served(policy, "by the page")
        roles = policy.roles(columns)
        of = {name: role for role in ROLES[:4] for name in getattr(roles, role)}
        of |= dict.fromkeys(roles.person, "person")
        plain = dict(said(policy, {}))
        rules = {name: str(rule) for name, rule in plain.get("hierarchies", {}).items()}
        further = {name: plain[name] for name in FURTHER if name in plain}
        return cls({name: of[name] for name in columns}, rules, {}, {"order": "keep"} | further)

    @classmethod
    def read(cls, plain: Mapping[str, Any], columns: Sequence[str]) -> "Ask":
        """Return what ``record`` wrote.

        Raises
        ------
        InputError: it is of another table, or no such record.
        """
        try:
            roles = {str(name): str(role) for name, role in plain["roles"].items()}
            own = {
                str(name): tuple(tuple(map(str, row)) for row in rows)
                for name, rows in plain["own"].items()
            }
            rules, further = dict(plain["rules"]), dict(plain["further"])
        except (KeyError, TypeError, AttributeError, ValueError):
            raise InputError("the saved work is not one that the desk wrote") from None
        if tuple(roles) != tuple(columns) or set(own) - set(columns):
            raise InputError("the saved work is of a table with other columns")
        said = {"roles": roles, "rules": rules, "further": further}
        return replace(cls(roles, further={}).changed(said, columns), own=own)

    def record(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        return {
            "roles": dict(self.roles),
            "rules": dict(self.rules),
            "own": {name: [list(row) for row in rows] for name, rows in self.own.items()},
            "further": dict(self.further),
        }

    def changed(self, changes: Mapping[str, Any], columns: Sequence[str]) -> "Ask":
        """Return what is asked after some changes: ``roles``, ``rules`` and ``further``.

        A rule that is empty and a further value that is None are taken away.

        Raises
        ------
        InputError: an unknown name or a wrong value; then nothing is changed.
        """
        roles, rules, further = dict(self.roles), dict(self.rules), dict(self.further)
        own = dict(self.own)
        for name, role in _mapping(changes, "roles").items():
            if name not in columns:
                raise no_column("roles", str(name), columns)
            if role not in ROLES:
                raise InputError(f"roles: {role!r} is not a role{did_you_mean(role, ROLES)}")
            roles[name] = role
        for name, rule in _mapping(changes, "rules").items():
            if name not in columns:
                raise no_column("rules", str(name), columns)
            if not isinstance(rule, str):
                raise InputError(f"rules: the rule of {name!r} is not a text")
            own.pop(name, None)
            rules.pop(name, None)
            if rule.strip():
                rules[name] = whole_path(rule.strip())
        for name, value in _mapping(changes, "further").items():
            if name not in FURTHER:
                raise InputError(f"further: {name!r} cannot be asked{did_you_mean(name, FURTHER)}")
            further[name] = value
        further = {name: value for name, value in further.items() if value not in (None, [], {})}
        found = replace(self, roles=roles, rules=rules, own=own, further=further)
        found.policy()
        return found

    def with_own(
        self, column: str, rows: Sequence[Sequence[str]], rule: str | None = None
    ) -> "Ask":
        """Return what is asked with a hierarchy of one's own for a column, or an order for ranges.

        Parameters
        ----------
        rows: of a hierarchy; of an order the values, a row of one text each.
        rule: of an order: ``range`` with its other options.
        """
        rules = {name: rule for name, rule in self.rules.items() if name != column}
        if rule is not None:
            if ORDERED.match(rule):
                raise InputError("the order is given twice: by its values and by a file")
            rules[column] = rule
        own = {**self.own, column: tuple(tuple(row) for row in rows)}
        return replace(self, rules=rules, own=own)

    def columns_of(self, role: str) -> list[str]:
        """Return the columns of a role, in the table's order."""
        return [name for name, given in self.roles.items() if given == role]

    def hierarchy(self, column: str) -> Any:
        """Return the source or the text of a column's hierarchy; None where it has none."""
        if column not in self.own:
            return self.rules.get(column)
        if column not in self.rules:
            return HierarchyRows(self.own[column], f"the hierarchy of {column!r}")
        order = tuple(row[0] for row in self.own[column])
        _, _, rest = self.rules[column].partition(":")
        return replace(Ranges.parse(rest), order=order, origin=self.own_file(column))

    def own_file(self, column: str) -> str:
        """Return the name of the file of a hierarchy, or an order, that was made on the page.

        No two columns of a table share one, also where a system takes a and A for one letter.
        """
        plain = [re.sub(r"[^\w-]+", "_", name)[:LONGEST_NAME] or "column" for name in self.roles]
        at = [*self.roles].index(column)
        alike = [name.casefold() for name in plain[:at]].count(plain[at].casefold())
        return f"hierarchy-{plain[at]}{f'.{alike + 1}' if alike else ''}.csv"

    def source(self, column: str) -> Any:
        """Return where a column's hierarchy comes from, marks of missing values kept from it."""
        return source_of(self.hierarchy(column) or "none", *self.reading(column))

    def reading(self, column: str) -> tuple[tuple[str, ...], str]:
        """Return what stands for missing values of a column, and before decimals."""
        marks = marks_for(marks_of(self.further.get("na")), column)
        return marks, self.further.get("decimal", POINT)

    def proposed(self, before: "Ask", columns: Callable[[str], Column]) -> "Ask":
        """Return what is asked, with rules for columns that others may know since, or are numbers.

        ``before``: what was asked; ``columns``: each column by its name.
        """
        comma = self.further.get("decimal") != before.further.get("decimal")
        rules = {}
        for name in self.columns_of("qi"):
            new = before.roles[name] != "qi"
            if (new or comma) and self.hierarchy(name) is None:
                rule = rule_for(name, columns(name), *self.reading(name))
                if rule is not None and (
                    new or not rule_for(name, columns(name), *before.reading(name))
                ):
                    rules[name] = rule
        return replace(self, rules={**self.rules, **rules})

    def policy(self, place: Callable[[str], str] | None = None) -> Policy:
        """Return the policy.

        Parameters
        ----------
        place: column → file of its own hierarchy, for what is written down; None: as values.

        Raises
        ------
        InputError: a value is wrong; says which, and what is allowed.
        """
        roles = {role: self.columns_of(role) for role in ROLES}
        known = (*roles["qi"], *roles["sensitive"])
        hierarchies = {name: self.hierarchy(name) for name in known}
        if place is not None:
            hierarchies |= {name: self.placed(name, place) for name in known if name in self.own}
        further = Reader("asked", Path()).table(self._fitting(roles["qi"]), OPTIONS, "")
        used = {name: rule for name, rule in hierarchies.items() if rule is not None}
        return Policy(**roles, hierarchies=used, **further)

    def placed(self, column: str, place: Callable[[str], str]) -> str:
        """Return how others name a hierarchy or an order that stands in a file."""
        if column not in self.rules:
            return place(column)
        _, _, rest = self.rules[column].partition(":")
        return f"range:{','.join(filter(None, (f'order={place(column)}', rest)))}"

    def _fitting(self, qi: Sequence[str]) -> dict[str, Any]:
        """Return the further keys without what is said of columns that are no longer changed."""
        found = dict(self.further)
        for name in OF_COLUMNS:
            given = found.pop(name, None)
            if isinstance(given, Mapping):
                given = {column: value for column, value in given.items() if column in qi}
            elif isinstance(given, list) and name == "fixed":
                given = [column for column in given if column in qi]
            elif isinstance(given, list) and name == "linked":
                given = [names for names in given if not set(names) - set(qi)]
            elif isinstance(given, list) and name == "caps":
                given = [cap for cap in given if cap.get("value") or cap.get("column") in qi]
            if given:
                found[name] = given
        return found


def _mapping(changes: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    given = changes.get(name, {})
    if not isinstance(given, Mapping):
        raise InputError(f"{name} maps names to values")
    return given


def whole_path(rule: str) -> str:
    """Return a rule as it is, and a file's path so that it holds in every folder."""
    if rule.partition(":")[0] in RULES or not names_file(rule):
        return in_folder(rule, Path.cwd())
    return str(Path(rule).resolve())
