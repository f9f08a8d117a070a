"""The executors: one short file for each mode, each the control flow of its paragraph in the paper.

They arrange a world's primitives and know no domain.
"""

from planroute.executors.hierarchical import hierarchical
from planroute.executors.predefined import predefined
from planroute.executors.search import search
from planroute.executors.sequential import sequential

__all__ = ["hierarchical", "predefined", "search", "sequential"]
