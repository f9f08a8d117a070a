"""A study of language-model interfaces from its experiment's file to its result. No episode is run."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from planroute.experiments.definition import Experiment
from planroute.experiments.interfaces.advice import advice
from planroute.experiments.interfaces.declarations import declarations
from planroute.experiments.interfaces.design import Design, interface_of
from planroute.experiments.interfaces.inquiry import Advance, put_all
from planroute.experiments.interfaces.latency import latency
from planroute.experiments.interfaces.messages import messages
from planroute.experiments.interfaces.probe import probe
from planroute.experiments.interfaces.records import Record, RecordFile
from planroute.experiments.setting import Setting, check_runner
from planroute.runs.account import OnAccount
from planroute.runs.folder import RunFolder
from planroute.runs.journal import journal

NEEDS_MODEL: Final = "needs a language model: name one with --model or --models"

_KINDS: Final[Mapping[str, Callable[[Experiment, Setting], Awaitable[Design]]]] = {
    "probe": probe,
    "declarations": declarations,
    "advice": advice,
    "messages": messages,
    "latency": latency,
}


@dataclass(frozen=True, slots=True)
class InterfaceStudy:
    """One record for each call, the result as JSON values, and how many of the records were there already."""

    records: list[Record]
    result: dict[str, Any]
    resumed: int = 0


async def study_interfaces(
    experiment: Experiment, setting: Setting, *, out: Path | None = None, advance: Advance | None = None
) -> InterfaceStudy:
    """Put the study's calls to every model of ``setting``, one model after the other, and work out the result.

    ``result["models"]`` holds each model's figures by its name, ``first`` those of the first one again, ``summary``
    what all have in common, and ``slice`` what was cut, ``None`` where nothing was. With ``out``, records are kept
    there as they come, and a call that is there is not made again; what is billed is kept beside them, by model.
    ``advance`` is told how many calls are done.

    Raises ``InputError`` for an impossible setting or a damaged record, ``FaultyInput`` for what the experiment's file
    gets wrong, ``ModelMissing`` where an engine or a recorded answer is not there, ``RunBudgetReached`` where a limit
    of the setting's manner is, and ``StorageError``.
    """
    check_runner(experiment, setting)
    design = await _design(experiment, setting)
    head = {**design.facts, "calls_per_model": len(design.inquiries), "slice": dict(design.cut) or None}
    if not setting.models:
        return InterfaceStudy([], {**head, "status": "not_run", "why": NEEDS_MODEL})
    file = RecordFile(out)
    at_once = 1 if design.timed else setting.concurrency
    records: list[Record] = []
    figures: dict[str, dict[str, Any]] = {}
    resumed = 0
    with journal(RunFolder(out) if out is not None else None, setting.manner) as billed:
        for name, model in setting.models.items():
            charged = OnAccount(model, billed.account, name)
            mine, there = await put_all(design.inquiries, name, charged, file, at_once=at_once, advance=advance)
            figures[name] = {"endpoint": model.endpoint, **design.figures(mine)}
            records += mine
            resumed += there
    file.finish(records)
    failed = sum(record["status"] == "infrastructure" for record in records)
    result = {
        **head,
        "status": "partly" if failed else "done",
        "models": figures,
        "first": next(iter(figures.values())),
        "summary": design.summary(figures),
    }
    return InterfaceStudy(records, result, resumed)


async def planned_calls(experiment: Experiment, setting: Setting) -> int:
    """How many calls ``study_interfaces`` makes or repeats under ``setting``."""
    return len((await _design(experiment, setting)).inquiries) * len(setting.models)


async def _design(experiment: Experiment, setting: Setting) -> Design:
    return await _KINDS[interface_of(experiment).kind](experiment, setting)
