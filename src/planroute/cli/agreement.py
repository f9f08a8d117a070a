"""``planroute agreement``: people with one another, and the verifier with people, as in the paper's appendix E.3."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from planroute.cli.label import Conditions, Runs
from planroute.cli.options import FileFormat, Json
from planroute.cli.paths import named

if TYPE_CHECKING:
    from planroute.cli.labelled import Material
    from planroute.labelling import Item, Rating

PRESERVED_FROM = 3
"""The least score of an adherence judge that counts as preserved: all steps that were still needed."""


def agreement(
    runs: Runs,
    labels: Annotated[
        list[Path] | None,
        typer.Option("--labels", help="A file of planroute label; once for each person.", parser=named, metavar="PATH"),
    ] = None,
    judge: Annotated[
        Path | None,
        typer.Option(
            help="What planroute judge --rubric adherence --json printed about the same files.",
            parser=named,
            metavar="PATH",
        ),
    ] = None,
    conditions: Conditions = None,
    form: FileFormat = None,
    draws: Annotated[int, typer.Option(help="Bootstrap draws of an interval; 0: none.", min=0, max=100_000)] = 2000,
    json: Json = False,
) -> None:
    """Show n, raw agreement and Cohen's kappa with its interval for every pair of raters, beside the paper's values.

    Until people have labelled there is nothing to compare, and the table says so.
    """
    from planroute.cli.labelled import read_material
    from planroute.cli.show import print_json
    from planroute.labelling import PAPER, table

    material = read_material(runs, conditions, form)
    people = _people(labels or [], material)
    ratings = [*people, *_verifier(material, people), *_judge(judge, material)]
    questions = {"order": table(ratings, resamples=draws)}
    if any(unit for person in people for _, unit in person.answers):
        questions["units"] = table(ratings, units=True, resamples=draws)
    if json:
        print_json({"agreement": questions, "paper": PAPER, "trajectories": len(material.items)})
        return
    for question, rows in questions.items():
        _print(question, rows)
    told = "; ".join(f"{pair} kappa {value['kappa']:.2f}" for pair, value in PAPER.items())
    typer.echo(f"paper, on 100 other trajectories: {told}, raw {PAPER['A1 and A2']['raw']:.0%}")


def _people(files: Sequence[Path], material: "Material") -> "list[Rating]":
    from planroute.errors import InputError
    from planroute.labelling import Rating, read_labels

    found: dict[str, Rating] = {}
    known = {item.key: {"", *(number for number, _ in item.leaves)} for item in material.items}
    for file in files:
        read = read_labels(file)
        if read.rater in found:
            raise InputError(f"{file}: {read.rater} has labelled another file as well", hint="one file for each person")
        strange = sum(unit not in known.get(key, ()) for key, unit in read.given)
        if strange:
            hint = "name the run, and the --conditions, that were labelled"
            raise InputError(f"{file}: {strange} answers are about other trajectories than these", hint=hint)
        found[read.rater] = Rating(read.rater, "person", dict(read.given))
    return list(found.values())


def _verifier(material: "Material", people: "Sequence[Rating]") -> "list[Rating]":
    """The verifier's word on what people have labelled, by the actions alone."""
    from planroute.errors import InputError
    from planroute.evaluation.structure import verify
    from planroute.labelling import Rating

    asked = {key for person in people for key, _ in person.answers}
    answers: dict[tuple[str, str], str] = {}
    for item in material.items:
        if item.key not in asked:
            continue
        try:
            verdict = verify(item.units, item.actions)
        except InputError:  # too long a plan
            continue
        word = {True: "yes", False: "no", None: "undecided"}
        answers[item.key, ""] = word[verdict.order_preserved]
        answers |= _by_unit(item, [str(unit.status) for unit in verdict.units])
    return [Rating("verifier", "verifier", answers)]


def _by_unit(item: "Item", statuses: Sequence[str]) -> dict[tuple[str, str], str]:
    """The verifier's word on every executable unit: done in order or not; none on a unit that asks for nothing."""
    if len(statuses) != len(item.leaves):
        return {}
    word = {"completed": "yes", "out_of_order": "yes", "missing": "no", "undecidable": "undecided"}
    named = zip(item.leaves, statuses, strict=True)
    return {(item.key, number): word[status] for (number, _), status in named if status in word}


def _judge(file: Path | None, material: "Material") -> "list[Rating]":
    """A judge's scores as answers about the order. Raises ``InputError`` where ``file`` holds none."""
    if file is None:
        return []
    from planroute.cli.show import cleaned
    from planroute.errors import InputError
    from planroute.labelling import Rating
    from planroute.runs.stored import read_object

    hint = "planroute judge FILE... --rubric adherence --json prints it"
    told = read_object(file, hint=hint)
    judged = told.get("judged")
    if told.get("rubric") != "adherence" or not isinstance(judged, list):
        raise InputError(f"{file} holds no scores of an adherence judge", hint=hint)
    keys: Mapping[tuple[str, str], str] = {
        (cleaned(name), cleaned(identity)): key for key, (name, identity) in material.behind.items()
    }
    answers: dict[tuple[str, str], str] = {}
    names = set()
    for place, one in enumerate(judged):
        if not isinstance(one, dict) or not _is_score(one.get("score")):
            raise InputError(f"{file}: judged {place}: no score from 0 to {PRESERVED_FROM}", hint=hint)
        key = keys.get((Path(str(one.get("file"))).name, str(one.get("id"))))
        if key is not None and one["score"] is not None:
            answers[key, ""] = "yes" if one["score"] >= PRESERVED_FROM else "no"
            names.add(str(one.get("judge")))
    if len(names) > 1:
        raise InputError(f"{file} holds scores of {len(names)} judges", hint="scores of judges are not pooled")
    return [Rating(next(iter(names), "judge"), "judge", answers)]


def _is_score(value: Any) -> bool:
    """Whether ``value`` is a score of an adherence judge, or ``None`` where it gave none."""
    return value is None or (type(value) is int and 0 <= value <= PRESERVED_FROM)


def _print(question: str, rows: Sequence[Mapping[str, Any]]) -> None:
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    from planroute.cli.show import number, plain

    shown = Table(box=None, header_style="bold", pad_edge=False)
    shown.add_column(question, no_wrap=True)
    for title in ("n", "raw", "kappa", "95 % interval", "unsure"):
        shown.add_column(title, justify="right")
    for row in rows:
        name = " and ".join(plain(rater, 60) for rater in row.get("raters", ())) or row["kind"]
        if row["status"] == "not_run":
            shown.add_row(escape(f"{name}: not_run, {row['reason']}"))
            continue
        interval = "-" if row["low"] is None else f"{row['low']:.2f} to {row['high']:.2f}"
        unsure = " + ".join(map(str, row["unsure"]))
        shown.add_row(escape(name), str(row["n"]), number(row["raw"], 2), number(row["kappa"], 2), interval, unsure)
    Console(width=max(Console().width, 130)).print(shown)
