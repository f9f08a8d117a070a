"""What the analyses come to, a sentence each with its interval: which condition to use, how sure, at what cost."""

from collections.abc import Mapping
from typing import Any, Final

from planroute.analysis.estimates import excludes_zero
from planroute.analysis.wording import Words
from planroute.modes import UNPLANNED, Baseline

SURE: Final = 0.05
"""A corrected p below it counts as a finding."""
Found = Mapping[str, Any]


def conclusions(found: Found) -> list[dict[str, str]]:
    """Return the sentences in the order of a reader's questions; ``sure`` is clear, open or not_run.

    The first says which condition to use, and names it as ``choice``.
    """
    words = Words(found["measure"])
    parts = [_use, _best, _headroom, _declared, _executed, _rollouts, _kept, _quality, _failures, _spent]
    return [sentence for part in parts for sentence in part(found, words)]


def _said(about: str, sure: bool | None, text: str, choice: str = "") -> dict[str, str]:
    word = "not_run" if sure is None else "clear" if sure else "open"
    return {"about": about, "sure": word, "sentence": text, **({"choice": choice} if choice else {})}


def _use(found: Found, words: Words) -> list[dict[str, str]]:
    """The default of ``choice``; a policy where it is clearly better than the best fixed mode and than all else."""
    picked = found["choice"]
    if picked["status"] != "done":
        return [_said("use", None, f"What to use cannot be said: it {picked['why']}.")]
    best, default, values = picked["best"], picked["default"], picked["values"]
    if words.share and not values[best]["mean"]:
        return [_said("use", False, "None can be recommended: no condition solved a task.")]
    side = -1.0 if found["measure"]["better"] == "less" else 1.0
    policies = found["rq4"].get("against_best") or {}
    ahead = {
        name: one
        for name, one in policies.items()
        if (one["low"] or 0) > 0 and side * found["rq4"]["policies"][name]["policy"] > side * values[best]["mean"]
    }
    if ahead:
        policy = max(ahead, key=lambda name: ahead[name]["mean"])
        fixed = ahead[policy]["best"]
        text = f"Let the model declare ({policy}): {words.ahead(ahead[policy])} ahead of {fixed} everywhere"
        return [_said("use", True, f"{text}; {_cost(found, policy)}.", policy)]
    if picked["clear"]:
        text = f"Use {best}{_plain(best).rstrip(',')}: {words.value(values[best])}, clearly better than everything else"
        return [_said("use", True, f"{text}; {_cost(found, best)}.", best)]
    tasks = f"Undecided on {found['cases']} {'case' if found['measure']['worlds'] else 'task'}"
    tasks += "s" if found["cases"] != 1 else ""
    text = f"{tasks}: {default}{_plain(default)} is the cheapest that is not clearly worse than the first, "
    text += f"{words.value(values[default])}; {_cost(found, default)}."
    if best != default:
        gap = words.between(picked["behind"][default])
        unit = found["costs"]["unit"]
        spent = {name: found["costs"]["conditions"][name][unit]["mean"] for name in (best, default)}
        text += f" {best} came out first, {words.plain(values[best]['mean'])} at {_ratio(spent[best], spent[default])}"
        text += f" the cost, and may be better ({gap})."
    return [_said("use", False, text, default)]


def _plain(name: str) -> str:
    return ", which acts without a plan," if name in UNPLANNED else ""


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
        text = f"Yes: of the four modes {best} does best, {value}, {words.ahead(lead)} ahead of {second}."
    else:
        text = f"Not clear: {best} comes out first among the four modes, {value}, but its lead over {second}, "
        text += f"{words.between(lead)}, may be luck."
    return [_said("best mode", excludes_zero(lead), text)]


def _headroom(found: Found, words: Words) -> list[dict[str, str]]:
    rq2 = found["rq2"]
    if rq2["status"] != "done":
        return []
    best, room = rq2["best"], rq2["headroom"]
    text = f"the best mode of each task in hindsight would give {words.plain(rq2['oracle'])}, "
    text += f"{words.between(room)} beyond {best} alone"
    if found["measure"]["worlds"]:
        text += "; an execution repeats exactly here, so that is choice and not luck of attempts."
        return [_said("headroom", excludes_zero(room), f"{'Yes' if excludes_zero(room) else 'Not clear'}: {text}")]
    k, control = list(rq2["controls"].items())[-1] if rq2["controls"] else ("", {})
    left, fitted = control.get("residual") or {}, control.get("residual_cross_fitted") or {}
    if left.get("low") is None or int(k) < 2:
        text += "; too few executions per task to tell it from further attempts"
        return [_said("headroom", False, f"Not clear: {text}.")]
    text += f". But that oracle sees {len(rq2['modes'])} executions of every task; {k} attempts with {best} alone give "
    text += f"{words.plain(control['retry'])}, so choosing brings {words.between(left)} beyond retrying"
    if left["low"] > 0 and (fitted.get("low") or 0) > 0:
        return [_said("headroom", True, f"Yes: {text}: the modes solve different tasks.")]
    if left["low"] > 0 or (fitted.get("low") or 0) > 0:
        return [_said("headroom", False, f"Not clear: {text}; estimated in a second way, that may be luck.")]
    return [_said("headroom", False, f"Not shown: {text}.")]


def _declared(found: Found, words: Words) -> list[dict[str, str]]:
    rq4 = found["rq4"]
    if rq4["status"] != "done":
        return [_said("declaration", None, f"Whether declared modes fit their tasks cannot be said: it {rq4['why']}.")]
    said = [
        _said("declaration", True, f"{count} declarations of {name} could not be read; they count for no mode.")
        for name, count in rq4["undeclared"].items()
    ]
    for name, one in rq4["policies"].items():
        against = rq4["against_best"][name]
        apart = f"; {words.between(against)} against {against['best']} everywhere"
        some = f" on {one['tasks']} of {found['cases']} tasks" if one["tasks"] < found["cases"] else ""
        if one["p_one_sided"] is None:
            only = max(one["frequencies"], key=one["frequencies"].get)
            text = f"No: {name} declares {only} for every task{some}, so it chooses nothing{apart}."
            said.append(_said("declaration", True, text))
            continue
        p = one["p_one_sided_holm"]
        text = f"the modes that {name} declares{some} are worth {words.plain(one['policy'])}, "
        text += f"{words.points(one['delta'])} against the same modes shuffled over the tasks "
        text += f"(luck alone: {words.range(one['low'], one['high'])}; corrected p = {p:.2g}){apart}"
        said.append(_said("declaration", p < SURE, f"{'Yes' if p < SURE else 'No sign of it'}: {text}."))
    return said


def _executed(found: Found, words: Words) -> list[dict[str, str]]:
    rq2, rq3 = found["rq2"], found["rq3"]
    if rq3["status"] != "done" or rq2["status"] != "done":
        return []
    said = []
    for baseline, table in rq3["against"].items():
        gain = table[rq2["best"]]
        what = "acting without a plan" if baseline == Baseline.FLAT_REACT else "a plan in sight that nothing enforces"
        verdict = "Yes" if (gain["low"] or 0) > 0 else "No, it does worse" if (gain["high"] or 0) < 0 else "Not clear"
        text = f"{verdict}: {rq2['best']} against {what} ({baseline}), {words.between(gain)}."
        said.append(_said("execution", excludes_zero(gain), text))
    return said


def _rollouts(found: Found, words: Words) -> list[dict[str, str]]:
    control = found["rq3"].get("rollouts") or {}
    if control.get("status") != "done":
        return []
    matched = control["matched"]
    over = matched["over_judged"]
    verdict = "Yes" if (over["low"] or 0) > 0 else "No, it does worse" if (over["high"] or 0) < 0 else "Not clear"
    text = f"{verdict}: SEARCH against as many attempts without a plan and the same judge, {words.between(over)}. "
    text += f"Against one attempt without a plan it is {words.points(matched['over_flat']['mean'])}: further attempts "
    text += f"alone would bring {words.points(matched['attempts']['mean'])}, planned alternatives in place of free "
    text += f"attempts {words.points(matched['candidates']['mean'])}, and what the judge picked of them "
    text += f"{words.points(matched['judge']['mean'])}."
    return [_said("search", excludes_zero(over), text)]


def _kept(found: Found, words: Words) -> list[dict[str, str]]:
    overall = found["rq1"]["preservation"]["overall"]
    if not overall["episodes"]:
        return [
            _said("structure", None, "Whether a plan in sight is kept cannot be said: no PLAN_REACT episode has one.")
        ]
    share = Words({"name": "success", "better": "more"})
    kept = round(overall["mean"] * overall["episodes"])
    text = (
        f"With nothing to enforce it, {kept} of {overall['episodes']} plans were kept in order, {share.value(overall)}."
    )
    return [_said("structure", not overall["sparse"], text)]


def _quality(found: Found, words: Words) -> list[dict[str, str]]:
    quality = found["rq2"].get("quality") or {}
    if quality.get("status") != "done":
        return []
    r, low, high = (quality["correlation"][name] for name in ("r", "low", "high"))
    if r is None:
        text = "Cannot be said: the judge gave every plan the same score, or every episode ended alike."
        return [_said("quality", False, text)]
    between = "" if low is None else f" [{low:.2f}, {high:.2f}]"
    found_out = low is not None and (low > 0 or high < 0)
    text = f"{'Yes' if found_out and r > 0 else 'No' if found_out else 'Not clear'}: a plan's judged quality and its "
    return [_said("quality", found_out, f"{text}outcome correlate by r = {r:.2f}{between}.")]


def _failures(found: Found, words: Words) -> list[dict[str, str]]:
    total = found["handoff"].get("total")
    if not total or not total["failures"]:
        return []
    parties = sorted(total["parties"].items(), key=lambda one: -one[1])
    shares = ", ".join(
        f"the {name}'s {count}" if name != "undecided" else f"undecided {count}" for name, count in parties
    )
    text = f"Of {total['failures']} failures: {shares}."
    if total["disagreements"]:
        text += f" Besides, {total['disagreements']} solved episodes took another order than their plan."
    return [_said("handoff", True, text)]


def _spent(found: Found, words: Words) -> list[dict[str, str]]:
    frontier = found["costs"]["frontier"]
    efficient = [point for point in frontier if point["efficient"] and (point["value"] or not words.share)]
    unit = words.unit(found["costs"]["unit"])
    if not efficient:
        return []
    listed = ", ".join(
        f"{one['name']} ({words.plain(one['value'])} for {one['cost']:,.0f} {unit})" for one in efficient
    )
    return [_said("cost", False, f"Nothing cheaper came out as good: {listed}; neighbours may not really differ.")]


def _cost(found: Found, name: str) -> str:
    """What a task costs; of a policy that was only declared, what the modes that it declares cost."""
    table, unit = found["costs"]["conditions"], found["costs"]["unit"]
    if name in table:
        return f"it costs {table[name][unit]['mean']:,.0f} {Words.unit(unit)} per task"
    shares = found["rq4"]["policies"][name]["frequencies"]
    cost = sum(share * table[mode][unit]["mean"] for mode, share in shares.items())
    return f"the modes that it declares cost {cost:,.0f} {Words.unit(unit)} per task, beside the declaration"


def _ratio(cost: float, of: float) -> str:
    return f"{cost / of:.1f} times" if of else "more than"
