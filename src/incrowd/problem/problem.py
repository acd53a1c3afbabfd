"""What is to be solved: a table as codes, and the model its release must obey."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from incrowd.privacy.base import Group
from incrowd.privacy.classes import Classes
from incrowd.privacy.model import Model
from incrowd.problem.instance import Instance


@dataclass(frozen=True, eq=False)
class Problem:
    """An instance and the model its release must obey.

    Attributes
    ----------
    sensitive: names of the sensitive columns, for messages; none where they are not known.
    """

    instance: Instance
    model: Model
    sensitive: tuple[str, ...] = ()

    @property
    def asked(self) -> str:
        """The model in words, with the columns that it looks at."""
        return self.model.in_words(self.sensitive)

    @property
    def table(self) -> Group:
        """The whole table's sensitive values, copies written out."""
        instance = self.instance
        return Group(instance.sensitive_codes[instance.copies], instance.sensitive_sizes)

    def group(self, copies: NDArray[np.integer]) -> Group:
        """The sensitive values of some copies."""
        instance = self.instance
        return Group(instance.sensitive_codes[instance.copies[copies]], instance.sensitive_sizes)

    def lawful_classes(
        self, classes: NDArray[np.int64], copies: NDArray[np.integer] | None = None
    ) -> NDArray[np.bool_]:
        """bool, shape (classes,): which are lawful, beside the whole table.

        classes: int64, shape (copies,): the class of each copy, from 0.  copies: which; None: all.
        """
        table = self.table
        held = table if copies is None else self.group(copies)
        return self.model.lawful_classes(Classes(classes, held, table))

    @property
    def lawful_together(self) -> bool:
        """Whether all rows are a lawful class together.

        Those of a part, where fixed columns take a table apart; ``table`` has the histograms of
        the whole table then.
        """
        return self.model.lawful(self.group(np.arange(self.instance.rows)), self.table)

    @property
    def smallest_class(self) -> int:
        """A lower bound on the size of a lawful class."""
        return self.model.smallest_class(self.table)

    @property
    def one_class(self) -> bool:
        """Whether all rows are in one class in every lawful release: they are too few for two."""
        return 0 < self.instance.rows < 2 * self.smallest_class
