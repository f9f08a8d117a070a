"""Analyses of a counterfactual bank: selectors on it, and how far they move on newly drawn seeds.

Source: cyber-physical paper, E7 and Figure 8.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from planroute.experiments.analyses.fresh_runs import NONE_ASKED, fresh_seeds, run_fresh
from planroute.experiments.analyses.inputs import Inputs
from planroute.runs.table import row_frame
from planroute.selection import Bank, Settings, evaluate


def selectors(inputs: Inputs) -> dict[str, Any]:
    """Selectors, fixed comparators, floor and oracle on the experiment's own bank, under both referees."""
    frame = row_frame([row for row in inputs.rows if row.condition in inputs.experiment.forced])
    settings = Settings(draws=inputs.draws)
    found = evaluate(Bank.from_rows(frame), settings).as_dict()
    found["ac"] = evaluate(Bank.from_rows(frame, "objective_ac"), settings).as_dict()
    return found


def shrinkage(inputs: Inputs, *, alphas: Sequence[float]) -> dict[str, Any]:
    """The one-stage and the constraint-aware selector over the ridge's penalty ``alpha``, on the experiment's bank.

    The one-stage ridge has to learn 10,000 for a missed deadline, and shrinks it: of ``n`` scenarios it keeps back
    about alpha / (n + alpha) of what a mode that is late in half of them carries. Source: equation (6), section V-F.
    """
    bank = Bank.from_rows(row_frame([row for row in inputs.rows if row.condition in inputs.experiment.forced]))
    found = {}
    for alpha in alphas:
        judged = evaluate(bank, Settings(alpha=alpha, draws=inputs.draws)).as_dict()
        found[f"{alpha:g}"] = {
            name: {key: judged[name][key] for key in ("mean_regret", "interval", "choices", "infeasible_choices")}
            for name in ("ridge", "constraint_aware")
        }
    return found


async def fresh(inputs: Inputs, *, triples: int = 30) -> dict[str, Any]:
    """The same bank on ``triples`` sets of three newly drawn seeds: every figure as mean, spread and range.

    The seeds come from a stream of their own and were never looked at in fitting. Each triple is a whole bank with its
    own selectors. A figure named "… interval above 0" has as its mean the share of triples in which that is so.

    A bootstrap over scenarios takes them as independent, and each seed recurs in many. ``coverage`` is the share of
    triples whose 95 % interval holds the mean over triples: so far as it is below 0.95 the intervals are too narrow.
    ``together`` judges all fresh seeds as one bank, whose selectors learn from that many more scenarios.
    """
    count = inputs.setting.fresh_triples if inputs.setting.fresh_triples is not None else triples
    if count < 1:
        return {"status": "not_run", "why": NONE_ASKED}
    seeds = fresh_seeds(count)
    banked = await run_fresh(inputs, [seed for triple in seeds for seed in triple], forced_only=True)
    frame = row_frame(banked.rows)
    figures: list[dict[str, float]] = []
    tables = []
    for triple in seeds:
        some = frame[frame["seed"].isin(triple)]
        judged = evaluate(Bank.from_rows(some), Settings(draws=1000)).as_dict()
        ac = evaluate(Bank.from_rows(some, "objective_ac"), Settings(draws=1000)).as_dict()
        tables.append(judged)
        figures.append({**_figures(judged), **{f"{name} (AC)": value for name, value in _figures(ac).items()}})
    return {
        "triples": [list(triple) for triple in seeds],
        "episodes": len(banked.rows),
        "figures": {name: _spread([one[name] for one in figures if name in one]) for name in figures[0]},
        "coverage": _coverage(tables),
        "together": evaluate(Bank.from_rows(frame), Settings(draws=1000)).as_dict(),
    }


def _figures(judged: Mapping[str, Any]) -> dict[str, float]:
    """The figures of one bank, flat, under names that a reader knows."""
    flat: dict[str, float] = {}
    for name in ("ridge", "constraint_aware", "all_feasible"):
        one = judged[name]
        if one is None:
            continue
        flat[f"{name} mean regret"] = one["mean_regret"]
        flat[f"{name} oracle rate"] = one["oracle_rate"]
        for against in ("sequential", "search"):
            value = one.get(f"value_vs_fixed_{against}")
            if value is not None:
                flat[f"{name} value vs fixed {against}"] = value["mean"]
                flat[f"{name} value vs fixed {against}: interval above 0"] = float(value["low"] > 0)
                flat[f"{name} value vs fixed {against}: interval below 0"] = float(value["high"] < 0)
        for mode, picked in one["choices"].items():
            flat[f"{name} picks {mode}"] = float(picked)
    flat["constraint_aware less ridge regret"] = (
        judged["constraint_aware"]["mean_regret"] - judged["ridge"]["mean_regret"]
    )
    for mode, one in judged["fixed"].items():
        flat[f"fixed {mode} mean regret"] = one["mean_regret"]
    flat["floor"] = judged["floor"]
    if judged["gap_closed"] is not None:
        flat["gap closed"] = judged["gap_closed"]
    for mode, number in judged["oracle"]["membership"].items():
        flat[f"oracle {mode}"] = float(number)
    flat["oracle ties"] = float(judged["oracle"]["ties"])
    return flat


def _coverage(tables: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """Share of triples whose interval of a value holds the mean of that value over triples."""
    found = {}
    for name, against in (("ridge", "sequential"), ("constraint_aware", "sequential"), ("all_feasible", "search")):
        values = [one[name][f"value_vs_fixed_{against}"] for one in tables if one[name] is not None]
        if values:
            mean = float(np.mean([value["mean"] for value in values]))
            covered = [value["low"] <= mean <= value["high"] for value in values]
            found[f"{name} value vs fixed {against}"] = sum(covered) / len(covered)
    return found


def _spread(values: Sequence[float]) -> dict[str, float]:
    array = np.array(values)
    return {
        "mean": float(array.mean()),
        "sd": float(array.std(ddof=1)) if len(array) > 1 else 0.0,
        "low": float(array.min()),
        "high": float(array.max()),
        "n": float(len(array)),
    }
