"""One experiment from its file to its result: cells, rows, analyses, the paper's values beside ours.

::

    manifest.json       identity, experiment file as read, setting
    parts/              rows (with a language model traces too): the evidence
    rows.parquet        one line per episode, derived
    directives.parquet  one line per directive, where the experiment collects them
    result.json         everything that tables, figures and the report are made from; written last
    billing.json        what was called and billed; differs between equal runs
"""

import json
import time
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from planroute.experiments.analyses import Inputs, analyse, check
from planroute.experiments.claims import judged_claims
from planroute.experiments.definition import Experiment
from planroute.experiments.outcomes import conditions
from planroute.experiments.scenes import NEEDS_MODEL, collect_directives, scene
from planroute.experiments.setting import Setting, check_runner, source_digest, study_identity
from planroute.runs.bank import run_bank
from planroute.runs.command import environment
from planroute.runs.execute import package_version
from planroute.runs.folder import RESULT, RunFolder, canonical
from planroute.runs.table import row_frame, write_table

SCHEMA_VERSION = 1


@dataclass(frozen=True, slots=True)
class Studied:
    """The result of one experiment, how much of it was there already, and how long this start took, in s."""

    result: dict[str, Any]
    resumed: int
    seconds: float


async def run_studies(
    experiments: Mapping[str, Experiment],
    setting: Setting,
    *,
    out: Path | None = None,
    advance: Callable[[str, int], None] | None = None,
) -> dict[str, dict[str, Any]]:
    """Run experiments one after the other, each in its own folder under ``out``, and return their results."""
    results = {}
    for name, experiment in experiments.items():
        told = partial(advance, name) if advance is not None else None
        folder = out / name.lower() if out is not None else None
        results[name] = (await run_study(experiment, setting, out=folder, advance=told)).result
    return results


async def run_study(
    experiment: Experiment,
    setting: Setting,
    *,
    out: Path | None = None,
    advance: Callable[[int], None] | None = None,
) -> Studied:
    """Run ``experiment`` and keep everything under ``out`` where that is given.

    What is there of an earlier start is taken up. Raises ``InputError`` where ``out`` holds something else, and what
    the experiment's file gets wrong as ``FaultyInput``; ``RunBudgetReached`` where a limit of the setting's manner is.
    """
    started = time.monotonic()
    check(experiment)
    check_runner(experiment, setting)
    identity = study_identity(experiment, setting)
    folder = RunFolder(out) if out is not None else None
    with folder.held() if folder is not None else nullcontext():
        return await _studied(experiment, setting, folder, out, advance, identity, started)


async def _studied(
    experiment: Experiment,
    setting: Setting,
    folder: RunFolder | None,
    out: Path | None,
    advance: Callable[[int], None] | None,
    identity: str,
    started: float,
) -> Studied:
    if folder is not None:
        folder.restart(
            {
                "identity": identity,
                "planroute": package_version(),
                "domain": experiment.domain,
                "experiment": experiment.id,
                "definition": experiment.model_dump(mode="json", by_alias=True),
                "config": setting.facts(),
                "cells": [],
                "environment": environment(folder.path),
            },
            same="experiment",
        )
    head = {
        "schema": SCHEMA_VERSION,
        "identity": identity,
        "experiment": experiment.id,
        "title": experiment.title,
        "question": experiment.question,
        "source": experiment.source,
        "communication": setting.communication,
        "models": list(setting.models),
        "seeds": list(setting.seeds or experiment.seeds),
        "levels": {name: list(values) for name, values in experiment.levels.items()},
        "notes": list(experiment.notes),
    }
    if experiment.interface is not None:
        from planroute.experiments.interfaces import study_interfaces

        study = await study_interfaces(experiment, setting, out=out, advance=advance)
        body, resumed = dict(study.result), study.resumed
        body.setdefault("status", "done" if study.records else "not_run")
    else:
        body, resumed = await _episodes(experiment, setting, out, advance)
    result = {**head, **body}
    if setting.seeds is not None and set(setting.seeds) != set(experiment.seeds) and experiment.interface is None:
        result["slice"] = {
            **(result.get("slice") or {}),
            "seeds": {"asked": list(setting.seeds), "of": list(experiment.seeds)},
        }
    result["claims"] = judged_claims(experiment, result)
    result = json.loads(canonical(result))
    if folder is not None:
        folder.write(RESULT, canonical(result))
    return Studied(result, resumed, time.monotonic() - started)


async def _episodes(
    experiment: Experiment, setting: Setting, out: Path | None, advance: Callable[[int], None] | None
) -> tuple[dict[str, Any], int]:
    staged = scene(experiment, setting)
    body: dict[str, Any] = {
        "status": "partly" if staged.not_run else "done",
        "not_run": dict(staged.not_run),
        "arm_notes": dict(staged.notes),
        "episodes": len(staged.cells),
    }
    if not staged.cells:
        return {**body, "status": "not_run", "why": NEEDS_MODEL}, 0
    banked = await run_bank(
        staged.domain,
        staged.cells,
        out=out,
        workers=setting.workers,
        manner=setting.manner,
        collect=collect_directives if experiment.directives else None,
        source=source_digest(),
        finished=advance,
    )
    body |= conditions(banked.rows, experiment)
    inputs = Inputs(experiment, setting, banked.rows, banked.collected, out, advance, source_digest())
    body["analyses"] = {analysis.name: await analyse(analysis, inputs) for analysis in experiment.analyses}
    if out is not None:
        write_table(out / "rows.parquet", row_frame(banked.rows))
        if experiment.directives:
            write_table(out / "directives.parquet", banked.collected)
    return body, banked.resumed
