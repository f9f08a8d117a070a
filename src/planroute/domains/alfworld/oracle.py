"""The oracle: what the game's own planner would do. It sees the hidden state, so it is for tests and ceilings only.

Planning takes milliseconds to some seconds, and is done only when asked for.
"""

from planroute.domains.alfworld.environment import AlfworldEnvironment
from planroute.domains.alfworld.game_file import Game
from planroute.errors import DomainError


def oracle_actions(game: Game) -> tuple[str, ...]:
    """Return the planner's actions from the start of ``game`` to its goal. Raises `DomainError` if it finds none."""
    with AlfworldEnvironment(game) as environment:
        environment.reset()
        actions = environment.engine.plan()
        if not actions and not environment.won:
            raise DomainError(f"game {game.id}: the planner finds no way to the goal")
    return actions


def next_oracle_action(environment: AlfworldEnvironment) -> str | None:
    """Return the planner's next action from the present state, planned anew; ``None`` where there is none to do."""
    actions = environment.engine.plan()
    return actions[0] if actions else None
