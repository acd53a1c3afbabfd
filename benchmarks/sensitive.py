"""Stars, certified bounds and CPU seconds of the engine for sensitive models on adult.

    python benchmarks/sensitive.py DATA [CASE ...]

DATA is a folder with adult.csv.  The sensitive attribute is occupation, at last education, and the
other eight columns are the quasi-identifiers.  The metric counts the steps between degrees, and
five more between those without and with a graduation.  Each line is one run with the default
schedule; every class is checked by the exact definition of its model.  Memory is the most that the
process has had.
"""

import csv
import resource
import sys
import time
from pathlib import Path

import numpy as np

from incrowd.driver.solve import solve
from incrowd.privacy.alpha_k import AlphaK
from incrowd.privacy.beta_likeness import BasicBetaLikeness, EnhancedBetaLikeness
from incrowd.privacy.delta_disclosure import DeltaDisclosure
from incrowd.privacy.distinct_diversity import DistinctDiversity
from incrowd.privacy.entropy_diversity import EntropyDiversity
from incrowd.privacy.frequency_diversity import FrequencyDiversity
from incrowd.privacy.k_anonymity import KAnonymity
from incrowd.privacy.metric import Metric
from incrowd.privacy.model import Model
from incrowd.privacy.ordered import Ordered
from incrowd.privacy.recursive_diversity import RecursiveDiversity
from incrowd.privacy.t_closeness import TCloseness
from incrowd.problem.instance import Instance, from_codes
from incrowd.problem.problem import Problem

CASES: dict[str, Model] = {
    "distinct-2": DistinctDiversity(2),
    "distinct-3": DistinctDiversity(3),
    "distinct-5": DistinctDiversity(5),
    "distinct-2-k5": DistinctDiversity(2) & KAnonymity(5),
    "distinct-3-k5": DistinctDiversity(3) & KAnonymity(5),
    "frequency-3": FrequencyDiversity(3),
    "frequency-5": FrequencyDiversity(5),
    "entropy-2-k5": EntropyDiversity(2) & KAnonymity(5),
    "entropy-3-k5": EntropyDiversity(3) & KAnonymity(5),
    "t-0.1-k5": TCloseness("0.1") & KAnonymity(5),
    "t-0.2-k5": TCloseness("0.2") & KAnonymity(5),
    "t-0.3-k5": TCloseness("0.3") & KAnonymity(5),
    "t-0.5-k5": TCloseness("0.5") & KAnonymity(5),
    "alpha-0.4-k5": AlphaK("0.4", 5),
    "distinct-2-t-0.3-k5": DistinctDiversity(2) & TCloseness("0.3") & KAnonymity(5),
    "recursive-2-2-k5": RecursiveDiversity(2, 2) & KAnonymity(5),
    "alpha-0.4-distinct-3-k5": AlphaK("0.4", 5) & DistinctDiversity(3),
    "delta-2-k5": DeltaDisclosure(2) & KAnonymity(5),
    "beta-1-k5": EnhancedBetaLikeness(1) & KAnonymity(5),
    "beta-4-k5": EnhancedBetaLikeness(4) & KAnonymity(5),
    "basic-beta-2-k5": BasicBetaLikeness(2) & KAnonymity(5),
}
EDUCATION = [  # from least to most
    "Preschool", "1st-4th", "5th-6th", "7th-8th",
    "9th", "10th", "11th", "12th",
    "HS-grad", "Some-college", "Assoc-voc", "Assoc-acdm",
    "Bachelors", "Masters", "Prof-school", "Doctorate",
]  # fmt: skip
ORDER = tuple(sorted(EDUCATION).index(name) for name in EDUCATION)  # codes go by the alphabet
PLACE = np.argsort(ORDER)[:, None]
HS_GRAD = EDUCATION.index("HS-grad")
GRADUATE = PLACE >= HS_GRAD
APART = Metric.of((abs(PLACE - PLACE.T) + 5 * (GRADUATE ^ GRADUATE.T)).tolist())
BY_EDUCATION: dict[str, Model] = {
    "education-0.2": TCloseness("0.2", Ordered(ORDER)) & KAnonymity(5),
    "education-metric-0.2": TCloseness("0.2", APART) & KAnonymity(5),
}


def adult(data: Path, sensitive: str) -> Instance:
    """Read adult with one column as the sensitive attribute."""
    with (data / "adult.csv").open(encoding="utf-8") as file:
        header, *rows = csv.reader(file, delimiter=";")
    columns = {name: [row[j] for row in rows] for j, name in enumerate(header)}
    codes = {name: np.unique(cells, return_inverse=True)[1] for name, cells in columns.items()}
    qi = np.column_stack([codes[name] for name in header if name != sensitive])
    return from_codes(qi, None, codes[sensitive])[0]


def main() -> None:
    """Run the cases named, or all."""
    data, *names = sys.argv[1:]
    print("case                      stars    bound    gap   CPU s  GB so far")
    for name in names or [*CASES, *BY_EDUCATION]:
        instance = adult(Path(data), "occupation" if name in CASES else "education")
        model = (CASES | BY_EDUCATION)[name]
        begun = time.process_time()
        solved = solve(Problem(instance, model), "engine")
        seconds = time.process_time() - begun
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
        print(
            f"{name:<23} {solved.cost:>7} {solved.bound:>8} {solved.gap:>6.1%} {seconds:>7.0f} "
            f"{peak:>10.2f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
