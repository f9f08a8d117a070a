"""Labels by people: whether declared plans were carried out, asked blind, and how far the answers agree.

Source: Planning-as-Routing, appendix E.3 (two people labelled 100 sampled trajectories).
"""

from planroute.labelling.answers import Answer, Labels, read_labels, start_labels
from planroute.labelling.asking import Dialogue
from planroute.labelling.items import Item, make_item
from planroute.labelling.pairs import PAPER, Rating, table
from planroute.labelling.sampling import in_order, sampled

__all__ = [
    "PAPER",
    "Answer",
    "Dialogue",
    "Item",
    "Labels",
    "Rating",
    "in_order",
    "make_item",
    "read_labels",
    "sampled",
    "start_labels",
    "table",
]
