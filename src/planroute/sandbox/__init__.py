"""Where commands run that a model wrote: in a jail on this machine or in a container, never outside of one."""

from planroute.sandbox.choice import choose, problems
from planroute.sandbox.docker import Docker
from planroute.sandbox.jail import Jail
from planroute.sandbox.sandbox import WORK, Bounds, Box, Ended, Ran, Room, Sandbox

__all__ = ["WORK", "Bounds", "Box", "Docker", "Ended", "Jail", "Ran", "Room", "Sandbox", "choose", "problems"]
