"""Intervals, tests and measures of association on finished tables: thin names over scipy and statsmodels.

Two rules hold throughout. What is malformed (a value that is not finite, lengths that differ, a level outside 0 to 1)
is an ``InputError``. What is well formed but cannot be answered (no rows, one row, no spread) is a result whose fields
are ``None``; each function says which.

Every result is frozen and has ``to_dict()``, plain JSON without NaN. Every procedure that draws takes ``name`` and
``seed`` and draws from the stream of that name, over sorted rows: equal tables give equal results in any order of rows.

Percentile bootstraps are narrow in small samples: of nominal 95 % intervals for the mean of normal values, about 84 %
cover at n = 5, 91 % at 10, 93 % at 30 and 94 % at 100. Where values are few and roughly normal, ``t_interval`` and
``paired_t`` are right.

Sources: cyber-physical paper, sections IV and V; Planning-as-Routing, appendix K (Holm) and section 4 (nested seeds).
"""

from planroute.statistics.association import Association, StatePermutation, cramers_v, state_permutation
from planroute.statistics.attempts import Better, expected_best, expected_best_of, fallback
from planroute.statistics.correlation import Correlation, correlation
from planroute.statistics.entropy import Entropy, normalised_entropy
from planroute.statistics.gap import (
    GapClosed,
    OracleShares,
    gap_closed,
    oracle_shares,
    paired_regret,
    share_of_gap_closed,
)
from planroute.statistics.headroom import Headroom, headroom
from planroute.statistics.intervals import (
    ClusterInterval,
    Interval,
    bootstrap_interval,
    cluster_bootstrap,
    t_interval,
    wilson,
)
from planroute.statistics.multiple import holm
from planroute.statistics.paired import PairedBootstrap, PairedT, paired_bootstrap, paired_t
from planroute.statistics.quantiles import Quantile, latency_quantiles
from planroute.statistics.rollouts import AdvantageSplit, split_advantage
from planroute.statistics.task_blind import TaskBlind, task_blind
from planroute.statistics.trend import Slope, Trend, logistic_trend, slope

__all__ = [
    "AdvantageSplit",
    "Association",
    "Better",
    "ClusterInterval",
    "Correlation",
    "Entropy",
    "GapClosed",
    "Headroom",
    "Interval",
    "OracleShares",
    "PairedBootstrap",
    "PairedT",
    "Quantile",
    "Slope",
    "StatePermutation",
    "TaskBlind",
    "Trend",
    "bootstrap_interval",
    "cluster_bootstrap",
    "correlation",
    "cramers_v",
    "expected_best",
    "expected_best_of",
    "fallback",
    "gap_closed",
    "headroom",
    "holm",
    "latency_quantiles",
    "logistic_trend",
    "normalised_entropy",
    "oracle_shares",
    "paired_bootstrap",
    "paired_regret",
    "paired_t",
    "share_of_gap_closed",
    "slope",
    "split_advantage",
    "state_permutation",
    "t_interval",
    "task_blind",
    "wilson",
]
