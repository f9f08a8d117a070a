"""Named random streams: every draw in planroute belongs to one.

Two streams with different names are independent, and how much one is used never changes another. A latent draw that
several conditions share is taken from a stream named by what it belongs to (seed, hour, node), never by who asks.
"""

import hashlib

import numpy as np


def stream(seed: int, *names: str | int) -> np.random.Generator:
    """Return the generator of the stream ``names`` under ``seed``.

    >>> stream(7, "forecast").random() == stream(7, "forecast").random()
    True
    >>> stream(7, "forecast").random() == stream(7, "response").random()
    False
    """
    parts = (str(name).replace("\\", "\\\\").replace("/", "\\/") for name in (seed, *names))
    digest = hashlib.sha256("/".join(parts).encode("utf-8", "surrogatepass")).digest()
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence(int.from_bytes(digest, "big"))))
