"""Studies of the language-model interfaces alone: declaration, advice, messages, their variety and their seconds.

Source: cyber-physical paper, section IV (multimodel interface extension, M0 to M5).
"""

from planroute.experiments.interfaces.inquiry import Inquiry
from planroute.experiments.interfaces.study import InterfaceStudy, planned_calls, study_interfaces

__all__ = ["Inquiry", "InterfaceStudy", "planned_calls", "study_interfaces"]
