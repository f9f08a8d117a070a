"""Reading a model's answer as a typed record: recover what can be recovered, record it, refuse the rest.

The rules, in order:

- ``<think>...</think>`` blocks are not part of the answer.
- The answer is a JSON object. Text, markdown fences and lists around it are dropped; what is almost JSON
  (single quotes, trailing commas, Python literals, a missing end) is mended by json-repair.
- Of several objects the *last* one that can be read as the schema counts: models think first and answer last,
  and an unreadable last object gives way to the readable one before it.
- An object that is the only value of another one is unwrapped (``{"answer": {...}}``).
- Values are then mended field by field (``planroute.mending``), and pydantic has the last word.
- Text that is not valid JSON is only searched up to ``MAX_CHARS`` characters and mended up to ``MAX_MENDED``; what
  nests more than ``MAX_DEPTH`` levels is not read.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final, Generic, TypeVar

from pydantic import BaseModel, ValidationError

from planroute.declaration import Clip
from planroute.errors import ReplyError
from planroute.mending import Mending, shared_fields, shown

MAX_CHARS: Final = 65_536
"""How much of a reply that is not valid JSON is searched for objects, in characters."""
MAX_MENDED: Final = 8_192
"""How many characters of a reply are mended; json-repair takes quadratic time, so more would take minutes."""
MAX_MARKS: Final = 1_000
"""How many punctuation marks of an object are mended, for the same reason."""
MAX_BRACES: Final = 100
"""How many opening braces of an object are mended, for the same reason."""
MAX_DEPTH: Final = 32
"""How deep an object may nest."""
MAX_OBJECTS: Final = 50
"""How many objects of one reply are looked at, from the end."""
MAX_BROKEN: Final = 4
"""How many objects without an end are looked at."""

T = TypeVar("T", bound=BaseModel)

_THINK = re.compile(r"<(/?)think(?:ing)?>", re.IGNORECASE)
_PUNCTUATION = re.compile(r"[^\w\s]")
_MARK = re.compile(r'[{}\[\]"]|\\.', re.DOTALL)


@dataclass(frozen=True, slots=True)
class Parsed(Generic[T]):
    """What was read; ``repairs`` says in words what was mended, ``clips`` which numbers moved to a bound."""

    value: T
    repairs: tuple[str, ...] = ()
    clips: tuple[Clip, ...] = ()


def split_thinking(text: str) -> tuple[str, str]:
    """Return answer and thinking of ``text``.

    A block that never closes is thinking up to the end. A closing tag without an opening one ends a block that
    began with the text: some chat templates put the opening tag into the prompt.
    """
    answer: list[str] = []
    thoughts: list[str] = []
    inside, begin = False, 0
    for tag in _THINK.finditer(text):
        closing = tag.group(1) == "/"
        if inside and not closing:
            continue
        piece, begin = text[begin : tag.start()], tag.end()
        if closing and not inside:
            thoughts.append("".join([*answer, piece]))
            answer.clear()
        else:
            (thoughts if inside else answer).append(piece)
        inside = not closing
    (thoughts if inside else answer).append(text[begin:])
    return "".join(answer).strip(), "\n".join(thought.strip() for thought in thoughts)


def read_reply(text: str, Schema: type[T]) -> Parsed[T]:
    """Read ``text`` as ``Schema``.

    Raises ``ReplyError``, and nothing else, with one line that names field and rule.
    """
    answer = text.strip().removeprefix("\ufeff")
    notes: list[str] = []
    objects = _strict(answer)
    if objects is None:
        answer, thinking = split_thinking(answer)
        if thinking or answer != text.strip():
            notes.append("thinking removed")
        if not answer:
            raise ReplyError("the reply is empty" + (" after its thinking" if thinking else ""))
        objects = _strict(answer)
    if objects is None:
        objects, more = _recovered(answer)
        notes += more
    elif len(objects) > 1:
        notes.append(f"one of {len(objects)} objects taken")
    if not objects:
        raise ReplyError(f"no JSON object in the reply, which begins {shown(answer)}")
    return _best(objects, Schema, notes)


def _best(objects: list[dict[str, Any]], Schema: type[T], notes: list[str]) -> Parsed[T]:
    """Read the last object that can be read, or raise the complaint about the last one with a known field."""
    complaint: ReplyError | None = None
    for given in reversed(objects):
        inner = _unwrapped(given, Schema)
        if given and not shared_fields(inner, Schema):
            continue
        mending = Mending(repairs=[*notes, *(["wrapping object removed"] if inner is not given else [])])
        try:
            value = Schema.model_validate(mending.record(inner, Schema))
            return Parsed(value, tuple(mending.repairs), tuple(mending.clips))
        except ReplyError as error:
            complaint = complaint or error
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            where = ".".join(str(part) for part in first["loc"]) or "the object"
            complaint = complaint or ReplyError(f"{where}: {first['msg']}, got {shown(first.get('input'))}")
    raise complaint or ReplyError(
        f"the object has none of the fields {', '.join(Schema.model_fields)}: {shown(objects[-1])}"
    )


def _unwrapped(given: dict[str, Any], Schema: type[BaseModel]) -> dict[str, Any]:
    if len(given) == 1 and not shared_fields(given, Schema):
        (inner,) = given.values()
        if isinstance(inner, dict) and shared_fields(inner, Schema):
            return inner
    return given


def _strict(text: str) -> list[dict[str, Any]] | None:
    """Return the objects of valid JSON; ``None`` if it is not valid, nests too deep, or holds no object."""
    try:
        value = json.loads(text, strict=False)
        if isinstance(value, str):
            value = json.loads(value, strict=False)
    except (ValueError, RecursionError):
        return None
    return _objects(value) or None


def _objects(value: Any) -> list[dict[str, Any]]:
    return [item for item in (value if isinstance(value, list) else [value]) if isinstance(item, dict)]


def _recovered(answer: str) -> tuple[list[dict[str, Any]], list[str]]:
    """Find and mend the objects in a text that is not valid JSON."""
    import json_repair  # 20 ms that a valid reply does not need

    notes = []
    if len(answer) > MAX_CHARS:
        notes.append(f"reply of {len(answer)} characters cut to {MAX_CHARS}")
        answer = answer[:MAX_CHARS]
    spans = list(_spans(answer))[-MAX_OBJECTS:]
    found: list[list[dict[str, Any]]] = []
    mended, left = False, MAX_MENDED
    for span in reversed(spans):
        objects = _strict(span)
        if objects is None and left > 0:
            part = _cut(span[:left])
            left -= len(part)
            try:
                objects = _objects(json_repair.repair_json(part, return_objects=True, skip_json_loads=True))
            except Exception:  # which errors the library may raise on arbitrary text is not documented
                objects = []
            mended = mended or bool(objects)
        found.append(objects or [])
    objects = [item for group in reversed(found) for item in group]
    if mended:
        notes.append("JSON mended")
    if spans and all(len(span) < len(answer) for span in spans):
        notes.append("text around the object dropped")
    if len(objects) > 1:
        notes.append(f"one of {len(objects)} objects taken")
    return objects, notes


def _cut(span: str) -> str:
    """Return as much of ``span`` as can be mended in about a second."""
    braces = 0
    for count, mark in enumerate(_PUNCTUATION.finditer(span)):
        braces += mark.group() == "{"
        if count >= MAX_MARKS or braces > MAX_BRACES:
            return span[: mark.start()]
    return span


def _spans(text: str) -> Iterator[str]:
    """Yield the outermost ``{...}`` of ``text``, without those that nest too deep.

    Where an object lacks its end, what begins inside it is yielded first, and then the object itself up to the
    end of the text: the brace may have been prose.
    """
    offset, broken = 0, []
    for _ in range(MAX_BROKEN):
        start, depth, deepest, in_string = -1, 0, 0, False
        for mark in _MARK.finditer(text, offset):
            character = mark.group()
            if depth == 0:
                if character == "{":
                    start, depth, deepest, in_string = mark.start(), 1, 1, False
            elif character == '"':
                in_string = not in_string
            elif in_string or len(character) > 1:
                continue
            elif character in "{[":
                depth += 1
                deepest = max(deepest, depth)
            else:
                depth -= 1
                if depth == 0 and deepest <= MAX_DEPTH:
                    yield text[start : mark.end()]
        if depth == 0:
            break
        if deepest <= MAX_DEPTH:
            broken.append(text[start:])
        offset = start + 1
    yield from reversed(broken)
