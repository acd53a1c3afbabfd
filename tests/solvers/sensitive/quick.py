"""The engine with schedules for tables of a few rows."""

from incrowd.bounds.lawful_price import LawfulPriceBound
from incrowd.bounds.lawful_shares import LawfulShares
from incrowd.bounds.price import PriceBound
from incrowd.solvers.sensitive.anneal import LawfulAnnealing
from incrowd.solvers.sensitive.engine import SensitiveEngine

QUICK = SensitiveEngine(
    prices=LawfulPriceBound(rounds=3, iterations=30, pairs=100_000, patterns=10_000),
    by_size=LawfulPriceBound(rounds=1, iterations=20, pairs=100_000, patterns=10_000),
    k_prices=PriceBound(rounds=2, iterations=20, pairs=100_000, patterns=10_000),
    shares=LawfulShares(iterations=30, pairs=100_000, patterns=10_000),
    annealing=LawfulAnnealing(moves=60),
)
