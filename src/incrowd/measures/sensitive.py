"""What the least private class attains of each model on one sensitive attribute."""

from collections.abc import Sequence

import numpy as np

from incrowd.measures.figures import SensitiveFigures
from incrowd.privacy.alpha_k import AlphaK
from incrowd.privacy.beta_likeness import BasicBetaLikeness, EnhancedBetaLikeness
from incrowd.privacy.classes import Classes, Histograms
from incrowd.privacy.delta_disclosure import DeltaDisclosure
from incrowd.privacy.disjoint_diversity import DisjointDiversity
from incrowd.privacy.distance import Equal, Hierarchical
from incrowd.privacy.distinct_diversity import DistinctDiversity
from incrowd.privacy.entropy_diversity import EntropyDiversity
from incrowd.privacy.frequency_diversity import FrequencyDiversity
from incrowd.privacy.metric import Metric
from incrowd.privacy.ordered import Ordered
from incrowd.privacy.recursive_diversity import RecursiveDiversity

CHEAP = 2_000_000
"""Pairs of rows that may be compared to find the disjoint l."""


def sensitive_figures(
    name: str,
    missing: int,
    classes: Histograms,
    recursive: Sequence[int],
    ordered: Ordered | None = None,
    hierarchical: Hierarchical | None = None,
    metric: Metric | None = None,
) -> SensitiveFigures:
    """Evaluate every model on one attribute; thresholds given to the models here do not matter."""
    return SensitiveFigures(
        name=name,
        values=int((classes.table > 0).sum()),
        missing=missing,
        distinct_l=DistinctDiversity(1).worst(classes),
        frequency_l=FrequencyDiversity(1).worst(classes),
        entropy_l=EntropyDiversity(1).worst(classes),
        recursive_c={rank: RecursiveDiversity(1, rank).worst(classes) for rank in recursive},
        alpha=AlphaK(1).worst(classes),
        t_equal=Equal().farthest(classes),
        t_ordered=None if ordered is None else ordered.farthest(classes),
        t_hierarchical=None if hierarchical is None else hierarchical.farthest(classes),
        t_metric=None if metric is None else metric.farthest(classes),
        beta=BasicBetaLikeness(0).worst(classes),
        enhanced_beta=EnhancedBetaLikeness(0).worst(classes),
        delta=DeltaDisclosure(1).worst(classes),
    )


def disjoint_l(classes: Classes) -> int | None:
    """Return the largest l of disjoint l-diversity over all attributes, None where that is dear.

    One attribute: the distinct l.  Several: l rises while all classes obey; a class of n rows
    costs about n² comparisons at each l that its counts do not settle.
    """
    most = min(int(h.distinct.min()) for h in classes.histograms)
    if len(classes.histograms) == 1 or most == 1:
        return most
    ruled_out = np.sum([h.largest for h in classes.histograms], axis=0)
    for l in range(2, most + 1):  # noqa: E741
        open_sizes = classes.sizes[classes.sizes <= (l - 1) * ruled_out]
        if int((open_sizes.astype(float) ** 2).sum()) * (l - 1) > CHEAP:
            return None
        if not DisjointDiversity(l).lawful_classes(classes).all():
            return l - 1
    return most
