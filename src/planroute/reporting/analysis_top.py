"""The top of the analysis page: four numbers, and what to beware of."""

from collections.abc import Mapping
from typing import Any, Final

from planroute.analysis.wording import Words
from planroute.reporting.analysis_shown import FEW as SPARSE
from planroute.reporting.analysis_shown import amount, head, pointed
from planroute.reporting.wording import counted, listed

FEW: Final = 30
"""Fewer tasks than that are said to be few."""
Found = Mapping[str, Any]
Tile = tuple[str, str, str]


def tiles(found: Found) -> list[Tile]:
    """Value and price of what to use, what choosing in hindsight brings, and what declaring does."""
    rq2, rq4, words = found["rq2"], found["rq4"], Words(found["measure"])
    chosen = found.get("choice") or {}
    if rq2["status"] != "done" and chosen.get("status") != "done":
        return []
    some = _first(found, words)
    if rq2["status"] == "done":
        some.append(_hindsight(rq2, words))
    if rq4["status"] == "done":
        some.append(_declared(rq4, words))
    else:
        some.append(("–", "declared modes against the same shuffled", "not run"))
    return some


def _first(found: Found, words: Words) -> list[Tile]:
    """What the condition to use is worth, and what it costs."""
    rq2, chosen = found["rq2"], found.get("choice") or {}
    values = {
        **((found["rq3"].get("conditions")) or {}),
        **(rq2.get("modes") or {}),
        **(chosen.get("values") or {}),
    }
    default = chosen.get("default")
    name = default if default in values else rq2["best"]
    one = values[name]
    apart = ", the best fixed mode" if name == rq2.get("best") else ""
    spent, unit = found["costs"]["conditions"], found["costs"]["unit"]
    cheapest = min(spent, key=lambda other: (spent[other][unit]["mean"], other))
    rests = f"{counted(one['episodes'], 'episode')} of {counted(one['tasks'], 'task')}"
    interval = words.interval(one, signed=False)
    price = f"cheapest is {cheapest} with {amount(round(spent[cheapest][unit]['mean'], 2))}"
    return [
        (
            words.plain(one["mean"]),
            f"{head(words, found['measure'])} with {name}{apart}",
            f"{interval}, {rests}" if interval else rests,
        ),
        (
            amount(round(spent[name][unit]["mean"])),
            f"{words.unit(unit)} per task with {name}",
            "nothing is cheaper" if name == cheapest else price,
        ),
    ]


def _hindsight(rq2: Found, words: Words) -> Tile:
    """How the best mode of each task in hindsight compares with as many attempts of the best fixed mode."""
    k, control = list(rq2["controls"].items())[-1]
    left = control["residual"]
    choosing = "the best mode of each task in hindsight"
    rival = f"{rq2['best']} alone" if k == "1" else f"{k} attempts with {rq2['best']}"
    if left.get("mean") is None:
        return "–", f"choosing {choosing}, against {rival}", "too few executions to tell"
    value = pointed(words, left["mean"])
    interval = words.interval(left, signed=True)
    if words.share and value.startswith("-"):
        return f"{value[1:]} below", f"{rival}: choosing {choosing}", interval
    if words.share and value.startswith("+"):
        return f"{value[1:]} above", f"{rival}: choosing {choosing}", interval
    return value, f"choosing {choosing}, against {rival}", interval


def _declared(rq4: Found, words: Words) -> Tile:
    policy = rq4["policies"][rq4["base"]]
    delta, low, high, p = policy["delta"], policy["low"], policy["high"], policy["p_one_sided_holm"]
    if p is None or low is None:
        luck = "it declares one mode for every task"
    elif low <= delta <= high:
        luck = f"within luck ({words.range(low, high)})"
    else:
        luck = f"luck alone: {words.range(low, high)}; corrected p = {p:.2g}"
    return pointed(words, delta), f"{rq4['base']}: declared modes against the same shuffled over the tasks", luck


def cautions(found: Found) -> list[str]:
    """What limits all that the page says."""
    said = []
    if found["cases"] < FEW:
        said.append(
            f"Only {counted(found['cases'], 'task')}: intervals are wide, and what is not clear here may be with more."
        )
    if found["infrastructure"]:
        said.append(
            f"Left out, since they were broken off from outside: {counted(found['infrastructure'], 'episode')}."
        )
    if not found["models"]:
        said.append("No language model took part: nothing here is about language models.")
    rq2 = found["rq2"]
    if rq2["status"] == "done":
        if rq2["executions"] < 2 and not found["measure"]["worlds"]:
            said.append("Each task was executed once in each mode: headroom cannot be told from luck.")
        sparse = [mode for mode, one in rq2["modes"].items() if one["sparse"]]
        if sparse:
            said.append(f"Fewer than {SPARSE} episodes: {listed(sparse)}.")
    return said
