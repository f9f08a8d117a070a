"""Runs to report on, made by the package itself, and a canary for every text that a run may carry."""

import asyncio
import json

from planroute.calls import ModelReply
from planroute.domains.grid import GridDomain
from planroute.experiments.compare import comparison_cells, summarise
from planroute.ledger import Usage
from planroute.modes import MODES, ROUTED
from planroute.runs.execute import execute_run
from planroute.runs.folder import RESULT, RunFolder, canonical

CANARY = "</script><script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\">'\"&\u2028"


class Talking:
    """Declares, writes messages and judges them; every text of its own carries the canary."""

    endpoint = "embedded:tiny"

    async def complete(self, request):
        if request.purpose == "operator message":
            text = f"Please reduce your cooling. {CANARY}"
        elif request.purpose == "prosumer evaluation":
            text = (
                '{"shift": 0.9, "persuaded": true, "reason": "why not"}'
                if len(request.messages[-1].content) % 3
                else "no"
            )
        else:
            declared = {"mode": "SEARCH", "depth": 1, "branching": 4, "confidence": 0.7, "rationale": CANARY[:190]}
            text = json.dumps(declared | {"target": "HIGH_LOAD", "theme": "RELIABILITY", "intensity": 0.7})
        return ModelReply(text, Usage(100, 20), latency_s=0.1)

    async def aclose(self):
        """Nothing is held."""


def execute(out, scenarios, seeds, forced=MODES, declarer=None, model=None, deadline_s=None):
    domain = GridDomain(scenarios)
    routed = {} if declarer is None else {ROUTED: declarer}
    cells = comparison_cells(domain.tasks(), seeds, forced, model=model, deadline_s=deadline_s, routed=routed)
    config = {"command": "compare grid", "seeds": seeds, "model": model and model.endpoint, "deadline_s": deadline_s}
    executed = asyncio.run(execute_run(domain, cells, config=config, out=out))
    RunFolder(out).write(RESULT, canonical(summarise(executed.rows, "objective")))
    return out
