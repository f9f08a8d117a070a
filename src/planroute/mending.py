"""Mending the values of an answer, field by field, before pydantic judges them.

- A number outside its bounds is clipped to the bound, and this is recorded; NaN and infinity count as missing.
- A number or truth value in quotes is read; an integer field takes the rounded value of a fraction.
- A choice may differ in case, and have spaces or hyphens for underscores; so may the name of a field.
- A string or list that is too long is cut.
- A missing field takes its default; unknown fields are dropped.

Everything but the clipping of a number is recorded in words. A missing required field and a value of another
type are ``ReplyError``.
"""

import math
import re
import types
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Annotated, Any, Final, Literal, Union, get_args, get_origin

from pydantic import AliasChoices, BaseModel
from pydantic.fields import FieldInfo

from planroute.declaration import Clip
from planroute.errors import ReplyError

_MISSING: Final = object()
_NOTHING: Final = frozenset({"", "null", "none", "nan", "n/a"})
_TRUTH: Final = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
_LISTS: Final = (list, tuple, set, frozenset, Sequence, Collection, Iterable)
_DEEPEST: Final = 32


def shown(value: Any) -> str:
    """Return ``value`` for an error's one line: never long, whatever it is."""
    match value:
        case str():
            return repr(value[:60]) + ("..." if len(value) > 60 else "")
        case bool() | float() | None:
            return repr(value)
        case int():
            return repr(value) if value.bit_length() < 128 else "a huge integer"
        case Mapping():
            return "an object"
        case _:
            return f"a {type(value).__name__}"


def shared_fields(given: Mapping[str, Any], Schema: type[BaseModel]) -> bool:
    """Tell whether ``given`` has any field of ``Schema``."""
    names = {_plain(name) for key, info in Schema.model_fields.items() for name in (key, _key(key, info))}
    return any(_plain(name) in names for name in given)


def _plain(name: object) -> str:
    return re.sub(r"[\s_-]+", "_", str(name).strip()).casefold()


def _key(name: str, info: FieldInfo) -> str:
    """The key under which pydantic looks for a field."""
    alias = info.validation_alias or info.alias or name
    if isinstance(alias, AliasChoices):
        alias = next((choice for choice in alias.choices if isinstance(choice, str)), name)
    return alias if isinstance(alias, str) else name


@dataclass(slots=True)
class Mending:
    """One answer's mending: the values that come out, and the record of what was done."""

    repairs: list[str] = field(default_factory=list)
    clips: list[Clip] = field(default_factory=list)

    def record(self, given: Mapping[str, Any], Schema: type[BaseModel], path: str = "") -> dict[str, Any]:
        """Return the values of ``Schema``'s fields in ``given``, mended. Raises ``ReplyError``."""
        if path.count(".") > _DEEPEST:
            raise ReplyError(f"{path[:60]}...: nests too deep")
        near = {_plain(name): name for name in reversed(list(given))}
        values: dict[str, Any] = {}
        used = set()
        for name, info in Schema.model_fields.items():
            key = _key(name, info)
            found = next((k for k in (key, name) if k in given), near.get(_plain(key), near.get(_plain(name))))
            value = _MISSING
            if found is not None and found not in used:
                used.add(found)
                if found not in (key, name):
                    self.repairs.append(f"{path}{name}: was named {shown(found)}")
                value = self._value(given[found], info.annotation, info.metadata, f"{path}{name}")
            if value is not _MISSING:
                values[key] = value
            elif info.is_required():
                raise ReplyError(f"{path}{name}: is required and missing")
            else:
                self.repairs.append(f"{path}{name}: missing, default taken")
        if unknown := [name for name in given if name not in used]:
            some = ", ".join(shown(name) for name in unknown[:3])
            self.repairs.append(f"{path or 'object'}: {len(unknown)} unknown fields dropped: {some}")
        return values

    def _value(self, given: Any, hint: Any, limits: Sequence[Any], path: str) -> Any:
        """Return ``given`` as ``hint`` asks, or ``_MISSING``. What is not known here is left to pydantic."""
        while get_origin(hint) is Annotated:
            hint, *more = get_args(hint)
            limits = [*limits, *more]
        origin = get_origin(hint) or hint
        if origin in (Union, types.UnionType):
            return self._optional(given, get_args(hint), limits, path)
        if given is None:
            return None if hint in (Any, None, type(None)) else _MISSING
        if origin is Literal:
            return self._choice(given, {str(value): value for value in get_args(hint)}, path)
        if not isinstance(origin, type):
            return given
        if issubclass(origin, Enum):
            names = {m.name: m for m in origin} | {str(m.value): m for m in origin}
            return self._choice(given, names, path, shown_as=[str(m.value) for m in origin])
        if issubclass(origin, BaseModel):
            if not isinstance(given, dict):
                raise ReplyError(f"{path}: must be an object, got {shown(given)}")
            return self.record(given, origin, f"{path}.")
        if origin is bool:
            return self._truth(given, path)
        if origin in (int, float):
            return self._number(given, origin, limits, path)
        if origin is str:
            return self._text(given, limits, path)
        if origin in _LISTS:
            return self._items(given, get_args(hint), limits, path)
        if origin in (dict, Mapping) and len(get_args(hint)) == 2 and isinstance(given, dict):
            inner = get_args(hint)[1]
            mended = {name: self._value(item, inner, (), f"{path}.{name[:40]}") for name, item in given.items()}
            return {name: item for name, item in mended.items() if item is not _MISSING}
        return given

    def _optional(self, given: Any, options: tuple[Any, ...], limits: Sequence[Any], path: str) -> Any:
        kinds = [option for option in options if option is not type(None)]
        nullable = len(kinds) < len(options)
        if given is None:
            return None if nullable else _MISSING
        if nullable and str not in kinds and isinstance(given, str) and given.strip().casefold() in _NOTHING:
            self.repairs.append(f"{path}: {shown(given)} read as null")
            return None
        return self._value(given, kinds[0], limits, path) if len(kinds) == 1 else given

    def _choice(self, given: Any, names: Mapping[str, Any], path: str, shown_as: Sequence[str] = ()) -> Any:
        if isinstance(given, str | int | float) and not isinstance(given, bool) and abs(_size(given)) < 1e9:
            if str(given) in names:
                return names[str(given)]
            plain = {_plain(name): value for name, value in reversed(list(names.items()))}
            if _plain(given) in plain:
                self.repairs.append(f"{path}: {shown(given)} read as {plain[_plain(given)]}")
                return plain[_plain(given)]
        elif isinstance(given, bool) and any(given is value for value in names.values()):
            return given
        raise ReplyError(f"{path}: must be one of {', '.join(shown_as or names)}, got {shown(given)}")

    def _truth(self, given: Any, path: str) -> bool:
        if isinstance(given, bool):
            return given
        if isinstance(given, str | int) and _size(given) < 2 and _plain(given) in _TRUTH:
            self.repairs.append(f"{path}: {shown(given)} read as a truth value")
            return _TRUTH[_plain(given)]
        raise ReplyError(f"{path}: must be true or false, got {shown(given)}")

    def _number(self, given: Any, kind: type, limits: Sequence[Any], path: str) -> Any:
        value = given
        if isinstance(given, str):
            try:
                value = float(given) if given.strip().casefold() not in _NOTHING else math.nan
            except ValueError:
                raise ReplyError(f"{path}: must be a number, got {shown(given)}") from None
            if math.isfinite(value):
                self.repairs.append(f"{path}: {shown(given)} read as a number")
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise ReplyError(f"{path}: must be a number, got {shown(given)}")
        if not math.isfinite(_size(value)):
            self.repairs.append(f"{path}: not a finite number")
            return _MISSING
        low, high = _bounds(limits, kind)
        used: float = min(max(value, low), high)
        if used != value:
            self.clips.append(Clip(path, float(value), float(used)))
        if kind is float:
            return float(used)
        if used != round(used):
            self.repairs.append(f"{path}: {used:g} rounded")
        return round(used)

    def _text(self, given: Any, limits: Sequence[Any], path: str) -> str:
        if isinstance(given, int | float) and not isinstance(given, bool) and abs(_size(given)) < 1e15:
            self.repairs.append(f"{path}: number read as text")
            given = str(given)
        if not isinstance(given, str):
            raise ReplyError(f"{path}: must be text, got {shown(given)}")
        longest = _least(limits, "max_length")
        if longest is not None and len(given) > longest:
            self.repairs.append(f"{path}: text of {len(given)} characters cut to {longest}")
            given = given[:longest]
        whole: str = given.encode("utf-8", "replace").decode()
        if whole != given:
            self.repairs.append(f"{path}: broken characters replaced")
        return whole

    def _items(self, given: Any, kinds: tuple[Any, ...], limits: Sequence[Any], path: str) -> Any:
        if not isinstance(given, list):
            self.repairs.append(f"{path}: single value read as a list")
            given = [given]
        longest = _least(limits, "max_length")
        if longest is not None and len(given) > longest:
            self.repairs.append(f"{path}: list of {len(given)} cut to {longest}")
            given = given[:longest]
        if not kinds or (len(kinds) > 1 and kinds[-1] is not Ellipsis):
            return given
        items = [self._value(item, kinds[0], (), f"{path}[{i}]") for i, item in enumerate(given)]
        if _MISSING in items:
            self.repairs.append(f"{path}: empty items dropped")
        return [item for item in items if item is not _MISSING]


def _size(value: Any) -> float:
    """The value of a number, infinite for an integer that no float holds; the length of a text."""
    try:
        return float(len(value) if isinstance(value, str) else value)
    except OverflowError:
        return math.inf


def _flat(limits: Iterable[Any]) -> Iterable[Any]:
    for limit in limits:
        yield from _flat(limit.metadata) if isinstance(limit, FieldInfo) else (limit,)


def _least(limits: Sequence[Any], name: str) -> int | None:
    return min((v for m in _flat(limits) if (v := getattr(m, name, None)) is not None), default=None)


def _bounds(limits: Sequence[Any], kind: type) -> tuple[float, float]:
    """The closed interval of admissible values; an open bound is moved to the next value of its kind."""
    low, high = -math.inf, math.inf
    for limit in _flat(limits):
        ge, gt, le, lt = (getattr(limit, name, None) for name in ("ge", "gt", "le", "lt"))
        if kind is int:
            ge = None if ge is None else math.ceil(ge)
            le = None if le is None else math.floor(le)
            gt = None if gt is None else math.floor(gt) + 1
            lt = None if lt is None else math.ceil(lt) - 1
        else:
            gt = None if gt is None else math.nextafter(gt, math.inf)
            lt = None if lt is None else math.nextafter(lt, -math.inf)
        low = max(low, *(bound for bound in (ge, gt) if bound is not None), -math.inf)
        high = min(high, *(bound for bound in (le, lt) if bound is not None), math.inf)
    return low, high
