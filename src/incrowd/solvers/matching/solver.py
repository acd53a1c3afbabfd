"""The solver values: simplex matching for 2-anonymity, and for 2-diversity."""

from dataclasses import dataclass, field

import numpy as np

from incrowd.bounds.odd_sets.symmetric import symmetric
from incrowd.hierarchy.family import no_widest
from incrowd.kernels.interpreted import of_few
from incrowd.privacy.pricing import DISTINCT
from incrowd.problem.problem import Problem
from incrowd.solvers.base import Context, Outcome, Scope
from incrowd.solvers.exact.subset_dp import SubsetDP
from incrowd.solvers.matching.pipeline import Effort, match
from incrowd.solvers.matching.reduction import any_groups, two_anonymous, two_diverse

# pairs of distinct rows × columns up to which interpreting kernels takes less than loading compiled
# ones: .4 CPU s; a hundred rows of ten columns
FEW = 100_000
POLYNOMIAL = "polynomial time in the worst case, by exchange of triples, while they fit into memory"


@dataclass(frozen=True, kw_only=True)
class SimplexMatching:
    """Proven optimum for k = 2: minimum-cost matching of rows into pairs and triples.

    Serves suppression, column weights and hierarchies: all costs that grow with the class and
    obey cost(u, v) ≤ cost(u, a) + cost(a, v), which all trees with free leaves do.

    ``effort``: how much the fast steps may do before the polynomial algorithm takes over.
    """

    effort: Effort = field(default_factory=Effort)

    id = "simplex-matching"
    guarantee = "exact"
    scope = Scope(models=("2-anonymity",), time=POLYNOMIAL)
    source = (
        "Blocki and Williams 2010, Theorems 1 and 8; Anshelevich and Karagiozova 2011 (simplex "
        "matching); odd-set cuts after Edmonds 1965"
    )

    def refuse(self, problem: Problem) -> str | None:
        """Refuse every model but 2-anonymity."""
        if not problem.model.size_decides or problem.smallest_class != 2:
            return "it serves 2-anonymity alone; use engine, or subset-dp for small tables"
        return no_widest(problem.instance.trees, "a matching")

    def run(self, problem: Problem, context: Context) -> Outcome:
        """Match; bound = cost exactly when that is proven in integers."""
        return of_few(few(problem), lambda: self.matched(problem, context))

    def matched(self, problem: Problem, context: Context) -> Outcome:
        """Do that."""
        instance = problem.instance
        nodes = two_anonymous(instance, context.seed, context.stop)
        matching = match(nodes, any_groups(nodes), context, self.effort)
        certificate = matching.certificate
        price = np.zeros(instance.rows, np.int64)
        price[nodes.copy] = certificate.price
        sets = [
            (nodes.copy[odd_set], int(weight))
            for odd_set, weight in zip(certificate.odd_sets, certificate.weight, strict=True)
        ]
        prices = symmetric(instance, price, sets, certificate.unit)
        solution = nodes.solution(matching.groups)
        return Outcome(solution, matching.bound, matching.ended, prices)


@dataclass(frozen=True, kw_only=True)
class TwoDiversity:
    """Proven optimum for frequency 2-diversity in one sensitive attribute.

    Disjoint 2-diversity is NP-hard, with one sensitive attribute (explanation, Lemma 8) as with
    three (Blocki and Williams 2010, Theorem 6): small tables go to the subset program, larger
    ones are refused.
    """

    effort: Effort = field(default_factory=Effort)

    id = "two-diversity"
    guarantee = "exact"
    scope = Scope(
        models=(
            "frequency 2-diversity of one sensitive attribute",
            "disjoint or distinct 2-diversity (small tables)",
        ),
        time=f"{POLYNOMIAL} (frequency 2-diversity)",
    )
    source = "Liang and Yuan 2012, Lemma 2 and Theorem 11"

    def refuse(self, problem: Problem) -> str | None:
        """Refuse other models, several attributes, and large NP-hard cases."""
        if frequency_attribute(problem) is not None:
            return no_widest(problem.instance.trees, "a matching")
        if asks_for_two(problem):
            reason = SubsetDP().refuse(problem)
            if reason is None:
                return None
            return f"{problem.asked} is NP-hard, so only small tables are solved exactly: {reason}"
        return (
            "it serves frequency 2-diversity of one sensitive attribute, and disjoint or distinct "
            "2-diversity of small tables; use engine"
        )

    def run(self, problem: Problem, context: Context) -> Outcome:
        """Match rows of different sensitive values; bound = cost exactly when that is proven."""
        attribute = frequency_attribute(problem)
        if attribute is None:
            return SubsetDP().run(problem, context)

        return of_few(few(problem), lambda: self.matched(problem, attribute, context))

    def matched(self, problem: Problem, attribute: int, context: Context) -> Outcome:
        """Match rows that differ in a sensitive attribute."""
        nodes = two_diverse(problem.instance, attribute)
        matching = match(nodes, any_groups(nodes), context, self.effort)
        return Outcome(nodes.solution(matching.groups), matching.bound, matching.ended)


def few(problem: Problem) -> bool:
    """Whether the table is so small that its kernels are interpreted; the result is the same."""
    return problem.instance.distinct**2 * problem.instance.columns <= FEW


def frequency_attribute(problem: Problem) -> int | None:
    """The sensitive attribute in which the model asks for frequency 2-diversity, and nothing else.

    2-anonymity beside it changes nothing: no value fills half of a class of one row.
    """
    laws = problem.model.linear(problem.table)
    if laws is None or laws.k > 2 or laws.distinct or laws.closeness or laws.recursive:
        return None
    found = set(laws.frequency)
    return found.pop()[1] if len(found) == 1 and laws.frequency[0][0] == 2 else None


def asks_for_two(problem: Problem) -> bool:
    """Whether two different values, of each attribute that is looked at, are all that is priced."""
    priced = problem.model.pricing(problem.table, 1) if len(problem.model.parts) == 1 else ()
    return bool(priced) and all(one.kind == DISTINCT and one.data[0] == 2 for one in priced)
