"""RQ3 and RQ4 on the analysis page: does enforcing help, and are declarations better than luck."""

from collections.abc import Mapping
from typing import Any, Final

from planroute.analysis.wording import Words
from planroute.reporting.analysis_shown import (
    NOTHING,
    Cell,
    Drawing,
    Part,
    Table,
    amount,
    counts,
    differing,
    estimated,
    head,
    line,
    not_run,
    share,
)

Found = Mapping[str, Any]
SPLIT: Final = {
    "over_flat": "over one flat run",
    "attempts": "of it, attempts",
    "candidates": "candidates",
    "judge": "judge",
    "over_judged": "over judged flat runs",
}


def enforced(found: Found) -> list[Part]:
    """Conditions against the baselines, success by task length, and the control for search."""
    rq3, words = found["rq3"], Words(found["measure"])
    if rq3["status"] != "done":
        return [not_run("Comparing with acting without an enforced plan", rq3["why"])]
    what = "success" if words.share else "value"
    drawing = Drawing(
        "success_by_length",
        f"{what.capitalize()} by task length (Figure 3)",
        "A line for each condition; the longer a task, the further right. Bars are 95 % intervals, hollow marks rest "
        "on fewer than 10 episodes.",
        "no task was solved, so that no length is known",
    )
    parts: list[Part] = [_conditions(found, words), drawing, _lengths(rq3, words)]
    rollouts = rq3["rollouts"]
    if rollouts["status"] == "done":
        return [*parts, _rollouts(rollouts, words)]
    return [*parts, not_run("Is search more than several attempts (Table 17)", rollouts["why"])]


def _conditions(found: Found, words: Words) -> Table:
    rq3, rq2 = found["rq3"], found["rq2"]
    best = rq2["best"] if rq2["status"] == "done" else None
    rows: list[list[Cell]] = []
    lines = []
    for name, one in rq3["conditions"].items():
        against = [table.get(name) for table in rq3["against"].values()]
        behind = rq2["behind"].get(name) if best else None
        rows.append(
            [
                name,
                estimated(words, one),
                *(differing(words, gain) for gain in against),
                *([differing(words, behind)] if best else []),
                amount(one["episodes"]),
            ]
        )
        gains: dict[str, Any] = {}
        for baseline, table in rq3["against"].items():
            gains |= line(f"against_{baseline}", table.get(name))
        lines.append({"condition": name, **line("value", one), **gains, **line("best_ahead", behind), **counts(one)})
    return Table(
        name="conditions",
        title="Every condition against the baselines (Table 5)",
        caption="FLAT_REACT acts without a plan, PLAN_REACT with one that nothing enforces. A difference counts the "
        "same tasks, + is better, and is clear where its interval leaves out 0.",
        heads=(
            "condition",
            head(words, found["measure"]),
            *(f"against {baseline}" for baseline in rq3["against"]),
            *([f"{best} ahead by"] if best else []),
            "episodes",
        ),
        rows=rows,
        lines=lines,
    )


def _lengths(rq3: Found, words: Words) -> Table:
    lengths = rq3["by_length"]
    return Table(
        name="by_length",
        title="The same in numbers",
        folded=True,
        caption="Length of a task: the median number of interactions of the courses that solved it, whatever the "
        "condition.",
        heads=("condition", *(f"{label} ({one['tasks']} tasks)" for label, one in lengths.items())),
        rows=[
            (name, *(estimated(words, one["conditions"].get(name)) for one in lengths.values()))
            for name in rq3["conditions"]
        ],
        lines=[
            {"length": label, "condition": name, **line("value", value), **counts(value)}
            for label, one in lengths.items()
            for name, value in one["conditions"].items()
        ],
    )


def _rollouts(rollouts: Found, words: Words) -> Table:
    sizes = [name for name in rollouts if isinstance(rollouts[name], Mapping)]
    named = {name: "as many attempts as search" if name == "matched" else f"{name} attempts" for name in sizes}
    return Table(
        name="rollouts",
        title="Where search's advantage comes from (Table 17)",
        caption="Search's lead over one flat run, split into what more attempts bring, planned candidates add, and "
        "the judge's pick adds or loses; last: over flat runs that the same judge picked from.",
        heads=("flat runs", "search", "one flat run", *SPLIT.values(), "tasks"),
        rows=[
            (
                named[name],
                words.plain(rollouts[name]["means"]["search"]),
                words.plain(rollouts[name]["means"]["flat"]),
                *(differing(words, rollouts[name][key]) for key in SPLIT),
                amount(rollouts[name]["tasks"]),
            )
            for name in sizes
        ],
        lines=[
            {
                "flat_runs": name,
                **rollouts[name]["means"],
                **{
                    column: value
                    for key in SPLIT
                    for column, value in line(f"split_{key}", rollouts[name][key]).items()
                },
                "tasks": rollouts[name]["tasks"],
            }
            for name in sizes
        ],
    )


def declared(found: Found) -> list[Part]:
    """Policies against themselves shuffled, within kinds, against one another, and ranked fallback."""
    rq4, words = found["rq4"], Words(found["measure"])
    if rq4["status"] != "done":
        return [not_run("Comparing declared modes with luck", rq4["why"])]
    parts: list[Part] = [_policies(rq4, words)]
    within = {name: one["within_kinds"] for name, one in rq4["policies"].items() if one.get("within_kinds")}
    if within:
        parts.append(_within(within, words))
    if rq4["pairs"]:
        parts.append(_pairs(rq4, words))
    if rq4["fallback"]:
        parts.append(_fallback(rq4["fallback"], words))
    else:
        parts.append(not_run("Falling back along a ranking", "it needs declarations that rank the modes"))
    return parts


def _policies(rq4: Found, words: Words) -> Table:
    policies = rq4["policies"]
    return Table(
        name="policies",
        title="Declared modes against the same modes handed out blindly (Tables 6, 19)",
        caption="Worth: what the declared modes give in the forced runs; blind: the same modes shuffled over tasks. "
        "A gain above the range of luck is more than luck; p after Holm allows for several policies.",
        heads=(
            "policy",
            "worth",
            "blind",
            "gain",
            "range of luck",
            "p, better",
            "p, either way",
            "against best fixed",
            "tasks",
        ),
        rows=[
            (
                (name, _shares(one["frequencies"])),
                words.plain(one["policy"]),
                words.plain(one["blind"]),
                words.points(one["delta"]),
                words.range(one["low"], one["high"]),
                _p(one["p_one_sided"], one["p_one_sided_holm"]),
                _p(one["p_two_sided"], one["p_two_sided_holm"]),
                differing(words, rq4["against_best"][name]),
                amount(one["tasks"]),
            )
            for name, one in policies.items()
        ],
        lines=[
            {
                "policy": name,
                "worth": one["policy"],
                **{
                    key: one[key]
                    for key in (
                        *("blind", "delta", "low", "high", "p_one_sided", "p_one_sided_holm", "p_two_sided"),
                        *("p_two_sided_holm", "tasks", "draws"),
                    )
                },
                "best_fixed": rq4["against_best"][name]["best"],
                **line("against_best", rq4["against_best"][name]),
                **{f"share_{mode}": value for mode, value in one["frequencies"].items()},
            }
            for name, one in policies.items()
        ],
    )


def _within(within: Found, words: Words) -> Table:
    return Table(
        name="policies_within_kinds",
        title="The same within kinds of tasks",
        caption="Shuffled only among tasks of one kind: a gain that is left here tells tasks apart, not just kinds. "
        "Without two tasks of a kind there is nothing to shuffle.",
        heads=("policy", "worth", "blind", "gain", "range of luck", "p, better"),
        rows=[
            (
                name,
                words.plain(one["policy"]),
                words.plain(one["blind"]),
                words.points(one["delta"]),
                NOTHING if one["low"] is None else words.range(one["low"], one["high"]),
                _p(one["p_one_sided"], None),
            )
            for name, one in within.items()
        ],
        lines=[
            {
                "policy": name,
                "worth": one["policy"],
                **{key: one[key] for key in ("blind", "delta", "low", "high", "p_one_sided", "p_two_sided", "strata")},
            }
            for name, one in within.items()
        ],
    )


def _pairs(rq4: Found, words: Words) -> Table:
    return Table(
        name="pairs",
        title=f"Policies against {rq4['base']}",
        caption=f"How much better each policy's declared modes are than those of {rq4['base']}, on the same tasks.",
        heads=("policy", f"against {rq4['base']}", "tasks"),
        rows=[(name, differing(words, one), amount(one["tasks"])) for name, one in rq4["pairs"].items()],
        lines=[
            {"policy": name, "base": rq4["base"], **line("gain", one), **counts(one)}
            for name, one in rq4["pairs"].items()
        ],
    )


def _fallback(fallback: Found, words: Words) -> Table:
    rows: list[list[Cell]] = []
    lines = []
    for name, table in fallback.items():
        for k, one in table.items():
            if not isinstance(one, Mapping):
                continue
            rows.append([name, k, estimated(words, one["fallback"]), estimated(words, one["retry"]), table["best"]])
            lines.append(
                {
                    "policy": name,
                    "k": int(k),
                    **line("fallback", one["fallback"]),
                    **line("retry", one["retry"]),
                    "retried": table["best"],
                }
            )
    return Table(
        name="fallback",
        title="Falling back along a ranking, beside trying again (TSR@k)",
        caption="Success if the first k modes of the declared ranking are tried in turn, beside k attempts of the best "
        "fixed mode: a ranking is worth having where its column is ahead.",
        heads=("policy", "k", "first k of the ranking", "k attempts of one mode", "that mode"),
        rows=rows,
        lines=lines,
    )


def _p(value: float | None, corrected: float | None) -> Cell:
    if value is None:
        return NOTHING
    return f"{value:.2g}", "" if corrected is None else f"after\u00a0Holm\u00a0{corrected:.2g}"


def _shares(frequencies: Mapping[str, float]) -> str:
    return ", ".join(f"{mode} {share(value)}" for mode, value in frequencies.items() if value)
