"""The domain keeps the contract of all domains, and what breaks in the browser is no failure of the task."""

import asyncio
from dataclasses import replace

import pytest

from planroute.contract import check_domain
from planroute.declarers import Natural
from planroute.domains.text import Limits
from planroute.domains.webarena import browser
from planroute.domains.webarena.evaluator import EVALUATOR
from planroute.domains.webarena.visit import Visit
from planroute.episode import Conditions, run_episode
from planroute.models import open_model
from planroute.modes import Baseline
from planroute.trace import Stop
from tests.domains.webarena.playing import episode, hurried, ready, stop


@pytest.fixture(scope="module")
def domain():
    with hurried():
        yield ready()
    browser.close_all()
    EVALUATOR.close()


def run(domain, number):
    task = next(each for each in domain.tasks() if each.id == str(number))
    conditions = Conditions(Natural(), model=open_model("scripted/slip=0"), baseline=Baseline.FLAT_REACT)
    return asyncio.run(run_episode(domain, task, 7, conditions)).row


def test_no_breach_of_contract(domain):
    short = replace(domain, found=domain.found[:1], limits=Limits(steps=8, steps_per_unit=4))
    assert asyncio.run(check_domain(short, seed=7, model=open_model("scripted/slip=0"))) == []


@pytest.mark.parametrize("gone", ["page", "browser"])
def test_what_crashes_is_infrastructure_and_the_next_episode_goes_on(domain, monkeypatch, gone):
    async def crash(self, action):
        if gone == "browser":
            await self._context.browser.close()
        else:
            session = await self._context.new_cdp_session(self._guard.front)
            await session.send("Page.crash")
        return "That was it.", True

    with monkeypatch.context() as patched:
        patched.setattr(Visit, "_do", crash)
        row = run(domain, 260)
    assert (row.status, row.stop, row.success) == ("infrastructure", Stop.INFRASTRUCTURE, None)
    assert row.metrics["success"] is None
    assert row.error
    row = run(domain, 260)
    assert (row.status, row.success) == ("finished", True)


def test_an_outcome_before_the_end_leaves_no_mark(domain):
    environment = episode(domain, 260)
    environment.reset()
    assert not environment.verdict()
    environment.step("goto [__SHOPPING__/video-games.html]")
    assert not environment.verdict()
    assert environment.measures() == {"answer_right": 0.0, "events_right": 1.0}
    environment.step(stop("NAVIGATE"))
    assert environment.verdict()
    environment.close()
    assert environment.verdict()
