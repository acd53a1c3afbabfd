"""Keeping what a task found, so that it is not found twice."""

import contextlib
import shutil
import uuid
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

from incrowd.errors import InputError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


@dataclass(eq=False)
class Keeper:
    """Keeps frames in Spark's cache or, with ``scratch``, as Parquet in a folder of its own there.

    A cached part that is lost with its worker is found again, the same; a file is not lost.  As a
    context: whatever the block raises (an interrupt too) forgets all, which is as private as the
    table.

    Attributes
    ----------
    scratch: a folder that the workers can write and read, or None.
    """

    scratch: str | None = None
    _frames: list["DataFrame"] = field(default_factory=list)
    _folder: str = ""

    def __enter__(self) -> "Keeper":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if kind is not None:
            with contextlib.suppress(Exception):  # a Spark that is gone: what it raised first tells
                self.forget()

    def keep(self, frame: "DataFrame", name: str) -> "DataFrame":
        """Return the frame, kept.

        Raises
        ------
        InputError: nothing can be written in ``scratch``.
        """
        if self.scratch is None:
            frame = frame.persist()
            self._frames.append(frame)
            return frame
        if not self._folder:
            self._folder = f"{self.scratch.rstrip('/')}/incrowd-{uuid.uuid4().hex}"
            self._try(frame)
        path = f"{self._folder}/{name}"
        frame.write.parquet(path)
        # Sail writes no file for no row: what the columns are stands nowhere then
        return frame.sparkSession.read.schema(frame.schema).parquet(path)

    def _try(self, frame: "DataFrame") -> None:
        """Write one row of no table first: what fails later may be the work, and not the folder.

        By Spark, for the driver need not see the folder.
        """
        try:
            frame.sparkSession.range(1).write.parquet(f"{self._folder}/trial")
        except Exception as error:
            said = str(error).strip().splitlines() or [type(error).__name__]
            raise InputError(
                f"the folder for what the tasks find (--scratch, scratch=), {self.scratch}, cannot "
                f"be written: {said[0]}; name one that all workers can write and read"
            ) from None

    def forget(self) -> None:
        """Free the cache, and remove the folder where it is a local one."""
        for frame in self._frames:
            frame.unpersist()
        self._frames.clear()
        local = Path(self._folder.removeprefix("file://"))
        if self._folder and local.is_dir():
            shutil.rmtree(local, ignore_errors=True)
