"""Which trajectories are asked about, and in which order: draws of named streams, over keys and nothing else."""

from collections.abc import Sequence

from planroute.errors import InputError
from planroute.labelling.items import Item
from planroute.streams import stream


def sampled(items: Sequence[Item], number: int | None, seed: int) -> list[Item]:
    """Return ``number`` of ``items``, all of them for ``None``, sorted by key; equal ones count once.

    The same trajectories for everybody under one ``seed``: raters are compared on what they share. Draws come from the
    stream ("labelling", "sample"). Raises ``InputError`` where there are fewer.
    """
    distinct = sorted({item.key: item for item in items}.values(), key=lambda item: item.key)
    if number is None:
        return distinct
    if number > len(distinct):
        raise InputError(f"--sample {number}: there are only {len(distinct)} trajectories to label")
    drawn = stream(seed, "labelling", "sample").permutation(len(distinct))[:number]
    return [distinct[place] for place in sorted(drawn)]


def in_order(items: Sequence[Item], rater: str, seed: int) -> list[Item]:
    """Return ``items`` shuffled for ``rater``: each in an order of their own, the same at every start.

    Draws come from the stream ("labelling", "order", ``rater``).
    """
    return [items[place] for place in stream(seed, "labelling", "order", rater).permutation(len(items))]
