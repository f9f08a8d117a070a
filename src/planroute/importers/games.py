"""Trajectories of household text games: ADaPT's hierarchical plans and KnowAgent's planning thoughts."""

import ast
import json
import re
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from planroute.errors import InputError
from planroute.importers.prose import thought_plan
from planroute.importers.trajectory import Action, DeclaredPlan, Trajectory, excerpt, mapping, sequence, verdict
from planroute.plan import Logic, PlanUnit

_TASK = re.compile(r"your task is to:\s*(?P<task>.*)", re.IGNORECASE)
_TRIED = re.compile(r"^(?P<text>.*) at depth (?P<depth>\d{1,3}), success: (?P<claim>True|False)$", re.DOTALL)
_SPLIT = re.compile(r"^(?P<units>\[.*\]) at depth (?P<depth>\d{1,3}) and logic (?P<logic>AND|OR)$", re.DOTALL)
_NOT_AN_ACTION = re.compile(r"^(?:think|actionpath)\b", re.IGNORECASE)
NOTHING = "nothing happens"


def adapt(document: Any, name: str) -> list[Trajectory]:
    """Read ADaPT's result file: ``{task_type: {game: {problem, trace, plans, reward}}, overall}``."""
    found = []
    for kind, games in mapping(document, name).items():
        if kind == "overall":
            continue
        for game, episode in mapping(games, f"{name}: {kind}").items():
            found.append(_adapt_episode(game, mapping(episode, f"{name}: {game}"), name))
    return found


def _adapt_episode(game: str, episode: Mapping[str, Any], name: str) -> Trajectory:
    try:
        problem, trace, entries = str(episode["problem"]), str(episode["trace"]), sequence(episode["plans"], "plans")
        reward = verdict(episode["reward"], f"{name}: {game}: reward")
    except KeyError as error:
        raise InputError(f"{name}: {game}: {error} is missing") from None
    turns = list(_turns(trace))
    root, claims = _tree([str(entry) for entry in entries], f"{name}: {game}")
    if not root.children:
        root = _first_thoughts(turns) or root
    return Trajectory(
        game, "adapt", _task(problem), (DeclaredPlan(root),), _actions(turns), success=reward, claims=claims
    )


def knowagent(lines: str, name: str) -> list[Trajectory]:
    """Read KnowAgent's rows ``{name, result, traj}``: the first thoughts are the plan."""
    found = []
    for number, line in enumerate(lines.split("\n"), 1):
        if not line.strip():
            continue
        try:
            row = mapping(json.loads(line), f"{name}: line {number}")
            text, game, result = (
                str(row["traj"]),
                str(row["name"]),
                verdict(row["result"], f"{name}: line {number}: result"),
            )
        except (ValueError, KeyError, RecursionError) as error:
            raise InputError(f"{name}: line {number} is no row of KnowAgent: {error!r}") from None
        turns = list(_turns(text.partition("Your task is to:")[2].partition("\n")[2]))
        plan = _first_thoughts(turns)
        found.append(
            Trajectory(
                f"{game}#{number}",
                "knowagent",
                _task(text),
                (DeclaredPlan(plan),) if plan else (),
                _actions(turns),
                success=result,
            )
        )
    return found


def _task(text: str) -> str:
    match = _TASK.search(text)
    return match["task"].strip() if match else text.strip()[:200]


def _turns(trace: str) -> Iterator[tuple[str, str]]:
    """What was said or done, and what came back. A new part of the log begins with a blank instead of the prompt."""
    said, fresh = "", True
    answer: list[str] = []
    for line in trace.splitlines():
        text = line.removeprefix(">").strip()
        begins = text and (line.startswith("> ") or (fresh and line.startswith(" ")))
        if begins:
            if said:
                yield said, "\n".join(answer)
            said, answer = text, []
        elif text:
            answer.append(text)
        fresh = line.strip() in {"", ">"} and (fresh or line.strip() == ">")
    if said:
        yield said, "\n".join(answer)


def _first_thoughts(turns: list[tuple[str, str]]) -> PlanUnit | None:
    thoughts = []
    for said, _ in turns:
        if said.lower().startswith("actionpath"):
            continue
        if not said.lower().startswith("think:"):
            break
        thoughts.append(said.partition(":")[2].strip())
    return thought_plan(thoughts[0], " ".join(thoughts[1:2])) if thoughts else None


def _actions(turns: list[tuple[str, str]]) -> tuple[Action, ...]:
    done = [(said, answer) for said, answer in turns if not _NOT_AN_ACTION.match(said)]
    return tuple(
        Action(index, said, excerpt(answer), not answer.lower().startswith(NOTHING))
        for index, (said, answer) in enumerate(done)
    )


@dataclass(slots=True)
class _Node:
    id: str
    text: str
    logic: Logic = Logic.AND
    children: list["_Node"] = field(default_factory=list)

    def frozen(self) -> PlanUnit:
        return PlanUnit(self.id, self.text, children=tuple(child.frozen() for child in self.children), logic=self.logic)


def _tree(entries: list[str], where: str) -> tuple[PlanUnit, dict[str, bool]]:
    """Rebuild the plan from its log: an entry names the unit tried, a list names the parts of the one tried last."""
    path: list[_Node] = []
    claims: dict[str, bool] = {}
    for entry in entries:
        split, tried = _SPLIT.match(entry), _TRIED.match(entry)
        if split and path and int(split["depth"]) > 1:
            parent = path[min(int(split["depth"]) - 2, len(path) - 1)]
            units = _texts(split["units"])
            if units is None:
                raise InputError(f"{where}: not a list of units: {entry[:80]}")
            parent.logic = Logic(split["logic"])
            prefix = "" if parent is path[0] else f"{parent.id}."
            parent.children = [_Node(f"{prefix}{n}", text) for n, text in enumerate(units, 1)]
        elif tried and not path:
            path = [_Node("plan", tried["text"])]
            claims["plan"] = tried["claim"] == "True"
        elif tried:
            path = path[: max(int(tried["depth"]) - 1, 1)]
            untold = [c for c in path[-1].children if c.text == tried["text"] and c.id not in claims]
            if not untold:
                raise InputError(f"{where}: tried but never planned: {entry[:80]}")
            claims[untold[0].id] = tried["claim"] == "True"
            path.append(untold[0])
        else:
            raise InputError(f"{where}: not an entry of a plan: {entry[:80]}")
    if not path:
        raise InputError(f"{where}: no plan")
    return path[0].frozen(), claims


def _texts(written: str) -> list[str] | None:
    """Read a Python list of texts; ``None`` where it is anything else."""
    try:
        with warnings.catch_warnings(action="ignore"):
            units = ast.literal_eval(written)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return None
    return units if isinstance(units, list) and all(isinstance(unit, str) for unit in units) else None
