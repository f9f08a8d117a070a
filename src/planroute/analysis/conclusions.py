"""What the analyses come to: one sentence each, with its interval, and which mode to use, how sure, at what cost."""

from collections.abc import Mapping
from typing import Any, Final

from planroute.analysis.estimates import excludes_zero
from planroute.analysis.wording import Words
from planroute.modes import UNPLANNED, Baseline, Mode

SURE: Final = 0.05
"""A corrected p below it counts as a finding."""
Found = Mapping[str, Any]


def conclusions(found: Found) -> list[dict[str, str]]:
    """Return the sentences in the order of a reader's questions; ``sure`` is clear, open or not_run.

    The first says which condition to use, and names it as ``choice``.
    """
    words = Words(found["measure"])
    parts = [_use, _best, _headroom, _declared, _executed, _rollouts, _kept, _quality, _spent]
    return [sentence for part in parts for sentence in part(found, words)]


def _said(about: str, sure: bool | None, text: str, choice: str = "") -> dict[str, str]:
    word = "not_run" if sure is None else "clear" if sure else "open"
    return {"about": about, "sure": word, "sentence": text, **({"choice": choice} if choice else {})}


def _use(found: Found, words: Words) -> list[dict[str, str]]:
    """What to use: what is clearly better than the best fixed mode; else the cheapest that may be as good."""
    rq2 = found["rq2"]
    if rq2["status"] != "done":
        return [_said("use", None, f"Which mode to use cannot be said: it {rq2['why']}.")]
    best, behind = rq2["best"], rq2["behind"]
    if words.share and not any(one["value"] for one in found["costs"]["conditions"].values()):
        return [_said("use", False, "None can be recommended: no condition solved a task.")]
    policies = found["rq4"].get("against_best") or {}
    ahead = {name: one for name, one in policies.items() if (one["low"] or 0) > 0}
    if ahead:
        policy = max(ahead, key=lambda name: ahead[name]["mean"])
        text = f"Let the model declare ({policy}): {words.ahead(ahead[policy])} ahead of {best} everywhere"
        return [_said("use", True, f"{text}; {_cost(found, policy)}.", policy)]
    costs = {name: one[found["costs"]["unit"]]["mean"] for name, one in found["costs"]["conditions"].items()}
    passed = {name: one for name, one in behind.items() if one["high"] is not None and one["high"] < 0}
    if passed:
        choice = min(passed, key=lambda name: passed[name]["mean"])
        text = f"Use {choice}{_plain(choice)}: it is clearly better than {best}, the best of the modes"
        return [_said("use", True, f"{text} ({words.between(behind[choice])}); {_cost(found, choice)}.", choice)]
    level = [name for name, one in behind.items() if not excludes_zero(one) and name in costs]
    cheaper = sorted((name for name in level if costs[name] < costs[best]), key=lambda name: costs[name])
    if cheaper:
        choice, gap = cheaper[0], words.between(behind[cheaper[0]])
        text = f"Use {choice}{_plain(choice)}: {best}, the best mode, is not clearly better ({gap}), and {choice} is "
        text += f"cheaper; {_cost(found, choice)}, {best} {_ratio(costs[best], costs[choice])}."
        return [_said("use", False, text, choice)]
    if all(excludes_zero(one) for name, one in behind.items() if name in set(Mode)):
        why = "it is clearly better than every other mode"
        return [_said("use", True, f"Use {best}: {why}; {_cost(found, best)}.", best)]
    why = "nothing is clearly better, and of those that may be as good it is the cheapest"
    return [_said("use", False, f"Use {best}: {why}; {_cost(found, best)}.", best)]


def _plain(name: str) -> str:
    return ", which acts without a plan" if name in UNPLANNED else ""


def _best(found: Found, words: Words) -> list[dict[str, str]]:
    rq2 = found["rq2"]
    if rq2["status"] != "done":
        return []
    best, second = rq2["best"], rq2["second"]
    if words.share and not any(one["mean"] for one in rq2["modes"].values()):
        return [_said("best mode", False, "No mode solved a task.")]
    lead = rq2["behind"][second]
    value = words.value(rq2["modes"][best])
    if excludes_zero(lead):
        text = f"Of the fixed modes {best} does best: {value}, {words.ahead(lead)} ahead of {second}."
    else:
        text = f"{best} comes out first among the fixed modes, {value}, but its lead over {second}, "
        text += f"{words.between(lead)}, may be luck."
    return [_said("best mode", excludes_zero(lead), text)]


def _headroom(found: Found, words: Words) -> list[dict[str, str]]:
    rq2 = found["rq2"]
    if rq2["status"] != "done":
        return []
    best, room = rq2["best"], rq2["headroom"]
    text = f"The best mode of each task in hindsight would give {words.plain(rq2['oracle'])}, "
    text += f"{words.between(room)} beyond {best} alone"
    if found["measure"]["worlds"]:
        text += "; an execution repeats exactly here, so that is choice and not luck of attempts."
        return [_said("headroom", excludes_zero(room), text)]
    k, control = list(rq2["controls"].items())[-1] if rq2["controls"] else ("", {})
    left, fitted = control.get("residual") or {}, control.get("residual_cross_fitted") or {}
    if left.get("low") is None or int(k) < 2:
        return [_said("headroom", False, f"{text}; too few executions per task to tell it from further attempts.")]
    text += f"; {k} attempts with {best} alone give {words.plain(control['retry'])}, "
    text += f"which leaves {words.between(left)} for choosing"
    if left["low"] > 0 and (fitted.get("low") or 0) > 0:
        return [_said("headroom", True, f"{text}: modes do solve different tasks.")]
    if left["low"] > 0 or (fitted.get("low") or 0) > 0:
        return [_said("headroom", False, f"{text}: the two ways of estimating it disagree on whether that is luck.")]
    return [_said("headroom", False, f"{text}: not shown to be more than further attempts.")]


def _declared(found: Found, words: Words) -> list[dict[str, str]]:
    rq4 = found["rq4"]
    if rq4["status"] != "done":
        return [_said("declaration", None, f"Whether declared modes fit their tasks cannot be said: it {rq4['why']}.")]
    said = [
        _said(
            "declaration", True, f"In {count} episodes of {name} no declaration could be read; they count for no mode."
        )
        for name, count in rq4["undeclared"].items()
    ]
    for name, one in rq4["policies"].items():
        against = rq4["against_best"][name]
        apart = f"; {words.between(against)} against {against['best']} everywhere"
        if one["p_one_sided"] is None:
            only = max(one["frequencies"], key=one["frequencies"].get)
            text = f"{name} declares {only} for every task: a fixed mode, and no choice that could fit a task{apart}."
            said.append(_said("declaration", True, text))
            continue
        p = one["p_one_sided_holm"]
        text = f"The modes that {name} declares are worth {words.plain(one['policy'])}, {words.points(one['delta'])} "
        text += f"against the same modes shuffled over the tasks (luck alone: {words.range(one['low'], one['high'])}; "
        text += f"p = {p:.2g})"
        fits = p < SURE
        ends = "they fit their tasks better than luck" if fits else "no sign that they fit their tasks"
        said.append(_said("declaration", fits, f"{text}: {ends}{apart}."))
    return said


def _executed(found: Found, words: Words) -> list[dict[str, str]]:
    rq2, rq3 = found["rq2"], found["rq3"]
    if rq3["status"] != "done" or rq2["status"] != "done":
        return []
    said = []
    for baseline, table in rq3["against"].items():
        gain = table[rq2["best"]]
        what = "without a plan" if baseline == Baseline.FLAT_REACT else "with a plan in sight that nothing enforces"
        verdict = "ahead" if (gain["low"] or 0) > 0 else "behind" if (gain["high"] or 0) < 0 else "no clear difference"
        text = f"{rq2['best']} against acting {what} ({baseline}): {words.between(gain)}, {verdict}."
        said.append(_said("execution", excludes_zero(gain), text))
    return said


def _rollouts(found: Found, words: Words) -> list[dict[str, str]]:
    control = found["rq3"].get("rollouts") or {}
    if control.get("status") != "done":
        return []
    matched = control["matched"]
    text = f"SEARCH against as many flat runs with the same judge: {words.between(matched['over_judged'])}; of its "
    text += f"{words.points(matched['over_flat']['mean'])} over one flat run, attempts alone bring "
    text += (
        f"{words.points(matched['attempts']['mean'])}, better candidates {words.points(matched['candidates']['mean'])},"
    )
    text += f" and the judge {words.points(matched['judge']['mean'])}."
    return [_said("search", excludes_zero(matched["over_judged"]), text)]


def _kept(found: Found, words: Words) -> list[dict[str, str]]:
    overall = found["rq1"]["preservation"]["overall"]
    if not overall["episodes"]:
        return [
            _said("structure", None, "Whether a plan in sight is kept cannot be said: no PLAN_REACT episode has one.")
        ]
    share = Words({"name": "success", "better": "more"})
    text = f"With nothing to enforce it, the declared order was kept in {share.value(overall)} of "
    return [_said("structure", not overall["sparse"], f"{text}{overall['episodes']} plans.")]


def _quality(found: Found, words: Words) -> list[dict[str, str]]:
    quality = found["rq2"].get("quality") or {}
    if quality.get("status") != "done" or quality["correlation"]["r"] is None:
        return []
    r, low, high = (quality["correlation"][name] for name in ("r", "low", "high"))
    between = "" if low is None else f" [{low:.2f}, {high:.2f}]"
    text = f"A plan's judged quality and its outcome correlate by r = {r:.2f}{between}."
    return [_said("quality", low is not None and (low > 0 or high < 0), text)]


def _spent(found: Found, words: Words) -> list[dict[str, str]]:
    frontier = found["costs"]["frontier"]
    efficient = [point for point in frontier if point["efficient"] and (point["value"] or not words.share)]
    unit = words.unit(found["costs"]["unit"])
    if not efficient:
        return []
    listed = ", ".join(
        f"{one['name']} ({words.plain(one['value'])} for {one['cost']:,.0f} {unit})" for one in efficient
    )
    return [_said("cost", True, f"Worth their cost, since nothing does as well for less: {listed}.")]


def _cost(found: Found, name: str) -> str:
    """What a task costs; of a policy that was only declared, what the modes that it declares cost."""
    table, unit = found["costs"]["conditions"], found["costs"]["unit"]
    if name in table:
        return f"it costs {table[name][unit]['mean']:,.0f} {Words.unit(unit)} per task"
    shares = found["rq4"]["policies"][name]["frequencies"]
    cost = sum(share * table[mode][unit]["mean"] for mode, share in shares.items())
    return f"the modes that it declares cost {cost:,.0f} {Words.unit(unit)} per task, beside the declaration"


def _ratio(cost: float, of: float) -> str:
    return f"{cost / of:.1f} times that" if of else "more"
