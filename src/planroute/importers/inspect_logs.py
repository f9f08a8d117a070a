"""Logs of Inspect: JSON, and the zipped form; read as data, without Inspect itself."""

import io
import json
import zipfile
import zlib
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from planroute.errors import InputError
from planroute.importers.files import LARGEST_ARCHIVE, refuse_large
from planroute.importers.packed import unpacked
from planroute.importers.prose import listed_plans
from planroute.importers.trajectory import (
    Action,
    DeclaredPlan,
    Trajectory,
    excerpt,
    mapping,
    plan_of,
    sequence,
    text_of,
)

_RIGHT = {"C": True, "I": False, 1: True, 0: False}


def inspect_json(document: Any, name: str) -> list[Trajectory]:
    """Read a JSON log: one trajectory for each sample."""
    log = mapping(document, name)
    model = _model(log, name)
    return [_sample(mapping(s, f"{name}: sample"), name, model) for s in sequence(log.get("samples"), name)]


def inspect_zip(data: bytes, name: str) -> list[Trajectory]:
    """Read an ``.eval`` file: a zip with ``header.json`` and a file for each sample."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            names = archive.namelist()
            entries = sorted((n for n in names if n.startswith("samples/") and n.endswith(".json")), key=_by_number)
            if sum(info.file_size for info in archive.infolist()) > LARGEST_ARCHIVE:
                raise InputError(f"{name} unpacks to more than {LARGEST_ARCHIVE >> 20} MB")
            for entry, count in Counter(names).items():
                if count > 1:
                    raise InputError(f"{name} holds {entry} {count} times")
                refuse_large(archive.getinfo(entry).file_size, f"{name}: {entry}")
            header = json.loads(unpacked(archive, data, "header.json")) if "header.json" in names else {}
            if not entries and not header:
                raise InputError(f"{name} is a zip, but not a log of Inspect: it has neither samples nor a header")
            samples = (json.loads(unpacked(archive, data, entry)) for entry in entries)
            model = _model(header, name)
            return [_sample(mapping(sample, f"{name}: sample"), name, model) for sample in samples]
    except ImportError:
        hint = "install `backports.zstd`, or make it JSON: `inspect log convert --to json`"
        raise InputError(f"{name} is packed with Zstandard, and nothing here unpacks it", hint=hint) from None
    except (zipfile.BadZipFile, zlib.error, ValueError, EOFError, RuntimeError) as error:
        raise InputError(f"{name} is a damaged log of Inspect: {error}") from None


def _by_number(entry: str) -> tuple[int, str]:
    return len(entry), entry


def _model(log: Any, name: str) -> str:
    return str(mapping(mapping(log, name).get("eval"), f"{name}: eval").get("model", ""))


def _sample(sample: Mapping[str, Any], name: str, model: str) -> Trajectory:
    messages = [mapping(m, f"{name}: message") for m in sequence(sample.get("messages"), f"{name}: messages")]
    answers = {str(m.get("tool_call_id")): m for m in messages if m.get("role") == "tool"}
    plans: list[DeclaredPlan] = []
    actions: list[Action] = []
    for message in messages:
        said = text_of(message.get("content"))
        if message.get("role") in ("user", "system"):
            plans += [plan_of(cue, units, instructed=True) for cue, units in listed_plans(said)]
        if message.get("role") != "assistant":
            continue
        plans += [plan_of(cue, units, before=len(actions)) for cue, units in listed_plans(said)]
        for call in sequence(message.get("tool_calls"), f"{name}: tool_calls"):
            told = mapping(call, f"{name}: tool call")
            answer = answers.get(str(told.get("id")), {})
            text = _call(str(told.get("function", "")), told.get("arguments"))
            actions.append(Action(len(actions), text, excerpt(_answer(answer)), not answer.get("error")))
    error = mapping(sample.get("error"), f"{name}: error").get("message", "")
    identity = f"{name}#{sample.get('id')}/{sample.get('epoch', 1)}"
    source = f"inspect {model}".strip()
    task = _question(sample.get("input"))
    return Trajectory(identity, source, task, tuple(plans), tuple(actions), _success(sample), str(error))


def _call(function: str, arguments: Any) -> str:
    """A tool call as text: what a shell or Python tool runs, otherwise name and arguments."""
    values = arguments if isinstance(arguments, Mapping) else {}
    if len(values) == 1 and function in ("bash", "python", "bash_session"):
        return str(next(iter(values.values())))
    return " ".join([function, *(str(value) for value in values.values())]).strip()


def _answer(message: Mapping[str, Any]) -> str:
    error = message.get("error")
    told = f"{error.get('type')}: {error.get('message')}\n" if isinstance(error, Mapping) else ""
    return told + text_of(message.get("content"))


def _question(value: Any) -> str:
    if isinstance(value, Sequence) and not isinstance(value, str):
        return "\n".join(text_of(m.get("content")) for m in value if isinstance(m, Mapping))
    return str(value or "")


def _success(sample: Mapping[str, Any]) -> bool | None:
    """The verdict of a sample: its one score, or of several the one that is named ``success``, if right or wrong."""
    scores = sample.get("scores")
    if not isinstance(scores, Mapping):
        return None
    told = [score for name, score in scores.items() if len(scores) == 1 or str(name).split("/")[-1] == "success"]
    if len(told) != 1:
        return None
    score = told[0]
    value = score.get("value") if isinstance(score, Mapping) else None
    return _RIGHT.get(value) if isinstance(value, str | int | float | bool) else None
