"""An action as the matcher sees it."""

from dataclasses import dataclass

from planroute.evaluation.structure.phrases import Phrase


@dataclass(frozen=True, slots=True)
class Act:
    """One action, canonical.

    ``key`` is equal for actions that do the same. ``text`` and ``seen`` are lower case. ``earlier`` holds the classes
    executed before it; ``fresh`` says that it runs something new; ``opaque`` actions name no element, only a number.
    """

    index: int
    executed: bool
    verbs: frozenset[str]
    text: str
    key: str
    object: Phrase | None = None
    places: tuple[tuple[str, Phrase], ...] = ()
    words: frozenset[str] = frozenset()
    seen: str = ""
    earlier: frozenset[str] = frozenset()
    fresh: bool = False
    opaque: bool = False
