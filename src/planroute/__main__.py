"""``python -m planroute``: the command line."""

from planroute.cli import main

main()
