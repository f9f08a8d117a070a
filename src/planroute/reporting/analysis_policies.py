"""RQ4 on the analysis page: are declared modes better than luck, and than one another."""

from collections.abc import Mapping
from typing import Any, Final

from planroute.analysis.wording import Words
from planroute.reporting.analysis_shown import (
    FEW,
    NOTHING,
    Cell,
    Part,
    Table,
    amount,
    counts,
    differing,
    estimated,
    few,
    line,
    not_run,
    pointed,
    share,
)

Found = Mapping[str, Any]
LUCK: Final = "range of luck"
UNCORRECTED: Final = "p"


def declared(found: Found) -> list[Part]:
    """Policies against themselves shuffled, within kinds, against one another, and ranked fallback."""
    rq4, words = found["rq4"], Words(found["measure"])
    if rq4["status"] != "done":
        return [not_run("Comparing declared modes with luck", rq4["why"])]
    cases = found["cases"]
    parts: list[Part] = [_policies(rq4, words, cases)]
    within = {name: one["within_kinds"] for name, one in rq4["policies"].items() if one.get("within_kinds")}
    if within:
        parts.append(_within(within, words, cases))
    if rq4["pairs"]:
        parts.append(_pairs(rq4, words, cases))
    if rq4["fallback"]:
        parts.append(_fallback(rq4, words, cases))
    else:
        parts.append(not_run("Falling back along a ranking", "it needs declarations that rank the modes"))
    return parts


def _policies(rq4: Found, words: Words, cases: int) -> Table:
    policies = rq4["policies"]
    return Table(
        name="policies",
        title="Declared modes against the same modes handed out blindly (Tables 6, 19)",
        caption="Worth: estimated from the forced runs, as what the declared mode of each task gave there; blind: the "
        "same modes shuffled over the tasks. A gain above the range of luck is more than luck. Corrected p: how often "
        "shuffling does at least as well, corrected by Holm's method for the number of policies.",
        heads=("policy", "worth", "blind", "gain", LUCK, "corrected p", "against the best fixed mode", "tasks"),
        rows=[
            (
                (name, f"{_fewer(one['tasks'], cases)}{_shares(one['frequencies'])}"),
                few(words.plain(one["policy"]), one["tasks"] < FEW),
                few(words.plain(one["blind"]), one["tasks"] < FEW),
                few(pointed(words, one["delta"]), one["tasks"] < FEW),
                NOTHING if one["low"] is None else words.range(one["low"], one["high"]),
                NOTHING if one["p_one_sided_holm"] is None else f"{one['p_one_sided_holm']:.2g}",
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


def _within(within: Found, words: Words, cases: int) -> Table:
    return Table(
        name="policies_within_kinds",
        title="The same within kinds of tasks",
        caption="Shuffled only among tasks of one kind: a gain that is left here tells tasks apart, not just kinds. "
        "Without two tasks of a kind there is nothing to shuffle. This p is not corrected for several policies.",
        heads=("policy", "worth", "blind", "gain", LUCK, UNCORRECTED),
        optional=frozenset({LUCK, UNCORRECTED}),
        rows=[
            (
                (name, _fewer(one["tasks"], cases).removesuffix("; ")),
                few(words.plain(one["policy"]), one["tasks"] < FEW),
                few(words.plain(one["blind"]), one["tasks"] < FEW),
                few(pointed(words, one["delta"]), one["tasks"] < FEW),
                NOTHING if one["low"] is None else words.range(one["low"], one["high"]),
                NOTHING if one["p_one_sided"] is None else f"{one['p_one_sided']:.2g}",
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


def _pairs(rq4: Found, words: Words, cases: int) -> Table:
    return Table(
        name="pairs",
        title=f"Policies against {rq4['base']}",
        caption=f"How much better each policy's declared modes are than those of {rq4['base']}, on the same tasks.",
        heads=("policy", f"against {rq4['base']}", "tasks"),
        rows=[
            ((name, _fewer(one["tasks"], cases).removesuffix("; ")), differing(words, one), amount(one["tasks"]))
            for name, one in rq4["pairs"].items()
        ],
        lines=[
            {"policy": name, "base": rq4["base"], **line("gain", one), **counts(one)}
            for name, one in rq4["pairs"].items()
        ],
    )


def _fallback(rq4: Found, words: Words, cases: int) -> Table:
    rows: list[list[Cell]] = []
    lines = []
    for name, table in rq4["fallback"].items():
        named = (name, _fewer(rq4["policies"][name]["tasks"], cases).removesuffix("; "))
        for k, one in table.items():
            if not isinstance(one, Mapping):
                continue
            rows.append([named, k, estimated(words, one["fallback"]), estimated(words, one["retry"]), table["best"]])
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


def _fewer(tasks: int, cases: int) -> str:
    """On how many tasks a policy rests, where those are not all of the run."""
    return f"on {tasks:,} of {cases:,} tasks; " if tasks < cases else ""


def _shares(frequencies: Mapping[str, float]) -> str:
    return ", ".join(f"{mode} {share(value)}" for mode, value in frequencies.items() if value)
