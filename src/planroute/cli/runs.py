"""``planroute runs``: what runs there are, and taking one up, packing it, or clearing it up."""

import os
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from planroute.cli.options import Json

if TYPE_CHECKING:
    from planroute.runs.overview import Overview

app = typer.Typer(help="List, show, resume, pack and clear up runs.", no_args_is_help=True)

RunPath = Annotated[Path, typer.Argument(help="Folder of a run, as given to --out.", metavar="RUN")]


@app.command("list")
def list_(
    folder: Annotated[Path, typer.Argument(help="Where to look, with folders below it.")] = Path("runs"),
    json: Json = False,
) -> None:
    """List the runs in a folder: how far each is, and what it was billed. Nothing is changed."""
    from rich.console import Console
    from rich.table import Table

    from planroute.cli.show import plain, print_json
    from planroute.runs.overview import find_runs, overview

    found = [overview(path) for path in find_runs(folder)]
    if json:
        print_json({"runs": [_plain(run) for run in found]})
        return
    if not found:
        typer.echo(f"no runs in {plain(str(folder))}")
        return
    table = Table(box=None, pad_edge=False)
    for name in ("run", "state", "what"):
        table.add_column(name, overflow="fold")
    for name in ("episodes", "calls billed", "tokens", "USD", "s"):
        table.add_column(name, justify="right")
    for run in found:
        counted = f"{run.finished:,} of {run.cells:,}" if run.cells is not None else f"{run.finished:,} parts"
        table.add_row(
            plain(str(run.path), 80),
            run.state,
            plain(run.what, 40),
            "" if run.state == "damaged" else counted,
            f"{run.billed_calls:,}",
            f"{run.tokens:,}",
            _usd(run.usd),
            f"{run.seconds:,.1f}",
        )
    Console(highlight=False, markup=False).print(table)


@app.command()
def show(run: RunPath, json: Json = False) -> None:
    """Show one run: what it was asked, what is finished, what is missing, what it was billed. Reads every episode."""
    from planroute.cli.show import plain, print_json
    from planroute.runs.overview import overview

    found = overview(run, whole=True)
    if json:
        print_json(_plain(found))
        return
    lines = [("run", str(found.path)), ("state", found.state)]
    if found.fault:
        lines.append(("damage", found.fault))
    if found.command:
        lines.append(("command", f"planroute {' '.join(found.command)}"))
    lines += [("domain", found.domain), ("planroute", found.planroute)]
    if found.cells is None:
        lines.append(("parts", f"{found.finished:,}"))
    else:
        lines.append(("episodes", f"{found.finished:,} of {found.cells:,}"))
        if found.status:
            lines.append(("ended", ", ".join(f"{count:,} {name}" for name, count in sorted(found.status.items()))))
        if found.missing:
            more = f" and {len(found.missing) - 5:,} more" if len(found.missing) > 5 else ""
            lines.append(("missing", ", ".join(found.missing[:5]) + more))
    failed = f", {found.failed_calls:,} calls failed" if found.failed_calls else ""
    lines.append(("billed", f"{found.billed_calls:,} calls, {found.tokens:,} tokens, {_usd(found.usd)} USD{failed}"))
    lines.append(("time", f"{found.seconds:,.1f} s over all starts"))
    if found.leftovers:
        lines.append(("left over", f"{found.leftovers:,} files (planroute runs gc)"))
    for name, text in lines:
        typer.echo(f"{name:10} {plain(text)}")


@app.command()
def resume(
    context: typer.Context,
    run: RunPath,
    trust: Annotated[
        bool, typer.Option("--trust", help="Let the run's command send your key to the address that it names.")
    ] = False,
    concurrency: Annotated[int | None, typer.Option(help="Most episodes at once from now on.", min=1)] = None,
    budget_tokens: Annotated[int | None, typer.Option(help="Another budget of the run, in tokens.", min=1)] = None,
    budget_usd: Annotated[float | None, typer.Option(help="Another budget of the run, in USD.", min=0)] = None,
    budget_seconds: Annotated[float | None, typer.Option(help="Another budget of the run, in s.", min=0)] = None,
    episode_seconds: Annotated[float | None, typer.Option(help="Most s of one episode from now on.", min=0)] = None,
    json: Json = False,
) -> None:
    """Go on with a run: its own command again, which runs what is missing and nothing else.

    The command comes from the run's folder: resume only runs that you trust.
    """
    from planroute.cli.show import plain

    arguments, where = _command(run, trust)
    for option, value in (
        ("--concurrency", concurrency),
        ("--budget-tokens", budget_tokens),
        ("--budget-usd", budget_usd),
        ("--budget-seconds", budget_seconds),
        ("--episode-seconds", episode_seconds),
    ):
        if value is not None:
            arguments = [*_without(arguments, option), option, str(value)]
    if json:
        arguments = [*_without(arguments, "--json", flag=True), "--json"]
    typer.echo(plain(f"planroute {' '.join(arguments)}"), err=True)
    if where is not None:
        os.chdir(where)
    from planroute.runs.command import commanded

    with commanded(arguments):
        context.find_root().command.main(arguments, prog_name="planroute")


@app.command()
def gc(
    run: RunPath,
    damaged: Annotated[bool, typer.Option("--damaged", help="Also what was set aside as damaged.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would be removed.")] = False,
    json: Json = False,
) -> None:
    """Remove what nothing reads any more: files that a killed run was writing, episodes that are not of this run."""
    from planroute.cli.show import plain, print_json
    from planroute.errors import StorageError
    from planroute.runs.folder import RunFolder
    from planroute.runs.overview import leftovers

    folder = RunFolder(run)
    folder.manifest()
    with folder.held():
        found = list(leftovers(run, damaged=damaged))
        size = sum(path.lstat().st_size for path in found)
        if not dry_run:
            try:
                for path in found:
                    path.unlink(missing_ok=True)
            except OSError as error:
                raise StorageError(f"cannot remove {error.filename}: {error.strerror or error}") from None
    names = [str(path.relative_to(run)) for path in found]
    if json:
        print_json({"removed": [] if dry_run else names, "found": names, "bytes": size})
        return
    for name in names:
        typer.echo(plain(name))
    typer.echo(f"{len(names):,} files, {size:,} bytes{'' if dry_run else ' removed'}")


@app.command()
def pack(run: RunPath, json: Json = False) -> None:
    """Put all finished episodes into one compressed Parquet file; a resumed run unpacks it by itself."""
    from planroute.cli.show import plain, print_json
    from planroute.runs.pack import PACK
    from planroute.runs.pack import pack as packed

    count, before, after = packed(run)
    if json:
        print_json({"episodes": count, "bytes_before": before, "bytes_after": after})
        return
    typer.echo(plain(f"{count:,} episodes, {before:,} bytes, are now {after:,} bytes in {run / PACK}"))


@app.command()
def unpack(run: RunPath, json: Json = False) -> None:
    """Put packed episodes back into files of their own, byte for byte, for reports and analyses."""
    from planroute.cli.show import print_json
    from planroute.runs.pack import unpack as unpacked

    count = unpacked(run)
    if json:
        print_json({"episodes": count})
        return
    typer.echo(f"{count:,} episodes unpacked")


def _plain(run: "Overview") -> dict[str, Any]:
    return {**asdict(run), "path": str(run.path)}


def _usd(value: float | None) -> str:
    return "unknown" if value is None else f"{value:,.4f}".rstrip("0").rstrip(".")


def _command(run: Path, trust: bool) -> tuple[list[str], Path | None]:
    """The arguments that ``run`` was started with, written to where the run is now, and the folder to start them in.

    Raises ``InputError`` where the manifest names no such command, or one that ``trust`` is needed for.
    """
    from planroute.errors import InputError
    from planroute.runs.folder import RunFolder

    manifest = RunFolder(run).manifest()
    told = manifest.get("environment")
    command = told.get("command") if isinstance(told, dict) else None
    if not (isinstance(command, list) and all(isinstance(each, str) for each in command) and isinstance(told, dict)):
        raise InputError(
            f"{run} does not say how it was started", hint="give the command that started it again, with the same --out"
        )
    if not command or command[0] not in ("compare", "experiment", "demo", "declare"):
        raise InputError(f"{run / 'manifest.json'} names no command that makes a run")
    _refuse_untrusted(command, run, trust)
    cwd, folder = (Path(told[name]) if isinstance(told.get(name), str) else None for name in ("cwd", "folder"))
    out = _value(command, "--out")
    if out is None or cwd is None or folder is None:
        raise InputError(f"{run} does not say where it was written", hint="give its command again, with --out")
    # The command's --out may be a folder above this run's, or its own; the run may have been moved since.
    there = Path(os.path.normpath(run.absolute() / os.path.relpath(os.path.normpath(cwd / out), folder)))
    return [*_without(command, "--out"), "--out", str(there)], cwd if cwd.is_dir() else None


def _refuse_untrusted(command: list[str], run: Path, trust: bool) -> None:
    """Raise ``InputError`` where the command would send a key to an address that a stranger may have written."""
    from ipaddress import ip_address
    from urllib.parse import urlsplit

    from planroute.errors import InputError
    from planroute.models.spec import OPENAI

    arguments = [each.partition("=")[2] if each.startswith("--") else each for each in command]
    for address in (part for each in arguments for part in each.split(",")):
        if trust or "://" not in address:
            continue
        try:
            host = urlsplit(address).hostname or ""
        except ValueError:
            host = ""
        try:
            near = ip_address(host).is_loopback
        except ValueError:
            near = host in ("localhost", urlsplit(OPENAI).hostname)
        if not near:
            raise InputError(
                f"{run} was started with {address.partition('#')[0]}: resumed, it sends your key there",
                hint="add --trust if that address is yours",
            )


def _value(arguments: list[str], option: str) -> str | None:
    """The last value of ``option``: the one that counts."""
    found = None
    for place, argument in enumerate(arguments):
        if argument == option and place + 1 < len(arguments):
            found = arguments[place + 1]
        elif argument.startswith(f"{option}="):
            found = argument.partition("=")[2]
    return found


def _without(arguments: list[str], option: str, *, flag: bool = False) -> list[str]:
    """``arguments`` without ``option`` and, unless it is a flag, its value."""
    left, skip = list[str](), False
    for argument in arguments:
        if skip:
            skip = False
        elif argument == option:
            skip = not flag
        elif not argument.startswith(f"{option}="):
            left.append(argument)
    return left
