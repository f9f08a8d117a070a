"""``python -m planroute.testing``: the endpoint on loopback for a while, with its address on the first line."""

import argparse
import asyncio
import json
import signal
from contextlib import suppress
from dataclasses import fields

from planroute.errors import InputError
from planroute.testing.endpoint import FaultServer
from planroute.testing.faults import Faults


def main() -> None:
    """Serve until the time is over or the process is told to end; then print what was done, as JSON."""
    known = ", ".join(fate for fate, _ in Faults().shares)
    parser = argparse.ArgumentParser(prog="python -m planroute.testing", description=__doc__)
    parser.add_argument("--seconds", type=float, default=600.0, help="end after so many seconds (default: 600)")
    parser.add_argument("--port", type=int, default=0, help="port on 127.0.0.1 (default: any free one)")
    parser.add_argument("--seed", type=int, default=0, help="seed of the plan of faults")
    parser.add_argument(
        "--fault",
        action="append",
        default=[],
        metavar="NAME=SHARE",
        help=f"such as refused=0.1; may be repeated; NAME is one of {known}, or slow_s or retry_after_s, in s",
    )
    arguments = parser.parse_args()
    try:
        faults = Faults(**dict(_share(each, known) for each in arguments.fault))
    except InputError as error:
        parser.error(str(error))
    if not 0 <= arguments.port <= 65535:
        parser.error(f"--port {arguments.port} is none: give a number from 0 to 65535")
    try:
        asyncio.run(_serve(FaultServer(faults, seed=arguments.seed, port=arguments.port), arguments.seconds))
    except OSError as error:
        parser.error(f"cannot serve on port {arguments.port}: {error.strerror or error}")


def _share(text: str, known: str) -> tuple[str, float]:
    """The name and the number in ``NAME=SHARE``. Raises ``InputError`` where it is no such pair."""
    name, _, share = text.partition("=")
    if name not in {each.name for each in fields(Faults)}:
        raise InputError(f"--fault {name[:40]!r} is unknown", hint=f"choose from {known}")
    try:
        return name, float(share)
    except ValueError:
        raise InputError(f"--fault {text[:40]!r} has no share", hint="give NAME=SHARE, such as refused=0.1") from None


async def _serve(server: FaultServer, seconds: float) -> None:
    over = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, over.set)
    async with server:
        print(server.base_url, flush=True)
        with suppress(TimeoutError):
            await asyncio.wait_for(over.wait(), seconds)
    told = server.told
    counts = {"requests": told.requests, "answered": told.completed, "left": told.left}
    print(json.dumps(counts | {"prompt_tokens": told.prompt_tokens, "completion_tokens": told.completion_tokens}))


if __name__ == "__main__":
    main()
