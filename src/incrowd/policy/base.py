"""The value that holds what is asked of a release; its options stand in ``table.py``."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from pathlib import Path
from typing import TYPE_CHECKING, Any

from incrowd.errors import InputError, did_you_mean, quoted
from incrowd.policy.cap import caps_of
from incrowd.policy.deletion import delete_rows_of, most_rows
from incrowd.policy.file import read_keys
from incrowd.policy.options import MISSING_PERSON, ORDERS, documented
from incrowd.policy.protect import Unsaid
from incrowd.policy.roles import ROLES, Roles, assign_roles
from incrowd.policy.served import require_together
from incrowd.policy.table import OPTIONS, Asked
from incrowd.policy.veil import veil_of
from incrowd.privacy.combination import protect_of
from incrowd.privacy.numbers import take_whole
from incrowd.run.threads import cores
from incrowd.text.marks import require_characters
from incrowd.text.missing import marks_for, marks_of, require_known
from incrowd.text.numerals import require_decimal
from incrowd.text.shell import shell_line

if TYPE_CHECKING:
    from incrowd.hierarchy.ladder import Source as Hierarchy
    from incrowd.policy.guess import Guess


@dataclass(frozen=True, kw_only=True)
class Policy(Asked):
    """All that is asked of one release.

    Attributes
    ----------
    {options}
    """

    def __post_init__(self) -> None:
        for each in OPTIONS:
            require_no_table(each.name, getattr(self, each.name), each.names_columns)
        for role in (*ROLES, "person", "fixed"):
            object.__setattr__(self, role, names_of(role, getattr(self, role)))
        object.__setattr__(self, "linked", lists_of("linked", self.linked))
        object.__setattr__(self, "caps", caps_of(self.caps))
        object.__setattr__(self, "protect", protect_of(self.protect))
        object.__setattr__(self, "veil", veil_of(self.veil))
        object.__setattr__(self, "delete_rows", delete_rows_of(self.delete_rows))
        object.__setattr__(self, "pseudonym", keys_by_column(self.pseudonym))
        object.__setattr__(self, "na", marks_of(self.na))
        object.__setattr__(self, "derive", self.derive or {})
        if self.derive:
            from incrowd.policy.derive import rules_of

            object.__setattr__(self, "derive", rules_of(self.derive))
        take_plain_numbers(self)
        require_kinds(self)
        if self.protect and isinstance(self.k, Unsaid):
            object.__setattr__(self, "k", 1)
        if not isinstance(self.k, Unsaid):
            take_whole(self, "k")
        take_models(self)
        if self.seed is not None:
            take_whole(self, "seed", 0)
        if self.threads is not None:
            take_whole(self, "threads")
        object.__setattr__(self, "suppress_rows", most_rows(self.suppress_rows))
        require_values(self)
        require_together(self)
        require_number("time_limit", self.time_limit, "seconds, more than 0", lambda x: x > 0)
        require_number("gap", self.gap, "a share from 0 to 1", lambda x: 0 <= x <= 1)
        require_decimal(self.decimal)
        if self.order not in ORDERS:
            raise InputError(f"order is {quoted(self.order)}{did_you_mean(self.order, ORDERS)}")
        if not isinstance(self.star, str) or not self.star:
            raise InputError("star, the mark of a suppressed cell, must be a text of some length")
        require_characters(self.star, "star, the mark of a suppressed cell,")

    @property
    def links_rows(self) -> bool:
        """Whether the rows of a person stay linked: as is said, or by a pseudonym."""
        return self.linked_rows or any(name in self.pseudonym for name in self.person)

    @property
    def search_seed(self) -> int:
        """The seed of the search: of a larger one its last 32 bits, which kernels count up from."""
        return (self.seed or 0) % 2**32

    @property
    def method_id(self) -> str:
        """The method that was asked for by its name, where it is a solver as well."""
        return self.method if isinstance(self.method, str) else self.method.id

    @classmethod
    def read(cls, path: "str | Path") -> "Policy":
        """Read a policy file (TOML); see docs/reference/policy.md.

        Raises
        ------
        InputError: no such file, no TOML, an unknown key or a wrong value; names file and key.
        """
        return cls.of_file(path, read_keys(path))

    @classmethod
    def of_file(cls, path: "str | Path", arguments: Mapping[str, Any]) -> "Policy":
        """Return the policy of what a file gives; an InputError names the file."""
        try:
            return cls(**arguments)
        except InputError as error:
            raise type(error)(f"{path}: {error}") from None

    def toml(self, guesses: "Sequence[Guess]" = ()) -> str:
        """Return the policy as a policy file, which ``read`` reads; see ``spell.toml_of``."""
        from incrowd.policy.spell import toml_of

        return toml_of(self, guesses)

    def command(self, table: str, output: str, *more: str) -> str:
        """Return the command line that makes the release of a table; see ``spell.words_of``."""
        from incrowd.policy.spell import words_of

        return shell_line(words_of(self, table, output, *more))

    def roles(self, columns: Sequence[str]) -> Roles:
        """Give every column of a table its role; see ``assign_roles``.

        What a column was derived from is left out before, and may be named as an identifier.
        """
        require_known(self.na, columns)
        gone = self._made_of(columns)
        identifiers = tuple(name for name in self.id if name not in gone)
        named = self.qi, self.sensitive, identifiers, self.keep, self.person, tuple(self.pseudonym)
        for name in (name for names in named for name in names or () if name in gone):
            raise InputError(
                f"column {name!r} is left out, for {gone[name]!r} is derived from it; it has no "
                "other role"
            )
        return assign_roles(columns, *named)

    def _made_of(self, columns: Sequence[str]) -> Mapping[str, str]:
        """Return the columns that are there no more, and what was derived from each."""
        if not self.derive:
            return {}
        from incrowd.policy.derive import columns_of

        return {old: new for new, old in columns_of(self.derive).items() if old not in columns}

    @property
    def limits(self) -> tuple[float | None, float | None, bool, int]:
        """The budget of a search: time limit, gap, spend and threads, as ``Stop`` takes them."""
        return self.time_limit, self.gap, self.spend, self.threads or cores()

    def sources(self) -> dict[str, "Hierarchy"]:
        """Return the source behind each hierarchy; marks of missing values are kept from it.

        Raises
        ------
        HierarchyError: a text names neither a rule nor a file.
        """
        from incrowd.hierarchy.spec import source_of

        specs = self.hierarchies.items()
        return {c: source_of(spec, marks_for(self.na, c), self.decimal) for c, spec in specs}


documented(OPTIONS)(Policy)


def require_kinds(policy: Any) -> None:
    """Values of a wrong kind would only fail where nobody knows which argument they were."""
    for name in ("hierarchies", "weights"):
        given = getattr(policy, name)
        if given is None:
            object.__setattr__(policy, name, given := {})
        if not isinstance(given, Mapping):
            raise InputError(f"{name} maps columns to values; {type(given).__name__} does not")
    for column, spec in policy.hierarchies.items():
        if isinstance(spec, str | Path):
            continue
        if isinstance(spec, type) or not hasattr(spec, "build"):
            wrong = f"the class {spec.__name__}" if isinstance(spec, type) else type(spec).__name__
            raise InputError(
                f"hierarchy of {column!r}: {wrong} is not a text, a path or a source; write a rule "
                "such as 'interval:5,10', a file's name, or the groups of each value, as in "
                'incrowd.hierarchy.HierarchyRows([("nurse", "health", "*"), …])'
            )
    if not isinstance(policy.method, str) and not hasattr(policy.method, "refuse"):
        wrong = type(policy.method).__name__
        raise InputError(f"method: {wrong} is neither 'auto', a method's id nor a solver")


def take_models(policy: Any) -> None:
    """Read models given as text or mappings; those that ask for rows only raise k."""
    if not policy.models:
        return
    from incrowd.policy.model_spec import ModelSpec, model_spec

    given = policy.models
    if isinstance(given, str | Mapping) or not isinstance(given, Sequence):
        given = (given,)
    k, kept = policy.k, []
    for model in map(model_spec, given):
        if isinstance(model, ModelSpec) and not model.asks_of_sensitive:
            k = max(k, model.k or 1)
        else:
            kept.append(model)
    object.__setattr__(policy, "k", k)
    object.__setattr__(policy, "models", tuple(kept))


def require_no_table(name: str, given: Any, named: bool) -> None:
    """Raise InputError for a frame or a table's text as an option: messages quote what is given.

    ``named``: whether it names columns, as it may with line ends; messages cut names.
    """
    within = given.values() if isinstance(given, Mapping) else given
    for each in (given, *(within if isinstance(within, Collection) else ())):
        if hasattr(type(each), "columns") and hasattr(type(each), "shape"):
            raise InputError(f"{name} takes no data frame")
        if not named and isinstance(each, str | Path) and len(str(each).splitlines()) > 2:
            raise InputError(
                f"{name}: a text of several lines, which is taken for that of a table; give a "
                "value, or the name of a file"
            )


def names_of(role: str, given: Any) -> tuple[str, ...] | None:
    """Return column names as a tuple; None for quasi-identifiers that nobody named."""
    if given is None:
        return None if role == "qi" else ()
    if isinstance(given, str):
        return (given,)
    names = tuple(given) if isinstance(given, Iterable) else (given,)
    wrong = next((name for name in names if not isinstance(name, str)), None)
    if wrong is not None or not isinstance(given, Iterable):
        raise InputError(f"{role} takes a column name or a list of them, not {quoted(wrong)}")
    return names


def lists_of(name: str, given: Any) -> tuple[tuple[str, ...], ...]:
    """Return lists of column names as tuples."""
    if given is None:
        return ()
    wrong = isinstance(given, str) or not isinstance(given, Iterable)
    lists = () if wrong else tuple(given)
    if wrong or any(isinstance(each, str) or not isinstance(each, Iterable) for each in lists):
        raise InputError(f"{name} takes a list of lists of column names, not {quoted(given)}")
    return tuple(tuple(each) for each in lists)


def plain_number(value: Any) -> Any:
    """Return a number of numpy as one of Python, and anything else as it is."""
    own: Any = getattr(value, "item", None)
    return own() if isinstance(value, Real) and own is not None else value


def take_plain_numbers(policy: Any) -> None:
    """Put numbers of Python in place of numpy's, so that a policy reads again as it was."""
    for name in ("l", "c", "t", "time_limit", "gap"):
        object.__setattr__(policy, name, plain_number(getattr(policy, name)))
    if isinstance(policy.weights, Mapping):
        plain = {column: plain_number(weight) for column, weight in policy.weights.items()}
        object.__setattr__(policy, "weights", plain)


def require_number(name: str, value: Any, allowed: str, fits: Any) -> None:
    """Raise InputError for what is no number, or not one of those allowed."""
    if value is None:
        return
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if not number or not fits(value):
        raise InputError(f"{name} must be {allowed}, not {quoted(value)}")


def keys_by_column(given: Any) -> dict[str, str]:
    """Return column → key file, empty for a key that is thrown away."""
    if given is None or isinstance(given, str):
        return {given: ""} if given else {}
    if isinstance(given, Mapping):
        return {str(column): str(file or "") for column, file in given.items()}
    if not isinstance(given, Iterable):
        raise InputError(f"pseudonym takes column names, or column → key file, not {quoted(given)}")
    return {str(column): "" for column in given}


def require_values(policy: Any) -> None:
    """Raise InputError for values that are not of their kind."""
    if policy.missing_person not in MISSING_PERSON:
        hint = did_you_mean(policy.missing_person, MISSING_PERSON)
        raise InputError(f"missing_person is {quoted(policy.missing_person)}{hint}")
    if len(policy.person) > 1 and any(name in policy.pseudonym for name in policy.person):
        raise InputError(
            "a pseudonym of one of several columns that together name a person is not served; make "
            "one column of them"
        )
    for name in ("strict", "hold_back", "spend", "constant_alike", "linked_rows"):
        if not isinstance(getattr(policy, name), bool):
            raise InputError(f"{name} must be true or false, not {quoted(getattr(policy, name))}")
    for name in ("survey_weight", "survey_stratum"):
        if not isinstance(getattr(policy, name), str | None):
            raise InputError(f"{name} must be the name of a column")
