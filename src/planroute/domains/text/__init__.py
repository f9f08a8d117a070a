"""What text domains share: a world whose primitives are questions to a language model, over any environment."""

from planroute.domains.text.environment import Environment, Match, Turn
from planroute.domains.text.fields import TextFields
from planroute.domains.text.world import Limits, TextTask, TextWorld

__all__ = ["Environment", "Limits", "Match", "TextFields", "TextTask", "TextWorld", "Turn"]
