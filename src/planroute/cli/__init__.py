"""The command line: one module for each command; everything heavy is imported by the command that needs it."""

import sys
import traceback


def main() -> None:
    """Run the command line.

    Exit 0: done; 1: the run failed; 2: usage or input error. Errors are one line; ``--debug`` anywhere shows where they
    come from.
    """
    from planroute.cli.app import app
    from planroute.errors import InputError, PlanrouteError
    from planroute.runs.command import commanded

    debug = "--debug" in sys.argv
    sys.argv = [argument for argument in sys.argv if argument != "--debug"]
    try:
        with commanded(sys.argv[1:]):
            app()
    except PlanrouteError as error:
        _fail(str(error), 2 if isinstance(error, InputError) else 1, debug)
    except KeyboardInterrupt:
        _fail("interrupted; what was finished is kept", 1, debug)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(1)
    except OSError as error:
        _fail(f"cannot read or write: {error.strerror or error}", 1, debug)


def _fail(message: str, status: int, debug: bool) -> None:
    """Say in one line what went wrong, after the traceback where that is asked for, and exit."""
    if debug:
        traceback.print_exc()
    from planroute.cli.show import plain

    print(f"planroute: {plain(message)}", file=sys.stderr)
    sys.exit(status)


__all__ = ["main"]
