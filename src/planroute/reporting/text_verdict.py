"""The verdict on a run in which tasks succeed or fail, in one sentence, and what has to be said beside it."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from planroute.modes import MODES, Baseline
from planroute.reporting.reading import Row, Run
from planroute.reporting.verdict import known
from planroute.reporting.wording import capital, counted, listed, number, percent, prose

Key = tuple[str, str, int]
TIE = 1e-9


@dataclass(frozen=True, slots=True)
class Score:
    """One condition as the run's own table has it."""

    name: str
    rate: float | None
    interval: tuple[float, float] | None
    counted: int
    """Episodes that count."""
    values: Mapping[str, float | None]
    infrastructure: int
    failed: int

    @property
    def tokens(self) -> float | None:
        """Prompt, answer and thinking tokens of an episode."""
        parts = [self.values.get(f"tokens_{kind}") for kind in ("prompt", "answer", "thinking")]
        given = [part for part in parts if part is not None]
        return sum(given) if given else None

    @property
    def successes(self) -> int | None:
        """Episodes that reached their goal."""
        return None if self.rate is None else round(self.rate * self.counted)


MEANS = ("interactions", "model_calls", "tokens_prompt", "tokens_answer", "tokens_thinking")
PROCESS = ("plan_order_faithful", "plan_order_by_actions", "adherence", "candidates")
STEPS = {
    "ssr": "Step success",
    "element_accuracy": "Element",
    "operation_f1": "Operation F1",
    "psr": "Partial success",
    "pass_to_pass": "Tests kept",
    "patched": "Patched",
}
"""What some domains measure beside success, and its column."""


def ordered(run: Run) -> list[str]:
    """Baselines first, then the modes, then what was routed: from no plan to the whole flow."""
    order: dict[str, int] = {str(name): place for place, name in enumerate((*Baseline, *MODES))}
    return sorted(run.conditions, key=lambda name: (order.get(name, len(order)), name))


def scores(run: Run) -> list[Score]:
    """The table of the run."""
    found = []
    for name in ordered(run):
        table = run.result.conditions.get(name, {})
        rows = [row for row in run.rows if row.condition == name]
        found.append(
            Score(
                name=name,
                rate=known(table.get("success_rate")),
                interval=_interval(table.get("success_interval")),
                counted=sum(row.counts for row in rows),
                values={key: known(table.get(key)) for key in (*MEANS, *PROCESS, *STEPS)},
                infrastructure=sum(not row.counts for row in rows),
                failed=sum(row.status == "failed" for row in rows),
            )
        )
    return found


def _interval(value: object) -> tuple[float, float] | None:
    if isinstance(value, list) and len(value) == 2:
        low, high = known(value[0]), known(value[1])
        if low is not None and high is not None:
            return low, high
    return None


def successes(run: Run) -> dict[Key, bool | None]:
    """By condition, task and seed: whether the goal was reached; None where that does not count or is not known."""
    said = {key: entry.get("success") for key, entry in _episodes(run).items()}
    return {_key(row): _success(row, said.get(_key(row))) for row in run.rows}


def attributions(run: Run) -> dict[Key, str]:
    """Whose failure an episode was, and why, where the run's table says so."""
    found = {}
    for key, entry in _episodes(run).items():
        whose, why = entry.get("attribution"), entry.get("attribution_why")
        if isinstance(whose, str) and whose not in ("", "NONE"):
            found[key] = whose.lower().replace("_", " ") + (f" ({why})" if isinstance(why, str) and why else "")
    return found


def _episodes(run: Run) -> dict[Key, Mapping[str, Any]]:
    """What the table holds of each episode."""
    return {
        (name, str(entry.get("task")), _seed(entry.get("seed"))): entry
        for name, table in run.result.conditions.items()
        for entry in (table["per_episode"] if isinstance(table.get("per_episode"), list) else ())
        if isinstance(entry, Mapping)
    }


def _key(row: Row) -> Key:
    return row.condition, row.task, row.seed


def _seed(value: object) -> int:
    return value if isinstance(value, int) else -1


def _success(row: Row, said: object) -> bool | None:
    """As the run's table says; an episode that counts and of which nothing is said has not succeeded."""
    if not row.counts:
        return None
    return said if isinstance(said, bool) else (row.metrics.get("success") or 0.0) >= 1


def best(found: Sequence[Score]) -> list[Score]:
    """Those with the highest success; several where they tie."""
    rated = [score for score in found if score.rate is not None]
    top = max((score.rate or 0.0 for score in rated), default=0.0)
    return [score for score in rated if top - (score.rate or 0.0) <= TIE]


def fixed(run: Run, found: Sequence[Score]) -> list[Score]:
    """The best of the forced modes."""
    return best([score for score in found if score.name in run.forced])


def overlap(one: Score, other: Score) -> bool | None:
    """Whether the intervals overlap, None where one is missing."""
    if one.interval is None or other.interval is None:
        return None
    return one.interval[0] <= other.interval[1] and other.interval[0] <= one.interval[1]


def span(score: Score) -> str:
    """The interval in words; empty where there is none."""
    if score.interval is None:
        return ""
    low, high = (number(100 * end) for end in score.interval)
    return f"{low} to {high} %"


def together(some: Sequence[Score], found: Sequence[Score]) -> str:
    """Conditions in words."""
    return "all conditions" if len(some) == len(found) > 3 else listed([prose(score.name) for score in some])


def points(one: Score, other: Score) -> str:
    """The difference in points, rounded as both are shown."""
    gap = 100 * abs((one.rate or 0.0) - (other.rate or 0.0))
    return f"{number(gap, 0 if gap >= 1 else 1)} points"


def sentence(run: Run) -> str:
    """Which condition had the highest success, whether routing beat the best fixed mode, and the price."""
    found = scores(run)
    top = best(found)
    if not top:
        return "No episode of this run counts, so there is nothing to compare."
    clauses = [_lead(found, top), *_routed(run, found), _price(run, found, top)]
    return capital("; ".join(clause for clause in clauses if clause)) + "."


def _lead(found: Sequence[Score], top: Sequence[Score]) -> str:
    first, names = top[0], together(top, found)
    if len(found) == 1:
        return f"only {names} was run: {_rate(first)}"
    if len(top) == len(found) and first.rate == 0:
        return f"no condition reached a goal in {counted(sum(score.counted for score in found), 'episode')}"
    rivals = [s for s in found if s.name in tuple(Baseline) and s.rate is not None and s not in top]
    if len(top) > 1:
        lead = f"{names} share the highest success, {percent(first.rate)}{_in(first, top)}"
    else:
        lead = f"{names} had the highest success, {_rate(first)}"
    shared = [score for score in top if score.name in tuple(Baseline)]
    if shared and not rivals:
        others = [s for s in found if s.name not in tuple(Baseline) and s.rate is not None]
        ahead = best(others)
        if ahead and ahead[0] not in top:
            return f"{lead}: {_against(first, [ahead[0]])}"
        return f"{lead}, so none did better than {listed([prose(score.name) for score in shared], 'or')}"
    return f"{lead}: {_against(first, rivals)}" if rivals else lead


def _against(first: Score, rivals: Sequence[Score]) -> str:
    parts = [f"{points(first, rival)} above {prose(rival.name)} ({_short(rival)})" for rival in rivals]
    touching = [overlap(first, rival) for rival in rivals]
    if all(touch is False for touch in touching):
        note = "the intervals do not overlap"
    elif any(touch is None for touch in touching):
        note = ""
    elif all(touching):
        note = "the intervals overlap"
    else:
        crossed = [prose(r.name) for r, touch in zip(rivals, touching, strict=True) if touch]
        note = f"its interval overlaps with that of {listed(crossed)}"
    return listed(parts) + (f", and {note}" if note else "")


def _rate(score: Score) -> str:
    inside = f"{number(score.successes)} of {counted(score.counted, 'episode')}"
    return f"{percent(score.rate)} ({inside}{f'; 95 % interval {span(score)}' if span(score) else ''})"


def _in(first: Score, top: Sequence[Score]) -> str:
    same = len({score.counted for score in top}) == 1
    spans = {span(score) for score in top}
    inside = [f"{number(first.successes)} of {counted(first.counted, 'episode')} each"] if same else []
    if len(spans) == 1 and span(first):
        inside.append(f"95 % interval {span(first)}")
    return f" ({'; '.join(inside)})" if inside else ""


def _short(score: Score) -> str:
    return f"{percent(score.rate)}{f' [{span(score)}]' if span(score) else ''}"


def _routed(run: Run, found: Sequence[Score]) -> list[str]:
    routed = best([score for score in found if score.name in run.routed])
    ahead = fixed(run, found)
    if not routed or not any(score.rate for score in found):
        return []
    mine, name = routed[0], prose(routed[0].name)
    several = f" (the best of {len(run.routed)} routed conditions)" if len(run.routed) > 1 else ""
    if not ahead:
        return [f"{name}{several} reached {percent(mine.rate)}, and no mode was forced that it could be held against"]
    rival = ahead[0]
    which = "the best fixed mode" if len(ahead) == 1 else "the best fixed modes"
    modes = f"{which}, {listed([prose(score.name) for score in ahead])}"
    gap = (mine.rate or 0.0) - (rival.rate or 0.0)
    if abs(gap) <= TIE:
        return [f"{name}{several} equals {modes} ({percent(mine.rate)})"]
    verb = "beats" if gap > 0 else "trails"
    touch = {True: "; their intervals overlap", False: "; their intervals do not overlap", None: ""}
    rates = f"{_short(mine)} against {_short(rival)}"
    return [f"{name}{several} {verb} {modes}, by {points(mine, rival)} ({rates}{touch[overlap(mine, rival)]})"]


def _price(run: Run, found: Sequence[Score], top: Sequence[Score]) -> str:
    wanted = [*(top if len(top) == 1 else ()), *[s for s in found if s.name in run.routed][:1]]
    wanted += [*fixed(run, found)[:1], *[s for s in found if s.name in tuple(Baseline)]]
    priced = list({s.name: s for s in wanted if s.values.get("model_calls") is not None}.values())
    if not priced:
        return ""
    parts = [f"{number(s.values['model_calls'])} and {number(s.tokens)} ({prose(s.name)})" for s in priced]
    return f"calls and tokens of an episode: {', '.join(parts)}"


def cautions(run: Run) -> list[str]:
    """What a reader must know before trusting the sentence."""
    notes = []
    tasks, seeds = len({row.task for row in run.rows}), len({row.seed for row in run.rows})
    if tasks == 1:
        notes.append("One task: there is no interval, and nothing follows for other tasks.")
    flat = [s for s in scores(run) if s.interval is not None and s.interval[0] == s.interval[1]]
    if flat:
        notes.append(
            "An interval without width comes from tasks that all ended alike "
            f"({listed([prose(score.name) for score in flat])}): with {counted(tasks, 'task')} it is no certainty."
        )
    if seeds == 1:
        notes.append("One seed: how much results change from seed to seed is not known.")
    lacking = [mode for mode in MODES if mode not in run.forced]
    if run.forced and lacking:
        were = "was" if len(lacking) == 1 else "were"
        notes.append(
            f"{capital(listed([prose(m) for m in lacking]))} {were} not forced: "
            "“best fixed mode” refers to the forced modes of this run only."
        )
    failed = Counter(row.condition for row in run.rows if row.status == "failed")
    if failed:
        names = listed([f"{prose(name)} {count}" for name, count in failed.items()])
        notes.append(f"Episodes that broke off ({names}) count as failures of the task.")
    broken = Counter(row.condition for row in run.rows if not row.counts)
    if broken:
        names = listed([f"{prose(name)} {count}" for name, count in broken.items()])
        notes.append(
            f"{counted(broken.total(), 'episode')} ended by the infrastructure, not by the task ({names}); "
            "they count nowhere. Run the same command again to repeat them."
        )
    if run.missing:
        notes.append(f"{counted(run.missing, 'episode')} of {len(run.manifest.cells)} had not been run yet.")
    return notes
