"""Sections that every domain's page ends with: what was declared and said, and how the run was made."""

from planroute.reporting import declarations, provenance
from planroute.reporting.page import Section
from planroute.reporting.reading import Run


def declared(run: Run) -> Section:
    """Declarations and gate, failures, mended answers, messages."""
    cards, cards_left = declarations.cards(run, forced=False)
    failures, failures_left = declarations.failures(run)
    messages, messages_left = declarations.messages(run)
    return Section(
        "declarations",
        "What was declared",
        "declarations.html.j2",
        {
            "cards": cards,
            "forced": declarations.cards(run, forced=True)[0],
            "cards_left": cards_left,
            "ways": declarations.ways(run),
            "labels": declarations.labels(run),
            "failures": failures,
            "failures_left": failures_left,
            "mended": declarations.mended(run),
            "messages": messages,
            "messages_left": messages_left,
            "evaluations": provenance.calls(run, "prosumer evaluation"),
        },
    )


def how_made(run: Run, notes: list[str], coefficients: list[dict[str, str]]) -> Section:
    """Command, configuration, versions, cost; ``notes`` and ``coefficients`` are the domain's own."""
    return Section(
        "provenance",
        "How this was made",
        "provenance.html.j2",
        {
            "facts": provenance.facts(run),
            "scenarios": provenance.scenarios(run),
            "accounts": provenance.accounts(run),
            "notes": [note for note in (*notes, provenance.billing(run)) if note],
            "coefficients": coefficients,
        },
    )
