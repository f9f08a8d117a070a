"""What the tests of the domain share: is there a browser, and an episode played by the solver."""

import json
from contextlib import contextmanager

import pytest

from planroute.calls import ModelReply
from planroute.domains.webarena import arriving, visit
from planroute.domains.webarena.browser import chromium_path
from planroute.domains.webarena.domain import WebArenaDomain
from planroute.domains.webarena.environment import WebEpisode
from planroute.domains.webarena.evaluator import interpreter
from planroute.domains.webarena.records import read_records
from planroute.domains.webarena.solver import WebArenaSolver
from planroute.errors import InputError
from planroute.evaluation.judges import RubricJudge
from planroute.ledger import Usage

SOLVER = WebArenaSolver()


def ready():
    """The domain on the project's own tasks; a test is skipped with the reason where something is missing."""
    pytest.importorskip("playwright", reason="needs the webarena extra")
    try:
        interpreter()
        return WebArenaDomain(read_records(), RubricJudge("trajectory"), program=chromium_path())
    except InputError as error:
        pytest.skip(str(error))


@contextmanager
def hurried():
    """Without the pauses in which pages may change in place: the project's own do not change by themselves.

    What waits for pages is held by the tests of hostile and of changing pages, which do not hurry.
    """
    with pytest.MonkeyPatch.context() as patch:
        for module in (visit, arriving):
            patch.setattr(module, "SETTLE_S", 0.0)
        yield


def episode(domain, number):
    task = next(each for each in domain.tasks() if each.id == str(number))
    return WebEpisode(task.payload, domain._sites, domain._browser)


def play(environment, most=15, actions=SOLVER.act):
    """Let the solver act until it stops; what it did and saw."""
    environment.reset()
    history = []
    for _ in range(most):
        state = {"goal": environment.record.intent, "history": history, **environment.sight()}
        action = actions(state, None)
        turn = environment.step(action)
        history.append({"action": action, "observation": turn.observation})
        if turn.done:
            break
    return history


def stop(kind, data=None):
    """A last action that reports success."""
    return f"stop [{json.dumps({'task_type': kind, 'status': 'SUCCESS', 'retrieved_data': data})}]"


class Walker:
    """A model that takes given actions one after another."""

    endpoint = "walker"

    def __init__(self, actions):
        self.actions = list(actions)

    async def complete(self, request):
        return ModelReply(json.dumps({"action": self.actions.pop(0)}), usage=Usage(prompt_tokens=1, answer_tokens=1))

    async def aclose(self):
        """Nothing is open."""
