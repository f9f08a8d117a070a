"""Rows as tables: one line per episode, plain columns, Parquet. Tables are derived from rows and can be rebuilt."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from planroute.episode import EpisodeRow
from planroute.errors import InputError, StorageError
from planroute.runs.stored import Fault, not_finite, read_row, row_fault

if TYPE_CHECKING:
    import pandas as pd

_PLAIN = (
    "domain",
    "task",
    "condition",
    "declarer",
    "seed",
    "declared",
    "executed",
    "mode_agreement",
    "gate",
    "status",
    "stop",
    "error",
    "success",
    "deadline_s",
    "late_events",
    "failure",
    "model",
)
_SPENT = ("model_calls", "prompt_tokens", "answer_tokens", "thinking_tokens", "interactions", "planning_events")
_PARTS = ("factor_", "metric_", "spent_")


def row_frame(rows: Sequence[EpisodeRow]) -> "pd.DataFrame":
    """Return one line per row, in their order.

    Beside the row's plain fields: ``factor_*`` the scenario, ``metric_*`` the referee's figures, ``spent_*`` sums over
    purposes (calls, tokens, interactions, planning events), ``planning_s`` their stipulated seconds, ``longest_s`` the
    longest single event. What is missing is null.
    """
    import pandas as pd

    lines = []
    for row in rows:
        line: dict[str, Any] = {name: getattr(row, name) for name in _PLAIN}
        line |= {f"factor_{name}": _scalar(value) for name, value in row.factors.items()}
        line |= {f"metric_{name}": value for name, value in row.metrics.items()}
        line |= {f"spent_{name}": sum(spent.get(name, 0) for spent in row.spent.values()) for name in _SPENT}
        line["planning_s"] = sum(event["cost_s"] for event in row.planning)
        line["longest_s"] = max((event["cost_s"] for event in row.planning), default=None)
        lines.append(line)
    return pd.DataFrame(lines)


def write_table(path: Path, lines: "pd.DataFrame | Sequence[Mapping[str, Any]]") -> Path:
    """Write a Parquet file as a whole. Raises ``StorageError`` where it cannot be written."""
    import pandas as pd

    frame = lines if isinstance(lines, pd.DataFrame) else pd.DataFrame(list(lines))
    part = path.with_name(f".part-{path.name}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        frame.to_parquet(part, index=False)
        part.replace(path)
    except OSError as error:
        raise StorageError(f"cannot write {path}: {error.strerror or error}") from None
    return path


def read_rows(path: Path) -> list[EpisodeRow]:
    """Return the rows of a Parquet file that ``row_frame`` made, with all that a table keeps of them.

    Declarations and planning events are not in a table; amounts are sums over purposes. Raises ``InputError`` where the
    file is missing, cannot be read, lacks a column, holds no row, one episode twice, or what no episode has; that is
    named by its row, counted from 1, and its column.
    """
    import pandas as pd
    from pyarrow import ArrowException

    try:
        frame = pd.read_parquet(path)
    except (OSError, ValueError, ArrowException) as error:
        why = getattr(error, "strerror", None) or next(iter(str(error).splitlines()), type(error).__name__)
        raise InputError(f"cannot read {path}: {why}", hint="name a run, or a table of one") from None
    missing = [name for name in _PLAIN if name not in frame]
    if missing:
        raise InputError(f"{path} is no table of episodes: it lacks {', '.join(missing)}")
    if not len(frame):
        raise InputError(f"{path} holds no episode", hint="let the run go on until there is one")
    wanted = [name for name in frame if name in (*_PLAIN, "planning_s") or name.startswith(_PARTS)]
    plain = frame[wanted].astype(object).where(frame[wanted].notna(), None)
    return _rows(plain.to_dict("records"), path)


def _rows(lines: Sequence[Mapping[str, Any]], path: Path) -> list[EpisodeRow]:
    rows = []
    seen: dict[tuple[str, str, int], int] = {}
    for number, line in enumerate(lines, 1):
        fault = _scalar_fault(line) or row_fault(_values(line))
        if fault:
            raise _damaged(path, number, _column(*fault[0]), fault[1])
        row = read_row(_values(line))
        episode = (row.task, row.condition, row.seed)
        if episode in seen:
            what = f"task, condition and seed are those of row {seen[episode]}"
            raise _damaged(path, number, "task", what)
        seen[episode] = number
        rows.append(row)
    return rows


def _scalar_fault(line: Mapping[str, Any]) -> Fault | None:
    for name, value in line.items():
        if not isinstance(value, str | int | float | None):
            return (name,), "neither a text nor a number nor true or false"
    infinite = not_finite(line)
    return ((infinite,), "not a finite number") if infinite else None


def _values(line: Mapping[str, Any]) -> dict[str, Any]:
    """A line as a row of JSON values. A column that lacks a value somewhere has decimals: whole numbers are such."""

    def part(prefix: str) -> dict[str, Any]:
        return {name.removeprefix(prefix): value for name, value in line.items() if name.startswith(prefix)}

    spent = {name: value for name, value in part("spent_").items() if value is not None}
    return {
        **{name: line[name] for name in _PLAIN},
        "seed": _whole(line["seed"]),
        "late_events": _whole(line["late_events"]),
        "factors": part("factor_"),
        "gate_why": "",
        "declaration": None,
        "metrics": part("metric_"),
        "spent": {"all": {**spent, "planning_s": line.get("planning_s") or 0.0}},
        "planning": [],
    }


def _whole(value: Any) -> Any:
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _column(field: str, *within: str) -> str:
    """The column that holds what stands there in a row."""
    prefix = {"factors": "factor_", "metrics": "metric_", "spent": "spent_"}.get(field)
    if prefix is None or not within:
        return field
    return within[-1] if within[-1] == "planning_s" else f"{prefix}{within[-1]}"


def _damaged(path: Path, number: int, column: str, what: str) -> InputError:
    return InputError(f"{path} is damaged: row {number}, column {column}: {what}", hint="write the table again")


def _scalar(value: Any) -> Any:
    """Factors that are lists become text: a column has one type."""
    return ",".join(map(str, value)) if isinstance(value, list | tuple) else value
