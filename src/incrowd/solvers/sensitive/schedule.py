"""How the engine for sensitive models spends its moves, stage by stage."""

from incrowd.privacy.beta_likeness import BasicBetaLikeness, EnhancedBetaLikeness
from incrowd.privacy.delta_disclosure import DeltaDisclosure
from incrowd.privacy.distinct_diversity import DistinctDiversity
from incrowd.privacy.frequency_diversity import FrequencyDiversity
from incrowd.privacy.k_anonymity import KAnonymity

# candidates by reduced cost (share of the slack) or copies carried, share of the moves, warmth
STAGES = ((-1.0, 0.05, 0.15, 1.0), (0.1, 0.02, 0.15, 0.3), (0.3, 0.02, 0.25, 0.3))
# candidates as above, share of the moves, first and last temperature, first and last toll in cells
SOFT_STAGES = (
    (0.1, 0.02, 0.12, (4.0, 1.5), (15.0, 30.0)),
    (0.3, 0.02, 0.12, (1.5, 0.7), (20.0, 30.0)),
    (1.0, 0.0, 0.16, (1.0, 0.3), (25.0, 80.0)),
)
SOFT_REST = 0.4  # share of the moves that mend the last of them
# The same where prices by size have settled more beforehand: less heat, the last stage over more
# candidates and longer, for the law comes dear to it; what is then left to mend is little where
# classes are large.
SIZED_STAGES = (
    (0.06, 0.02, 0.12, (1.6, 0.6), (15.0, 30.0)),
    (0.18, 0.02, 0.12, (0.6, 0.28), (20.0, 30.0)),
    (1.0, 0.0, 0.5, (0.4, 0.12), (25.0, 80.0)),
)
SIZED_REST = 0.25
# Models whose prices ask for lawful classes exactly; and those that bound each value's share by its
# share of the table, of which hardly a class stays lawful when what others may not hold is trimmed.
EASED = (
    KAnonymity, DistinctDiversity, FrequencyDiversity, BasicBetaLikeness, EnhancedBetaLikeness,
    DeltaDisclosure,
)  # fmt: skip
SMALL, SMALL_EFFORT = 6, 2.5  # smaller classes take half the time: so many times the moves then
LARGE = 50  # rows of a smallest class, beyond which lawful moves are fewer: each does more
REST = 0.45  # share of the moves over all candidates
PRICING = 0.4  # share of a time limit that prices may use
CHARGING = 0.5  # likewise prices with charges, which prove much in little time
COOL = 0.3  # warmth of every search that starts from the result of another
# where a few large classes hold all rows: how warm, and which patterns may be above their prices
HOST_WARMTH = 0.02
HOST_REACH = 0.3  # in cells a row
