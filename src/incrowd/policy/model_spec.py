"""One privacy model as people write it: ``l=3,kind=entropy,on=disease``, or ``[[models]]`` in TOML.

The same names on the command line (``--model``), in policy files and in Python.
"""

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from incrowd.errors import InputError, did_you_mean, quoted
from incrowd.policy.distances import distance_of
from incrowd.policy.options import DIVERSITIES, LIKENESSES
from incrowd.privacy.alpha_k import AlphaK
from incrowd.privacy.beta_likeness import BasicBetaLikeness, EnhancedBetaLikeness
from incrowd.privacy.delta_disclosure import DeltaDisclosure
from incrowd.privacy.disjoint_diversity import DisjointDiversity
from incrowd.privacy.distinct_diversity import DistinctDiversity
from incrowd.privacy.entropy_diversity import EntropyDiversity
from incrowd.privacy.frequency_diversity import FrequencyDiversity
from incrowd.privacy.k_anonymity import KAnonymity
from incrowd.privacy.model import Model, is_model
from incrowd.privacy.recursive_diversity import RecursiveDiversity
from incrowd.privacy.t_closeness import TCloseness
from incrowd.text.numerals import POINT

if TYPE_CHECKING:
    from incrowd.hierarchy.ladder import Source as Hierarchy
    from incrowd.tables.base import Column

ALONE = ("l", "t", "beta", "delta")  # one of these, alpha, or k makes the model
LISTS = ("on", "values")


@dataclass(frozen=True, kw_only=True)
class ModelSpec:
    """One model with its own parameters, and the sensitive columns it is asked of.

    Attributes
    ----------
    on: names of sensitive columns; empty: each of them (``disjoint``: all of them at once).
    kind: which l-diversity (``distinct`` unless said) or which β-likeness (always said).
    k: least size of a class, alone or with ``alpha``.
    l, c: l-diversity; ``recursive`` takes both.
    t, distance: t-closeness; the distance is as in ``Policy.distance``.
    alpha, values: (α, k)-anonymity; only the sensitive values named are guarded, or all.
    beta, delta: β-likeness, δ-disclosure.
    """

    on: Sequence[str] = ()
    kind: str | None = None
    k: int | None = None
    l: Any = None  # noqa: E741 (the field's own letter)
    c: Any = None
    t: Any = None
    distance: str | None = None
    alpha: Any = None
    values: Sequence[str] | None = None
    beta: Any = None
    delta: Any = None

    def __post_init__(self) -> None:
        for name in LISTS:
            given = getattr(self, name)
            listed = (given,) if isinstance(given, str) else given
            if listed is not None and not isinstance(listed, Iterable):
                raise InputError(f"{name}: expected a text or a list of them, not {quoted(given)}")
            object.__setattr__(self, name, None if listed is None else tuple(listed))
        self._one_model()
        self._kind_fits()
        self._fits("c", self.kind == "recursive", "recursive l-diversity (kind=recursive)")
        self._fits("distance", self.t is not None, "t-closeness")
        self._fits("on", self.asks_of_sensitive, "models of sensitive columns")
        self._fits("values", self.alpha is not None, "(α, k)-anonymity (alpha)")
        if self.values is not None and not self.values:
            raise InputError("values lists no value to guard; leave it out to guard all of them")
        if self.t is None and self.values is None:
            self._of(0)  # its own checks

    def _one_model(self) -> None:
        named = [name for name in (*ALONE, "alpha", "k") if getattr(self, name) is not None]
        if named == ["alpha", "k"]:
            named = ["alpha"]
        if len(named) != 1:
            found = "has none" if not named else f"has {' and '.join(named)}"
            raise InputError(
                "a model has one of k, l, t, alpha (which may have k beside it), beta or delta; "
                f"this one {found}"
            )

    def _kind_fits(self) -> None:
        allowed = DIVERSITIES if self.l is not None else LIKENESSES if self.beta is not None else ()
        if self.kind is None:
            if self.beta is not None:
                raise InputError("beta: say which β-likeness it is, kind=basic or kind=enhanced")
        elif not allowed:
            raise InputError(f"kind {self.kind!r} goes with l or beta, which this model has not")
        elif self.kind not in allowed:
            raise InputError(f"kind is {self.kind!r}{did_you_mean(self.kind, allowed)}")
        if self.kind == "recursive" and self.c is None:
            raise InputError("recursive l-diversity takes c as well as l")

    def _fits(self, name: str, fits: bool, owner: str) -> None:
        if getattr(self, name) not in (None, ()) and not fits:
            raise InputError(f"{name} belongs to {owner}, which this model is not")

    @property
    def asks_of_sensitive(self) -> bool:
        """Whether the model looks at sensitive columns."""
        return any(getattr(self, name) is not None for name in (*ALONE, "alpha"))

    def models(
        self,
        sensitive: Mapping[str, "Column"],
        sources: Mapping[str, "Hierarchy"],
        decimal: str = POINT,
    ) -> list[Model]:
        """Return the models over the sensitive columns of a table.

        Parameters
        ----------
        sensitive: the sensitive columns, in the order of the attributes.
        sources: hierarchies of sensitive columns, for the distance ``"hierarchy"``.
        decimal: what stands before the decimals of numbers, for the distance ``"ordered"``.

        Raises
        ------
        InputError: ``on`` names another column, or ``values`` a value that the column lacks.
        """
        columns = list(sensitive)
        for name in self.on:
            if name not in columns:
                raise InputError(
                    f"models: on names {name!r}, which is not a sensitive column"
                    f"{did_you_mean(name, columns)}"
                )
        chosen = [columns.index(name) for name in self.on or columns]
        if self.kind == "disjoint":
            return [DisjointDiversity(whole(self.l), tuple(chosen) if self.on else None)]
        if not self.on and self.t is None and self.values is None:
            return [self._of(None)]
        found = []
        for a in chosen:
            column = sensitive[columns[a]]
            if self.t is not None:
                asked = self.distance or "equal"
                distance = distance_of(asked, columns[a], column, sources, decimal)
                found.append(TCloseness(self.t, distance, a))
            elif self.values is not None:
                found.append(self._guarding(a, columns[a], column))
            else:
                found.append(self._of(a))
        return found

    def _of(self, attribute: int | None) -> Model:
        """Return the model of one attribute, or of each, where no column is needed for it."""
        if self.l is not None:
            return diversity(self.kind or "distinct", self.l, self.c, attribute)
        if self.alpha is not None:
            return AlphaK(self.alpha, 1 if self.k is None else self.k, attribute)
        if self.beta is not None:
            basic = self.kind == "basic"
            return (BasicBetaLikeness if basic else EnhancedBetaLikeness)(self.beta, attribute)
        if self.delta is not None:
            return DeltaDisclosure(self.delta, attribute)
        return KAnonymity(1 if self.k is None else self.k)

    def _guarding(self, attribute: int, name: str, column: "Column") -> Model:
        for value in self.values or ():
            if value not in column.values:
                raise InputError(f"models: values: column {name!r} has no cell equal to {value!r}")
        guarded = tuple(map(column.values.index, self.values or ()))
        return AlphaK(self.alpha, 1 if self.k is None else self.k, attribute, guarded)


def diversity(kind: str, l: Any, c: Any, attribute: int | None = None) -> Model:  # noqa: E741
    """Return an l-diversity by its kind; None asks it of every sensitive attribute."""
    if kind == "entropy":
        return EntropyDiversity(l, attribute)
    if kind == "recursive":
        return RecursiveDiversity(c, whole(l), attribute)
    if kind == "disjoint":
        return DisjointDiversity(whole(l), None if attribute is None else (attribute,))
    return (FrequencyDiversity if kind == "frequency" else DistinctDiversity)(whole(l), attribute)


def whole(value: Any) -> Any:
    """Return a text of digits as a whole number; the model says what is wrong with others."""
    try:
        return int(value) if isinstance(value, str) else value
    except ValueError:
        return value


def model_spec(given: "Model | ModelSpec | Mapping[str, Any] | str") -> "Model | ModelSpec":
    """Return a model given as a value, as names and values, or as ``l=3,kind=entropy,on=disease``.

    Raises
    ------
    InputError: an unknown name, or values that make no model.
    """
    if isinstance(given, ModelSpec):
        return given
    if isinstance(given, str):
        given = parsed(given)
    if not isinstance(given, Mapping):
        if not is_model(given):
            kind = type(given).__name__
            raise InputError(
                f"models: {kind} is neither a text, a mapping nor a privacy model "
                "(incrowd.privacy.model.Model)"
            )
        return given
    known = [field.name for field in fields(ModelSpec)]
    for name in given:
        if name not in known:
            raise InputError(f"models: no parameter is called {name!r}{did_you_mean(name, known)}")
    return ModelSpec(**given)


def parsed(text: str) -> dict[str, Any]:
    """Return the names and values of ``l=3,kind=entropy,on=disease``.

    ``on`` and ``values`` may come several times; a column with a comma stands in double quotes:
    ``l=2,"on=a,b"``.

    Raises
    ------
    InputError: a part without ``=``, or a name that comes twice.
    """
    found: dict[str, Any] = {}
    for parts in csv.reader(io.StringIO(text, newline=""), skipinitialspace=True):
        for part in parts:
            name, equals, value = part.partition("=")
            name = name.strip()
            if not equals or not name:
                raise InputError(
                    f"model {text!r}: expected NAME=VALUE,… such as l=3,kind=entropy,on=disease"
                )
            if name in LISTS:
                found.setdefault(name, []).append(value)
            elif name in found:
                raise InputError(f"model {text!r}: {name} comes twice")
            else:
                found[name] = whole(value.strip()) if name == "k" else value.strip()
    return found
