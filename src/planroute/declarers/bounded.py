"""A declarer within the limits of a comparison: what it declares beyond them is clipped, and the clip recorded."""

from dataclasses import dataclass, replace

from planroute.declaration import Clip, Declaration
from planroute.protocols import Context, Declarer, Domain, State, Task


@dataclass(frozen=True, slots=True)
class Bounded:
    """Declares as ``declarer`` does, with at most ``branching`` candidates."""

    declarer: Declarer
    branching: int

    @property
    def name(self) -> str:
        """The declarer's own."""
        return self.declarer.name

    async def declare(self, domain: Domain, task: Task, state: State, context: Context) -> Declaration:
        """Return what is declared, its branching clipped to the limit."""
        declared = await self.declarer.declare(domain, task, state, context)
        if declared.branching <= self.branching:
            return declared
        clip = Clip("branching", declared.branching, self.branching)
        return replace(declared, branching=self.branching, clips=(*declared.clips, clip))
