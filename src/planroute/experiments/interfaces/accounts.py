"""What every study counts of its calls: answers that could be read, mending, tokens, seconds; and shares."""

from collections.abc import Iterable, Sequence
from typing import Any, Final

from planroute.experiments.interfaces.records import ANSWERED, Record
from planroute.statistics import latency_quantiles, wilson

ERRORS_SHOWN: Final = 5


def share(hits: int, n: int) -> dict[str, Any]:
    """``hits`` of ``n`` as ``count``, ``n``, ``share`` and its 95 % Wilson interval ``low`` to ``high``."""
    found = wilson(hits, n)
    return {"count": hits, "n": n, "share": found.mean, "low": found.low, "high": found.high}


def shares(values: Sequence[Any], of: Iterable[Any]) -> dict[str, dict[str, Any]]:
    """The share of each value in ``of`` among ``values``."""
    return {str(value): share(sum(one == value for one in values), len(values)) for value in of}


def read(records: Sequence[Record]) -> list[Record]:
    """The records whose answer was read."""
    return [record for record in records if record["status"] == "read"]


def accounted(records: Sequence[Record]) -> dict[str, Any]:
    """Count ``records`` by what became of them.

    ``parse_rate`` is of all calls but those that the infrastructure failed: a refused request was not answered.
    ``repaired``, ``clipped`` and ``cut`` (by the token limit) count answers; tokens are means over answers, seconds
    quantiles over answers, each as it was measured when the call was made. ``usage_reported`` is the share of answers
    with token counts.
    """
    by_status = {status: [r for r in records if r["status"] == status] for status in (*ANSWERED, "refused")}
    answered = [r for status in ANSWERED for r in by_status[status]]
    counted = sum(map(len, by_status.values()))
    parsed = share(len(by_status["read"]), counted)
    p50, p95 = latency_quantiles([r["latency_s"] for r in answered])
    return {
        "calls": len(records),
        **{status: len(found) for status, found in by_status.items()},
        "infrastructure": len(records) - counted,
        "parse_rate": parsed["share"],
        "parse_rate_interval": [parsed["low"], parsed["high"]],
        "repaired": sum(bool(r["repairs"]) for r in answered),
        "clipped": sum(bool(r["clips"]) for r in answered),
        "cut": sum(r["finish_reason"] == "length" for r in answered),
        **{name: mean([r[name] for r in answered]) for name in ("prompt_tokens", "answer_tokens", "thinking_tokens")},
        "usage_reported": mean([float(r["prompt_tokens"] > 0 and r["answer_tokens"] > 0) for r in answered]),
        "latency_p50_s": p50.value,
        "latency_p95_s": p95.value,
        "errors": sorted({r["error"] for r in records if r["error"]})[:ERRORS_SHOWN],
    }


def mean(values: Sequence[float]) -> float | None:
    """The mean, ``None`` of nothing."""
    return sum(values) / len(values) if values else None


def tally(values: Iterable[Any]) -> dict[str, int]:
    """How often each value occurs, ordered by value."""
    found = list(values)
    return {str(value): found.count(value) for value in sorted(set(found))}
