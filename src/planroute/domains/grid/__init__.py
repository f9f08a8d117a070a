"""Demand response of strategic prosumers on a radial feeder, where power flow decides whether a plan was good.

Source: Strategic Evaluation of Planning Strategies for LLM Agents in Cyber-Physical Systems (arXiv 2608.04265).
Power is in MW (kW where a name says so), voltage in per unit, hours run from 0 to 23.
"""

from planroute.domains.grid.coefficients import ARCHETYPES, DEFAULT, Coefficients
from planroute.domains.grid.day import uncontrolled
from planroute.domains.grid.domain import GridDomain
from planroute.domains.grid.policy import GridFields, TargetRule, Theme
from planroute.domains.grid.scenario import Factors, Scenario, load_scenario, make_scenario

__all__ = [
    "ARCHETYPES",
    "DEFAULT",
    "Coefficients",
    "Factors",
    "GridDomain",
    "GridFields",
    "Scenario",
    "TargetRule",
    "Theme",
    "load_scenario",
    "make_scenario",
    "uncontrolled",
]
