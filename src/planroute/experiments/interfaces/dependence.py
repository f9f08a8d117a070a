"""Whether declarations follow the state: association with stress bands, trend over stress, and the regime.

Source: cyber-physical paper, section IV (conservative permutation over states; secondary three-band association and
logistic stress trend) and V-B (stress-conditioned, concentrated state-blind and invariant declarers). The paper names
the three regimes and gives no rule; ``RULE`` is the project's own.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from planroute.experiments.interfaces.accounts import share, shares
from planroute.experiments.interfaces.design import Figures
from planroute.experiments.interfaces.records import Record
from planroute.experiments.interfaces.states import BANDS, HIGH, NONE
from planroute.modes import MODES, Mode
from planroute.statistics import cramers_v, logistic_trend, state_permutation

EXPENSIVE: Final = (Mode.SEARCH, Mode.HIERARCHICAL)
"""Modes whose planning events cost most. Source: cyber-physical paper, Figure 3."""
SIGNIFICANT: Final = 0.05
CONCENTRATED: Final = 0.8
FEWEST: Final = 12

INVARIANT, CONDITIONED, UNMEASURED = "invariant", "stress-conditioned", "unmeasured"
BLIND_CONCENTRATED, BLIND_MIXED = "concentrated state-blind", "mixed state-blind"
REGIMES: Final = (CONDITIONED, BLIND_CONCENTRATED, BLIND_MIXED, INVARIANT, UNMEASURED)
RULE: Final = (
    f"{UNMEASURED}: fewer than {FEWEST} readable declarations, or one stress band only; "
    f"{INVARIANT}: one mode throughout; "
    f"{CONDITIONED}: band and mode are associated, p < {SIGNIFICANT} by permuting declarations; "
    f"{BLIND_CONCENTRATED}: they are not, and one mode has at least {CONCENTRATED:.0%}; "
    f"{BLIND_MIXED}: they are not, and none has. "
    "confirmed: p is below the bound by permuting whole states, too."
)


def dependence(records: Sequence[Record], name: str) -> Figures:
    """How readable declarations go with stress.

    ``by_band`` holds the share of each mode, of search and of the expensive modes (search or hierarchical). Two
    associations with the band: of the mode, and of being expensive. Each has Cramér's V with its interval, ``p_chi2``
    and ``p`` (permuting declarations), and ``p_states``, which permutes whole states: repeated draws of a state are no
    independent evidence, so it is the conservative one. ``trend`` is the logistic slope of being expensive per unit of
    stress; ``trend_by_state`` is the same with errors that are robust to repeated draws.
    """
    modes = [record["value"]["mode"] for record in records]
    bands = [record["about"]["band"] for record in records]
    states = [record["about"]["state"] for record in records]
    stress = [record["about"]["stress"] for record in records]
    expensive = [mode in EXPENSIVE for mode in modes]
    by_band = {band: _band([m for m, b in zip(modes, bands, strict=True) if b == band]) for band in BANDS}
    found: Figures = {
        "by_band": by_band,
        "band_by_mode": _association(modes, bands, states, f"{name}/band by mode"),
        "band_by_expensive": _association(expensive, bands, states, f"{name}/band by expensive"),
        "trend": logistic_trend(stress, [float(one) for one in expensive]).to_dict(),
        "trend_by_state": logistic_trend(stress, [float(one) for one in expensive], clusters=states).to_dict(),
        "top_mode": max(MODES, key=modes.count) if modes else None,
        "top_share": max(map(modes.count, modes)) / len(modes) if modes else None,
        "modes_used": len(set(modes)),
    }
    return found | _regime(found, len(modes), len(set(bands)))


def regimes(models: Mapping[str, Figures]) -> Figures:
    """How many models are of each regime."""
    return {"regimes": {regime: sum(one["regime"] == regime for one in models.values()) for regime in REGIMES}}


def _band(modes: Sequence[str]) -> Figures:
    expensive = sum(mode in EXPENSIVE for mode in modes)
    return {
        "n": len(modes),
        "modes": shares(modes, MODES),
        "search": share(sum(mode == Mode.SEARCH for mode in modes), len(modes)),
        "expensive": share(expensive, len(modes)),
    }


def _association(
    outcomes: Sequence[str | bool], bands: Sequence[str], states: Sequence[str], name: str
) -> dict[str, Any]:
    each = [str(number) for number in range(len(outcomes))]
    by_state = state_permutation(outcomes, bands, states, name=f"{name}, states")
    return {
        **cramers_v(outcomes, bands, name=name).to_dict(),
        "p": state_permutation(outcomes, bands, each, name=f"{name}, declarations").p,
        "p_states": by_state.p,
        "states": by_state.states,
    }


def _regime(found: Figures, n: int, bands: int) -> Figures:
    p, by_state = found["band_by_mode"]["p"], found["band_by_mode"]["p_states"]
    low, high = (found["by_band"][band]["expensive"]["share"] for band in (NONE, HIGH))
    associated = p is not None and p < SIGNIFICANT
    if n < FEWEST or bands < 2:
        regime = UNMEASURED
    elif found["modes_used"] == 1:
        regime = INVARIANT
    elif associated:
        regime = CONDITIONED
    else:
        regime = BLIND_CONCENTRATED if found["top_share"] >= CONCENTRATED else BLIND_MIXED
    return {
        "regime": regime,
        "confirmed": by_state is not None and by_state < SIGNIFICANT,
        "expensive_rises": None if low is None or high is None else high > low,
    }
