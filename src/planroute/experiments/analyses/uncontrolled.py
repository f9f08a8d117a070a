"""What happens when nobody plans: the day that every condition of an experiment starts from."""

from typing import Any

from planroute.experiments.analyses.inputs import Inputs
from planroute.experiments.scenes import scene


def uncontrolled(inputs: Inputs) -> dict[str, Any]:
    """The uncontrolled day of the first scenario: its hour of highest import, hours that violate a limit, every hour.

    Source: cyber-physical paper, sections I, III and IV (the calibration trace).
    """
    domain = scene(inputs.experiment, inputs.setting).domain
    facts = domain.facts(domain.tasks()[0])
    hours, nodes = facts["uncontrolled"], facts["feeder"]["nodes"]
    peak = max(hours, key=lambda one: one["import_mw"])
    return {
        "peak_hour": peak["hour"],
        "import_mw": peak["import_mw"],
        "above_cap_kw": 1000 * (peak["import_mw"] - facts["import_cap_mw"]),
        "min_voltage_pu": peak["min_voltage_pu"],
        "import_ac_mw": peak["import_ac_mw"],
        "min_voltage_ac_pu": peak["min_voltage_ac_pu"],
        "violation_hours": sum(one["violation"] for one in hours),
        "prosumers": len(nodes),
        "laterals": len({node["lateral"] for node in nodes}),
        "hours": hours,
    }
