"""Every number that the grid domain rests on, in one place, each marked as the paper's or as the project's own.

"paper" marks what the cyber-physical paper prints. "project" marks what it leaves open: those values were fitted once,
on the paper's E2, E3 and E7 figures together, so agreement with those figures is calibration and not evidence.
``table`` lists them for documents and for ``planroute grid coefficients``.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from typing import Any, Final, Literal

Origin = Literal["paper", "project"]


def _is(default: Any, origin: Origin, unit: str, about: str) -> Any:
    return field(default=default, metadata={"origin": origin, "unit": unit, "about": about})


@dataclass(frozen=True, slots=True)
class Network:
    """The default feeder and its limits."""

    laterals: int = _is(4, "paper", "1", "laterals that leave the head")
    nodes_per_lateral: int = _is(10, "paper", "1", "prosumer nodes on each lateral")
    s_base_mva: float = _is(1.0, "paper", "MVA", "base power")
    r_pu: float = _is(0.022, "paper", "pu", "resistance of each segment")
    x_pu: float = _is(0.014, "paper", "pu", "reactance of each segment")
    v_head_pu: float = _is(1.0, "project", "pu", "voltage at the head")
    import_cap_mw: float = _is(1.1, "paper", "MW", "cap on the import at the head")
    voltage_floor_pu: float = _is(0.95, "paper", "pu", "floor of every node's voltage")
    power_factor: float = _is(0.95, "project", "1", "of load; curtailed load takes its reactive part along")
    pv_power_factor: float = _is(1.0, "project", "1", "of photovoltaic generation")
    lateral_multipliers: tuple[float, ...] = _is(
        (1.03, 1.01, 0.99, 0.97), "project", "1", "load and generation of each lateral against the mean"
    )


@dataclass(frozen=True, slots=True)
class Objective:
    """Equation (4): J = kWh over the cap + 4000 x sum of voltage shortfall + 0.25 x kWh curtailed."""

    overcap_per_kwh: float = _is(1.0, "paper", "1/kWh", "weight of energy imported above the cap")
    shortfall_per_pu: float = _is(4000.0, "paper", "1/pu", "weight of voltage shortfall, summed over nodes and hours")
    curtailed_per_kwh: float = _is(0.25, "paper", "1/kWh", "weight of curtailed energy")


@dataclass(frozen=True, slots=True)
class Response:
    """How prosumers answer. The ingredients are the paper's, every coefficient is the project's own."""

    bias: tuple[float, ...] = _is(
        (0.78, 0.69, 0.66, 0.64, 0.60, 0.545), "project", "1", "base willingness of each archetype"
    )
    mean_shift: tuple[float, ...] = _is(
        (0.15, 0.11, 0.08, 0.05, 0.02, -0.06), "project", "1", "mean message shift of each archetype (calibrated)"
    )
    shift_limit: float = _is(0.30, "paper", "1", "bound of a message shift, either way")
    sampled_share: float = _is(0.40, "paper", "1", "share of targeted prosumers whose message is evaluated")
    mean_resistance: float = _is(0.3, "project", "1", "mean resistance, which attenuates a shift")
    resistance_spread: float = _is(0.2, "project", "1", "half width of the uniform spread of resistance")
    flexible_share: float = _is(0.68, "project", "1", "flexible part of the cooling load")
    neighbours: int = _is(4, "project", "1", "neighbours of each prosumer before rewiring (Watts-Strogatz)")
    rewiring: float = _is(0.1, "project", "1", "rewiring probability of the social network")
    reciprocity_weight: float = _is(0.1, "project", "1", "on neighbours' compliance, relative to one half")
    exploitation_weight: float = _is(0.05, "project", "1", "on the memory of complying while neighbours did not")
    fatigue_weight: float = _is(0.043, "project", "1", "on comfort fatigue")
    fatigue_decay: float = _is(0.7, "project", "1/h", "of comfort fatigue")
    over_ask_weight: float = _is(0.612, "project", "1", "on the part of a request above over_ask_from")
    over_ask_from: float = _is(0.95, "project", "1", "request over flexible load from which people drop out")
    probability_bounds: tuple[float, float] = _is((0.02, 0.98), "project", "1", "bounds of the probability to comply")
    realised_beta: tuple[float, float] = _is((13.0, 2.0), "project", "1", "Beta law of the realised part of a request")


@dataclass(frozen=True, slots=True)
class Planning:
    """How schedules are built."""

    intensity: float = _is(0.715, "project", "1", "request over forecast flexible load, shared by all conditions")
    over_request: float = _is(1.51, "project", "1", "requested over needed reduction")
    expected_realisation: float = _is(0.54, "project", "1", "realised over requested power that forecasts assume")
    least_request_kw: float = _is(0.05, "project", "kW", "smaller requests are not sent")
    forecast_noise: float = _is(0.05, "project", "1", "relative standard deviation of the load forecast")
    forecast_common_mode: float = _is(0.15, "project", "1", "correlation root of forecast errors across nodes")
    compliance_gain: float = _is(0.55, "project", "1", "revision: intensity per node by observed compliance")
    realisation_target: float = _is(0.58, "project", "1", "revision: realised share at which intensity stays")
    realisation_gain: float = _is(0.28, "project", "1", "revision: intensity by last hour's realised share")
    proposal_intensities: tuple[float, ...] = _is(
        (0.715, 0.82, 0.715, 0.905), "project", "1", "intensity of each proposed alternative"
    )
    proposal_over_requests: tuple[float, ...] = _is(
        (1.51, 1.475, 1.51, 1.505), "project", "1", "over-request of each proposed alternative"
    )
    leverage_flex_weight: float = _is(0.1, "project", "1", "flexible load in the leverage order of an alternative")


@dataclass(frozen=True, slots=True)
class Allocation:
    """How a decomposition hands quotas down. The rank of decomposition depends on this detail."""

    severity_power: float = _is(1.4, "project", "1", "lateral quota by forecast voltage drop to this power")
    far_segment_share: float = _is(0.78, "project", "1", "part of a lateral's quota for its far segment")
    node_cap_of_flexible: float = _is(0.86, "project", "1", "largest request to one node over its flexible load")
    nodes_per_segment: int = _is(3, "project", "1", "nodes that a segment's worker asks")
    hand_back: bool = _is(False, "project", "-", "whether unmet quota returns to the orchestrator (repaired variant)")


@dataclass(frozen=True, slots=True)
class Coefficients:
    """All of them."""

    network: Network = Network()
    objective: Objective = Objective()
    response: Response = Response()
    planning: Planning = Planning()
    allocation: Allocation = Allocation()

    def table(self) -> Iterator[dict[str, Any]]:
        """Yield group, name, value, unit, origin and meaning of every coefficient."""
        for group in fields(self):
            section = getattr(self, group.name)
            for item in fields(section):
                yield {"group": group.name, "name": item.name, "value": getattr(section, item.name), **item.metadata}


ARCHETYPES: Final = ("idealist", "pragmatist", "conformist", "strategist", "skeptic", "opportunist")
"""The six archetypes, in the order of every coefficient that has one value for each."""

DEFAULT: Final = Coefficients()
