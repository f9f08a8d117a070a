"""Named random streams: every draw in planroute belongs to one.

Two streams with different names are independent, and how much one is used never changes another. A latent draw that
several conditions share is taken from a stream named by what it belongs to (seed, hour, node), never by who asks.
"""

import hashlib
from collections.abc import Iterable

import numpy as np


def stream(seed: int, *names: str | int) -> np.random.Generator:
    """Return the generator of the stream ``names`` under ``seed``.

    >>> stream(7, "forecast").random() == stream(7, "forecast").random()
    True
    >>> stream(7, "forecast").random() == stream(7, "response").random()
    False
    """
    (key,) = keys([seed], *names)
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence(int.from_bytes(key, "big"))))


def keys(seeds: Iterable[int], *names: str | int) -> list[bytes]:
    """Return the 32 bytes that seed the stream ``names`` under each of ``seeds``, for whoever draws many at once."""
    parts = (str(name).replace("\\", "\\\\").replace("/", "\\/") for name in names)
    rest = "".join(f"/{part}" for part in parts).encode("utf-8", "surrogatepass")
    return [hashlib.sha256(b"%d%s" % (seed, rest)).digest() for seed in seeds]
