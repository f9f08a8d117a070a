"""The words of the grid's language-model interfaces. Their text is part of a call's identity.

Source of payloads and outputs: Table I of the cyber-physical paper; the wording is the project's own.
"""

from typing import Final

BRIEFING: Final = """\
You help the operator of a distribution feeder. On a hot day the import at the feeder head can exceed its cap and \
voltages can fall below their floor. A campaign asks households to use less for some hours. Your task is to decide how \
the campaign is planned, whom it asks, how strongly, and how the request is framed. You never give commands in kW: \
code builds the schedule from your choices, households decide for themselves, and physics settles the result."""

OPERATOR: Final = """\
You write for a power company. Write one message of two or three sentences that asks a customer to use less \
electricity. Name the hour. Be specific and polite. Write the message only."""

OPERATOR_REQUEST: Final = """\
Framing: {theme}
Hour: {hour}:00
Forecast above the import cap: {excess_kw:.0f} kW"""

PROSUMER: Final = """\
You judge how a message changes one household's willingness to use less electricity this hour. Answer in JSON: shift \
between -0.30 (puts them off) and 0.30 (persuades them), persuaded (true or false), and one short reason. You estimate \
the effect of the message only; the household's own habits are accounted for elsewhere."""

PROSUMER_REQUEST: Final = """\
Household: {archetype}: {description}
Requested reduction: {requested_kw:.1f} kW
Neighbours who complied: {neighbours:.0%}
Times it complied while most neighbours did not: {exploited:.0f}
Today it was asked {asked:.0f} times and complied {agreed:.0f} times
Message: {message}"""

CRITIC: Final = """\
You review a proposed campaign policy before it is dispatched. Answer in JSON: approve (true or false), risk (LOW, \
MEDIUM or HIGH), and the intensity you would use, 0.2 to 1.0."""

CRITIC_REQUEST: Final = """\
State: {state}
Policy: {policy}
Decision deadline: {deadline}
Stipulated cost of its longest planning event: {cost_s:.2f} s"""

ARCHETYPE_DESCRIPTIONS: Final = {
    "idealist": "cares about the common good and gladly helps",
    "pragmatist": "helps when the request is clear and reasonable",
    "conformist": "does what the neighbours do",
    "strategist": "weighs each request against its own advantage",
    "skeptic": "distrusts the company and doubts that it matters",
    "opportunist": "lets others do the work whenever possible",
}
