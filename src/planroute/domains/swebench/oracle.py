"""What the record's own patch says of sandbox and environment: where it does not resolve its issue, no patch can."""

from planroute.domains.swebench.workshop import Patch, Workshop
from planroute.errors import DomainError


def doubt(workshop: Workshop) -> str:
    """Why results on this record would mean nothing here; empty where they do.

    Without a patch the issue must be unresolved, by its record's own patch it must be resolved.
    """
    try:
        without, own = workshop.grade(Patch("")), workshop.grade(Patch(workshop.record.patch))
    except DomainError as error:
        return str(error)
    if without.resolved:
        return "it is resolved without any patch"
    if own.resolved:
        return ""
    if own.note:
        return f"its own patch does not resolve it: {own.note}"
    kept = "" if own.pass_to_pass is None else f", {own.pass_to_pass:.0%} of those that must keep passing"
    return f"its own patch does not resolve it: {own.fail_to_pass:.0%} of the tests that must pass{kept}"
