"""Rows as tables: one line per episode, plain columns, Parquet. Tables are derived from rows and can be rebuilt."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from planroute.episode import EpisodeRow
from planroute.errors import InputError, StorageError

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
    file is missing, cannot be read, or lacks a column.
    """
    import pandas as pd

    try:
        frame = pd.read_parquet(path)
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or str(error).splitlines()[0]
        raise InputError(f"cannot read {path}: {why}", hint="name a run, or a table of one") from None
    missing = [name for name in _PLAIN if name not in frame]
    if missing:
        raise InputError(f"{path} is no table of episodes: it lacks {', '.join(missing)}")
    plain = frame.astype(object).where(frame.notna(), None)
    return [_row(line) for line in plain.to_dict("records")]


def _row(line: Mapping[str, Any]) -> EpisodeRow:
    def part(prefix: str) -> dict[str, Any]:
        return {name.removeprefix(prefix): value for name, value in line.items() if name.startswith(prefix)}

    spent = {**part("spent_"), "planning_s": line.get("planning_s") or 0.0}
    late = line["late_events"]
    return EpisodeRow(
        **{name: line[name] for name in _PLAIN if name not in ("seed", "late_events")},
        seed=int(line["seed"]),
        late_events=None if late is None else int(late),
        factors=part("factor_"),
        gate_why="",
        declaration=None,
        metrics=part("metric_"),
        spent={"all": spent},
        planning=(),
    )


def _scalar(value: Any) -> Any:
    """Factors that are lists become text: a column has one type."""
    return ",".join(map(str, value)) if isinstance(value, list | tuple) else value
