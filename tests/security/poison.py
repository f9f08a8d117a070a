"""Putting a hostile text into every place of a run's files at which its reader takes one."""

import copy
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from planroute.errors import PlanrouteError

MARKS = {
    "script": "<script>document.title='owned'</script>",
    "closing": "</script><script>alert(1)</script>",
    "attribute": "\"><img src=x onerror=alert(1)><a href='javascript:alert(1)'>x</a>'",
    "style": "</style></title></textarea><svg onload=alert(1)><!--",
    "template": "{{ 7*7 }}{% raw %}[red]x[/nope][link=http://127.0.0.1:9]y[/link]",
    "terminal": "\x1b]0;owned\x07\x1b[31m\x9b31m\x1b]8;;http://127.0.0.1:9\x1b\\\x00\x08",
    "turning": "\u202e\u2066\u2028",
}
CANARY = " ".join(MARKS.values())


def places(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """The way to every text in ``value``."""
    if isinstance(value, str):
        yield path
    elif isinstance(value, dict):
        for name, item in value.items():
            yield from places(item, (*path, name))
    elif isinstance(value, list):
        for number, item in enumerate(value):
            yield from places(item, (*path, number))


def pattern(path: tuple[str | int, ...], value: Any) -> tuple[str, ...]:
    """What places of one kind share: fields by name, elements of a list alike, events by their kind."""
    found = []
    for step in path:
        if isinstance(step, int):
            found.append(str(value[step].get("kind", "*")) if isinstance(value[step], dict) else "*")
        else:
            found.append(step)
        value = value[step]
    return tuple(found)


def poisoned(value: Any, kinds: set[tuple[str, ...]], text: str) -> Any:
    """A copy of ``value`` with ``text`` after every text whose place is of one of ``kinds``."""
    result = copy.deepcopy(value)
    for path in list(places(value)):
        if pattern(path, value) in kinds:
            holder = result
            for step in path[:-1]:
                holder = holder[step]
            holder[path[-1]] += text
    return result


def poison(files: list[Path], read: Callable[[], object], text: str = CANARY) -> set[tuple[str, ...]]:
    """Put ``text`` into every kind of place of ``files`` (JSON) at which ``read`` still accepts them; return those."""
    clean = [json.loads(file.read_text(encoding="utf-8")) for file in files]
    kinds = {pattern(path, value) for value in clean for path in places(value)}

    def accepted(some: set[tuple[str, ...]]) -> bool:
        for file, value in zip(files, clean, strict=True):
            file.write_text(json.dumps(poisoned(value, some, text)), encoding="utf-8")
        try:
            read()
        except PlanrouteError:
            return False
        return True

    def all_that_fit(candidates: list[tuple[str, ...]], taken: set[tuple[str, ...]]) -> set[tuple[str, ...]]:
        if not candidates or accepted(taken | set(candidates)):
            return taken | set(candidates)
        if len(candidates) == 1:
            return taken
        middle = len(candidates) // 2
        return all_that_fit(candidates[middle:], all_that_fit(candidates[:middle], taken))

    found = all_that_fit(sorted(kinds), set())
    assert accepted(found)
    return found
