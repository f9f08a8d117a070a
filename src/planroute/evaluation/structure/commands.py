"""Reading shell commands: what each does to files, and what had been done before it."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from planroute.evaluation.structure.act import Act
from planroute.evaluation.structure.lexicon import Lexicon
from planroute.evaluation.structure.phrases import content_words
from planroute.evaluation.structure.verdict import Taken

_HEREDOC = re.compile(
    r"<<-?[ \t]*(['\"]?)(?P<mark>\w+)\1(?P<tail>[^\n]*)\n(?P<body>.*?)\n[ \t]*(?P=mark)[ \t]*(?=\n|$)", re.DOTALL
)
_BLOCK = re.compile(r"^<{7}[^\n]*\n(?P<body>.*?)^>{7}[^\n]*$", re.DOTALL | re.MULTILINE)
_SEPARATOR = re.compile(r"\s*(?:&&|\|\||;|\n)\s*")
_FILE = re.compile(r"(?<![\w/.-])(?:[\w-]+/|\.{1,2}/|/)*[\w-]+(?:\.[\w-]+)+(?![\w/])")
_REDIRECT = re.compile(r"(?<![0-9&])>>?\s*(?P<file>[^\s;&|]+)")
_WRITES = re.compile(r"open\([^)\n]*,\s*['\"][wa]|\.write_text\(|\.writelines?\(")
_PATCH_SCRIPT = re.compile(r"fix|patch|apply|modify|update|edit")
_QUOTES = re.compile(r"'[^'\n]*'|\"[^\"\n]*\"")
_SETTING = re.compile(r"^(?:\w+=\S*\s+)+")
_OPEN_FILE = re.compile(r"^(?:create|open)\s+(?P<file>\S+)")

LONGEST = 20_000
"""Characters of a command that are read."""


@dataclass(slots=True)
class _History:
    """What the commands so far have left: scripts of the agent's own, files seen, things run."""

    own: dict[str, str] = field(default_factory=dict)
    known: set[str] = field(default_factory=set)
    run: set[str] = field(default_factory=set)
    verbs: set[str] = field(default_factory=set)
    opened: str = ""


def read_commands(actions: Sequence[Taken], lexicon: Lexicon) -> tuple[Act, ...]:
    """Read the commands in order; only executed ones leave something behind."""
    history = _History()
    return tuple(_read(action, lexicon, history) for action in actions)


def _read(action: Taken, lexicon: Lexicon, history: _History) -> Act:
    told = action.text[:LONGEST]
    bodies = [match["body"] for match in _HEREDOC.finditer(told)]
    flat = _BLOCK.sub("", _HEREDOC.sub(lambda m: " " + m["tail"], told))
    new = [body.removeprefix("=======") for m in _BLOCK.finditer(told) if (body := m["body"]).startswith("=======")]
    verbs: set[str] = set()
    ran: set[str] = set()
    shown = [told]
    scratch = history if action.executed else _History(dict(history.own), set(history.known), opened=history.opened)
    earlier = frozenset(history.verbs)
    for segment in _SEPARATOR.split(flat):
        command = _SETTING.sub("", segment.strip().split(" | ")[0].strip())
        verb = next((verb for pattern, verb in lexicon.commands if pattern.match(command)), "")
        if verb == "edit" and new:
            verb, bodies = "create", new
        if verb:
            verbs |= _done(verb, command, bodies, ran, shown, scratch)
    fresh = bool(ran - history.run) or ("test" in verbs and not ran)
    if action.executed:
        history.verbs |= verbs
        if "edit" not in history.verbs:
            history.run |= ran
    text = "\n".join(shown).lower()
    return Act(
        action.index,
        action.executed,
        frozenset(verbs),
        text,
        " ".join(told.split()),
        words=content_words(text, lexicon),
        seen=action.observation.lower(),
        earlier=earlier,
        fresh=fresh,
    )


def _done(verb: str, command: str, bodies: list[str], ran: set[str], shown: list[str], history: _History) -> set[str]:
    files = [_plain(name) for name in _FILE.findall(command)]
    if verb == "read":
        history.known.update(name for name in files if name not in history.own)
        opened = _OPEN_FILE.match(command)
        if opened:
            history.opened = _plain(opened["file"])
    elif verb == "create":
        return _written(command, files, bodies, history)
    elif verb == "edit":
        target = next(iter(reversed(files)), history.opened)
        return {"own"} if target in history.own else {"edit"}
    elif verb in {"run", "test"}:
        ran.update(files or [command])
        shown += [history.own[name] for name in files if name in history.own]
        inline = [*(_QUOTES.findall(command) if " -c " in command else []), *(bodies if not files else [])]
        bodies_run = [history.own.get(name, "") for name in files] + inline
        named = any(_PATCH_SCRIPT.search(name) for name in files if name in history.own)
        for body in bodies_run:
            if (named or _WRITES.search(body)) and any(name in body for name in history.known):
                return {verb, "edit"}
    return {verb}


def _written(command: str, files: list[str], bodies: list[str], history: _History) -> set[str]:
    redirect, opened = _REDIRECT.search(command), _OPEN_FILE.match(command)
    target = _plain(redirect["file"] if redirect else files[0] if files else "")
    if opened:
        history.opened = target = _plain(opened["file"])
    if target in history.known and target not in history.own:
        return {"edit"}
    if target:
        history.own[target] = "\n".join(bodies)
    return {"create"}


def _plain(name: str) -> str:
    return name.strip("'\"").removeprefix("./")
