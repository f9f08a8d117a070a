"""Reading a folder of experiments, and the tables that are made of their results."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from planroute.errors import InputError
from planroute.modes import MODES
from planroute.reporting.placing import NAME, placed
from planroute.reporting.reading import read_object

RESULT, MANIFEST, BILLING = "result.json", "manifest.json", "billing.json"
JUDGED = ("what", "where", "paper", "paper_low", "paper_high", "ours", "low", "high", "verdict", "tuned", "note")


@dataclass(frozen=True, slots=True)
class Studied:
    """One experiment: the file that says what it is, its result, and what was billed for it."""

    folder: Path
    definition: Mapping[str, Any]
    result: Mapping[str, Any]
    version: str = ""
    billing: Mapping[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """Such as ``E3``."""
        return str(self.result["experiment"])


def is_study(folder: Path) -> bool:
    """Whether ``folder`` holds experiments or one experiment."""
    try:
        manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return isinstance(manifest, dict) and ("experiment" in manifest or manifest.get("kind") == "study")


def read_study(folder: Path) -> list[Studied]:
    """Return the finished experiments in ``folder``, or the one that it is, in the order of the manifest.

    Raises ``InputError`` where there is none or a file is damaged.
    """
    manifest = read_object(folder / MANIFEST)
    if "experiment" in manifest:
        return [_studied(folder)]
    listed = manifest.get("experiments", [])
    if not isinstance(listed, list) or not all(isinstance(name, str) and name.isalnum() for name in listed):
        raise InputError(f"{folder / MANIFEST} is damaged: experiments: not a list of names")
    names = [name.lower() for name in listed]
    found = [_studied(folder / name) for name in names if (folder / name / RESULT).is_file()]
    if not found:
        raise InputError(f"{folder} holds no finished experiment", hint="run planroute experiment all --out with it")
    return found


def claims(studied: Sequence[Studied]) -> list[dict[str, Any]]:
    """Every number and every direction of the paper beside ours, as lines of a table."""
    lines = []
    for one in studied:
        for claim in one.result.get("claims", []):
            directed = "values" in claim
            ours = [one["value"] for one in claim["values"]] if directed else [claim["ours"]]
            paper, interval = claim.get("paper_interval") or (None, None), claim.get("interval") or (None, None)
            lines.append(
                {
                    "experiment": one.name,
                    "kind": "direction" if directed else "number",
                    "what": claim["what"],
                    "where": claim["where"],
                    "paper": claim.get("paper"),
                    "paper_low": paper[0],
                    "paper_high": paper[1],
                    "ours": None if directed else ours[0],
                    "low": interval[0],
                    "high": interval[1],
                    "values": ", ".join("-" if value is None else f"{value:.4g}" for value in ours) if directed else "",
                    "fresh": (claim.get("fresh") or {}).get("mean"),
                    "fresh_low": (claim.get("fresh") or {}).get("low"),
                    "fresh_high": (claim.get("fresh") or {}).get("high"),
                    "verdict": claim["verdict"],
                    "tuned": bool(claim.get("tuned")),
                    "note": claim.get("note", ""),
                }
            )
    return lines


def table(result: Mapping[str, Any], spec: Mapping[str, Any]) -> list[dict[str, Any]]:
    """One table of an experiment as lines: a line for each condition, or for each condition and scenario."""
    lines: list[dict[str, Any]] = []
    conditions = result.get("conditions", {})
    for condition in [*(mode for mode in MODES if mode in conditions), *sorted(set(conditions) - set(MODES))]:
        found = conditions[condition]
        rows = found.get("levels", {}).items() if spec["rows"] == "levels" else [("", found)]
        for scenario, row in rows:
            line: dict[str, Any] = {"condition": condition}
            if scenario:
                line["scenario"] = scenario
            for column in spec["columns"]:
                found_value = row.get(column)
                line[column] = found_value if isinstance(found_value, int | float | str) else None
                interval = (row.get("intervals") or {}).get(column)
                line[f"{column}_low"], line[f"{column}_high"] = interval or (None, None)
            lines.append(line)
    return lines


def model_lines(result: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Every number of an interface study as a line: its path, and a column for each model."""
    models = result.get("models")
    if not isinstance(models, Mapping) or not models:
        return []
    flat = {name: dict(_numbers(found)) for name, found in models.items()}
    paths = dict.fromkeys(path for found in flat.values() for path in found)
    return [{"figure": path, **{name: found.get(path) for name, found in flat.items()}} for path in paths]


def _numbers(found: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    if isinstance(found, Mapping):
        for name, value in found.items():
            yield from _numbers(value, f"{path} / {name}" if path else str(name))
    elif isinstance(found, bool):
        yield path, float(found)
    elif isinstance(found, int | float):
        yield path, found


def write_lines(folder: Path, name: str, lines: Sequence[Mapping[str, Any]]) -> None:
    """Write ``lines`` as CSV and Parquet; what is no valid Unicode is escaped.

    Raises ``InputError`` where ``name`` is no plain name or a column holds texts and numbers, ``StorageError`` where
    they cannot be written.
    """
    import pandas as pd

    frame = pd.DataFrame([{_escaped(key): _escaped(value) for key, value in line.items()} for line in lines])
    with placed(folder, f"{name}.csv") as part:
        frame.to_csv(part, index=False)
    try:
        with placed(folder, f"{name}.parquet") as part:
            frame.to_parquet(part, index=False)
    except (TypeError, ValueError):  # pyarrow's own errors are of these kinds
        raise InputError(f"the values of table {name} are of several kinds in one column") from None


def _escaped(value: Any) -> Any:
    return value.encode("utf-8", "backslashreplace").decode() if isinstance(value, str) else value


def _studied(folder: Path) -> Studied:
    manifest, result = read_object(folder / MANIFEST), read_object(folder / RESULT)
    for field_name in ("experiment", "title", "question", "status", "claims"):
        if field_name not in result:
            raise InputError(f"{folder / RESULT} is damaged: {field_name} is missing", hint="remove it and run again")
    claimed = isinstance(result["claims"], list) and all(
        isinstance(claim, dict)
        and {"what", "where", "verdict"} <= set(claim)
        and ("values" in claim or "ours" in claim)
        for claim in result["claims"]
    )
    for field_name, fits in (("claims", claimed), ("conditions", isinstance(result.get("conditions", {}), dict))):
        if not fits:
            raise InputError(f"{folder / RESULT} is damaged: {field_name}", hint="remove it and run again")
    if not isinstance(result["experiment"], str) or not NAME.fullmatch(result["experiment"]):
        raise InputError(f"{folder / RESULT} is damaged: experiment: not a name", hint="remove it and run again")
    billing = read_object(folder / BILLING) if (folder / BILLING).is_file() else {}
    return Studied(folder, manifest.get("definition", {}), result, str(manifest.get("planroute", "")), billing)
