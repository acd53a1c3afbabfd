"""The published table: a 2-anonymous release of the patients, made again at each ``dbt run``."""

import incrowd as ic


def model(dbt, session):
    """Return the release as a data frame, which dbt writes as a table."""
    dbt.config(materialized="table")
    release = ic.anonymize(
        dbt.ref("patients").df(),
        k=2,
        qi=["age", "sex", "zip"],
        sensitive="diagnosis",
        id="name",
        hierarchies={"age": "interval:5,10,20", "zip": "prefix:1,2,3"},
        order="shuffle",
    )
    print(release)
    return release.data
