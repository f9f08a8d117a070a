"""RQ2: is there one best mode, what could choosing per task gain, and is that more than further attempts would give?

Source: Planning-as-Routing, section 3.4, RQ2, Tables 3, 4 and 18, appendices I and I.2.
"""

from collections.abc import Mapping
from typing import Any, Final

from planroute.analysis.estimates import difference, estimate
from planroute.analysis.executions import Executions, flat
from planroute.statistics import correlation, headroom

RETRIES: Final = 3
"""Attempts of the paper's control."""
REPEATS = "an execution here repeats exactly, so retrying one mode gives the same again: k attempts are one"


def ceiling(executions: Executions, quality: Mapping[str, float] | None = None) -> dict[str, Any]:
    """Return ``modes``, ``best``, how far each condition is ``behind``, ``oracle``, ``headroom``,
    ``controls`` by k, ``by_kind`` and ``quality``.

    ``quality`` are a judge's scores of plans, by ``condition/task/seed``. Where a case is one world and executes once,
    further attempts bring nothing and the control is one execution; the answer says so.
    """
    modes, side = executions.modes, executions.measure.side
    if len(modes) < 2 or not executions.shared:
        return {"status": "not_run", "why": "needs two forced modes on the same tasks: --conditions all"}
    most = max(len(values) for rows in executions.forced.values() for values in rows)
    attempts = [1] if executions.measure.worlds else [k for k in dict.fromkeys((RETRIES, len(modes))) if k <= most]
    found = {
        k: headroom(executions.forced, k, better=executions.measure.better, name=f"headroom at {k}")
        for k in attempts or [1]
    }
    first = next(iter(found.values())).to_dict()
    best = str(first["best"])
    means = {name: executions.means(name) for name in executions.conditions if executions.values(name)}
    rivals = [mode for mode in modes if mode != best]
    second = max(rivals, key=lambda mode: side * (first["means"][mode] or 0.0))
    return {
        "status": "done",
        "modes": {mode: estimate(*flat(executions.values(mode), executions.shared), f"mode {mode}") for mode in modes},
        "best": best,
        "second": str(second),
        "behind": {
            name: difference(means[best], value, side, f"{best} against {name}")
            for name, value in means.items()
            if name != best
        },
        "oracle": first["oracle"],
        "headroom": first["headroom"],
        "headroom_cross_fitted": first["headroom_cross_fitted"],
        "controls": {
            str(k): {
                "retry": one["retry"],
                "residual": one["residual"],
                "residual_cross_fitted": one["residual_cross_fitted"],
                "tasks": one["retried"],
                "too_few": len(one["too_few"]),
            }
            for k, one in ((k, result.to_dict()) for k, result in found.items())
        },
        "executions": most,
        "note": REPEATS if executions.measure.worlds else "",
        "solved": _solved(executions),
        "by_kind": _by_kind(executions),
        "quality": _quality(executions, quality or {}),
    }


def _solved(executions: Executions) -> dict[str, int] | None:
    """How many tasks some, all and no mode solved at least once; ``None`` where nothing is solved or not."""
    if executions.measure.name != "success":
        return None
    table = [[any(executions.values(mode)[case]) for mode in executions.modes] for case in executions.shared]
    return {
        "by_some": sum(any(row) and not all(row) for row in table),
        "by_all": sum(all(row) for row in table),
        "by_none": sum(not any(row) for row in table),
    }


def _by_kind(executions: Executions) -> dict[str, Any]:
    """The best mode for every kind of task, with every mode's mean."""
    side = executions.measure.side
    kinds: dict[str, list[str]] = {}
    for case in executions.shared:
        kinds.setdefault(executions.kinds[case], []).append(case)
    found = {}
    for kind, cases in sorted(kinds.items()):
        means = {
            str(mode): sum(values) / len(values)
            for mode in executions.modes
            for values in [[value for case in cases for value in executions.values(mode)[case]]]
        }
        top = max(side * value for value in means.values())
        found[kind] = {
            "tasks": len(cases),
            "means": means,
            "best": [mode for mode, value in means.items() if side * value >= top - 1e-9],
        }
    return found


def _quality(executions: Executions, quality: Mapping[str, float]) -> dict[str, Any]:
    """How well a plan's judged quality tells success, over all episodes with both; and mean quality by condition."""
    pairs = [
        (quality[key], value, row.condition)
        for row in executions.rows
        if (key := f"{row.condition}/{row.task}/{row.seed}") in quality
        and (value := executions.measure.of(row)) is not None
    ]
    if not pairs:
        return {"status": "not_run", "why": "no plan was judged: name a judge with --judge"}
    scores = {
        name: [score for score, _, condition in pairs if condition == name]
        for name in executions.conditions
        if any(condition == name for _, _, condition in pairs)
    }
    found = correlation([score for score, _, _ in pairs], [value for _, value, _ in pairs], name="plan quality")
    return {
        "status": "done",
        "correlation": found.to_dict(),
        "by_condition": {name: sum(values) / len(values) for name, values in scores.items()},
    }
