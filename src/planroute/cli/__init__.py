"""The command line: one module for each command; everything heavy is imported by the command that needs it."""

import sys


def main() -> None:
    """Run the command line.

    Exit 0: done; 1: the run failed; 2: usage or input error. Errors are one line; ``--debug`` anywhere shows where they
    come from.
    """
    from planroute.cli.app import app
    from planroute.errors import InputError, PlanrouteError

    debug = "--debug" in sys.argv
    sys.argv = [argument for argument in sys.argv if argument != "--debug"]
    try:
        app()
    except PlanrouteError as error:
        if debug:
            raise
        print(f"planroute: {error}", file=sys.stderr)
        sys.exit(2 if isinstance(error, InputError) else 1)
    except KeyboardInterrupt:
        print("planroute: interrupted; what was finished is kept", file=sys.stderr)
        sys.exit(1)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(1)


__all__ = ["main"]
