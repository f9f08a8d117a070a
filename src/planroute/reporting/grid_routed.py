"""What was declared where a declarer chose, what the gate did, and what its regret is made of."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from planroute.reporting.reading import Row, Run
from planroute.reporting.verdict import TIE, Standing, known
from planroute.reporting.wording import capital, counted, listed, number, percent, prose

REST = "the rest of its policy"


def headline(run: Run, cost: str) -> str:
    """One sentence on all routed conditions; empty where there is none."""
    if len(run.routed) < 2:
        return "".join(sentence(run, name, cost) for name in run.routed)
    regrets = {name: known(run.result.conditions.get(name, {}).get("regret")) for name in run.routed}
    ranked = sorted((regret, name) for name, regret in regrets.items() if regret is not None)
    if not ranked:
        return f"No regret is known of {listed([prose(name) for name in run.routed])}."
    (least, first), (most, last) = ranked[0], ranked[-1]
    mean = _mean(run)
    if len(ranked) == 1:
        which = f"Of {len(run.routed)} routed conditions only {prose(first)}"
        return f"{which} has a known {mean}regret ({_brief(run, first)})."
    if most - least <= TIE:
        return f"All {len(ranked)} routed conditions have the same {mean}regret ({_brief(run, first)})."
    return (
        f"Of {len(run.routed)} routed conditions {prose(first)} had the least {mean}regret ({_brief(run, first)}), "
        f"{prose(last)} the most ({_brief(run, last)})."
    )


def _mean(run: Run) -> str:
    return "mean " if len(run.cases) > 1 else ""


@dataclass(frozen=True, slots=True)
class Parts:
    """A condition's mean regret and what it is made of: means over the ``split`` of ``of`` episodes that ran a mode."""

    regret: float | None
    mode: float | None
    rest: float | None
    split: int = 0
    of: int = 0

    @property
    def unsplit(self) -> float:
        """Regret, summed over episodes, that belongs to those in which no mode was executed or compared."""
        return (self.regret or 0.0) * self.of - ((self.mode or 0.0) + (self.rest or 0.0)) * self.split

    @property
    def dominant(self) -> str:
        """The larger part: ``mode``, ``rest``, ``both`` where equal, ``unsplit``; empty where none is or is known."""
        if self.mode is None or self.rest is None:
            return ""
        mode, rest = abs(self.mode) * self.split, abs(self.rest) * self.split
        if self.split < self.of and abs(self.unsplit) > max(mode, rest):
            return "unsplit"
        if number(abs(self.mode)) == number(abs(self.rest)):
            return "both" if max(mode, rest) > TIE else ""
        return "mode" if mode > rest else "rest"

    @property
    def opposed(self) -> bool:
        """Whether mode and rest pull in opposite directions."""
        return (self.mode or 0.0) * (self.rest or 0.0) < 0


def parts(run: Run, name: str) -> Parts:
    """The regret of the condition ``name``, from the run's own table."""
    table = run.result.conditions.get(name, {})
    regret, mode, rest = (known(table.get(key)) for key in ("regret", "mode_regret", "policy_gap"))
    given = table.get("per_seed")
    seeds = [seed for seed in given if isinstance(seed, Mapping)] if isinstance(given, list) else []
    seeds = [seed for seed in seeds if seed.get("status") != "infrastructure" and known(seed.get("regret")) is not None]
    split = sum(known(seed.get("mode_regret")) is not None for seed in seeds)
    return Parts(regret, mode, rest, split or 1, len(seeds) or 1)


def _brief(run: Run, name: str) -> str:
    found = parts(run, name)
    if found.opposed and found.dominant != "unsplit":
        mode, rest = number(found.mode, sign=True), number(found.rest, sign=True)
        return f"{number(found.regret)}: {mode} the mode, {rest} the rest"
    which = {
        "mode": ", mostly the mode’s",
        "rest": ", mostly the rest of its policy’s",
        "both": ", half the mode’s",
        "unsplit": ", mostly of what executed no mode",
    }
    return number(found.regret) + which.get(found.dominant, "")


def sentence(run: Run, name: str, cost: str) -> str:
    """What the declarer of the condition ``name`` chose, what became of it, its regret and which part dominates."""
    rows = [row for row in run.rows if row.condition == name and row.counts]
    declared = Counter(row.declared for row in rows if row.declared)
    if not declared:
        return f"The {prose(name)} condition has no declaration that counts."
    who = listed(sorted({row.declarer for row in rows if row.declarer}))
    if len(declared) == 1:
        often = " every time" if len(rows) > 1 else ""
        if declared.total() < len(rows):
            often = f" {declared.total()} of {len(rows)} times"
        text = f"the declarer ({who}) chose {prose(next(iter(declared)))}{often}"
    else:
        text = f"the declarer ({who}) chose " + listed([f"{prose(m)} {n}×" for m, n in declared.most_common()])
    text += _gate(rows)
    failed = sum(row.status == "failed" and row.gate != "REFUSED" for row in rows)
    if failed:
        text += f", {failed} of {len(rows)} failed"
    return capital(f"{text}{_regret(run, name, rows, cost)}.")


def _regret(run: Run, name: str, rows: Sequence[Row], cost: str) -> str:
    found = parts(run, name)
    if found.regret is None:
        return "; its regret is not known"
    if abs(found.regret) <= TIE and not found.dominant:
        return ", without regret"
    standing = Standing.of(run, cost)
    base = [min(costs.values()) for row in rows if row.case in standing.costs and (costs := standing.in_time(row.case))]
    against = ""
    if sum(base) > 0 and abs(found.regret) > TIE:
        share = percent(abs(found.regret) * len(base) / sum(base))
        least = f"the least cost of a forced mode{' in time' if standing.late else ''}"
        least = f"forced {prose(run.forced[0])}" if len(run.forced) == 1 else least
        against = f" ({share} {'above' if found.regret > 0 else 'below'} {least})"
    return f", at a {_mean(run)}regret of {number(found.regret)}{against}{_split(found)}"


def _split(found: Parts) -> str:
    if found.mode is None or found.rest is None:
        return "; how much of it is due to the mode is not known"
    shown = f"{number(found.mode, sign=True)} from the mode and {number(found.rest, sign=True)} from {REST}"
    if found.split < found.of:
        if found.dominant == "unsplit":
            without = f"{counted(found.of - found.split, 'episode')} that ran no comparable mode"
            return f": mostly from {without}; on the other {found.split}, {shown}"
        shown = f"on the {found.split} of {found.of} episodes that can be split, {shown}"
    elif number(found.mode) == "0":
        return f": all of it from {REST}, none from the mode"
    elif number(found.rest) == "0":
        return f": all of it from the mode, none from {REST}"
    if found.dominant == "both":
        return f": {shown}, so both weigh the same"
    larger, other = ("the mode", "the rest") if found.dominant == "mode" else ("the rest", "the mode")
    return f": {shown}, so {larger} {f'outweighs {other}' if found.opposed else 'dominates'}"


def explained(run: Run, name: str, cost: str) -> str:
    """How the regret of ``name`` was split, and what to mind about it; empty where it was not."""
    found = parts(run, name)
    if found.mode is None or found.rest is None:
        return ""
    modes = [mode for mode in dict.fromkeys(row.executed for row in run.rows if row.condition == name) if mode]
    forced = listed([prose(mode) for mode in modes])
    text = (
        f"The mode’s part is what forced {forced}, with the experiment’s own settings, costs above the least; "
        "the rest is what the declared intensity, targets and candidates add to that."
    )
    late = [prose(mode) for mode in modes if mode in Standing.of(run, cost).late]
    if late:
        text += f" Forced {listed(late)} missed the deadline, so the mode’s part compares with an episode out of time."
    if found.split < found.of:
        left = counted(found.of - found.split, "episode")
        sum_ = number(found.unsplit)
        text += f" {left} ran no mode that could be compared: {sum_} of regret in all that is in neither part."
    return text


def _gate(rows: Sequence[Row]) -> str:
    """What the gate did to the declarations of ``rows``, as the end of a clause."""
    text = ""
    replaced = [row for row in rows if row.gate == "REPLACED"]
    if replaced:
        often = "" if len(replaced) == len(rows) else f" on {len(replaced)} of {len(rows)}"
        others = Counter(row.executed for row in replaced if row.executed and row.executed != row.declared)
        if others.total() == len(replaced):
            text += f", which the gate replaced by {listed([prose(m) for m in others])}{often}"
        else:
            what = "settings or mode" if others else "settings"
            text += f", whose {what} the gate changed{often}"
    refused = sum(row.gate == "REFUSED" for row in rows)
    if refused:
        text += f", which the gate refused{'' if refused == len(rows) else f' on {refused} of {len(rows)}'}"
    return text
