"""The bank: what every mode costs in every scenario, and whether it keeps the deadline there.

Source: cyber-physical paper, E7. A scenario is one task under one seed; its forced episodes are one row for each mode.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from planroute.errors import InputError
from planroute.modes import MODES, ROUTED, Baseline

if TYPE_CHECKING:
    import pandas as pd

ROWS = "rows.parquet"
"""The file of rows in the folder of a run."""

KEYS = ("task", "seed", "condition")
FACTOR, METRIC = "factor_", "metric_"
SHOWN = 5
"""Faults of one kind that are named; the rest are counted."""


@dataclass(frozen=True, slots=True)
class Bank:
    """Costs of all modes over the same scenarios, in the order of task and seed: that of rows does not matter.

    ``scenarios`` names each by task and seed. ``columns`` holds what is known of a scenario before dispatch, shape (n,)
    each: ``deadline_s`` in s and the scenario's factors under their own names. ``cost``, shape (n, modes), is the
    metric that is to be small, by mode in the order of ``MODES``; ``feasible``, same shape, tells whether the mode has
    no late planning event.
    """

    scenarios: Sequence[tuple[str, int]]
    columns: Mapping[str, NDArray[Any]] = field(repr=False)
    cost: NDArray[np.float64] = field(repr=False)
    feasible: NDArray[np.bool_] = field(repr=False)

    def __len__(self) -> int:
        return len(self.scenarios)

    @property
    def routable(self) -> NDArray[np.bool_]:
        """Whether some mode keeps the deadline, shape (n,)."""
        return np.asarray(self.feasible.any(axis=1))

    @property
    def all_feasible(self) -> NDArray[np.bool_]:
        """Whether every mode keeps the deadline, shape (n,)."""
        return np.asarray(self.feasible.all(axis=1))

    def take(self, which: NDArray[Any]) -> "Bank":
        """Return the bank of the scenarios that ``which``, indices or a mask of shape (n,), picks."""
        indices = np.arange(len(self))[which]
        return Bank(
            [self.scenarios[i] for i in indices],
            {name: values[indices] for name, values in self.columns.items()},
            self.cost[indices],
            self.feasible[indices],
        )

    @classmethod
    def from_rows(cls, rows: "pd.DataFrame", cost: str = "objective", *, what: str = "bank") -> "Bank":
        """Build a bank from one row for each forced episode.

        Columns: ``task``, ``seed``, ``condition`` (the mode), ``status``, ``late_events`` (null where there is no
        deadline), ``deadline_s``, ``factor_NAME`` for each factor, ``metric_NAME`` for each metric, of which ``cost``
        names one. Rows of routed conditions and baselines are no forced episodes and are left out; other columns are
        not read. Raises ``InputError`` about ``what`` where columns are missing, a scenario has a mode twice or not at
        all, an episode did not finish or has no cost, or factors differ within a scenario.
        """
        _need_columns(rows, (*KEYS, "status", "late_events", "deadline_s"), cost, what)
        if rows[list(KEYS)].isna().any(axis=None):
            raise InputError(f"{what}: {' or '.join(KEYS)} of some rows is null")
        named = rows.assign(task=rows["task"].astype(str), condition=rows["condition"].astype(str))
        forced = named[~(named["condition"].isin(list(Baseline)) | named["condition"].str.startswith(ROUTED))]
        if forced.empty:
            raise InputError(f"{what} holds no forced episode", hint="it needs one row for each mode of each scenario")
        _need_one_of_each(forced, what)
        _need_numbers(forced, METRIC + cost, what)
        order = sorted(set(zip(forced["task"], forced["seed"], strict=True)))
        wide = forced.set_index(list(KEYS)).sort_index()
        known = [*(name for name in map(str, rows.columns) if name.startswith(FACTOR)), "deadline_s"]
        _need_agreement(forced, known, what)
        first = forced.drop_duplicates(["task", "seed"]).set_index(["task", "seed"]).loc[order]
        modes = [str(mode) for mode in MODES]
        late = wide["late_events"].unstack("condition").loc[order, modes]
        costs = wide[METRIC + cost].unstack("condition").loc[order, modes]
        return cls(
            [(task, int(seed)) for task, seed in order],
            {name.removeprefix(FACTOR): first[name].to_numpy() for name in known},
            costs.to_numpy(dtype=np.float64),
            np.nan_to_num(late.to_numpy(dtype=np.float64, na_value=np.nan)) == 0,
        )


def read_bank(path: Path | str, cost: str = "objective") -> Bank:
    """Read a bank from a Parquet file, or from ``rows.parquet`` in a folder; see ``Bank.from_rows``.

    Raises ``InputError`` where there is none, it cannot be read, or it is no bank.
    """
    import pyarrow
    import pyarrow.parquet

    place = Path(path)
    file = place / ROWS if place.is_dir() else place
    what = f"bank {file}"
    try:
        table = pyarrow.parquet.ParquetFile(file).read()
        rows = table.to_pandas(ignore_metadata=True)
    except FileNotFoundError:
        hint = f"name a Parquet file of forced episodes, or a folder that holds {ROWS}"
        raise InputError(f"{what}: there is no such file", hint=hint) from None
    except (OSError, pyarrow.ArrowException, ValueError) as error:
        if isinstance(error, OSError) and error.strerror:
            raise InputError(f"{what}: {error.strerror}") from None
        raise InputError(f"{what} is not a Parquet file that can be read: {_first_line(error)}") from None
    return Bank.from_rows(rows, cost, what=what)


def _first_line(error: BaseException) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]


def _need_columns(rows: "pd.DataFrame", names: Sequence[str], cost: str, what: str) -> None:
    have = [str(name) for name in rows.columns]
    twice = sorted({name for name in have if have.count(name) > 1})
    if twice:
        raise InputError(f"{what}: several columns are named {', '.join(twice)}")
    missing = [name for name in names if name not in have]
    if missing:
        raise InputError(
            f"{what}: no column {', '.join(missing)}",
            hint=f"a bank has {', '.join(names)}, {FACTOR}NAME and {METRIC}NAME",
        )
    if METRIC + cost not in have:
        metrics = sorted(name.removeprefix(METRIC) for name in have if name.startswith(METRIC))
        raise InputError(f"{what}: no metric {cost!r}", hint=f"its metrics are {', '.join(metrics) or 'none'}")


def _need_one_of_each(forced: "pd.DataFrame", what: str) -> None:
    """Every scenario has each of the four modes once, and each episode is finished."""
    unknown = [f"{name!r} is not a mode" for name in sorted(set(forced["condition"]) - set(MODES))]
    _refuse(unknown, what, f"the modes are {', '.join(MODES)}")
    if forced["seed"].dtype.kind not in "iu":
        raise InputError(f"{what}: seeds must be whole numbers, the column holds {forced['seed'].dtype}")
    counts = forced.groupby(list(KEYS)).size().unstack("condition", fill_value=0).reindex(columns=MODES, fill_value=0)
    faults = []
    for (task, seed), row in counts[(counts != 1).any(axis=1)].iterrows():
        faults += [f"{task}, seed {seed}: no row of {mode}" for mode in MODES if row[mode] == 0]
        faults += [f"{task}, seed {seed}: {row[mode]} rows of {mode}" for mode in MODES if row[mode] > 1]
    hint = "a scenario is one task under one seed and has each mode once; another deadline is another task"
    _refuse(faults, what, hint)
    undone = forced[forced["status"] != "finished"]
    faults = [f"{_name(row)} is {row.status}" for row in undone.itertuples()]
    _refuse(faults, what, "run these episodes again, or leave their scenarios out")


def _need_numbers(forced: "pd.DataFrame", cost: str, what: str) -> None:
    """Costs are finite, and lateness is known wherever there is a deadline."""
    for name in (cost, "late_events", "deadline_s"):
        if not (forced[name].isna().all() or forced[name].dtype.kind in "iufb"):
            raise InputError(f"{what}: {name} must hold numbers, it holds {forced[name].dtype}")
    lacking = forced[~np.isfinite(_floats(forced[cost]))]
    faults = [f"{_name(row)} has no finite {cost}" for row in lacking.itertuples()]
    _refuse(faults, what, "leave these scenarios out, or name another cost")
    unknown = forced[forced["late_events"].isna() & forced["deadline_s"].notna()]
    faults = [f"{_name(row)} has a deadline, but late_events is null" for row in unknown.itertuples()]
    _refuse(faults, what, "late_events counts the planning events that took longer than deadline_s")


def _need_agreement(forced: "pd.DataFrame", known: Sequence[str], what: str) -> None:
    """All modes of a scenario meet the same factors and deadline."""
    told = forced[list(known)].astype(str).assign(task=forced["task"], seed=forced["seed"])
    spread = told.groupby(["task", "seed"]).nunique()
    faults = [
        f"{task}, seed {seed}: {name} differs between modes"
        for name in known
        for task, seed in spread.index[spread[name] > 1]
    ]
    _refuse(faults, what, "modes are compared under equal conditions only")


def _floats(values: "pd.Series[Any]") -> NDArray[np.float64]:
    return np.asarray(values.to_numpy(dtype=np.float64, na_value=np.nan))


def _name(row: Any) -> str:
    return f"{row.condition} of {row.task}, seed {row.seed},"


def _refuse(faults: Sequence[str], what: str, hint: str) -> None:
    """Raise ``InputError`` where there are faults; the first are named, the rest counted."""
    if faults:
        more = [f"and {len(faults) - SHOWN} more"] if len(faults) > SHOWN else []
        count = f"{len(faults)} problem{'s' * (len(faults) != 1)}"
        raise InputError(f"{what}: {count}: {'; '.join([*faults[:SHOWN], *more])}", hint=hint)
