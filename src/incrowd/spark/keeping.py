"""Keeping what a task found, so that it is not found twice."""

import contextlib
import shutil
import uuid
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

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
        """Return the frame, kept."""
        if self.scratch is None:
            frame = frame.persist()
            self._frames.append(frame)
            return frame
        self._folder = self._folder or f"{self.scratch.rstrip('/')}/incrowd-{uuid.uuid4().hex}"
        path = f"{self._folder}/{name}"
        frame.write.parquet(path)
        # Sail writes no file for no row: what the columns are stands nowhere then
        return frame.sparkSession.read.schema(frame.schema).parquet(path)

    def forget(self) -> None:
        """Free the cache, and remove the folder where it is a local one."""
        for frame in self._frames:
            frame.unpersist()
        self._frames.clear()
        local = Path(self._folder.removeprefix("file://"))
        if self._folder and local.is_dir():
            shutil.rmtree(local, ignore_errors=True)
