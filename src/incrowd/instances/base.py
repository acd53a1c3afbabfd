"""What a family of hard instances is: a source problem, its table, and the maps between answers."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Protocol, Self, TypeVar

import numpy as np

from incrowd.errors import InputError
from incrowd.instances.table import HardTable, Partition
from incrowd.text.exact import fraction_of

A = TypeVar("A")

Value = int | Fraction | str
Options = Mapping[str, Value]


@dataclass(frozen=True)
class Option:
    """One parameter of a family, as the command line and ``make`` take it.

    Attributes
    ----------
    name: lower case, words joined by ``_``.
    default: also fixes the type: whole number, fraction, or one of ``choices``.
    of_table: whether it also matters when the source problem is read from a file; the others only
        steer the random generator.
    """

    name: str
    default: Value
    help: str
    of_table: bool = False
    choices: tuple[str, ...] = ()


class FromFile:
    """What families share whose source problem, their first field, stands in a file."""

    form: ClassVar[Any]
    """The source problem's class, which reads its text."""
    options: ClassVar[tuple[Option, ...]] = ()

    @classmethod
    def read(cls, text: str, options: Options) -> Self:
        """Read the source problem."""
        return cls.of(cls.form.parse(text), options)

    def text(self) -> str:
        """The source problem in ``file_format``."""
        return next(iter(vars(self).values())).text()

    @classmethod
    def of(cls, problem: Any, options: Options) -> Self:
        """Return the family of a source problem; options of its table are fields, in their order.

        Raises
        ------
        InputError: an option is of another type or out of range.
        """
        made: Any = cls
        return made(problem, *(parameter(one, options) for one in cls.options if one.of_table))


class Family(Protocol[A]):
    """One reduction of one paper, as a frozen value that holds one source problem.

    ``A`` is an answer of the source problem, always a tuple of tuples, numbers and truth values.
    A release is a partition of the table's rows (``Partition``).

    Attributes
    ----------
    id: name on the command line.
    source: paper and theorem.
    problem: the source problem in words.
    file_format: ``"edge list"``, ``"DIMACS CNF"``, ``"triples"``, ``"CSV"``, or ``""`` for none.
    equation: how the two optima relate.
    decision: when true, the table's optimum is at most ``to_table().threshold`` iff the source
        problem has an answer; when false, the optimum is ``cost_of(solve_source())``.
    options: the parameters.
    """

    id: ClassVar[str]
    source: ClassVar[str]
    problem: ClassVar[str]
    file_format: ClassVar[str]
    equation: ClassVar[str]
    decision: ClassVar[bool]
    options: ClassVar[tuple[Option, ...]]

    @classmethod
    def read(cls, text: str, options: Options) -> "Family[A]":
        """Read the source problem; raises InputError."""
        ...

    @classmethod
    def make(
        cls, rng: np.random.Generator, planted: bool, options: Options
    ) -> "tuple[Family[A], A | None]":
        """Draw a source problem, and the best answer planted in it (None when not ``planted``)."""
        ...

    def text(self) -> str:
        """The source problem in ``file_format``."""
        ...

    def to_table(self) -> HardTable:
        """The table and the model that its release must obey."""
        ...

    def solve_source(self) -> A | None:
        """A best answer of the source problem, by exhaustive search; None when there is none."""
        ...

    def source_to_solution(self, answer: A) -> Partition:
        """The release that an answer stands for."""
        ...

    def solution_to_source(self, partition: Partition) -> A | None:
        """An answer no worse than the release; None when it is too dear to hold one."""
        ...

    def cost_of(self, answer: A) -> int:
        """Cost of the answer's release by the paper's equation, in stars."""
        ...


def whole(options: Options, name: str, least: int, most: int | None = None) -> int:
    """Return a whole-number option within its range; raises InputError."""
    value = options[name]
    if isinstance(value, bool) or not isinstance(value, int):
        raise InputError(f"{name} must be a whole number, not {value!r}")
    if value < least or (most is not None and value > most):
        above = "" if most is None else f" and at most {most}"
        raise InputError(f"{name} must be at least {least}{above}, not {value}")
    return value


def fraction(options: Options, name: str) -> Fraction:
    """Return an option as an exact fraction; raises InputError."""
    value = options[name]
    try:
        return fraction_of(value)
    except (ValueError, ZeroDivisionError, TypeError):
        raise InputError(f"{name} must be a number such as 1/3 or 0.4, not {value!r}") from None


def parameter(option: Option, options: Options) -> Value:
    """Return an option as its default's type; raises InputError."""
    if option.choices:
        return str(options[option.name])
    if isinstance(option.default, Fraction):
        return fraction(options, option.name)
    return whole(options, option.name, 1)


def with_defaults(family: type[Family[Any]], given: Options) -> dict[str, Value]:
    """Fill in a family's defaults; raises InputError for a name it does not have."""
    known = {option.name: option.default for option in family.options}
    for name in given:
        if name not in known:
            raise InputError(f"{family.id} has no parameter {name!r}; it has: {sorted(known)}")
    return known | dict(given)
