"""The game engine: TextWorld's rules and planner behind a small, quick and independent object.

It shows the texts that ALFWorld's own environment shows, word for word, from the same parts of the libraries, but does
not translate the game anew for each start, nor derive each command again after each step.

One lock serves all games: the libraries' parsers and translator share global state. So calls may come from any thread
and are carried out one at a time. While a game is translated (its first start), ``sys.stdout`` belongs to the
translator: what other threads print meanwhile is lost.
"""

import importlib
import os
import re
import sys
import threading
import warnings
import weakref
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from copy import deepcopy
from functools import cache, lru_cache
from types import SimpleNamespace
from typing import Any, Final, NamedTuple
from unittest import mock

from planroute.domains.alfworld.expressions import evaluate
from planroute.domains.alfworld.game_file import Game, Rules, read_rules
from planroute.domains.alfworld.games import installed_rules
from planroute.errors import DomainError, InputError, PlanrouteError

NOTHING_HAPPENS: Final = "Nothing happens."
"""What the player reads after a command that cannot be carried out."""

_KEPT_GAMES: Final = 16
_KEPT_TEXTS: Final = 4096
_LOCK: Final = threading.RLock()
_PLAIN: Final = re.compile(r"(?:[^{}\[\]|#<>]|\{\w+\})*")
"""Templates of commands that hold names only."""
_STATELESS: Final = re.compile(r"[^{}\[\]|#]*\[\{[\w. ]+\|\s*receptacleatlocation\([^)]*\)\s*\}\][^{}\[\]|#]*")
"""Templates that say the same in every state: they ask for nothing but where a receptacle stands."""


@cache
def _libraries() -> SimpleNamespace:
    """Import the libraries. They write nothing, and ALFWORLD_DATA is afterwards what it was."""
    rules, _ = installed_rules()
    before = os.environ.get("ALFWORLD_DATA")
    os.environ["ALFWORLD_DATA"] = str(rules.parent)  # alfworld makes the folder that this names, when imported
    try:
        with warnings.catch_warnings():
            for category in (DeprecationWarning, PendingDeprecationWarning, SyntaxWarning, ResourceWarning):
                warnings.simplefilter("ignore", category)
            names = (
                "fast_downward",
                "textworld.envs.pddl.logic",
                "textworld.envs.pddl.textgen",
                "textworld.generator.game",
            )
            planner, logic, textgen, game = (importlib.import_module(name) for name in names)
            naming = importlib.import_module("alfworld.agents.utils.misc")
    except ImportError as error:
        raise InputError(
            f"ALFWorld games need the alfworld extra ({error})", hint="pip install 'planroute[alfworld]'"
        ) from None
    finally:
        os.environ.pop("ALFWORLD_DATA")
        if before is not None:
            os.environ["ALFWORLD_DATA"] = before
    return SimpleNamespace(planner=planner, logic=logic, textgen=textgen, game=game, naming=naming)


class _OutOfReach(Exception):
    """The goal of a game cannot be reached."""


class _Prepared:
    """What all engines of one game share: the parsed grammar, the translations, the commands' texts."""

    def __init__(self, rules: Rules) -> None:
        self.problem = rules.problem
        self.logic = _libraries().logic.GameLogic(domain=rules.domain, grammar=rules.grammar)
        self.commands: dict[tuple[str, ...], str] = {}
        self._translations: dict[bool, Any] = {}

    def translate(self, domain: str, problem: str, verbose: bool = False, optimize: bool = False) -> Any:
        """Stand in for the planner's own translation, which gives the same result each time."""
        if optimize not in self._translations:
            self._translations[optimize] = _translate(domain, problem, optimize=optimize)
        return self._translations[optimize]


def _translate(domain: str, problem: str, *, optimize: bool) -> Any:
    arguments = sys.argv
    try:
        task, text = _libraries().planner.interface.pddl2sas(domain, problem, optimize=optimize)
    finally:
        sys.argv = arguments  # the translator sets its own
    if "Atom dummy(val1)" in text:  # what the translator writes in place of a task whose goal is out of reach
        raise _OutOfReach("no actions lead to the goal")
    return task, text


class _Stamp(NamedTuple):
    path: str
    changed: int
    size: int
    goal: str


_PREPARED: Final[OrderedDict[_Stamp, _Prepared]] = OrderedDict()
_IDLE_LIBRARIES: Final[list[Any]] = []
"""Loaded copies of the planner that no engine uses now; unloading one would crash the interpreter when it ends."""


def _prepare(game: Game) -> _Prepared:
    try:
        status = game.path.stat()
    except OSError as error:
        raise InputError(f"game {game.id}: {game.path} cannot be read: {error.strerror}") from None
    stamp = _Stamp(str(game.path), status.st_mtime_ns, status.st_size, game.goal)
    if stamp not in _PREPARED:
        _PREPARED[stamp] = _Prepared(read_rules(game, installed_rules()))
    _PREPARED.move_to_end(stamp)
    while len(_PREPARED) > _KEPT_GAMES:
        _PREPARED.popitem(last=False)
    return _PREPARED[stamp]


def _safe_derive(symbol: Any, context: Any = None) -> list[Any]:
    """Stand in for ``EvalSymbol.derive``, which runs the expression as code."""
    variables = (context or symbol.context)["variables"]
    return [_libraries().textgen.TerminalSymbol(evaluate(symbol.expression, variables))]


def _shallow_context(context: Mapping[str, Any]) -> dict[str, Any]:
    """Stand in for ``copy_context``, which copies every entity: a derivation adds entries and changes none."""
    return {**context, "variables": dict(context["variables"]), "mapping": dict(context["mapping"])}


@cache
def _remembering() -> Mapping[str, Any]:
    """What stands in for functions of the grammar's module: the same results, each text parsed once."""
    textgen = _libraries().textgen
    symbols = lru_cache(_KEPT_TEXTS)(textgen._parse_and_convert)
    queries = lru_cache(_KEPT_TEXTS)(textgen.Rule.parse_conjunctive_query)

    def parse(text: str, rule_name: str = "symbols", trace: bool = False) -> Any:
        return deepcopy(symbols(text, rule_name=rule_name, trace=trace))  # a derivation hangs its context on them

    return {
        "_parse_and_convert": parse,
        "Rule": SimpleNamespace(parse_conjunctive_query=queries),
        "copy_context": _shallow_context,
    }


@contextmanager
def _at_work(game: Game, doing: str, *, first: bool = False) -> Iterator[None]:
    """Hold the lock; whatever the libraries raise, or exit with, is an error of the domain.

    While the game is ``first`` read it is the file's fault, unless the machine fails: it is the same each time.
    """
    with _LOCK:
        try:
            textgen = _libraries().textgen
            standing_in = mock.patch.multiple(textgen, **_remembering())
            with standing_in, mock.patch.object(textgen.EvalSymbol, "derive", _safe_derive):
                yield
        except PlanrouteError:
            raise
        except (OSError, MemoryError) as error:
            raise DomainError(f"game {game.id}: {doing} failed: {type(error).__name__}: {error}") from error
        except (Exception, SystemExit) as error:
            if first:
                what = str(error) if isinstance(error, _OutOfReach) else type(error).__name__
                told = f"game {game.id}: {game.path} is damaged: {doing} failed: {what}"
                raise InputError(told, hint="replace that file, or leave its folder out") from error
            raise DomainError(f"game {game.id}: {doing} failed: {type(error).__name__}: {error}") from error


class Engine:
    """One independent play of one game. ``reset`` comes first."""

    def __init__(self, game: Game) -> None:
        self.game = game
        with _at_work(game, "loading", first=True):
            self._prepared = _prepare(game)
            library = _IDLE_LIBRARIES.pop() if _IDLE_LIBRARIES else _libraries().planner.load_lib()
        self._library = library
        self._give_back = weakref.finalize(self, _IDLE_LIBRARIES.append, library)
        self._give_back.atexit = False
        self._state: Any = None
        self._entities: dict[str, Any] = {}
        self._actions: dict[str, Any] = {}
        self.commands: tuple[str, ...] = ()
        self.won = False

    def reset(self) -> str:
        """Begin anew; return what the player reads first."""
        self._check_open()
        with _at_work(self.game, "starting", first=True):
            libraries, prepared = _libraries(), self._prepared
            with mock.patch.object(libraries.planner, "pddl2sas", prepared.translate):
                self._state = libraries.logic.PddlState(self._library, prepared.problem, prepared.logic)
            self._entities = self._name_entities()
            text = prepared.logic.grammar.derive("#intro#", self._context({}))
            self._look_around()
        return str(text)

    def step(self, command: str) -> str | None:
        """Carry out ``command`` and return what the player reads; ``None`` if it is not among ``commands``."""
        self._check_open()
        if self._state is None:
            raise DomainError(f"game {self.game.id} is not started")
        action = self._actions.get(command)
        if action is None:
            return None
        with _at_work(self.game, f"{command!r}"):
            self._state.apply(action)
            text = self._prepared.logic.grammar.derive(action.feedback_rule, self._context(action.mapping))
            self._look_around()
        return str(text)

    def plan(self) -> tuple[str, ...]:
        """Return the planner's commands from here to the goal; empty where it is reached, or out of reach."""
        self._check_open()
        if self._state is None:
            raise DomainError(f"game {self.game.id} is not started")
        with _at_work(self.game, "planning"):
            return () if self.won else tuple(self._state.replan(self._entities))

    def close(self) -> None:
        """Give the planner's library to the next engine. May be called twice."""
        with _LOCK:
            self._state = None
            self._give_back()

    def _check_open(self) -> None:
        if not self._give_back.alive:
            raise DomainError(f"game {self.game.id} is closed")

    def _name_entities(self) -> dict[str, Any]:
        info = _libraries().game.EntityInfo
        entities = {v.name: info(v.name, v.type) for fact in self._state.facts for v in fact.arguments}
        names = _libraries().naming.Demangler(game_infos=entities, shuffle=False)
        for entity in entities.values():
            entity.name = names.demangle_alfred_name(entity.id)
            entity.definite, entity.indefinite = "the", "a"
        return entities

    def _context(self, mapping: Any) -> dict[str, Any]:
        return {
            "state": self._state,
            "facts": list(self._state.facts),
            "variables": {place.name: self._entities[variable.name] for place, variable in mapping.items()},
            "mapping": mapping,
            "entity_infos": self._entities,
        }

    def _look_around(self) -> None:
        self._actions = {}
        for action in self._state.all_applicable_actions():
            self._actions.setdefault(self._command(action), action)
        self.commands = tuple(sorted(self._actions))
        self.won = bool(self._state.check_goal())

    def _command(self, action: Any) -> str:
        names = {place.name: self._entities[variable.name].name for place, variable in action.mapping.items()}
        template = str(action.command_template)
        if _PLAIN.fullmatch(template):
            return template.format(**names)
        key = (template, *names.values())
        known = self._prepared.commands.get(key)
        if known is not None:
            return known
        command = str(self._prepared.logic.grammar.derive(template, self._context(action.mapping)))
        if _STATELESS.fullmatch(template):
            self._prepared.commands[key] = command
        return command
