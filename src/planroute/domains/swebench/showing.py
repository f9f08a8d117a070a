"""What is shown of what a command printed: its beginning and its end, without what differs between equal runs."""

import re
from collections.abc import Mapping
from typing import Final

HEAD, TAIL = 4000, 2000
"""Characters of a long observation that are shown, of its beginning and its end."""

_SECONDS: Final = r"\d+(?:\.\d+)? ?s(?:econds?)?\b(?: \(\d+:\d\d:\d\d\))?"
_CHANGING: Final = (
    # colours
    (re.compile(r"\x1b\[[0-9;?]*[A-Za-z]"), ""),
    # durations: the summary of pytest, whose rule is as long as the time leaves room for; others; of single tests; time
    (re.compile(rf"^=+ (.*\bin ){_SECONDS} =+$", re.MULTILINE), r"=== \g<1>0.00s ==="),
    (re.compile(rf"\bin {_SECONDS}"), "in 0.00s"),
    (re.compile(r"^\d+\.\d\ds( (?:call|setup|teardown) )", re.MULTILINE), r"0.00s\1"),
    (re.compile(r"^(real|user|sys)(\s+)\d+m\d+\.\d{3}s$", re.MULTILINE), r"\1\g<2>0m0.000s"),
    # addresses of objects, names of files for the moment, seeds that a runner of tests draws
    (re.compile(r"(?<= at )0x[0-9a-f]{6,16}\b"), "0x0"),
    (re.compile(r"(?<=/tmp/tmp)[a-z0-9_]{8}\b"), "00000000"),
    (re.compile(r"((?:random seed:\s+|randomly-seed=))\d+"), r"\g<1>0"),
    # when a file was written: ls, and stat, ls --full-time and diff
    (
        re.compile(r"^([-bcdlps][-rwxsStT]{9}[.+@]?\s+\d+ .*? )[A-Z][a-z]{2} [ \d]\d \d\d:\d\d ", re.MULTILINE),
        r"\1Jan  1  2024 ",
    ),
    (re.compile(r"\b\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{9} [+-]\d{4}\b"), "2024-01-01 00:00:00.000000000 +0000"),
)
"""What differs between equal runs, each with what is shown in its place."""


def steady(text: str, drawn: Mapping[str, str]) -> str:
    """Return ``text`` as an equal run would show it: without durations, addresses, colours, times of files.

    ``drawn`` is what its box drew at random, see ``planroute.sandbox.Box``.
    """
    for pattern, instead in _CHANGING:
        text = pattern.sub(instead, text)
    for word, instead in drawn.items():
        text = text.replace(word, instead)
    return text


def cut(text: str) -> str:
    """Return ``text`` without its middle where it is long."""
    if len(text) <= HEAD + TAIL:
        return text
    left = len(text) - HEAD - TAIL
    return f"{text[:HEAD]}\n[... {left} characters are left out here ...]\n{text[-TAIL:]}"
