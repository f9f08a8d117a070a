"""What Inspect's entry point loads: everything that is to be found under ``planroute/``."""

from inspect_ai.model import ModelAPI, modelapi

from planroute.inspect_.scorers import adherence, order, partial_success, step_success, success
from planroute.inspect_.solvers import flat_react, forced, plan_react, routed
from planroute.inspect_.tasks import alfworld, mind2web, swebench, webarena


@modelapi(name="planroute")
def planroute() -> type[ModelAPI]:
    """The provider, loaded when a model of it is opened."""
    from planroute.inspect_.provider import PlanrouteAPI

    return PlanrouteAPI


__all__ = [
    "adherence",
    "alfworld",
    "flat_react",
    "forced",
    "mind2web",
    "order",
    "partial_success",
    "plan_react",
    "planroute",
    "routed",
    "step_success",
    "success",
    "swebench",
    "webarena",
]
