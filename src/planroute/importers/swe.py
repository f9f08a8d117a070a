"""Trajectories of software agents: the forms of mini-swe-agent and of SWE-agent."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from planroute.errors import InputError
from planroute.importers.prose import listed_plans
from planroute.importers.trajectory import (
    Action,
    DeclaredPlan,
    Trajectory,
    excerpt,
    mapping,
    plan_of,
    sequence,
    text_of,
)

_BLOCK = re.compile(r"```[\w-]*bash[\w-]*\n(?P<command>.*?)\n```", re.DOTALL)
_RETURN = re.compile(r"<returncode>(?P<code>-?\d{1,9})</returncode>")
_NOT_RUN = re.compile(
    r"command not found|syntax error|timed out|your proposed edit has introduced|exactly one action|format error",
    re.IGNORECASE,
)
_UNKNOWN_COMMAND = {126, 127}


def mini_swe_agent(document: Any, name: str) -> list[Trajectory]:
    """Read mini-swe-agent's record ``{info, messages, …}`` or its bare list of messages."""
    info: Mapping[str, Any] = {}
    identity, messages = name, document
    if isinstance(document, Mapping):
        info = mapping(document.get("info"), f"{name}: info")
        identity = str(document.get("instance_id") or name)
        messages = document.get("messages")
    plans: list[DeclaredPlan] = []
    actions: list[Action] = []
    task = ""
    turns = [mapping(turn, f"{name}: message") for turn in sequence(messages, f"{name}: messages")]
    for place, turn in enumerate(turns):
        said = text_of(turn.get("content"))
        if turn.get("role") == "user" and not task:
            task = said
            plans += _plans(said, instructed=True)
        elif turn.get("role") == "assistant":
            plans += _plans(said, before=len(actions))
            answer = text_of(turns[place + 1].get("content")) if place + 1 < len(turns) else ""
            for command in _commands(turn, said):
                actions.append(Action(len(actions), command, excerpt(answer), _ran(answer)))
    failure = str(info.get("exit_status") or "")
    return [
        Trajectory(
            identity,
            "mini-swe-agent",
            _shown(task),
            tuple(plans),
            tuple(actions),
            failure="" if failure.lower() == "submitted" else failure,
        )
    ]


def swe_agent(document: Any, name: str) -> list[Trajectory]:
    """Read SWE-agent's record ``{trajectory, history, info}``; where it has only a history, that one."""
    record = mapping(document, name)
    history = [mapping(turn, f"{name}: history") for turn in sequence(record.get("history"), f"{name}: history")]
    prompts = [text_of(t.get("content")) for t in history if t.get("role") == "user" and not t.get("is_demo")]
    task = prompts[0] if prompts else ""
    steps = record.get("trajectory")
    turns = (
        [_step(mapping(step, f"{name}: step")) for step in sequence(steps, f"{name}: trajectory")]
        if steps is not None
        else _history_steps(history)
    )
    plans = _plans(task, instructed=True)
    actions: list[Action] = []
    for thought, command, answer in turns:
        plans += _plans(thought, before=len(actions))
        if command.strip():
            actions.append(Action(len(actions), command.strip(), excerpt(answer), _ran(answer)))
    info = mapping(record.get("info"), f"{name}: info")
    failure = str(info.get("exit_status") or "")
    return [
        Trajectory(
            name,
            "swe-agent",
            _shown(task),
            tuple(plans),
            tuple(actions),
            failure="" if failure.lower() == "submitted" else failure,
        )
    ]


def verdict_of(report: Any, name: str) -> bool | None:
    """Read SWE-bench's verdict: ``resolved`` of a report, which may stand under the instance's name."""
    found = mapping(report, name)
    if "resolved" not in found and len(found) == 1:
        found = mapping(next(iter(found.values())), name)
    resolved = found.get("resolved")
    if resolved is not None and not isinstance(resolved, bool):
        raise InputError(f"{name}: resolved is neither true nor false")
    return resolved


def _step(step: Mapping[str, Any]) -> tuple[str, str, str]:
    return text_of(step.get("thought")), text_of(step.get("action")), text_of(step.get("observation"))


def _history_steps(history: Sequence[Mapping[str, Any]]) -> list[tuple[str, str, str]]:
    steps = []
    for place, turn in enumerate(history):
        if turn.get("role") == "assistant" and not turn.get("is_demo"):
            answer = text_of(history[place + 1].get("content")) if place + 1 < len(history) else ""
            steps.append((text_of(turn.get("thought") or turn.get("content")), text_of(turn.get("action")), answer))
    return steps


def _plans(said: str, *, instructed: bool = False, before: int = 0) -> list[DeclaredPlan]:
    plans = [plan_of(cue, units, instructed=instructed, before=before) for cue, units in listed_plans(said)]
    if instructed:  # a prompt also lists rules and formats: only what it calls a workflow or steps is a plan
        plans = [plan for plan in plans if re.search(r"workflow|steps|plan", plan.root.text, re.IGNORECASE)]
    return plans


def _commands(turn: Mapping[str, Any], said: str) -> list[str]:
    extra = turn.get("extra")
    noted = extra.get("actions") if isinstance(extra, Mapping) else None
    if isinstance(noted, list):
        return [text_of(action.get("command")) for action in noted if isinstance(action, Mapping)]
    return [match["command"].strip() for match in _BLOCK.finditer(said)]


def _ran(answer: str) -> bool:
    code = _RETURN.search(answer)
    if code:
        return int(code["code"]) not in _UNKNOWN_COMMAND
    return not _NOT_RUN.search(answer[:400])


def _shown(task: str) -> str:
    return task if len(task) <= 4000 else task[:4000] + " […]"
