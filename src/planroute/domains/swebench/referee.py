"""A program of its own: read a test log by swebench's parser and grade it by swebench's rules.

It is started as a process apart (``python -I referee.py``), given a record and a log as JSON, and answers in JSON.
Logs were written by code that nobody has read, so reading one is bounded from outside; and importing swebench as a
whole takes many seconds and brings engines that nobody here asks for, so only its grading is loaded.
"""

import importlib.util
import json
import sys
import tempfile
import types
from importlib.metadata import version
from pathlib import Path
from typing import Any


def main() -> None:
    """Grade what stands on standard input."""
    given = json.load(sys.stdin)
    sys.setrecursionlimit(5000)
    try:
        answer = graded(given)
    except (ImportError, AttributeError) as error:
        answer = {"error": f"swebench cannot be used: {error}"}
    json.dump(answer, sys.stdout)


def graded(given: dict[str, Any]) -> dict[str, Any]:
    """Return swebench's report of the log: whether tests were found, which passed, and whether all did that must."""
    spec = importlib.util.find_spec("swebench")
    if spec is None or not spec.origin:
        raise ImportError("it is not installed")
    harness = types.ModuleType("swebench.harness")
    harness.__path__ = [str(Path(spec.origin).with_name("harness"))]
    sys.modules[harness.__name__] = harness
    from swebench.harness.grading import get_eval_report
    from swebench.harness.log_parsers import PARSER_REGISTRY
    from swebench.types import TestSpec

    if given["log_parser"] not in PARSER_REGISTRY:
        return {"error": f"swebench {version('swebench')} has no log parser {given['log_parser']!r}"}
    record = TestSpec(
        instance_id=given["instance_id"],
        image="",
        eval_script_list=[],
        repo=given["repo"],
        version=given["version"],
        FAIL_TO_PASS=given["FAIL_TO_PASS"],
        PASS_TO_PASS=given["PASS_TO_PASS"],
        log_parser=given["log_parser"],
        eval_type=given["eval_type"],
    )
    prediction = {"instance_id": given["instance_id"], "model_patch": given["patch"]}
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "log"
        log.write_text(given["log"], encoding="utf-8", errors="replace")
        report = get_eval_report(record, prediction, str(log), include_tests_status=True)
    return {"report": report[given["instance_id"]], "swebench": version("swebench")}


if __name__ == "__main__":
    main()
