"""Selectors of planning modes on a counterfactual bank: ridge, constraint-aware, fixed comparators, oracle, floor."""

from planroute.selection.bank import Bank, read_bank
from planroute.selection.evaluate import Judged, Selection, Value, cross_fitted, evaluate
from planroute.selection.features import FEATURES, PRESPECIFIED, STRESS_GROUP, Settings
from planroute.selection.learned import Kind, LearnedSelector, fit
from planroute.selection.regret import Oracle

__all__ = [
    "FEATURES",
    "PRESPECIFIED",
    "STRESS_GROUP",
    "Bank",
    "Judged",
    "Kind",
    "LearnedSelector",
    "Oracle",
    "Selection",
    "Settings",
    "Value",
    "cross_fitted",
    "evaluate",
    "fit",
    "read_bank",
]
