"""Success with intervals and cost by condition, success by type of task, and the outcome of every episode."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from planroute.modes import Baseline
from planroute.reporting.reading import Run
from planroute.reporting.svg import Scale, line, tag, text
from planroute.reporting.text_verdict import STEPS, Score, best, fixed, overlap, points, scores, span, together
from planroute.reporting.wording import css, label, listed, number, percent, prose

Outcomes = Mapping[tuple[str, str, int], bool | None]
WIDTH, HEIGHT, EDGE = 220.0, 22.0, 8.0
SHADES = 5
MOST_MARKS = 600
"""Episodes up to which every single outcome is shown."""


@dataclass(frozen=True, slots=True)
class ScoreRow:
    """One condition in the table."""

    name: str
    rate: str
    counted: str
    drawing: Markup
    interval: str
    costs: Sequence[str]
    process: Sequence[str]
    steps: Sequence[str]
    lacking: str


def step_columns(found: Sequence[Score]) -> list[str]:
    """Which measures of single steps the run has."""
    return [key for key in STEPS if any(score.values[key] is not None for score in found)]


def rows(found: Sequence[Score]) -> list[ScoreRow]:
    """The table's lines."""
    return [_row(score, step_columns(found)) for score in found]


def _row(score: Score, columns: Sequence[str]) -> ScoreRow:
    values = score.values
    calls = [number(values[key], 1) for key in ("interactions", "model_calls")]
    tokens = [number(values[f"tokens_{kind}"]) for kind in ("answer", "thinking", "prompt")]
    lacking = [
        f"{count} {what}" for count, what in ((score.failed, "broke off"), (score.infrastructure, "left out")) if count
    ]
    return ScoreRow(
        name=score.name,
        rate=percent(score.rate),
        counted=f"{number(score.successes)} of {number(score.counted)}" if score.rate is not None else "",
        drawing=interval_drawing(score),
        interval=span(score) or "no interval",
        costs=[*calls, *tokens],
        process=[
            dispatched(score),
            percent(values["plan_order_by_actions"]),
            number(values["adherence"], 2),
            number(values["candidates"], 1),
        ],
        steps=[percent(values[key]) for key in columns],
        lacking=listed(lacking),
    )


def dispatched(score: Score) -> str:
    """The share that was dispatched as declared, marked as true by construction; a baseline dispatches no structure."""
    value = None if score.name in set(Baseline) else score.values["plan_order_faithful"]
    return percent(value) + ("" if value is None else "†")


def interval_drawing(score: Score) -> Markup:
    """The rate as a dot on its interval, on a line from 0 to 100 %; the numbers stand beside it."""
    x = Scale(0.0, 1.0, EDGE, WIDTH - EDGE)
    middle = HEIGHT / 2
    parts = [line(x(mark), 0, x(mark), HEIGHT, "grid") for mark in (0.0, 0.25, 0.5, 0.75, 1.0)]
    parts.append(line(x(0), middle, x(1), middle, "rail"))
    if score.interval is not None:
        low, high = (min(max(end, 0.0), 1.0) for end in score.interval)
        parts.append(line(x(low), middle, x(high), middle, "span"))
        parts += [line(x(end), middle - 5, x(end), middle + 5, "span-end") for end in (low, high)]
    if score.rate is not None:
        parts.append(tag("circle", cx=x(min(max(score.rate, 0.0), 1.0)), cy=middle, r=5.0, class_="point"))
    group = tag("g", *parts, class_=css(score.name))
    return _inline(group, HEIGHT)


def scale_drawing() -> Markup:
    """The labels of the scale that the drawings share."""
    x = Scale(0.0, 1.0, EDGE, WIDTH - EDGE)
    marks = [
        text(x(at), 11, f"{number(100 * at)}", "start" if at == 0 else "end" if at == 1 else "middle", "tick")
        for at in (0.0, 0.5, 1.0)
    ]
    return _inline(tag("g", *marks), 14.0)


def _inline(content: Markup, height: float) -> Markup:
    box = f"0 0 {WIDTH:g} {height:g}"
    return tag("svg", content, viewBox=box, class_="interval", aria_hidden="true", focusable="false")


@dataclass(frozen=True, slots=True)
class Heat:
    """Success of one condition on one type of task."""

    share: str
    count: str
    shade: str


def heat(run: Run, outcomes: Outcomes, names: Sequence[str]) -> list[tuple[str, int, list[Heat]]]:
    """Success by type of task, with the number of tasks of each; empty where no task has a type."""
    types: dict[str, set[str]] = {}
    for row in run.rows:
        kind = row.factors.get("task_type")
        if isinstance(kind, str) and kind:
            types.setdefault(kind, set()).add(row.task)
    return [
        (kind, len(tasks), [_heat(outcomes, name, tasks) for name in names]) for kind, tasks in sorted(types.items())
    ]


def _heat(outcomes: Outcomes, name: str, tasks: set[str]) -> Heat:
    known = [value for (c, task, _), value in outcomes.items() if c == name and task in tasks and value is not None]
    if not known:
        return Heat("n/a", "", "h-none")
    share = sum(known) / len(known)
    return Heat(
        percent(share), f"{sum(known)} of {len(known)}", f"h{min(int(share * SHADES), SHADES - 1) + 1 if share else 0}"
    )


@dataclass(frozen=True, slots=True)
class Mark:
    """One episode in the table of outcomes; ``place`` is where the script finds it, empty where it does not."""

    seed: int
    outcome: str
    sign: str
    place: str


def marks(
    run: Run, outcomes: Outcomes, names: Sequence[str], places: Mapping[tuple[str, str, int], int]
) -> list[tuple[str, list[list[Mark]]]]:
    """Every episode by task and condition; empty for more than a page can show."""
    if len(outcomes) > MOST_MARKS:
        return []
    tasks = list(dict.fromkeys(row.task for row in run.rows))
    found: dict[tuple[str, str], list[Mark]] = {}
    for (name, task, seed), value in outcomes.items():
        place = places.get((name, task, seed))
        word, sign = {True: ("success", "✓"), False: ("failure", "✗"), None: ("left out", "–")}[value]
        found.setdefault((task, name), []).append(Mark(seed, word, sign, "" if place is None else str(place)))
    return [(task, [found.get((task, name), []) for name in names]) for task in tasks]


def figures(run: Run) -> list[tuple[str, str, str]]:
    """Key figures: a large number, what it is, and what to hold it against."""
    found = scores(run)
    top = best(found)
    if not top:
        return []
    who = together(top, found)
    inside = f"95 % interval {span(top[0])}" if span(top[0]) else "no interval: one task"
    what = f"highest success: {who}" if top[0].rate else "success: no condition reached a goal"
    shown = [(percent(top[0].rate), what, inside)]
    routed, modes = best([s for s in found if s.name in run.routed]), fixed(run, found)
    if routed and modes and top[0].rate:
        mine, rival = routed[0], modes[0]
        gap = (mine.rate or 0.0) - (rival.rate or 0.0)
        sign = "+" if gap > 1e-9 else "−" if gap < -1e-9 else ""
        value = f"{sign}{points(mine, rival)}" if sign else "equal"
        touch = {True: "; intervals overlap", False: "; intervals apart", None: ""}[overlap(mine, rival)]
        against = f"{percent(mine.rate)} against {percent(rival.rate)}{touch if sign else ''}"
        shown.append((value, f"{prose(mine.name)} against the best fixed mode", against))
    loose = next((s for s in found if s.name == Baseline.PLAN_REACT), None)
    kept = loose.values["plan_order_faithful"] if loose else None
    if loose is not None and kept is not None:
        shown.append(
            (percent(kept), f"of {label(loose.name)} episodes kept the order of their plan", "nothing made them")
        )
    priced = routed or top
    calls = priced[0].values["model_calls"]
    if calls is not None:
        known = [(s.values["model_calls"], prose(s.name)) for s in found]
        dear = sorted((count, name) for count, name in known if count is not None)
        against = (
            f"least {number(dear[0][0], 1)} ({dear[0][1]}), most {number(dear[-1][0], 1)} ({dear[-1][1]})"
            if len(dear) > 1
            else ""
        )
        shown.append((number(calls, 1), f"model calls an episode: {prose(priced[0].name)}", against))
    return shown
