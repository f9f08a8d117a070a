"""Banks of calibrated grid episodes with the seeds as an axis: the lines of the one-by-one path, many times as fast.

``streams`` and ``draws`` give every seed the numbers of its named streams, ``batch`` and ``course`` carry a day out,
``modes`` holds the control flow of the four modes, ``figures`` the metrics, ``table`` the lines, ``bank`` the file.
"""

from planroute.batched.bank import Filled, count, fill
from planroute.batched.table import Episodes, table

__all__ = ["Episodes", "Filled", "count", "fill", "table"]
