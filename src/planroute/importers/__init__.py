"""Reading trajectories that others wrote, with the plans they declare: each format becomes the same ``Trajectory``.

Files are untrusted: they are parsed as data, never executed, and no library of their writers is imported.
"""

from planroute.importers.formats import FORMATS, Format, detect, read, read_file
from planroute.importers.own import from_trace
from planroute.importers.trajectory import Action, DeclaredPlan, Trajectory

__all__ = [
    "FORMATS",
    "Action",
    "DeclaredPlan",
    "Format",
    "Trajectory",
    "detect",
    "from_trace",
    "read",
    "read_file",
]
