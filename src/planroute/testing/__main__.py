"""``python -m planroute.testing``: the endpoint that fails on purpose, for some seconds, on loopback."""

import argparse
import asyncio
from collections.abc import Sequence
from contextlib import suppress
from typing import Final

from planroute.errors import PlanrouteError
from planroute.testing.endpoint import FaultServer
from planroute.testing.fates import Shares

LONGEST_S: Final = 3600.0
"""Nobody has to remember to end it."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the address, answer for a while, and print what came as one line of JSON."""
    parser = argparse.ArgumentParser(prog="python -m planroute.testing", description=main.__doc__)
    parser.add_argument("--seconds", type=float, required=True, help=f"how long, at most {LONGEST_S:.0f}")
    parser.add_argument("--faults", type=float, default=0.0, help="share of requests that fail, 0 to 1 (default 0)")
    parser.add_argument("--seed", type=int, default=0, help="of the faults (default 0)")
    parser.add_argument("--port", type=int, default=0, help="default: a free one")
    parser.add_argument("--answer", help="the text of every good answer (default: the last message)")
    given = parser.parse_args(arguments)
    if not 0 < given.seconds <= LONGEST_S:
        parser.error(f"--seconds {given.seconds:g} is not between 0 and {LONGEST_S:.0f}")
    try:
        server = FaultServer(Shares.even(given.faults), given.seed, answer=given.answer, port=given.port)
        with suppress(KeyboardInterrupt):
            asyncio.run(_serve(server, given.seconds))
        print(server.counts.to_json(), flush=True)
    except (PlanrouteError, OSError, OverflowError) as error:
        parser.error(str(error))


async def _serve(server: FaultServer, seconds: float) -> None:
    async with server:
        print(server.url, flush=True)
        await asyncio.sleep(seconds)


if __name__ == "__main__":
    main()
