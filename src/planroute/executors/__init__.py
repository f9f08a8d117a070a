"""The executors: one short file for each mode, each the control flow of its paragraph in the paper; and two baselines.

They arrange a world's primitives and know no domain.
"""

from planroute.executors.flat_react import flat_react
from planroute.executors.hierarchical import hierarchical
from planroute.executors.plan_react import plan_react
from planroute.executors.predefined import predefined
from planroute.executors.search import search
from planroute.executors.sequential import sequential

__all__ = ["flat_react", "hierarchical", "plan_react", "predefined", "search", "sequential"]
