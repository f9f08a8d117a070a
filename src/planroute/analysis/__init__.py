"""From a run's rows to answers: was the plan kept, is there one best mode, is a declared mode better than luck.

``analyse`` does all of it on the rows of any run of any domain.
"""

from planroute.analysis.analyse import analyse
from planroute.analysis.measure import SUCCESS, Measure, measure_of

__all__ = ["SUCCESS", "Measure", "analyse", "measure_of"]
