"""``planroute label``: a person says, trajectory by trajectory, whether the declared plan was carried out."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from planroute.cli.options import FileFormat, Json
from planroute.cli.paths import named

Conditions = Annotated[
    str | None,
    typer.Option("--conditions", help="Conditions of a run's folder, comma-separated, or all. Default: PLAN_REACT."),
]
Runs = Annotated[
    list[Path], typer.Argument(metavar="RUN...", help="A run's folder, or trajectories of any format.", parser=named)
]

QUESTIONS = ("order", "units")


def label(
    runs: Runs,
    name: Annotated[str, typer.Option("--as", help="Who labels: a name or a letter; it stands in the file.")] = "A1",
    sample: Annotated[int | None, typer.Option(help="Ask about so many, drawn at random. Default: all.", min=1)] = None,
    seed: Annotated[int, typer.Option(help="Seed of the sample, and of the order in which it is shown.")] = 7,
    question: Annotated[str, typer.Option(help="order: one question each; units: each step as well.")] = "order",
    out: Annotated[
        Path | None,
        typer.Option(help="File of answers. Default: labels-NAME.jsonl.", parser=named, metavar="PATH"),
    ] = None,
    conditions: Conditions = None,
    form: FileFormat = None,
    page: Annotated[int, typer.Option(help="Actions shown at once.", min=1)] = 20,
    json: Json = False,
) -> None:
    """Ask, blind, whether declared plans were carried out. Every answer is kept at once; the same command goes on.

    Condition, success, the verifier's verdict and the model stay hidden; the order is shuffled for each person.
    """
    from planroute.cli.labelled import read_material
    from planroute.cli.show import plain, print_json
    from planroute.errors import InputError
    from planroute.labelling import Dialogue, in_order, sampled, start_labels

    if question not in QUESTIONS:
        raise InputError(f"--question {question!r} is unknown", hint=f"choose from {', '.join(QUESTIONS)}")
    material = read_material(runs, conditions, form)
    if not material.items:
        raise InputError("no trajectory here has both a declared plan and actions", hint="see --conditions")
    items = sampled(material.items, sample, seed)
    file = out or Path(f"labels-{name}.jsonl")
    labels = start_labels(file, name, sample, seed, [item.key for item in items])

    def write(line: str) -> None:
        typer.echo(line, err=json)

    dialogue = Dialogue(in_order(items, name, seed), labels, _line, write, plain, question == "units", page)
    if material.left_out:
        write(f"{material.left_out} trajectories have no declared plan or no actions and are not asked about.")
    finished = dialogue.run()
    total, left = len(dialogue.questions()), dialogue.open_questions()
    if json:
        print_json({"file": str(file), "rater": name, "questions": total, "answered": total - left, "open": left})
        return
    more = (
        "" if not left else "; the same command goes on" if not finished else "; the same command asks what was skipped"
    )
    write("")
    write(f"{total - left} of {total} questions answered in {plain(str(file), 400)}{more}.")


def _line() -> str | None:
    """The next line of standard input; ``None`` at its end."""
    from planroute.errors import InputError

    try:
        return sys.stdin.readline() or None
    except UnicodeDecodeError:
        raise InputError("standard input is not UTF-8") from None
