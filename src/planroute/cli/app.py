"""The commands and where they live."""

import typer

from planroute.cli import (
    agreement,
    analyse,
    compare,
    compare_alfworld,
    compare_all,
    compare_mind2web,
    compare_swebench,
    compare_webarena,
    declare,
    declare_text,
    demo,
    doctor,
    experiment,
    grid,
    judge,
    label,
    locate,
    report,
    runs,
    select,
    verify,
)

app = typer.Typer(
    name="planroute",
    help="An LLM agent declares how it will plan: is that plan really executed, and was it the right way to plan?",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Every command takes --json and, anywhere, --debug. Exit 0: done; 1: the run failed; 2: wrong input.",
)
app.command("demo")(demo.demo)
compare_alfworld.attach(compare.app)
compare_mind2web.attach(compare.app)
compare_swebench.attach(compare.app)
compare_webarena.attach(compare.app)
compare_all.attach(compare.app)
app.add_typer(compare.app, name="compare")
declare_text.attach(declare.app)
app.add_typer(declare.app, name="declare")
app.add_typer(grid.app, name="grid")
app.command("experiment")(experiment.experiment)
app.command("analyse")(analyse.analyse)
app.command("select")(select.select)
app.command("verify")(verify.verify)
app.command("judge")(judge.judge)
app.command("label")(label.label)
app.command("agreement")(agreement.agreement)
app.command("locate")(locate.locate)
app.add_typer(runs.app, name="runs")
app.command("report")(report.report)
app.command("doctor")(doctor.doctor)


@app.callback(invoke_without_command=True)
def version(show: bool = typer.Option(False, "--version", help="Print the version and stop.")) -> None:
    """Declare, gate, route, execute, evaluate: one flow, whatever the domain."""
    if show:
        from planroute.runs.execute import package_version

        typer.echo(package_version())
        raise typer.Exit
