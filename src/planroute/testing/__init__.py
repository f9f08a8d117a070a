"""What tests and load runs put in the place of the world outside: an endpoint that fails on purpose."""

from planroute.testing.endpoint import FaultServer
from planroute.testing.fates import Counts, Fate, Shares

__all__ = ["Counts", "Fate", "FaultServer", "Shares"]
