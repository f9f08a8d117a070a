"""The rows of a run as tables: by condition and case the values of its executions, and what was declared."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

from planroute.analysis.measure import Measure
from planroute.episode import EpisodeRow
from planroute.modes import MODES, Baseline, Mode

KINDS: Final = ("task_type", "kind", "category")
"""Factors that say what kind of task it is, the first that is there."""


@dataclass(frozen=True)
class Executions:
    """Episodes of one run. A case is what executions repeat: a task, or a task in one world."""

    rows: Sequence[EpisodeRow]
    measure: Measure

    @cached_property
    def conditions(self) -> tuple[str, ...]:
        """The conditions in the order of every table: baselines, forced modes, then the others by name."""
        found = {row.condition for row in self.rows}
        fixed = [str(name) for name in (*Baseline, *MODES) if name in found]
        return (*fixed, *sorted(found - set(fixed)))

    @cached_property
    def modes(self) -> tuple[Mode, ...]:
        """The forced modes that were executed."""
        return tuple(mode for mode in MODES if self.values(mode))

    @cached_property
    def cases(self) -> tuple[str, ...]:
        """Every case, in the order of the run."""
        return tuple(dict.fromkeys(self.measure.case(row) for row in self.rows))

    @cached_property
    def kinds(self) -> Mapping[str, str]:
        """What kind of task each case is of; all alike where the run does not say."""
        return {self.measure.case(row): kind_of(row.factors) for row in self.rows}

    @cached_property
    def _values(self) -> Mapping[str, Mapping[str, list[float]]]:
        found: dict[str, dict[str, list[float]]] = {}
        for row in self.rows:
            value = self.measure.of(row)
            if value is not None:
                found.setdefault(row.condition, {}).setdefault(self.measure.case(row), []).append(value)
        return found

    def of(self, condition: str) -> list[EpisodeRow]:
        """The rows of ``condition`` that count: all but those that the infrastructure broke off."""
        return [row for row in self.rows if row.condition == condition and row.status != "infrastructure"]

    def values(self, condition: str) -> Mapping[str, list[float]]:
        """The values of ``condition`` by case."""
        return self._values.get(condition, {})

    def means(self, condition: str) -> dict[str, float]:
        """The mean over executions of ``condition`` by case."""
        return {case: sum(values) / len(values) for case, values in self.values(condition).items()}

    @cached_property
    def shared(self) -> tuple[str, ...]:
        """The cases that every forced mode executed at least once."""
        return tuple(case for case in self.cases if self.modes and all(case in self.values(m) for m in self.modes))

    @cached_property
    def forced(self) -> Mapping[Mode, list[list[float]]]:
        """The forced matrix: by mode, for each of ``shared``, the values of its executions."""
        return {mode: [self.values(mode)[case] for case in self.shared] for mode in self.modes}

    @cached_property
    def policies(self) -> Mapping[str, Mapping[str, list[EpisodeRow]]]:
        """By condition in which a declarer chose, and by case, the rows that hold a declaration."""
        found: dict[str, dict[str, list[EpisodeRow]]] = {}
        for row in self.rows:
            if row.condition not in (*MODES, *Baseline) and row.declared in set(Mode):
                found.setdefault(row.condition, {}).setdefault(self.measure.case(row), []).append(row)
        return {name: found[name] for name in self.conditions if name in found}


def kind_of(factors: Mapping[str, Any]) -> str:
    """The kind of a task by its factors, ``all`` where they do not say."""
    return next((str(factors[name]) for name in KINDS if factors.get(name) not in (None, "")), "all")


def spent(row: EpisodeRow, what: str) -> float:
    """How much of ``what`` an episode spent, over all purposes."""
    return float(sum(one.get(what, 0) for one in row.spent.values()))


def flat(values: Mapping[str, Sequence[float]], cases: Iterable[str]) -> tuple[list[float], list[str]]:
    """All values of ``cases``, and the case of each."""
    pairs = [(value, case) for case in cases for value in values.get(case, ())]
    return [value for value, _ in pairs], [case for _, case in pairs]
