"""``planroute doctor``: what is installed, what is missing, and how to get it."""

import typer

from planroute.cli.options import Json


def doctor(json: Json = False) -> None:
    """List what planroute finds on this machine. Nothing is changed and no key is shown."""
    from planroute.cli.findings import findings
    from planroute.cli.show import plain, print_json

    found = findings()
    if json:
        print_json({"findings": found, "missing": [item["name"] for item in found if not item["present"]]})
        return
    for item in found:
        mark = "ok     " if item["present"] else ("MISSING" if item["needed"] else "absent ")
        line = f"{mark}  {item['name']}: {item['detail']}"
        typer.echo(plain(line if item["present"] else f"{line}. {item['hint']}"))
