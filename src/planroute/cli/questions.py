"""``planroute experiment RQ1 … RQ4``: the research questions on one domain, from one run, in one report."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import typer

from planroute.models.spec import public_spec

if TYPE_CHECKING:
    from planroute.calls import Sampling
    from planroute.episode import EpisodeRow
    from planroute.experiments.matrix import Bench, Ran
    from planroute.protocols import Domain, Model
    from planroute.runs.manner import Manner

SEEDS: Final = (7, 13, 42)
"""Seeds of the paper."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What a command asks for beside the questions.

    ``tasks`` is a place of tasks, or how many of the project's own. ``concurrency`` is ``None`` where the command says
    nothing: then it is the domain's own, and not that of ``manner``.
    """

    domain: str
    tasks: str | None
    seeds: Sequence[int]
    model: str
    judge: str | None
    base_url: str | None
    cache: Path | None
    no_cache: bool
    price: str | None
    temperature: float
    max_tokens: int | None
    steps: int | None
    concurrency: int | None
    manner: "Manner"
    out: Path | None


def is_question(name: str) -> bool:
    """Whether ``name`` is a research question, or ``RQ`` for all of them."""
    return name.strip().upper().startswith("RQ")


def answer(names: Sequence[str], asked: Asked, *, json: bool) -> None:
    """Run what the questions need, analyse it, write the report, and print what it comes to.

    Raises ``InputError`` for wrong input.
    """
    from contextlib import ExitStack

    from planroute.analysis import analyse
    from planroute.cli.analyse import print_conclusions
    from planroute.cli.setting import opened_model
    from planroute.cli.show import exit_on_failures, plain, print_json
    from planroute.errors import InputError
    from planroute.experiments.matrix import NAMES
    from planroute.experiments.questions import QUESTIONS, beside, needs, question

    if asked.judge is not None and asked.out is None:
        raise InputError("--judge needs --out: it reads the plans of kept episodes")
    if asked.judge == asked.model:
        typer.echo("planroute: the judge is the model that wrote the plans; take another judge", err=True)
    spread = [q for name in names for q in (QUESTIONS if name.strip().upper() == "RQ" else (name.strip(),))]
    questions = [question(name) for name in dict.fromkeys(one.upper() for one in spread)]
    needed = needs(questions)
    domain, sampling, steps = _opened(asked)
    with ExitStack() as opened:
        source = (asked.base_url, asked.cache, asked.no_cache, asked.price, asked.manner)
        model = opened.enter_context(opened_model(asked.model, *source))
        judge = opened.enter_context(opened_model(asked.judge, *source)) if asked.judge else None
        assert model is not None  # noqa: S101  (--model is required)
        bench = _bench(asked, domain, model, sampling, steps)
        ran = _ran(bench, needed, asked, quiet=json)
        quality = _quality(asked, ran.rows, judge, quiet=json)
    found = analyse(ran.rows, quality=quality)
    found["questions"] = [asdict_of(one) for one in questions]
    found["published"] = beside(questions, found, asked.domain)
    found["not_run"] = dict(ran.not_run)
    if asked.out is not None:
        from planroute.reporting.analysis import write_analysis
        from planroute.runs.folder import RESULT, RunFolder, canonical

        RunFolder(asked.out).write(RESULT, canonical(found))
        page = write_analysis(asked.out, found, ran.rows, found["published"])
    if json:
        print_json(found)
    else:
        print_conclusions(found)
        for name, why in ran.not_run.items():
            typer.echo(f"– {name}: not run: {plain(why)}")
        if asked.out is not None:
            typer.echo(f"{len(ran.rows)} episodes on {found['cases']} tasks. Report: {page}")
        else:
            typer.echo("Add --out DIR to keep rows, traces, tables, figures and an HTML report.")
    exit_on_failures([row for row in ran.rows if row.condition not in NAMES.values()])


def asdict_of(one: Any) -> dict[str, Any]:
    """A question as JSON values, without what the paper prints."""
    plain: dict[str, Any] = one.model_dump(mode="json", exclude={"published"})
    return plain


def _opened(asked: Asked) -> "tuple[Domain, Sampling, int]":
    """Open the domain with its own defaults where the command says nothing else."""
    from planroute.calls import GenerationProfile, Sampling
    from planroute.cli.compare_all import GRID, TEXT
    from planroute.cli.compare_text import Setup, own_options, shared_defaults, tasks_or_count
    from planroute.domains.text import Limits
    from planroute.errors import InputError
    from planroute.evaluation.judges import RubricJudge

    if asked.domain == GRID:
        from planroute.domains.grid import GridDomain

        if asked.tasks is not None or asked.steps is not None:
            raise InputError("--tasks and --steps go with text domains only", hint="the grid has one day for each seed")

        sampling = Sampling(temperature=asked.temperature, max_tokens=asked.max_tokens or 400)
        return GridDomain(sampling=sampling), sampling, 0
    if asked.domain not in TEXT:
        raise InputError(f"--domain {asked.domain!r} is unknown", hint=f"choose from {GRID}, {', '.join(TEXT)}")
    load, _, own = TEXT[asked.domain]
    defaults = {**shared_defaults(), **own}
    steps = asked.steps or defaults["steps"]
    tokens = asked.max_tokens or defaults["max_tokens"]
    sampling = GenerationProfile(temperature=asked.temperature, max_new_tokens=tokens).sampling()
    options = {each.name: each.default for each in own_options(load)}
    place, _ = tasks_or_count(asked.tasks)
    if place is not None:
        name = "games" if "games" in options else "tasks"
        options[name] = place if name == "games" else asked.tasks
    limits = Limits(steps=steps, steps_per_unit=min(defaults["steps_per_unit"], steps))
    return load(Setup(RubricJudge("trajectory"), limits, sampling), **options), sampling, steps


def _bench(asked: Asked, domain: "Domain", model: "Model", sampling: "Sampling", steps: int) -> "Bench":
    from dataclasses import replace

    from planroute.cli.compare_all import TEXT
    from planroute.cli.compare_text import tasks_or_count
    from planroute.experiments.matrix import Bench

    _, count = tasks_or_count(asked.tasks)
    own = TEXT[asked.domain][2].get("concurrency", 8) if asked.domain in TEXT else 8
    config = {
        "command": "experiment RQ",
        "domain": asked.domain,
        "model": public_spec(asked.model),
        "judge": public_spec(asked.judge),
        "seeds": list(asked.seeds),
        "steps": steps,
        "sampling": asdict(sampling),
    }
    tasks = domain.tasks()[:count]
    manner = replace(asked.manner, concurrency=asked.concurrency or own)
    return Bench(domain, tasks, asked.seeds, model, None, sampling, config, manner=manner)


def _ran(bench: "Bench", needed: Any, asked: Asked, *, quiet: bool) -> "Ran":
    from dataclasses import replace

    from planroute.cli.compare_all import GRID
    from planroute.cli.setting import progress, run
    from planroute.experiments.matrix import matrix_cells, run_matrix
    from planroute.modes import Baseline

    if asked.domain == GRID:  # nothing can be done there without a plan, and a seed is a world and no further attempt
        names = tuple(name for name in needed.conditions if name not in set(Baseline))
        needed = replace(
            needed, conditions=names, passes=1, policies=tuple(p for p in needed.policies if p != "few_shot")
        )
    cells = matrix_cells(bench, needed)
    with progress(len(cells), "episodes", quiet=quiet) as advance:
        return run(run_matrix(bench, cells, needed, out=asked.out, finished=advance), bench.model)


def _quality(asked: Asked, rows: "Sequence[EpisodeRow]", judge: "Model | None", *, quiet: bool) -> Mapping[str, float]:
    """Have the judge score every plan of a kept run, once; empty without a judge."""
    if judge is None or asked.out is None:
        return {}
    from planroute.calls import Sampling
    from planroute.cli.cases import read_cases
    from planroute.cli.judge import judged
    from planroute.cli.setting import progress, run
    from planroute.experiments.matrix import RUN
    from planroute.ledger import Ledger
    from planroute.runs.cells import cell_name
    from planroute.runs.folder import CELLS, RunFolder, canonical

    folder = asked.out / RUN
    keys = {cell_name(row.task, row.condition, row.seed): row for row in rows if row.executed is not None}
    files = {str(folder / CELLS / f"{key}.json"): row for key, row in keys.items()}
    cases, _ = read_cases([file for file in files if Path(file).is_file()], None, None, None, None)
    with progress(1, "judging plans", quiet=quiet) as advance:
        results = run(judged(cases, "quality", Sampling(temperature=0.0), judge, Ledger(), 4), judge)
        advance()
    scores = {
        f"{row.condition}/{row.task}/{row.seed}": float(result["score"])
        for case, result in zip(cases, results, strict=True)
        if result["score"] is not None
        for row in [files[case.file]]
    }
    RunFolder(folder).write("quality.json", canonical({"judge": judge.endpoint, "scores": scores}))
    return scores
