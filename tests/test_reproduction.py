"""``docs/reproduction.md`` holds every number and direction of E1 to E7, as its script makes them from results."""

import asyncio
import importlib.util
from pathlib import Path

import pytest

from planroute.experiments.definition import load_experiment
from planroute.experiments.setting import Setting
from planroute.experiments.study import run_studies

ROOT = Path(__file__).parents[1]
DOCUMENT = (ROOT / "docs/reproduction.md").read_text()
_spec = importlib.util.spec_from_file_location("reproduction", ROOT / "docs/reproduction.py")
assert _spec is not None
assert _spec.loader is not None
reproduction = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(reproduction)


@pytest.mark.parametrize("name", reproduction.EXPERIMENTS)
def test_every_number_of_the_paper_stands_in_the_document(name: str) -> None:
    start = DOCUMENT.index(f"<!-- table {name} -->")
    table = DOCUMENT[start : DOCUMENT.index("<!-- end -->", start)].splitlines()
    experiment = load_experiment(name)
    lines = [line for line in table if line.startswith("| ")][1:]
    assert len(lines) == len(experiment.claims)
    for claim, line in zip(experiment.claims, lines, strict=True):
        paper = reproduction.printed(claim.paper, claim.interval)
        assert line.startswith(f"| {claim.what}")
        assert f"| {claim.where} | {paper} |" in line


@pytest.mark.parametrize("name", reproduction.EXPERIMENTS)
def test_every_direction_stands_in_the_document(name: str) -> None:
    start = DOCUMENT.index("<!-- table directions -->")
    table = DOCUMENT[start : DOCUMENT.index("<!-- end -->", start)]
    for direction in load_experiment(name).directions:
        assert f"| {name} | {direction.what.removeprefix('fresh: ')} |" in table


@pytest.mark.parametrize("name", reproduction.EXPERIMENTS)
def test_every_number_says_where_the_paper_prints_it_and_where_ours_stands(name: str) -> None:
    experiment = load_experiment(name)
    kinds = {analysis.name for analysis in experiment.analyses}
    for path in [
        *(claim.ours for claim in experiment.claims if not claim.setting),
        *(claim.fresh for claim in experiment.claims if claim.fresh),
        *(path for direction in experiment.directions for path in direction.paths),
    ]:
        head, _, rest = path.partition("/")
        assert head in ("episodes", "conditions", "analyses")
        assert head != "analyses" or rest.split("/")[0] in kinds
    for claim in experiment.claims:
        if claim.setting:
            head, _, rest = claim.ours.partition("/")
            assert head in ("seeds", "levels", "analyses", "episodes")
            assert head != "analyses" or rest.split("/")[0] in kinds
    assert all(claim.where for claim in experiment.claims)


@pytest.mark.slow
def test_the_documents_tables_are_those_of_a_run_now() -> None:
    names = [name for name in reproduction.EXPERIMENTS if name != "E7"]
    results = asyncio.run(run_studies({name: load_experiment(name) for name in names}, Setting(workers=1)))
    for name in names:
        assert "\n".join(reproduction.numbers(results[name]["claims"])) in DOCUMENT


def test_only_what_stands_between_marks_is_made_anew() -> None:
    claims = [
        {
            "what": "J",
            "where": "Table II",
            "paper": 1.5,
            "paper_interval": [1, 2],
            "ours": -0.00042,
            "interval": None,
            "fresh": {"mean": 1234.5, "low": 100.25, "high": 2000},
            "verdict": "not_run",
            "note": "n",
        }
    ]
    text = "before\n<!-- table E1 -->\nold\n<!-- end -->\nafter\n"
    made = reproduction.rewritten(text, {"E1": {"claims": claims}})
    assert made.startswith("before\n<!-- table E1 -->\n")
    assert made.endswith("<!-- end -->\nafter\n")
    assert "| J <br>*n* | Table II | 1.5 [1, 2] | −4.2e-04 | 1234 (100.2 to 2000) | not run |" in made
    assert "old" not in made
    assert reproduction.rewritten(made, {"E1": {"claims": claims}}) == made


def test_the_name_of_a_table_that_there_is_not_is_told() -> None:
    with pytest.raises(KeyError, match="guess"):
        reproduction.rewritten("<!-- table guess -->\n<!-- end -->", {})
