"""The page of a text domain's run: verdict, success and cost, one trajectory at a time, declarations, provenance."""

import dataclasses
import sys
from collections.abc import Mapping, Sequence
from typing import Any
from zlib import crc32

from planroute.reporting import sections, text_table, text_verdict
from planroute.reporting.page import Page, Section
from planroute.reporting.reading import Cell, Row, Run
from planroute.reporting.text_view import Packer, View, name_of, view
from planroute.reporting.wording import counted, listed

LIMIT = 860_000
"""Characters of trajectories that a page may carry."""
INTERVALS = (
    "Intervals are percentile bootstrap over tasks, which keeps the seeds of a task together. Two intervals that "
    "overlap do not show that two conditions are equal, nor does a gap between few tasks show that they differ."
)
COUNTS = (
    "Interactions count every action on an environment, those of a search’s rollouts included. A budget of calls, "
    "tokens or actions is the same for every condition."
)
MOST_NAMES = 240
"""Characters of the names of the episodes that share a declaration."""
BOUNDS = {
    "judge": "judge of rollouts",
    "limits": "limits of an episode",
    "sampling": "sampling",
    "prompts": "version of the prompts",
    "form": "form of a question about a page",
    "view": "how pages are shown",
}
"""What the facts of a task may say about how every episode of it was run."""

Key = tuple[str, str, int]


@dataclasses.dataclass(frozen=True, slots=True)
class Kept:
    """The trajectories that the page carries."""

    views: Sequence[tuple[Cell, View]]
    packed: Sequence[Any]
    strings: Sequence[str]
    note: str


def page(run: Run) -> Page:
    """Compose the page. Raises ``InputError`` where a trace of the run is damaged."""
    outcomes = text_verdict.successes(run)
    kept = _keep(run, outcomes)
    names = text_verdict.ordered(run)
    return Page(
        title="Planning modes on text tasks",
        sentence=text_verdict.sentence(run),
        cautions=text_verdict.cautions(run),
        figures=text_table.figures(run),
        sections=(
            _results(run, outcomes, names),
            _trajectories(run, outcomes, names, kept),
            _declared(run),
            _made(run),
        ),
        data=_data(run, outcomes, names, kept),
    )


def _results(run: Run, outcomes: Mapping[Key, bool | None], names: Sequence[str]) -> Section:
    tasks, seeds = len({row.task for row in run.rows}), len({row.seed for row in run.rows})
    found = text_verdict.scores(run)
    values = {
        "rows": text_table.rows(found),
        "steps": [text_verdict.STEPS[key] for key in text_table.step_columns(found)],
        "scale": text_table.scale_drawing(),
        "heat": text_table.heat(run, outcomes, names),
        "names": names,
        "size": f"{counted(tasks, 'task')}, {counted(seeds, 'seed')}, {counted(len(run.rows), 'episode')}",
        "models": listed(run.models()),
    }
    return Section("results", "Success and cost", "text_results.html.j2", values)


def _key(cell: Cell) -> Key:
    return cell.row.condition, cell.row.task, cell.row.seed


def _keep(run: Run, outcomes: Mapping[Key, bool | None]) -> Kept:
    """All trajectories where they fit, else every failed one first and a fixed sample of the others."""
    failed = [cell for cell in run.cells if outcomes[_key(cell)] is False]
    others = [cell for cell in run.cells if outcomes[_key(cell)] is not False]
    blamed = text_verdict.attributions(run)
    packer = Packer()
    packed: dict[Key, Any] = {}
    views: dict[Key, View] = {}
    for cell in (*failed[:1], *_sampled(failed[1:]), *_sampled(others)):
        shown = view(cell, outcomes[_key(cell)], blamed.get(_key(cell), ""))
        leaves = packer.pack(shown.leaves(), LIMIT if packed else sys.maxsize)
        if leaves is None:
            break
        packed[_key(cell)], views[_key(cell)] = leaves, shown
    cells = [cell for cell in run.cells if _key(cell) in packed]
    note = ""
    if len(cells) < len(run.cells):
        held = sum(_key(cell) in packed for cell in failed)
        whole = "all" if held == len(failed) else f"{held:,} of"
        note = (
            f"This page holds {len(cells):,} of {len(run.cells):,} trajectories: {whole} {len(failed):,} that failed "
            "and a fixed sample of the others. The rest are in the cells of the run."
        )
    return Kept([(c, views[_key(c)]) for c in cells], [packed[_key(c)] for c in cells], packer.strings, note)


def _sampled(cells: Sequence[Cell]) -> list[Cell]:
    """The cells in an order that depends on their names only."""
    return sorted(cells, key=lambda cell: (crc32(repr(_key(cell)).encode("utf-8", "replace")), _key(cell)))


def _trajectories(run: Run, outcomes: Mapping[Key, bool | None], names: Sequence[str], kept: Kept) -> Section:
    first = next((place for place, (_, shown) in enumerate(kept.views) if shown.outcome == "failure"), 0)
    cell, shown = kept.views[first]
    places = {_key(c): place for place, (c, _) in enumerate(kept.views)}
    goals = _goals(run)
    values = {
        "view": shown,
        "name": name_of(cell.row),
        "goal": goals.get(cell.row.task, ""),
        "shown": cell.row,
        "place": first,
        "names": names,
        "tasks": list(dict.fromkeys(row.task for row in run.rows)),
        "seeds": list(dict.fromkeys(row.seed for row in run.rows)),
        "marks": text_table.marks(run, outcomes, names, places),
        "failed": sum(v.outcome == "failure" for _, v in kept.views),
        "note": kept.note,
    }
    return Section("trajectories", "Plan and deed, episode by episode", "text_course.html.j2", values)


def _goals(run: Run) -> dict[str, str]:
    given = {task: facts.get("goal") for task, facts in run.manifest.facts.items()}
    return {task: goal for task, goal in given.items() if isinstance(goal, str)}


def _data(run: Run, outcomes: Mapping[Key, bool | None], names: Sequence[str], kept: Kept) -> dict[str, Any]:
    tasks = list(dict.fromkeys(row.task for row in run.rows))
    seeds = list(dict.fromkeys(row.seed for row in run.rows))
    goals = _goals(run)
    return {
        "names": [name_of(cell.row) for cell, _ in kept.views],
        "goals": [goals.get(task, "") for task in tasks],
        "keys": [
            [tasks.index(c.row.task), names.index(c.row.condition), seeds.index(c.row.seed)] for c, _ in kept.views
        ],
        "strings": list(kept.strings),
        "episodes": list(kept.packed),
    }


def _declared(run: Run) -> Section:
    """The common section, with declared plans in words and without messages: those stand in the trajectories."""
    cells = [dataclasses.replace(cell, row=_worded(cell.row), events=_silent(cell)) for cell in run.cells]
    common = sections.declared(dataclasses.replace(run, cells=cells))
    cards = {
        name: [dataclasses.replace(card, cases=_shortened(card.cases)) for card in common.values[name]]
        for name in ("cards", "forced")
    }
    return dataclasses.replace(common, values={**common.values, **cards, "evaluations": 0})


def _shortened(names: str) -> str:
    """Names of episodes, without what is beyond a few lines."""
    return names if len(names) <= MOST_NAMES else f"{names[:MOST_NAMES].rpartition(', ')[0]} and others"


def _silent(cell: Cell) -> list[Mapping[str, Any]]:
    """The events of an episode without what its environment showed."""
    return [event for event in cell.events if event.get("kind") != "observed"]


def _worded(row: Row) -> Row:
    """The row with its declared plan as one line of text; a plan that was not declared is left out."""
    declared = row.declaration
    if declared is None or "plan" not in declared.fields:
        return row
    plan, more = declared.fields["plan"], {k: v for k, v in declared.fields.items() if k != "plan"}
    parts = plan if isinstance(plan, list) else [plan]
    written = " | ".join(filter(None, map(_part, parts)))
    fields = {**more, "plan:": written} if written else more
    return row.model_copy(update={"declaration": declared.model_copy(update={"fields": fields})})


def _part(part: Any) -> str:
    if not isinstance(part, Mapping):
        return str(part)
    steps, title = part.get("steps"), part.get("title")
    listed_ = steps if isinstance(steps, list) else []
    words = "; ".join(f"{place}. {step}" for place, step in enumerate(listed_, 1))
    return f"{title}: {words}" if title else words


def _made(run: Run) -> Section:
    """The common section, with what bounds every episode in words; once where all tasks share it."""
    common = sections.how_made(run, [INTERVALS, COUNTS], [])
    config = run.manifest.config
    words = {name.replace("_", " "): _written(value) for name, value in config.items()}
    if "judge_model" in config and config["judge_model"] is None:
        words["judge model"] = "none of its own: the language model judges itself"
    facts = [(name, words.get(name, text) if name != "conditions" else text) for name, text in common.values["facts"]]
    if not any(name in config for name in ("budget", "most_calls", "most_tokens")):
        facts.append(("budget of calls and tokens", "not recorded"))
    for name, what in BOUNDS.items():
        found = {_written(given.get(name)) for given in run.manifest.facts.values() if given.get(name) is not None}
        if found:
            facts.append((what, "; ".join(sorted(found))))
    return dataclasses.replace(common, values={**common.values, "facts": facts})


def _written(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{str(key).replace('_', ' ')} {_written(inner)}" for key, inner in value.items())
    if isinstance(value, list):
        return listed([_written(item) for item in value]) or "none"
    return "not set" if value is None else str(value)
