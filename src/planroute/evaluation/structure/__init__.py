"""The plan-structure verifier: was a declared plan executed, unit by unit, in its order?"""

from planroute.evaluation.structure.acts import lexicon_for
from planroute.evaluation.structure.divergence import Parting, divergence
from planroute.evaluation.structure.lexicon import NAMES, Lexicon, lexicon
from planroute.evaluation.structure.verdict import Divergence, Loop, Status, Taken, UnitVerdict, Verdict
from planroute.evaluation.structure.verifier import verify, verify_dispatched

__all__ = [
    "NAMES",
    "Divergence",
    "Lexicon",
    "Loop",
    "Parting",
    "Status",
    "Taken",
    "UnitVerdict",
    "Verdict",
    "divergence",
    "lexicon",
    "lexicon_for",
    "verify",
    "verify_dispatched",
]
