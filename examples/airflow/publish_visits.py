"""An Airflow workflow: a table of a DuckDB file becomes a release beside it, and is measured.

The variables HOSPITAL_TABLE and HOSPITAL_RELEASE hold the two addresses; a password, where one is
needed, comes from INCROWD_DATABASE_PASSWORD.  The task that measures fails, and with it the
workflow, when the published table is not k-anonymous.
"""

import os

import pendulum
from airflow.sdk import dag, task

K = 2
QI = ["age", "sex", "zip"]


@dag(schedule=None, start_date=pendulum.datetime(2026, 1, 1, tz="UTC"), catchup=False)
def publish_visits():
    """Anonymize, then measure what was written."""

    @task
    def anonymize() -> dict[str, float]:
        import incrowd as ic

        release = ic.anonymize(
            os.environ["HOSPITAL_TABLE"],
            k=K,
            qi=QI,
            sensitive="diagnosis",
            id="name",
            hierarchies={"age": "interval:5,10,20", "zip": "prefix:1,2,3"},
            order="shuffle",
        )
        release.write(os.environ["HOSPITAL_RELEASE"], replace=True)
        # figures alone: Airflow keeps and shows what a task returns
        return {"cost": release.cost, "bound": release.lower_bound}

    @task
    def measure(figures: dict[str, float]) -> int:
        import incrowd as ic

        found = ic.measure(os.environ["HOSPITAL_RELEASE"], qi=QI, sensitive="diagnosis")
        if found.k < K:
            raise RuntimeError(f"the release is {found.k}-anonymous, not {K}-anonymous")
        print(f"{found.k}-anonymous; cost {figures['cost']}, bound {figures['bound']}")
        return found.k

    measure(anonymize())


workflow = publish_visits()
