"""What is asked of a release: roles, models, hierarchies, weights, budget.

The names are the same on the command line and in Python.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from incrowd.errors import InputError, did_you_mean, no_column
from incrowd.hierarchy.tree import STAR
from incrowd.policy.cap import Cap, caps_of
from incrowd.policy.keys import ORDERS
from incrowd.policy.veil import veil_of

if TYPE_CHECKING:
    from incrowd.hierarchy.ladder import Source as Hierarchy
    from incrowd.policy.guess import Guess
    from incrowd.policy.model_spec import ModelSpec
    from incrowd.privacy.model import Model

ROLES = ("qi", "sensitive", "id", "keep")


@dataclass(frozen=True)
class Roles:
    """Every column of a table in exactly one role, each in the table's order.

    ``qi``: changed where needed.  ``sensitive``, ``keep``: published as they are.
    ``id``: left out of the release.  ``person``: those of them that together name a person.
    """

    qi: tuple[str, ...]
    sensitive: tuple[str, ...] = ()
    id: tuple[str, ...] = ()
    keep: tuple[str, ...] = ()
    person: tuple[str, ...] = ()

    @property
    def attributes(self) -> tuple[str, ...]:
        """What the models' attributes are called: the sensitive columns, then the persons."""
        return (*self.sensitive, "+".join(self.person)) if self.person else self.sensitive

    def published(self, columns: Sequence[str]) -> tuple[str, ...]:
        """The columns of the release, in the table's order."""
        return tuple(column for column in columns if column not in self.id)


def assign_roles(
    columns: Sequence[str],
    qi: Sequence[str] | None = None,
    sensitive: Sequence[str] = (),
    id: Sequence[str] = (),
    keep: Sequence[str] = (),
    person: Sequence[str] = (),
) -> Roles:
    """Give every column its role.

    Without ``qi`` every column not named otherwise is a quasi-identifier.  With it, a column left
    without a role is an error: whether it may be published is not ours to guess.  Columns that name
    a person are left out, like other identifiers.

    Raises
    ------
    InputError: an unknown column, one in two roles, one without a role, no quasi-identifier.
    """
    require_unpublished(person, columns, {"qi": qi or (), "sensitive": sensitive, "keep": keep})
    named = dict(zip(ROLES, (qi or (), sensitive, (*id, *person), keep), strict=True))
    role_of: dict[str, str] = {}
    for role, names in named.items():
        for name in dict.fromkeys(names):
            if name not in columns:
                raise no_column(role, name, columns)
            if name in role_of:
                raise InputError(
                    f"column {name!r} is named both {role_of[name]} and {role}; give it one role"
                )
            role_of[name] = role
    left = [column for column in columns if column not in role_of]
    if qi is None:
        role_of |= dict.fromkeys(left, "qi")
    elif left:
        raise InputError(_without_role(left))
    if "qi" not in role_of.values():
        raise InputError(
            "no column is a quasi-identifier; name those that others may know about a person "
            "with qi (--qi)"
        )
    roles = {r: tuple(c for c in columns if role_of[c] == r) for r in ROLES}
    return Roles(**roles, person=tuple(dict.fromkeys(person)))


def require_unpublished(
    person: Sequence[str], columns: Sequence[str], published: Mapping[str, Sequence[str]]
) -> None:
    """Raise InputError for a column of persons that is unknown, or that the release would hold.

    Who sees which rows are one person's knows more than one row of each.
    """
    for name in person:
        if name not in columns:
            raise no_column("person", name, columns)
        for role, names in published.items():
            if name in names:
                raise InputError(
                    f"column {name!r} is named both {role} and person; a column that names people "
                    "is left out of the release, for with it the rows of a person would be linked"
                )
    if len(person) > 1 and "+".join(person) in columns:
        raise InputError("a column is called like the columns of persons together; rename it")


def _without_role(left: Sequence[str]) -> str:
    shown = ", ".join(repr(column) for column in left[:12]) + (", …" if len(left) > 12 else "")
    return (
        f"{len(left)} column{'s have' if len(left) > 1 else ' has'} no role: {shown}; name each as "
        "quasi-identifier (--qi), sensitive (--sensitive) or other column to publish unchanged "
        "(--keep), or leave it out of the release (--id)"
    )


@dataclass(frozen=True, kw_only=True)
class Policy:
    """All that is asked of one release.

    Attributes
    ----------
    k: least size of a class.
    qi, sensitive, id, keep: names of columns, see ``Roles``; ``qi`` None: all not named otherwise.
    person: columns that together name a person, left out of the release; then every class holds
        rows of at least k people, not only k rows.
    l, l_kind, c: l-diversity of each sensitive column: ``"distinct"``, ``"frequency"``,
        ``"entropy"``, ``"recursive"`` (with c) or ``"disjoint"`` (of all columns at once).
    t, distance: t-closeness of each sensitive column; the distance of its values is ``"equal"``,
        ``"ordered"``, ``"hierarchy"`` or a file, see ``incrowd.policy.distances.distance_of``.
    models: further privacy models that every class has to obey: values, ``ModelSpec``, mappings of
        its names, or texts such as ``"l=3,kind=entropy,on=disease"``.
    hierarchies: column → specification (``interval:5,10``, ``prefix:1``, ``date``, ``none``), path
        of a hierarchy file, or a source; columns not named are suppressed whole.
    weights: column → factor on what its cells cost.
    fixed: quasi-identifiers that are never changed.
    linked: lists of quasi-identifiers that are suppressed together, row by row.
    caps: column → largest share of its cells that may change, or a list of ``Cap``, which may
        also cap the cells of a subgroup.
    cost: ``"level"``, ``"ncp"``, ``"stars"`` or a cost, for all columns or by column.
    method: ``"auto"`` or a solver's id; reductions: ``"paper"``, ``"all"``, ``"none"``, or None for
        the method's own choice.
    time_limit: wall seconds, or None; gap: end at this ``(cost − bound) / cost``, or None.
    seed: of all randomness. None: the search takes 0, and shuffled rows an order that nobody can
        make again, from the operating system's entropy.
    threads: at most so many, without influence on the result.
    suppress_rows: rows that may be left out where the table itself breaks the model.
    order: ``"keep"`` or ``"shuffle"``: the order of the released rows.
    veil: probability with which each cell is hidden by coins beforehand, for all columns or by
        column; see ``incrowd.policy.veil`` and docs/explanation/veil.md.  None: no veil.
    star: what is written for a suppressed cell.
    """

    k: int = 5
    qi: Sequence[str] | None = None
    sensitive: Sequence[str] = ()
    id: Sequence[str] = ()
    keep: Sequence[str] = ()
    person: Sequence[str] = ()
    l: Any = None  # noqa: E741 (the field's own letter)
    l_kind: str = "distinct"
    c: Any = None
    t: Any = None
    distance: str = "equal"
    models: "Sequence[Model | ModelSpec | Mapping[str, Any] | str]" = ()
    hierarchies: Mapping[str, "str | Path | Hierarchy"] = field(default_factory=dict)
    weights: Mapping[str, Any] = field(default_factory=dict)
    fixed: Sequence[str] = ()
    linked: Sequence[Sequence[str]] = ()
    caps: "Mapping[str, Any] | Sequence[Cap | Mapping[str, Any]]" = ()
    cost: Any = "level"
    method: Any = "auto"
    reductions: str | None = None
    time_limit: float | None = None
    gap: float | None = None
    seed: int | None = None
    threads: int = 1
    suppress_rows: int = 0
    order: str = "keep"
    star: str = STAR
    veil: Any = None

    def __post_init__(self) -> None:
        from incrowd.privacy.numbers import take_whole

        for role in (*ROLES, "person", "fixed"):
            object.__setattr__(self, role, _names(role, getattr(self, role)))
        object.__setattr__(self, "linked", _lists("linked", self.linked))
        object.__setattr__(self, "caps", caps_of(self.caps))
        object.__setattr__(self, "veil", veil_of(self.veil))
        self._require_kinds()
        take_whole(self, "k")
        self._require_owners()
        self._take_models()
        if self.seed is not None:
            take_whole(self, "seed", 0)
        take_whole(self, "threads")
        take_whole(self, "suppress_rows", 0)
        if self.person and self.suppress_rows:
            raise InputError("suppress_rows is not served with person yet")
        _number("time_limit", self.time_limit, "seconds, more than 0", lambda x: x > 0)
        _number("gap", self.gap, "a share from 0 to 1", lambda x: 0 <= x <= 1)
        if self.order not in ORDERS:
            raise InputError(f"order is {self.order!r}{did_you_mean(str(self.order), ORDERS)}")
        if not isinstance(self.star, str) or not self.star:
            raise InputError("star, the mark of a suppressed cell, must be a text of some length")

    def _require_kinds(self) -> None:
        """Values of a wrong kind would only fail where nobody knows which argument they were."""
        for name in ("hierarchies", "weights"):
            given = getattr(self, name)
            if not isinstance(given, Mapping):
                raise InputError(f"{name} maps columns to values; {type(given).__name__} does not")
        for column, spec in self.hierarchies.items():
            if not isinstance(spec, str | Path) and not hasattr(spec, "build"):
                wrong = type(spec).__name__
                raise InputError(f"hierarchy of {column!r}: {wrong} is no text, path or source")
        if not isinstance(self.method, str) and not hasattr(self.method, "refuse"):
            wrong = type(self.method).__name__
            raise InputError(f"method: {wrong} is neither 'auto', a method's id nor a solver")

    def _require_owners(self) -> None:
        """What belongs to ``l`` or ``t`` would be asked of nobody without it."""
        if self.l is None and (self.c is not None or self.l_kind != "distinct"):
            name = "l_kind" if self.c is None else "c"
            raise InputError(
                f"{name} belongs to l, which is not given: add --l L (l= in Python), or name the "
                "model with its own parameters, such as --model l=3,kind=entropy"
            )
        if self.t is None and self.distance != "equal":
            raise InputError(
                "distance belongs to t, which is not given: add --t X (t= in Python), or name the "
                "model with its own parameters, such as --model t=0.2,distance=ordered"
            )

    def _take_models(self) -> None:
        """Read models given as text or mappings; those that ask for rows only raise k."""
        if not self.models:
            return
        from incrowd.policy.model_spec import ModelSpec, model_spec

        given = self.models
        if isinstance(given, str | Mapping) or not isinstance(given, Sequence):
            given = (given,)
        k, kept = self.k, []
        for model in map(model_spec, given):
            if isinstance(model, ModelSpec) and not model.asks_of_sensitive:
                k = max(k, model.k or 1)
            else:
                kept.append(model)
        object.__setattr__(self, "k", k)
        object.__setattr__(self, "models", tuple(kept))

    @property
    def search_seed(self) -> int:
        """The seed of the search: of a larger one its last 32 bits, which kernels count up from."""
        return (self.seed or 0) % 2**32

    @classmethod
    def read(cls, path: "str | Path") -> "Policy":
        """Read a policy file (TOML); see docs/reference/policy.md.

        Raises
        ------
        InputError: no such file, no TOML, an unknown key or a wrong value; names file and key.
        """
        from incrowd.policy.file import read_keys

        arguments = read_keys(path)
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
        from incrowd.text.shell import shell_line

        return shell_line(words_of(self, table, output, *more))

    def roles(self, columns: Sequence[str]) -> Roles:
        """Give every column of a table its role; see ``assign_roles``."""
        named = self.qi, self.sensitive, self.id, self.keep, self.person
        return assign_roles(columns, *named)

    def sources(self) -> dict[str, "Hierarchy"]:
        """Return the source behind each hierarchy.

        Raises
        ------
        HierarchyError: a text names neither a rule nor a file.
        """
        from incrowd.hierarchy.spec import parse

        return {
            column: parse(str(spec)) if isinstance(spec, str | Path) else spec
            for column, spec in self.hierarchies.items()
        }


def _names(role: str, given: Any) -> tuple[str, ...] | None:
    if given is None:
        return None if role == "qi" else ()
    if isinstance(given, str):
        return (given,)
    if not isinstance(given, Iterable):
        raise InputError(f"{role} takes a column name or a list of them, not {given!r}")
    return tuple(given)


def _lists(name: str, given: Any) -> tuple[tuple[str, ...], ...]:
    if given is None:
        return ()
    wrong = isinstance(given, str) or not isinstance(given, Iterable)
    lists = () if wrong else tuple(given)
    if wrong or any(isinstance(each, str) or not isinstance(each, Iterable) for each in lists):
        raise InputError(f"{name} takes a list of lists of column names, not {given!r}")
    return tuple(tuple(each) for each in lists)


def _number(name: str, value: Any, allowed: str, fits: Any) -> None:
    if value is None:
        return
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if not number or not fits(value):
        raise InputError(f"{name} must be {allowed}, not {value!r}")
