"""Who declares: a language model alone, with examples, or by ranking; a model advising code; or nobody (fixed)."""

from planroute.declarers.bounded import Bounded
from planroute.declarers.few_shot import Demonstration, FewShot, demonstrations
from planroute.declarers.fixed import Fixed
from planroute.declarers.hybrid import Hybrid
from planroute.declarers.natural import Natural
from planroute.declarers.ranked import Ranked

__all__ = ["Bounded", "Demonstration", "FewShot", "Fixed", "Hybrid", "Natural", "Ranked", "demonstrations"]
