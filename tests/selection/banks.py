"""Banks with planted truths: 48 feature cells, three seeds, four modes."""

import itertools

import numpy as np
import pandas as pd

from planroute.modes import MODES
from planroute.selection import Bank

CELLS = [
    {"import_cap_mw": cap, "r_pu": r, "forecast_noise": noise, "mean_resistance": resistance, "deadline_s": deadline}
    for cap, r, noise, resistance, deadline in itertools.product(
        (1.1, 1.3), (0.022, 0.018), (0.05, 0.15, 0.30), (0.2, 0.5), (4.0, 8.0)
    )
]
SEEDS = (7, 13, 42)


def rows(cost, late=lambda mode, cell: 0, seeds=SEEDS, cells=CELLS):
    """One row for each episode; ``cost(mode, cell, seed)`` and ``late(mode, cell)`` say what is planted."""
    return pd.DataFrame(
        {
            "task": "-".join(f"{value:g}" for value in cell.values()),
            "seed": seed,
            "condition": str(mode),
            "status": "finished",
            "late_events": late(mode, cell),
            "deadline_s": cell["deadline_s"],
            **{f"factor_{name}": value for name, value in cell.items() if name != "deadline_s"},
            "metric_objective": float(cost(mode, cell, seed)),
        }
        for cell in cells
        for seed in seeds
        for mode in MODES
    )


def bank(cost, late=lambda mode, cell: 0, **options):
    return Bank.from_rows(rows(cost, late, **options))


def late_at_four(mode, cell):
    """Hierarchical and search take too long where the deadline is short."""
    return int(mode in ("HIERARCHICAL", "SEARCH") and cell["deadline_s"] < 8)


def crossing(mode, cell, seed):
    """The best mode is a linear function of one feature: predefined at low noise, sequential at high."""
    return {"PREDEFINED": 1000 + 1000 * cell["forecast_noise"], "SEQUENTIAL": 1200 - 200 * cell["forecast_noise"]}.get(
        mode, 2000
    )


def search_best(mode, cell, seed):
    """Search is always best, then predefined; nothing depends on a feature."""
    return {"SEARCH": 900.0, "PREDEFINED": 1000.0, "SEQUENTIAL": 1010.0, "HIERARCHICAL": 1500.0}[mode]


def scattered(draw, spread=100.0):
    """Costs that have nothing to do with mode or feature."""
    generator = np.random.default_rng(draw)
    return lambda mode, cell, seed: 1000 + spread * generator.normal()
