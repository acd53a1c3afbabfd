"""How a task gets to the workers, and what comes back when it fails."""

import contextlib
import pickle
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import pyarrow as pa

from incrowd import errors


def on_table(name: str, task: Any, *more: Any) -> Callable[[pa.Table], pa.Table]:
    """Return a function for ``applyInArrow`` that calls ``incrowd.spark.NAME``."""
    call = _call(name, task, more)

    def run(table: pa.Table) -> pa.Table:
        return call(table)

    return run


def on_batches(
    name: str, task: Any, *more: Any
) -> Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """Return a function for ``mapInArrow`` that calls ``incrowd.spark.NAME`` per batch."""
    call = _call(name, task, more)

    def run(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            yield from call(pa.Table.from_batches([batch])).to_batches()

    return run


def _call(name: str, task: Any, more: tuple[Any, ...]) -> Callable[[pa.Table], pa.Table]:
    """Pack a call so that a worker without incrowd can still say what it lacks."""
    packed = pickle.dumps((task, *more))
    module, function = name.split(".")

    def call(table: pa.Table) -> pa.Table:
        try:
            import pickle
            from importlib import import_module

            home = import_module(f"incrowd.spark.{module}")
        except ImportError as error:
            raise ImportError(
                f"the Python of the Spark workers lacks {error.name!r}: run "
                'pip install "incrowd[spark]" there, or name the right Python in PYSPARK_PYTHON'
            ) from None
        return getattr(home, function)(*pickle.loads(packed), table)

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
