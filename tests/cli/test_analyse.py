"""``planroute analyse`` on folders that are damaged or foreign: one line names file and place, and nothing is lost."""

import asyncio
import json
import shutil

import pytest
from typer.testing import CliRunner

from planroute.cli.analyse import quality_of, rows_of
from planroute.cli.app import app
from planroute.declarers import Fixed
from planroute.episode import Conditions
from planroute.errors import InputError
from planroute.modes import Mode
from planroute.reporting.analysis import ANALYSIS
from planroute.runs.cells import Cell
from planroute.runs.execute import execute_run
from planroute.runs.folder import CELLS, MANIFEST
from tests.domains.tiny import TinyDomain

EPISODE = "SEARCH/line/7"


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    folder = tmp_path_factory.mktemp("finished")
    domain = TinyDomain()
    task = domain.tasks()[0]
    cells = [Cell(task, str(mode), 7, Conditions(Fixed(mode))) for mode in (Mode.SEQUENTIAL, Mode.SEARCH)]
    asyncio.run(execute_run(domain, cells, config={}, out=folder))
    return folder


@pytest.fixture
def folder(finished, tmp_path):
    return shutil.copytree(finished, tmp_path / "run")


def refused(*arguments):
    done = CliRunner().invoke(app, ["analyse", *map(str, arguments)])
    assert isinstance(done.exception, InputError), done.exception
    assert "\n" not in str(done.exception)
    return str(done.exception)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[]", "not an object"),
        ("{}", "scores: missing or not an object"),
        ('{"scores": [1]}', "scores: missing or not an object"),
        ('{"scores": null}', "scores: missing or not an object"),
        (f'{{"scores": {{"{EPISODE}": 1{"0" * 400}}}}}', f"scores: '{EPISODE}': no number from 0 to 3"),
        (f'{{"scores": {{"{EPISODE}": 1e400}}}}', f"scores: '{EPISODE}': no number from 0 to 3"),
        (f'{{"scores": {{"{EPISODE}": NaN}}}}', f"scores: '{EPISODE}': no number from 0 to 3"),
        (f'{{"scores": {{"{EPISODE}": -1}}}}', f"scores: '{EPISODE}': no number from 0 to 3"),
        (f'{{"scores": {{"{EPISODE}": true}}}}', f"scores: '{EPISODE}': no number from 0 to 3"),
        (f'{{"scores": {{"{EPISODE}": null}}}}', f"scores: '{EPISODE}': no number from 0 to 3"),
        ('{"scores": {"SEARCH/line/8": 1}}', "scores: 'SEARCH/line/8' is no episode of this run"),
    ],
)
def test_damaged_scores_of_plans_are_named(folder, text, told):
    file = folder / "quality.json"
    file.write_text(text)
    assert f"{file} is damaged: {told}" in refused(folder)
    assert file.read_text() == text


def test_scores_of_plans_are_read(folder):
    rows = rows_of(folder)[0]
    assert quality_of(folder, rows) == {}
    (folder / "quality.json").write_text(json.dumps({"scores": {EPISODE: 3}}))
    assert quality_of(folder, rows) == {EPISODE: 3.0}


@pytest.mark.parametrize(
    ("field", "value", "told"),
    [
        ("domain", "grid", "row.domain: 'grid' in a run of 'tiny'"),
        ("seed", 8, "row: SEARCH on 'line' with seed 8, which is the cell of another file"),
        ("condition", "\ud800", "row.condition: '\\ud800' is no name of letters"),
        ("condition", "[/red]", "row.condition: '[/red]' is no name of letters"),
        ("declared", "Y", "row.declared: Input should be"),
        ("seed", 2**63, "row.seed: Input should be less than"),
    ],
)
def test_a_cell_of_something_else_is_named(folder, field, value, told):
    file = folder / CELLS / "line-SEARCH-7.json"
    stored = json.loads(file.read_text())
    stored["row"][field] = value
    file.write_text(json.dumps(stored))
    assert f"{file} is damaged: {told}" in refused(folder)


@pytest.mark.parametrize(
    ("cells", "told"),
    [
        (["line-SEARCH-7"] * 2, "'line-SEARCH-7' is listed twice"),
        (["a" * 300], "not a list of names of files"),
        (["a\0"], "not a list of names of files"),
        (["\ud800"], "not a list of names of files"),
        ([""], "not a list of names of files"),
    ],
)
def test_a_manifest_lists_every_cell_once_by_a_name_that_files_can_have(folder, cells, told):
    file = folder / MANIFEST
    file.write_text(json.dumps({**json.loads(file.read_text()), "cells": cells}))
    assert f"{file} is damaged: cells: " in refused(folder)
    assert told in refused(folder)


def test_a_page_of_somebody_else_is_kept(folder):
    page = folder / ANALYSIS
    page.write_text("<title>my own notes</title>")
    assert f"{page} is not a page that planroute wrote" in refused(folder)
    assert page.read_text() == "<title>my own notes</title>"
    page.unlink()
    page.mkdir()
    assert f"{page} is not a file" in refused(folder)
    page.rmdir()
    page.symlink_to(folder / "absent")
    assert f"{page} is a link to nothing" in refused(folder)


def test_its_own_page_is_written_anew(folder, recwarn):
    for _ in range(2):
        done = CliRunner().invoke(app, ["analyse", str(folder)])
        assert done.exit_code == 0, done.exception
    assert "<title>analysis of tiny" in (folder / ANALYSIS).read_text()
    assert not recwarn.list


@pytest.mark.parametrize("command", ["analyse", "label", "agreement"])
@pytest.mark.parametrize(
    ("name", "told"), [("x" * 300, "File name too long"), ("", "an empty name"), ("a\0b", "null byte")]
)
def test_names_that_nothing_can_have_are_told(command, name, told):
    done = CliRunner().invoke(app, [command, name])
    assert isinstance(done.exception, InputError), done.exception
    assert told in str(done.exception)
    assert name.replace("\0", "\\x00") in str(done.exception)
