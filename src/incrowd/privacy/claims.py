"""Privacy models as the plain data that a proof states; see docs/reference/proof-format.md."""

from typing import Any, NamedTuple

from incrowd.privacy.model import Model, Values


class Claims(NamedTuple):
    """What the independent checker can check of a model, and the parts that it does not know."""

    models: list[dict[str, Any]]
    unchecked: tuple[Model, ...]


def claims_of(model: Model, sensitive: Values) -> Claims:
    """Return a model as plain data, one entry per part and sensitive column, and what is left.

    Parameters
    ----------
    sensitive: each sensitive column's values by code, columns in the order of the attributes.
    """
    claims = [(part, part.claim(sensitive)) for part in model.parts]
    known = [entry for _, claim in claims for entry in claim or ()]
    return Claims(known, tuple(part for part, claim in claims if claim is None))
