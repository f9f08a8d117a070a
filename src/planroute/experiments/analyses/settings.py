"""The settings that are in force, read from what runs and not from what a file says about it."""

from typing import Any

from planroute.declarers.hybrid import SHIFT_LIMIT
from planroute.domains.grid.aggregator import SUBSTITUTED_DEPTH
from planroute.domains.grid.metrics import GROUNDED_WITHIN
from planroute.domains.grid.profiles import HOURS
from planroute.experiments.analyses.inputs import BOOTSTRAP_DRAWS, Inputs
from planroute.experiments.scenes import scene
from planroute.selection import FEATURES
from planroute.selection import Settings as SelectorSettings


def settings(inputs: Inputs) -> dict[str, Any]:
    """What the experiment's first scenario, its metrics, its model calls and the selectors are set to.

    Source: cyber-physical paper, sections III and IV.
    """
    domain = scene(inputs.experiment, inputs.setting).domain
    task = domain.tasks()[0]
    facts, selectors = domain.facts(task), SelectorSettings()
    values = {f"{one['group']}/{one['name']}": one["value"] for one in facts["coefficients"]}
    return {
        "hours": HOURS,
        "s_base_mva": values["network/s_base_mva"],
        "r_pu": task.factors["r_pu"],
        "x_pu": task.factors["x_pu"],
        "import_cap_mw": facts["import_cap_mw"],
        "voltage_floor_pu": facts["voltage_floor_pu"],
        "shortfall_per_pu": values["objective/shortfall_per_pu"],
        "curtailed_per_kwh": values["objective/curtailed_per_kwh"],
        "message_shift_limit": values["response/shift_limit"],
        "advice_shift_limit": SHIFT_LIMIT,
        "sampled_share": values["response/sampled_share"],
        "grounded_within": GROUNDED_WITHIN,
        "substituted_depth": SUBSTITUTED_DEPTH,
        "temperature": inputs.setting.sampling.temperature,
        "max_tokens": inputs.setting.sampling.max_tokens,
        "ridge_alpha": selectors.alpha,
        "infeasible_cost": selectors.infeasible_cost,
        "selector_features": len(FEATURES),
        "bootstrap_draws": BOOTSTRAP_DRAWS,
    }
