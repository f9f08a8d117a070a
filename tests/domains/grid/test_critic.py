"""The critic: a bounded review of the intensity, asked for explicitly and by nobody else."""

import ast
import asyncio
import json
from pathlib import Path

import pytest

import planroute
from planroute.declaration import forced
from planroute.domains.grid import GridDomain, GridFields
from planroute.domains.grid.critic import Review, Risk, review
from planroute.errors import ModelMissing, ReplyError
from planroute.ledger import Ledger
from planroute.modes import MODES, Mode
from planroute.protocols import Context
from planroute.trace import Mended, ModelCalled, Trace
from tests.declarers.answering import Answering

GRID = GridDomain()
FIELDS = GridFields(target="LEVERAGE", theme="SAVINGS", intensity=0.6).model_dump()


def reviewed(answer, mode=Mode.SEARCH, deadline_s=4.0):
    model = None if answer is None else Answering(answer if isinstance(answer, str) else json.dumps(answer))
    context = Context(7, Trace(), Ledger(), model)
    declaration = forced(mode, FIELDS)

    async def run():
        world = await GRID.open(GRID.tasks()[0], context)
        return await review(context, world.state(), declaration, deadline_s=deadline_s, cost_s=5.5)

    return *asyncio.run(run()), declaration, context, model


@pytest.mark.parametrize("mode", MODES)
def test_a_review_moves_the_intensity_and_nothing_else(mode):
    answer = {"approve": False, "risk": "HIGH", "intensity": 0.4}
    after, said, before, context, _ = reviewed(answer, mode)
    assert said == Review(approve=False, risk=Risk.HIGH, intensity=0.4)
    assert after.fields == {**FIELDS, "intensity": 0.4}
    assert (after.mode, after.depth, after.branching) == (before.mode, before.depth, before.branching)
    assert [type(event) for event in context.trace] == [ModelCalled]


@pytest.mark.parametrize(("given", "used"), [(1.8, 1.0), (-1, 0.2)])
def test_an_intensity_out_of_range_is_clipped_and_that_is_recorded(given, used):
    after, _, _, context, _ = reviewed({"approve": True, "risk": "LOW", "intensity": given})
    assert after.fields["intensity"] == used
    assert context.trace.of(Mended)[0].clips == (("intensity", given, used),)


def test_the_critic_sees_state_policy_and_the_time_there_is():
    *_, model = reviewed({"approve": True, "risk": "LOW", "intensity": 0.6})
    text = model.requests[0].messages[1].content
    for piece in ('"mode": "SEARCH"', '"intensity": 0.6', '"import_cap_mw": 1.1', "Decision deadline: 4 s", "5.50 s"):
        assert piece in text
    *_, model = reviewed({"approve": True, "risk": "LOW", "intensity": 0.6}, deadline_s=None)
    assert "Decision deadline: none" in model.requests[0].messages[1].content


@pytest.mark.parametrize(
    "answer", ["", "fine by me", '{"risk": "LOW"}', '{"approve": true, "risk": "NO", "intensity": 1}']
)
def test_a_review_that_cannot_be_read_is_a_reply_error(answer):
    with pytest.raises(ReplyError):
        reviewed(answer)


def test_without_a_model_there_is_no_critic():
    with pytest.raises(ModelMissing, match="plan critic needs a language model"):
        reviewed(None)


def test_nothing_that_runs_an_episode_calls_the_critic():
    """It is off in every forced comparison because nobody on that path knows it."""
    package = Path(planroute.__file__).parent
    users = []
    for path in package.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            names = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            names += [alias.name for alias in node.names] if isinstance(node, ast.Import | ast.ImportFrom) else []
            if any(name.endswith("critic") for name in names):
                users.append(path.relative_to(package).parts[0])
    assert not set(users) & {"episode.py", "router.py", "executors", "declarers", "domains", "runs", "experiments"}
