"""``python -m planroute.testing``: the endpoint on loopback for a while, with its address on the first line."""

import argparse
import asyncio
import json
import signal
from contextlib import suppress

from planroute.errors import InputError
from planroute.testing.endpoint import FaultServer
from planroute.testing.faults import Faults


def main() -> None:
    """Serve until the time is over or the process is told to end; then print what was done, as JSON."""
    parser = argparse.ArgumentParser(prog="python -m planroute.testing", description=__doc__)
    parser.add_argument("--seconds", type=float, default=600.0, help="end after so many seconds (default: 600)")
    parser.add_argument("--seed", type=int, default=0, help="seed of the plan of faults")
    parser.add_argument(
        "--fault", action="append", default=[], metavar="NAME=SHARE", help="such as refused=0.1; may be repeated"
    )
    arguments = parser.parse_args()
    try:
        pairs = (each.partition("=") for each in arguments.fault)
        faults = Faults(**{name: float(share) for name, _, share in pairs})
    except (TypeError, ValueError, InputError) as error:
        parser.error(str(error))
    asyncio.run(_serve(FaultServer(faults, seed=arguments.seed), arguments.seconds))


async def _serve(server: FaultServer, seconds: float) -> None:
    over = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, over.set)
    async with server:
        print(server.base_url, flush=True)
        with suppress(TimeoutError):
            await asyncio.wait_for(over.wait(), seconds)
    told = server.told
    counts = {"requests": told.requests, "completed": told.completed, "left": told.left}
    print(json.dumps(counts | {"prompt_tokens": told.prompt_tokens, "completion_tokens": told.completion_tokens}))


if __name__ == "__main__":
    main()
