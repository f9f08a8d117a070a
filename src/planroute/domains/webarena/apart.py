"""Runs in the evaluator's own environment: reads one question a line, answers one line, both JSON.

A question holds ``record`` (the task), ``environments`` (addresses by placeholder), ``response`` (what the agent said
at the end, or null) and ``entries`` (those of a HAR). It imports nothing of planroute, which is not installed there.
"""

import json
import logging
import sys
from typing import Any

_readers: list[Any] = []
"""The benchmark's data, read once: the evaluator wants their checksum for its result."""


def judged(question: dict[str, Any]) -> dict[str, Any]:
    """The verdict of webarena-verified."""
    from webarena_verified.api.internal.data_reader import WebArenaVerifiedDataReader
    from webarena_verified.api.internal.evaluator import WebArenaVerifiedEvaluator
    from webarena_verified.types.config import WebArenaVerifiedConfig
    from webarena_verified.types.eval import TaskEvalContext
    from webarena_verified.types.task import WebArenaVerifiedTask
    from webarena_verified.types.tracing import NetworkTrace

    config = WebArenaVerifiedConfig(environments=question["environments"])
    try:
        trace = NetworkTrace.from_content(question["entries"])
    except ValueError as error:
        return {"status": "error", "score": 0.0, "error": str(error), "evaluators": []}
    if not _readers:
        _readers.append(WebArenaVerifiedDataReader(config))
    context = TaskEvalContext(
        task=WebArenaVerifiedTask.model_validate(question["record"]),
        agent_response_raw=question["response"],
        network_trace=trace,
        config=config,
    )
    result = WebArenaVerifiedEvaluator(config=config, reader=_readers[0]).evaluate_task(context=context)
    return {
        "status": str(result.status.value if hasattr(result.status, "value") else result.status),
        "score": float(result.score),
        "error": result.error_msg,
        "evaluators": [
            {"name": each.evaluator_name, "status": str(each.status), "score": float(each.score)}
            for each in result.evaluators_results
        ],
    }


def main() -> None:
    """Answer until the input ends."""
    logging.disable(logging.CRITICAL)
    answers, sys.stdout = sys.stdout, sys.stderr
    for line in sys.stdin:
        try:
            answer: dict[str, Any] = {"verdict": judged(json.loads(line))}
        except Exception as error:
            answer = {"failed": f"{type(error).__name__}: {error}"[:500]}
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


if __name__ == "__main__":
    main()
