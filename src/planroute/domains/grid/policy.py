"""The grid's own fields of a declaration: whom to ask, how strongly, in which words.

Source: typed policy and Table I of the cyber-physical paper. The target rules and themes are the project's own.
"""

from enum import StrEnum

from pydantic import BaseModel, ConfigDict, Field


class TargetRule(StrEnum):
    """In which order prosumers are asked."""

    HIGH_LOAD = "HIGH_LOAD"
    LEVERAGE = "LEVERAGE"
    COMPLIANT = "COMPLIANT"
    UNIFORM = "UNIFORM"


class Theme(StrEnum):
    """How a request is framed."""

    COMMUNITY = "COMMUNITY"
    RELIABILITY = "RELIABILITY"
    SAVINGS = "SAVINGS"
    CLIMATE = "CLIMATE"


class GridFields(BaseModel):
    """What a declarer fills in beside the planning mode."""

    model_config = ConfigDict(frozen=True, use_enum_values=True, validate_default=True)

    target: TargetRule = Field(
        TargetRule.HIGH_LOAD,
        description="who is asked first: largest load, largest effect on voltage, most compliant, or all alike",
    )
    theme: Theme = Field(Theme.RELIABILITY, description="framing of the request to customers")
    intensity: float = Field(
        0.715, ge=0.2, le=1.0, description="requested part of a prosumer's flexible load, 0.2 to 1.0"
    )
