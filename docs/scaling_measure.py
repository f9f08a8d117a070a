"""Measure what an episode takes: ``python docs/scaling_measure.py DATA`` writes ``docs/scaling.json`` anew.

DATA is the folder of benchmark data (ALFWorld's games, a recorded page of Mind2Web); WebArena and SWE-bench are played
on the project's own small sites and repositories. Each condition of each domain runs in a process of its own, twice:
with ``scripted/slip=0.1``, which solves most tasks, and with ``slip=1``, which solves few and spends what it is given.
In Mind2Web the course is fixed and there is one case: ``slip=0``, which decides on every page.

Calls and interactions are the report's. Tokens are counted over the questions in the call cache, by the tokenizer of
the embedded model. Processor time is that of the command and all that it started, less that of the same command again,
which has nothing to run. Takes about half an hour on two cores. Linux only.
"""

import argparse
import ctypes
import json
import os
import resource
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import httpx

from planroute.models import EmbeddedServer

HERE = Path(__file__).parent
CONDITIONS = ("FLAT_REACT", "PLAN_REACT", "PREDEFINED", "SEQUENTIAL", "HIERARCHICAL", "SEARCH")
CASES = {
    "alfworld": {"light": ["slip=0.1", "7"], "long": ["slip=1", "7"]},
    "mind2web": {"light": ["slip=0", "7-10"]},
    "webarena": {"light": ["slip=0.1", "7"], "long": ["slip=1", "7", "--limit", "3"]},
    "swebench": {"light": ["slip=0.1", "7"], "long": ["slip=1", "7"]},
}
"""By domain and case: the scripted agent, the seeds, and further options."""
PAGES = 7
"""Steps of a task of Mind2Web: the benchmark's mean, 7.3, rounded."""
REAP_ORPHANS = 36  # PR_SET_CHILD_SUBREAPER
Counting = Callable[[str], int]


def sources(data: Path, scratch: Path) -> dict[str, list[str]]:
    """The options that say which tasks each domain plays."""
    page = next((data / "mind2web").glob("seeact_one_step*.jsonl"))
    tasks = scratch / "mind2web.json"
    tasks.write_text(json.dumps([_pages(json.loads(page.read_text().splitlines()[0]))]))
    return {
        "alfworld": ["--games", str(data / "alfworld/json_2.1.1/valid_unseen")],
        "mind2web": ["--tasks", str(tasks)],
        "webarena": [],
        "swebench": [],
    }


def _pages(step: dict[str, Any]) -> dict[str, Any]:
    """A task of ``PAGES`` pages, each the one recorded page, in words that the scripted solver can follow."""
    names = ("cleaned_html", "operation", "pos_candidates", "neg_candidates")
    action = {name: step[name] for name in names} | {"raw_html": ""}
    return {
        "annotation_id": step["annotation_id"],
        "website": step["website"],
        "domain": "Travel",
        "subdomain": "Other",
        "confirmed_task": ", ".join(f'Click "part {number + 1}"' for number in range(PAGES)),
        "action_reprs": [f"[link]  part {number + 1} -> CLICK" for number in range(PAGES)],
        "actions": [{**action, "action_uid": f"page-{number}"} for number in range(PAGES)],
    }


def played(options: Sequence[str], watch: bool = False) -> tuple[dict[str, Any], float, int]:
    """Run a comparison; return its report, seconds of processors, and with ``watch`` its most bytes of memory."""
    before = _children()
    with tempfile.TemporaryFile() as out:
        program = [str(Path(sys.executable).with_name("planroute")), "compare", *options, "--json"]
        process = subprocess.Popen(program, stdout=out, stderr=subprocess.DEVNULL)  # noqa: S603 - our own command
        most = 0
        while process.poll() is None:
            most = max(most, _memory(process.pid)) if watch else 0
            time.sleep(0.2)
        _reap()
        out.seek(0)
        if process.returncode:
            raise SystemExit(f"{' '.join(program)} ended with {process.returncode}")
        return json.load(out), _children() - before, most


def _children() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def _reap() -> None:
    """Wait for what the command left behind, so that its processor time is counted too."""
    try:
        while True:
            os.waitpid(-1, 0)
    except ChildProcessError:
        return


def _memory(pid: int) -> int:
    """Bytes of a process and of all below it; what several share is divided among them."""
    here = Path("/proc") / str(pid)
    try:
        share = next(line for line in (here / "smaps_rollup").read_text().splitlines() if line.startswith("Pss:"))
        below = [int(child) for each in (here / "task").iterdir() for child in (each / "children").read_text().split()]
    except (OSError, StopIteration):
        return 0  # it has just ended
    return int(share.split()[1]) * 1024 + sum(map(_memory, below))


def episode(domain: str, case: str, condition: str, source: Sequence[str], counting: Counting) -> dict[str, float]:
    """The means of one condition's episodes."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        cache, run = folder / "calls.sqlite", folder / "run"
        agent, seeds, *more = CASES[domain][case]
        options = [domain, *source, *more, "--model", f"scripted/{agent}", "--seeds", seeds, "--conditions", condition]
        options += ["--cache", str(cache), "--out", str(run), "--concurrency", "1"]
        report, cpu_s, _ = played(options)
        _, idle_s, _ = played(options)
        row = report["conditions"][condition]
        count = row["episodes"]
        prompt, answer, calls = _tokens(cache, counting)
        cells = sum(path.stat().st_size for path in (run / "cells").iterdir())
        return {
            "episodes": count,
            "calls": row["model_calls"],
            "interactions": row["interactions"],
            "prompt_tokens": round(row["model_calls"] * prompt / calls, 1),
            "answer_tokens": round(row["model_calls"] * answer / calls, 1),
            "cpu_s": round(max(cpu_s - idle_s, 0.0) / count, 3),
            "cell_bytes": round(cells / count),
            "cache_bytes_per_call": round(cache.stat().st_size / calls),
        }


def _tokens(cache: Path, counting: Counting) -> tuple[int, int, int]:
    """Tokens of all questions and all answers in a call cache, and how many there are."""
    with sqlite3.connect(cache) as file:
        rows = file.execute("SELECT request, text FROM calls").fetchall()
    file.close()
    questions = ("\n".join(each["content"] for each in json.loads(request)["messages"]) for request, _ in rows)
    return sum(map(counting, questions)), sum(counting(text) for _, text in rows), len(rows)


def memory(domain: str, source: Sequence[str]) -> dict[str, int]:
    """Most bytes with one episode at once, and with four."""
    seeds = ["--seeds", "1-8" if domain == "mind2web" else "1-2", *(["--limit", "4"] if domain == "webarena" else [])]
    seeds += ["--conditions", "FLAT_REACT", "--model", "scripted/slip=0.1", "--no-cache"]
    one, four = (played([domain, *source, *seeds, "--concurrency", str(at_once)], watch=True)[2] for at_once in (1, 4))
    return {"one_at_once": one, "four_at_once": four}


def main() -> None:
    """Measure and write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("data", type=Path)
    parser.add_argument("--out", type=Path, default=HERE / "scaling.json")
    parser.add_argument("--domains", default="alfworld,mind2web,webarena,swebench")
    parser.add_argument("--cases", default="light,long")
    parser.add_argument("--memory", action="store_true", help="measure the memory only")
    chosen = parser.parse_args()
    ctypes.CDLL(None).prctl(REAP_ORPHANS, 1, 0, 0, 0)
    found: dict[str, Any] = json.loads(chosen.out.read_text()) if chosen.out.is_file() else {}
    with tempfile.TemporaryDirectory() as scratch, EmbeddedServer() as server, httpx.Client() as client:
        address = server.base_url.removesuffix("/v1") + "/tokenize"

        def counting(text: str) -> int:
            return len(client.post(address, json={"content": text}, timeout=60).json()["tokens"])

        for domain, source in sources(chosen.data, Path(scratch)).items():
            if domain not in chosen.domains.split(","):
                continue
            mine = found.setdefault(domain, {})
            if chosen.memory:
                mine["memory_bytes"] = memory(domain, source)
            else:
                for case in sorted(CASES[domain].keys() & chosen.cases.split(",")):
                    for condition in CONDITIONS:
                        row = episode(domain, case, condition, source, counting)
                        mine.setdefault(case, {})[condition] = row
                        print(domain, case, condition, row, flush=True)
            chosen.out.write_text(json.dumps(found, indent=1, sort_keys=True) + "\n")


if __name__ == "__main__":
    main()
