"""The fixed declarer: one mode, and the fields that all conditions of a comparison share."""

from dataclasses import dataclass

from planroute.declaration import DEFAULT_BRANCHING, Declaration, forced, type_valid
from planroute.modes import Mode
from planroute.protocols import Context, Domain, State, Task


@dataclass(frozen=True, slots=True)
class Fixed:
    """Declares ``mode`` whatever the task: forced dispatch replaces the declaration and nothing else.

    ``branching`` is the number of candidates where the mode has any.
    """

    mode: Mode
    branching: int = DEFAULT_BRANCHING

    @property
    def name(self) -> str:
        """``fixed``."""
        return "fixed"

    async def declare(self, domain: Domain, task: Task, state: State, context: Context) -> Declaration:
        """Return the type-valid declaration of the mode with the domain's shared fields."""
        declaration = forced(self.mode, domain.shared_fields(task, state))
        return type_valid(declaration, branching=self.branching)
