"""Household text games: ALFWorld's own, and six of the project's own."""

from planroute.domains.alfworld.environment import AlfworldEnvironment, Step
from planroute.domains.alfworld.game_file import Game
from planroute.domains.alfworld.games import find_games

__all__ = ["AlfworldEnvironment", "Game", "Step", "find_games"]
