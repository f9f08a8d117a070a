"""Analyses of a counterfactual bank: selectors on it, and how far they move on newly drawn seeds.

Source: cyber-physical paper, E7 and Figure 8.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from planroute.experiments.analyses.inputs import BOOTSTRAP_DRAWS, Inputs
from planroute.experiments.scenes import scene
from planroute.runs.bank import run_bank
from planroute.runs.table import row_frame, write_table
from planroute.selection import Bank, Settings, evaluate
from planroute.streams import stream

FRESH = "fresh"
TRIPLE = 3
_FROM, _TO = 1_000_000, 10_000_000
"""Where fresh seeds are drawn from: far above every seed that was ever looked at in fitting."""


def selectors(inputs: Inputs) -> dict[str, Any]:
    """Selectors, fixed comparators, floor and oracle on the experiment's own bank, under both referees."""
    frame = row_frame([row for row in inputs.rows if row.condition in inputs.experiment.forced])
    settings = Settings(draws=BOOTSTRAP_DRAWS)
    found = evaluate(Bank.from_rows(frame), settings).as_dict()
    found["ac"] = evaluate(Bank.from_rows(frame, "objective_ac"), settings).as_dict()
    return found


async def fresh(inputs: Inputs, *, triples: int = 30) -> dict[str, Any]:
    """The same bank on ``triples`` sets of three newly drawn seeds: every figure as mean, spread and range.

    The seeds come from a stream of their own and were never looked at in fitting. Each triple is a whole bank with its
    own selectors. A figure named "… interval above 0" has as its mean the share of triples in which that is so.
    """
    count = inputs.setting.fresh_triples if inputs.setting.fresh_triples is not None else triples
    if count < 1:
        return {"status": "not_run", "why": "no fresh triples were asked for"}
    seeds = fresh_seeds(count)
    every = tuple(seed for triple in seeds for seed in triple)
    setting = replace(inputs.setting, seeds=every, models={}, communication="calibrated")
    found = scene(inputs.experiment, setting)
    forced = [cell for cell in found.cells if cell.condition in inputs.experiment.forced]
    banked = await run_bank(
        found.domain,
        forced,
        out=inputs.out / FRESH if inputs.out is not None else None,
        workers=inputs.setting.workers,
        source=inputs.source,
        finished=inputs.advance,
    )
    frame = row_frame(banked.rows)
    if inputs.out is not None:
        write_table(inputs.out / f"{FRESH}.parquet", frame)
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
    }


def fresh_seeds(triples: int) -> list[tuple[int, ...]]:
    """Distinct seeds from the stream of fresh triples, three by three; more triples only add to fewer."""
    draws = stream(0, "fresh triples")
    seen: dict[int, None] = {}
    while len(seen) < TRIPLE * triples:
        seen.setdefault(int(draws.integers(_FROM, _TO)))
    every = list(seen)
    return [tuple(every[i : i + TRIPLE]) for i in range(0, len(every), TRIPLE)]


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


def _spread(values: Sequence[float]) -> dict[str, float]:
    array = np.array(values)
    return {
        "mean": float(array.mean()),
        "sd": float(array.std(ddof=1)) if len(array) > 1 else 0.0,
        "low": float(array.min()),
        "high": float(array.max()),
        "n": float(len(array)),
    }
