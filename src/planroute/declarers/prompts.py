"""The words with which a declaration is asked for. Their text is part of a call's identity."""

from typing import Final

MODES: Final = """\
Planning modes:
- PREDEFINED: make the whole plan once and carry it out unchanged. Cheap; blind to what happens on the way.
- SEQUENTIAL: carry out one step, look at what happened, and remake the rest. Follows events; plans often.
- HIERARCHICAL: cut the task into subgoals by depth levels and let a worker plan each. Orders large tasks; slow.
- SEARCH: make several complete plans (branching), try each in a forecast, and take the best. Compares; costs more."""

NATURAL: Final = """\
{briefing}

{modes}

Choose how to plan and answer in JSON. depth counts only for HIERARCHICAL (2 or 3), branching only for SEARCH \
(2 to 4), replanning is EVERY_STEP for SEQUENTIAL and NONE otherwise."""

RANKED: Final = (
    NATURAL + """ Also rank all four modes for this task, best first, in ranking; mode is the first of it."""
)

FEW_SHOT: Final = (
    NATURAL
    + """

Earlier tasks, each with the mode that solved it. They illustrate the modes; any mode may be right for the new task.
{examples}"""
)

DEMONSTRATION: Final = "- {task}: {mode}"

HYBRID: Final = """\
{briefing}

{modes}

Code has scored the modes from the state. You may shift each score by -0.30 to 0.30. Code then samples the mode from \
the shifted scores; you do not choose it. Answer in JSON with a shift for each mode and one short reason."""

STATE: Final = """\
State: {state}"""

STATE_AND_SCORES: Final = """\
State: {state}
Scores: {scores}"""
