"""What a task is told, how records look, and how a task gets to the workers."""

import contextlib
import pickle
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyarrow import compute

from incrowd import errors
from incrowd.hierarchy.tree import Tree
from incrowd.privacy.base import Model

CODED = "k array<int>, s array<int>, n bigint"
"""A distinct row: leaf codes, codes of the sensitive values, copies."""

PAIRS = "j int, code int, text string, n bigint"
"""How often a column's leaf code is released as a text."""

RECORDS = (
    "k array<int>, s array<int>, l array<int>, n bigint, cls bigint, rep array<int>, price double, "
    "bound bigint, how string"
)
"""``n`` copies of a distinct row in class ``cls``, released at levels ``l``.

``rep``: leaf codes of the first row of the class.  ``price``: the row's, in units of 1/scale.
``bound`` and ``how`` (method and why it ended) stand in the first record of a block only.
"""


@dataclass(frozen=True, eq=False)
class Codec:
    """One column's distinct values, as Spark holds them, and their codes.

    Attributes
    ----------
    values: distinct, null among them where it occurs.
    codes: int32, shape (values,): a permutation of 0, 1, …
    texts: the values as text, in the same order.
    """

    values: pa.Array
    codes: NDArray[np.int32]
    texts: tuple[str | None, ...]

    def encode(self, column: pa.Array | pa.ChunkedArray) -> NDArray[np.int32]:
        """int32, shape (rows,): codes of a column's cells."""
        known: Any = compute  # its functions are made when it is imported
        place = known.index_in(column.cast(self.values.type), value_set=self.values)
        if place.null_count:
            raise errors.InputError("the table changed while it was read; run again once it rests")
        return self.codes[place.to_numpy(zero_copy_only=False)]

    def decode(self, codes: NDArray[np.int32]) -> pa.Array:
        """The values of some codes."""
        return self.values.take(pa.array(np.argsort(self.codes)[codes]))


@dataclass(frozen=True, eq=False)
class Task:
    """All that a worker needs to know besides the rows.

    Attributes
    ----------
    qi, sensitive: the columns' codes; ``sensitive`` is empty when no model looks at them.
    names: of the sensitive columns, for messages.
    trees, scale: hierarchies, and the unit of costs.
    model, method, reductions, time_limit, gap, seed, threads: as in ``Policy``.
    """

    qi: tuple[Codec, ...]
    sensitive: tuple[Codec, ...]
    trees: tuple[Tree, ...]
    scale: int
    model: Model
    names: tuple[str, ...]
    method: Any
    reductions: str | None
    time_limit: float | None
    gap: float | None
    seed: int
    threads: int


def on_table(name: str, task: Any, *more: Any) -> Callable[[pa.Table], pa.Table]:
    """Return a function for ``applyInArrow`` that calls ``incrowd.spark.tasks.NAME``."""
    call = _call(name, task, more)

    def run(table: pa.Table) -> pa.Table:
        return call(table)

    return run


def on_batches(
    name: str, task: Any, *more: Any
) -> Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """Return a function for ``mapInArrow`` that calls ``incrowd.spark.tasks.NAME`` per batch."""
    call = _call(name, task, more)

    def run(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            yield from call(pa.Table.from_batches([batch])).to_batches()

    return run


def _call(name: str, task: Any, more: tuple[Any, ...]) -> Callable[[pa.Table], pa.Table]:
    """Pack a call so that a worker without incrowd can still say what it lacks."""
    packed = pickle.dumps((task, *more))

    def call(table: pa.Table) -> pa.Table:
        try:
            import pickle

            from incrowd.spark import tasks
        except ImportError as error:
            raise ImportError(
                f"the Python of the Spark workers lacks {error.name!r}: run "
                "pip install 'incrowd[spark]' there, or name the right Python in PYSPARK_PYTHON"
            ) from None
        return getattr(tasks, name)(*pickle.loads(packed), table)

    return call


@contextlib.contextmanager
def workers_errors() -> Iterator[None]:
    """Raise an incrowd error of a worker as itself, without the cluster's stack traces.

    Raises
    ------
    IncrowdError: of the class and with the text that the worker raised.
    """
    from pyspark.errors import PySparkException

    try:
        yield
    except PySparkException as error:
        found = re.search(r"(?:incrowd\.errors\.)(\w+): (.+)", str(error))
        kind = getattr(errors, found[1], None) if found else None
        if found and isinstance(kind, type) and issubclass(kind, errors.IncrowdError):
            raise _plain(kind, found[2].strip()) from None
        lacking = re.search(r"the Python of the Spark workers lacks .+", str(error))
        if lacking:
            raise errors.InputError(lacking[0].strip()) from None
        raise


def _plain(kind: type[errors.IncrowdError], text: str) -> errors.IncrowdError:
    """Return an error with its text, whatever its class makes of arguments."""
    error = kind.__new__(kind)
    error.args = (text,)
    return error
