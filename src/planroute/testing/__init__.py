"""For tests of model adapters: an OpenAI-compatible endpoint on loopback that answers, and breaks, by plan."""

from planroute.testing.endpoint import FaultServer, Told
from planroute.testing.faults import Fate, Faults

__all__ = ["Fate", "FaultServer", "Faults", "Told"]
