"""Who declares: a language model alone, a language model advising code, or nobody (a fixed declaration)."""

from planroute.declarers.fixed import Fixed
from planroute.declarers.hybrid import Hybrid
from planroute.declarers.natural import Natural

__all__ = ["Fixed", "Hybrid", "Natural"]
