"""Rows as tables: one line per episode, plain columns, Parquet. Tables are derived from rows and can be rebuilt."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from planroute.episode import EpisodeRow
from planroute.errors import StorageError

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


def _scalar(value: Any) -> Any:
    """Factors that are lists become text: a column has one type."""
    return ",".join(map(str, value)) if isinstance(value, list | tuple) else value
