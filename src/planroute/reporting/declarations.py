"""What was declared and said: declarations with their gate, failures, mended answers, messages of a model."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from planroute.reporting.reading import Declaration, Part, Row, Run
from planroute.reporting.wording import label, listed, number, prose

MOST = 40
"""Cards, failures and messages beyond this many are counted and not shown."""


class _Failed(Part):
    error: str
    message: str
    where: str


class _Mended(Part):
    purpose: str
    repairs: tuple[str, ...] = ()
    clips: tuple[tuple[str, float, float], ...] = ()


@dataclass(frozen=True, slots=True)
class Card:
    """Equal declarations of one condition."""

    condition: str
    mode: str
    declarer: str
    cases: str
    policy: str
    fields: str
    confidence: str
    gate: str
    why: str
    executed: str
    rationale: str
    mended: Sequence[str]
    sampled: str = ""
    """How code chose the mode, where it did; then ``confidence`` is the probability of the draw."""


def cards(run: Run, *, forced: bool) -> tuple[list[Card], int]:
    """The declarations of forced or of all other conditions, equal ones put together; and how many are left out."""
    grouped: dict[tuple[str, ...], list[Row]] = {}
    for row in run.rows:
        if row.declaration is not None and (row.condition in run.forced) == forced:
            grouped.setdefault(_key(row, row.declaration), []).append(row)
    all_ = [_card(run, rows) for rows in grouped.values()]
    return all_[:MOST], max(len(all_) - MOST, 0)


def _key(row: Row, declared: Declaration) -> tuple[str, ...]:
    policy = declared.model_copy(update={"confidence": None})
    return row.condition, row.declarer, row.gate or "", row.gate_why, row.executed or "", repr(policy)


def _card(run: Run, rows: Sequence[Row]) -> Card:
    row = rows[0]
    declared = row.declaration or Declaration(mode="")
    policy = [
        f"depth {declared.depth}",
        f"branching {declared.branching}",
        f"replanning {declared.replanning.lower().replace('_', ' ')}",
    ]
    if declared.decision_budget_s is not None:
        policy.append(f"budget {number(declared.decision_budget_s, 2)} s an event")
    confidences = sorted({number(r.declaration.confidence, 3) for r in rows if r.declaration}) or ["n/a"]
    return Card(
        condition=row.condition,
        mode=declared.mode,
        declarer=row.declarer,
        cases=_cases(run, rows),
        policy=", ".join(policy),
        fields=", ".join(f"{name} {value}" for name, value in declared.fields.items()),
        confidence=" to ".join(dict.fromkeys((confidences[0], confidences[-1]))),
        gate=(row.gate or "not reached").lower(),
        why=row.gate_why,
        executed=label(row.executed) if row.executed else "nothing",
        rationale=declared.rationale,
        sampled=_sampled(row.declarer, " to ".join(dict.fromkeys((confidences[0], confidences[-1])))),
        mended=[
            *(f"repaired: {repair}" for repair in declared.repairs),
            *(f"clipped: {c.field} {_short(c.given)} to {_short(c.used)}" for c in declared.clips),
        ],
    )


def _sampled(declarer: str, probability: str) -> str:
    if not declarer.startswith("hybrid"):
        return ""
    shifted = "" if declarer == "hybrid prior" else ", which the model may shift by up to 0.30 each"
    return f"by code, drawn with probability {probability} from base scores, the project’s own prior{shifted}"


def _short(value: float | None) -> str:
    return "n/a" if value is None else f"{value:g}"


def _cases(run: Run, rows: Sequence[Row]) -> str:
    names = list(dict.fromkeys(run.case_name(row.case) for row in rows))
    shown = listed([name.removeprefix("seed ") for name in names]) if names[0].startswith("seed ") else listed(names)
    return f"{'seed' if len(names) == 1 else 'seeds'} {shown}" if names[0].startswith("seed ") else shown


@dataclass(frozen=True, slots=True)
class Way:
    """How often one way from a declared mode by the gate to an executed one was taken."""

    condition: str
    declared: str
    gate: str
    executed: str
    count: str


def ways(run: Run) -> list[Way]:
    """Every way that the routed conditions took, the most frequent of each first."""
    found = []
    for name in run.routed:
        rows = [row for row in run.rows if row.condition == name]
        taken = Counter((row.declared, row.gate, row.executed) for row in rows)
        for (declared, gate, executed), count in taken.most_common(MOST):
            text = (label(declared) if declared else "nothing", (gate or "not reached").lower())
            found.append(Way(name, *text, label(executed) if executed else "nothing", f"{count} of {len(rows)}"))
    return found


LABELS = {
    "INFRASTRUCTURE": "ended by the infrastructure, counts nowhere",
    "DECLARATION": "no usable declaration, or the gate refused it",
    "BUDGET": "a budget ran out",
    "MODEL": "a model’s answer could not be used",
    "DEADLINE_MISS": "a planning event was late",
    "DISPATCH_MISMATCH": "another mode ran than was declared",
    "OBJECTIVE_SUBSTITUTION": "what was issued has less effect than what was declared",
    "STATE_INFERENCE": "the planner’s belief was too far off",
    "NON_COMPLIANCE": "too little of what was asked became real",
    "UNMET_NEED": "the plan left too much of the need unasked",
    "TASK": "the goal was not reached",
}
"""The labels in order of priority, in words; an episode has the first that applies."""


def labels(run: Run) -> list[tuple[str, str, str, str]]:
    """Failure labels by condition: condition, label, how many of its episodes, and what it means; NONE is left out."""
    found = []
    for name in run.conditions:
        rows = [row for row in run.rows if row.condition == name]
        counts = Counter(row.failure for row in rows if row.failure != "NONE")
        found += [
            (name, failure, f"{count} of {len(rows)}", LABELS.get(failure, "")) for failure, count in counts.items()
        ]
    return found


@dataclass(frozen=True, slots=True)
class Failure:
    """Something that failed, and how often; ``ended`` tells whether it ended the episode."""

    where: str
    error: str
    message: str
    count: int
    ended: bool


def failures(run: Run) -> tuple[list[Failure], int]:
    """Failures by kind: those that ended an episode first; and how many kinds are left out."""
    ended: Counter[tuple[str, str, str]] = Counter()
    passed: dict[tuple[str, str], list[str]] = {}
    for cell in run.cells:
        row = cell.row
        events = cell.of("failed", _Failed)
        if row.status != "finished":
            ended[label(row.condition), row.stop, row.error or "no reason was recorded"] += 1
            events = events[:-1] if events and (row.error or "").startswith(events[-1].message) else events
        for event in events:
            kind = event.where.partition(",")[0]
            passed.setdefault((f"{label(row.condition)}, {kind}", event.error), []).append(event.message)
    found = [Failure(where, stop, error, count, True) for (where, stop, error), count in ended.items()]
    found += [Failure(where, kind, texts[0], len(texts), False) for (where, kind), texts in passed.items()]
    return found[:MOST], max(len(found) - MOST, 0)


def mended(run: Run) -> list[tuple[str, int, str]]:
    """Answers that were repaired or clipped: purpose, how many, and the most frequent reasons."""
    counts: Counter[str] = Counter()
    reasons: dict[str, Counter[str]] = {}
    for cell in run.cells:
        for event in cell.of("mended", _Mended):
            counts[event.purpose] += 1
            why = reasons.setdefault(event.purpose, Counter())
            why.update(event.repairs)
            why.update(f"{field} clipped" for field, _, _ in event.clips)
    return [
        (purpose, count, "; ".join(f"{text} {n}×" for text, n in reasons[purpose].most_common(4)))
        for purpose, count in counts.items()
    ]


@dataclass(frozen=True, slots=True)
class Message:
    """A message of a model, with the hour it was written for and the episodes that it was sent in."""

    hour: int | None
    episodes: str
    text: str


def messages(run: Run) -> tuple[list[Message], int]:
    """The messages that were sent, equal ones put together, by hour; and how many are left out."""
    found: dict[tuple[int | None, str], list[str]] = {}
    for cell in run.cells:
        hour: int | None = None
        for event in cell.events:
            if event.get("kind") == "directed" and isinstance(event.get("step"), int):
                hour = event["step"]
            elif event.get("kind") == "observed" and isinstance(event.get("text"), str):
                name = f"{prose(cell.row.condition)}, {run.case_name(cell.row.case)}"
                found.setdefault((hour, event["text"]), []).append(name)
    ordered = sorted(found.items(), key=lambda item: -1 if item[0][0] is None else item[0][0])
    written = [
        Message(hour, "; ".join(names[:4]) + (f" and {len(names) - 4} more" if len(names) > 4 else ""), text)
        for (hour, text), names in ordered
    ]
    return written[:MOST], max(len(written) - MOST, 0)
