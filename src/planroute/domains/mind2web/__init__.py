"""Tasks on recorded web pages: Mind2Web's own, and some of the project's own."""

from planroute.domains.mind2web.records import Operation, Step, WebTask
from planroute.domains.mind2web.scoring import Choice, StepScore, score_step
from planroute.domains.mind2web.tasks import find_tasks

__all__ = ["Choice", "Operation", "Step", "StepScore", "WebTask", "find_tasks", "score_step"]
