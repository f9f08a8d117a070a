"""RQ4: does a declared mode suit its task better than the same modes handed out blindly?

Source: Planning-as-Routing, RQ4, Tables 6 and 19, appendix K.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from planroute.analysis.estimates import difference, estimate
from planroute.analysis.executions import Executions
from planroute.episode import EpisodeRow
from planroute.modes import DECLARED, ROUTED, Mode
from planroute.statistics import expected_best, fallback, holm, task_blind

NO_POLICY: Final = "needs a condition in which the mode is declared, such as ROUTED, beside all forced modes"


def declarations(executions: Executions) -> dict[str, Any]:
    """Return ``policies`` against their task-blind selves, ``pairs`` of policies, and ranked ``fallback``.

    What a policy is worth is read off the forced matrix, in which no declaration had a part. p are corrected over all
    policies of the run by Holm. ``undeclared`` counts episodes in which no declaration could be read. Within kinds of
    tasks (``within_kinds``) a policy must tell tasks apart, not kinds.
    """
    usable = {
        name: {case: rows for case, rows in found.items() if case in set(executions.shared)}
        for name, found in executions.policies.items()
    }
    usable = {name: found for name, found in usable.items() if found}
    if not usable or len(executions.modes) < len(Mode):
        return {"status": "not_run", "why": NO_POLICY}
    outcomes = {
        case: {
            mode: sum(values) / len(values) for mode in executions.modes for values in [executions.values(mode)[case]]
        }
        for case in executions.shared
    }
    undeclared = {
        name: sum(row.declared is None for row in executions.of(name))
        for name in executions.conditions
        if name == ROUTED or name.startswith(DECLARED)
    }
    kinds = {executions.kinds[case] for case in executions.shared}
    policies = {}
    for name, found in usable.items():
        cases = list(found)
        declared = [[str(row.declared) for row in found[case]] for case in cases]
        worth = [outcomes[case] for case in cases]
        better = executions.measure.better
        policies[name] = task_blind(declared, worth, better=better, name=f"task blind {name}").to_dict()
        if len(kinds) > 1:
            strata = [executions.kinds[case] for case in cases]
            within = task_blind(declared, worth, strata, better=better, name=f"task blind {name} within")
            policies[name]["within_kinds"] = within.to_dict()
    for side in ("p_one_sided", "p_two_sided"):
        for one, corrected in zip(policies.values(), holm([one[side] for one in policies.values()]), strict=True):
            one[f"{side}_holm"] = corrected
    values = {
        name: {
            case: sum(outcomes[case][Mode(str(row.declared))] for row in rows) / len(rows)
            for case, rows in found.items()
        }
        for name, found in usable.items()
    }
    base = ROUTED if ROUTED in values else next(iter(values))
    return {
        "status": "done",
        "policies": policies,
        "undeclared": {name: count for name, count in undeclared.items() if count},
        "against_best": _against_best(executions, values),
        "base": base,
        "pairs": {
            name: difference(value, values[base], executions.measure.side, f"{name} against {base}")
            for name, value in values.items()
            if name != base
        },
        "fallback": {name: ranked for name, found in usable.items() if (ranked := _fallback(executions, found, name))},
    }


def _against_best(executions: Executions, values: Mapping[str, Mapping[str, float]]) -> dict[str, Any]:
    """How much better each policy is than the fixed mode that is best on the same tasks."""
    side = executions.measure.side
    means = {mode: executions.means(mode) for mode in executions.modes}
    found = {}
    for name, value in values.items():
        best = max(executions.modes, key=lambda mode: side * sum(means[mode][case] for case in value))
        found[name] = {
            "best": str(best),
            **difference(value, means[best], side, f"{name} against the best fixed mode"),
        }
    return found


def _fallback(executions: Executions, found: Mapping[str, Sequence[EpisodeRow]], name: str) -> dict[str, Any]:
    """Success within the first k of a ranking, beside k attempts of the best fixed mode; empty without rankings."""
    rankings = {
        case: [tuple(row.declaration["ranking"]) for row in rows if row.declaration and row.declaration.get("ranking")]
        for case, rows in found.items()
    }
    rankings = {case: some for case, some in rankings.items() if some}
    if not rankings:
        return {}
    side, better = executions.measure.side, executions.measure.better
    means = {mode: executions.means(mode) for mode in executions.modes}
    best = max(executions.modes, key=lambda mode: side * sum(means[mode][case] for case in rankings))
    table: dict[str, Any] = {"best": str(best)}
    for k in range(1, len(Mode) + 1):
        ranked: list[float] = []
        owners: list[str] = []
        for case, some in rankings.items():
            for ranking in some:
                value = fallback([executions.values(Mode(mode))[case] for mode in ranking], k, better)
                if value is not None:
                    ranked.append(value)
                    owners.append(case)
        again = [
            (case, value)
            for case in rankings
            if (value := expected_best(executions.values(best)[case], k, better)) is not None
        ]
        table[str(k)] = {
            "fallback": estimate(ranked, owners, f"fallback {name} {k}"),
            "retry": estimate([value for _, value in again], [case for case, _ in again], f"retry {name} {k}"),
        }
    return table
