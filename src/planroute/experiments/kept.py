"""What a folder of experiments already holds, told without loading what it takes to run one."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from planroute.errors import InputError
from planroute.experiments.definition import Experiment
from planroute.experiments.setting import Setting, study_identity
from planroute.runs.folder import MANIFEST, RESULT, RunFolder
from planroute.runs.stored import read_object

_NAME = re.compile(r"[A-Z]+[0-9]+")


def finished_result(experiment: Experiment, setting: Setting, out: Path) -> dict[str, Any] | None:
    """Return the result in ``out`` if it is whole and of exactly this experiment, setting and code."""
    try:
        found = read_object(out / RESULT)
    except InputError:
        return None
    whole = isinstance(found.get("conditions", {}), dict) and isinstance(found.get("claims"), list)
    whole = whole and all(isinstance(claim, dict) and "verdict" in claim for claim in found["claims"])
    return found if whole and found.get("identity") == study_identity(experiment, setting) else None


def start_study(out: Path, names: Sequence[str]) -> None:
    """Write the manifest of a folder of experiments, or add ``names`` to it.

    Raises ``InputError`` where ``out`` holds anything else, ``StorageError`` where it cannot be written.
    """
    folder = RunFolder(out)
    kept = folder.manifest().get("experiments", []) if (out / MANIFEST).is_file() else []
    if not isinstance(kept, list) or not all(isinstance(name, str) and _NAME.fullmatch(name) for name in kept):
        raise InputError(f"{out / MANIFEST} is damaged: experiments: not a list of names", hint="choose another --out")
    every = sorted({*kept, *names}, key=lambda name: (name[0], len(name), name))
    folder.restart({"kind": "study", "identity": "study", "experiments": every, "cells": []}, same="kind")
