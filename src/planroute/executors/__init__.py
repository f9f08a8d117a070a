"""The executors: one short file for each mode, each the control flow of its paragraph in the paper; and the baselines.

They arrange a world's primitives and know no domain.
"""

from planroute.executors.flat_react import flat_react
from planroute.executors.hierarchical import hierarchical
from planroute.executors.plan_react import plan_react
from planroute.executors.predefined import predefined
from planroute.executors.repeated_react import repeated_react
from planroute.executors.search import search
from planroute.executors.sequential import sequential

__all__ = ["flat_react", "hierarchical", "plan_react", "predefined", "repeated_react", "search", "sequential"]
