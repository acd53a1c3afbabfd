"""What the command line says where no Spark answers."""

from typing import Any

import pytest

from incrowd.errors import InputError

pytest.importorskip("pyspark")


def test_no_spark(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests that a session which cannot be had is a wrong call, with the way out."""
    from pyspark.errors import PySparkRuntimeError

    from incrowd.cli.spark import session

    class Builder:
        def appName(self, name: str) -> "Builder":  # noqa: N802 (Spark's name)
            return self

        def getOrCreate(self) -> Any:  # noqa: N802
            raise PySparkRuntimeError(errorClass="CONNECT_URL_NOT_SET", messageParameters={})

    class NoSpark:
        builder = Builder()

    monkeypatch.setattr("pyspark.sql.SparkSession", NoSpark)
    with pytest.raises(InputError, match=r"no Spark to work on: .*SPARK_REMOTE=sc://HOST:PORT"):
        session()
