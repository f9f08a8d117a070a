"""Rows with planted figures, for analyses that read rows and run nothing."""

from typing import Any

from planroute.episode import EpisodeRow
from planroute.experiments.analyses import Inputs
from planroute.experiments.definition import Experiment
from planroute.experiments.setting import Setting


def row(condition: str, seed: int, task: str = "nominal", **values: Any) -> EpisodeRow:
    """A finished row; ``metrics`` and ``factors`` by name, other fields as they are."""
    plain: dict[str, Any] = {
        "domain": "grid",
        "declarer": "fixed",
        "declared": condition,
        "executed": condition,
        "mode_agreement": True,
        "gate": "PASSED",
        "gate_why": "",
        "declaration": None,
        "status": "finished",
        "stop": "done",
        "error": None,
        "success": None,
        "spent": {},
        "planning": (),
        "deadline_s": None,
        "late_events": None,
        "failure": "NONE",
        "model": None,
        "metrics": {},
        "factors": {},
    }
    return EpisodeRow(**{**plain, **values, "task": task, "condition": condition, "seed": seed})


def experiment(**parts: Any) -> Experiment:
    """An experiment with one forced mode unless ``parts`` say otherwise."""
    whole = {"id": "E9", "title": "t", "question": "q", "source": "s", "seeds": [1], "forced": ["SEARCH"], **parts}
    return Experiment.model_validate(whole)


def inputs(rows: list[EpisodeRow], directives: list[dict[str, Any]] | None = None, **parts: Any) -> Inputs:
    """What an analysis of ``rows`` gets."""
    return Inputs(experiment(**parts), Setting(), rows, directives or [])
