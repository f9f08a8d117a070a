"""Every page that is written, from files in which every text that their reader accepts is hostile.

A parser reads the page: it must have the elements and attributes of the page of the clean files, and no others.
"""

import json
import re
import shutil
import sys
from pathlib import Path

import pytest
from lxml import html

from planroute.cli import main
from planroute.cli.analyse import rows_of
from planroute.errors import InputError
from planroute.evidence import evidence
from planroute.reporting.figures import check
from planroute.reporting.placing import NAME
from planroute.reporting.report import render_report
from planroute.reporting.study import write_study_report
from planroute.reporting.study_files import read_study
from tests.security.poison import MARKS, poison

UNSEEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def elements(page):
    """Every element with the names of its attributes; comments and instructions are elements too."""
    return {
        (str(each.tag) if isinstance(each.tag, str) else "comment", tuple(sorted(each.attrib)))
        for each in html.document_fromstring(page).iter()
    }


def harmless(page):
    """Assert that ``page`` runs, loads and links to nothing but its own; return its text."""
    root = html.document_fromstring(page)
    (policy,) = root.xpath("//meta[@http-equiv='Content-Security-Policy']/@content")
    assert policy.startswith("default-src 'none'; style-src 'sha256-")
    assert "unsafe" not in policy
    assert not re.search(r"https?:|\*", policy)
    for each in root.iter():
        if not isinstance(each.tag, str):
            raise AssertionError(f"a comment: {each!r}")
        assert each.tag not in {"iframe", "object", "embed", "base", "form", "link", "audio", "video", "template"}
        for name, value in each.attrib.items():
            assert not name.startswith("on"), (each.tag, name)
            assert not re.match(r"\s*(javascript|vbscript)\s*:", value, re.IGNORECASE)
            if name in ("src", "href", "action", "formaction", "srcset", "xlink:href", "poster", "background"):
                assert re.match(r"#|data:image/svg\+xml;base64,", value), (each.tag, name, value)
            if name == "style":
                assert not re.search(r"url|expression|@import|\\", value)
    assert not UNSEEN.search(page)
    for data in root.xpath("//script[@type='application/json']"):
        json.loads(data.text)
        assert not re.search(r"[<>&]|[^\x20-\x7e]", data.text)
    assert len(root.xpath("//script")) <= 2
    return root.text_content()


def command(*arguments):
    """Run the program, which must succeed or, as all that it asked failed, end with status 1."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["planroute", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            main()
    assert ended.value.code in (0, 1)


def copied(folder, tmp_path):
    """A copy to poison, and its files."""
    run = Path(shutil.copytree(folder, tmp_path / "hostile"))
    return run, [run / "manifest.json", run / "result.json", *sorted((run / "cells").glob("*.json"))]


@pytest.fixture(scope="module")
def played(tmp_path_factory):
    """Four conditions on one game, by a scripted agent."""
    out = tmp_path_factory.mktemp("text") / "run"
    few = ("--tasks", 1, "--seeds", 7, "--steps", 3, "--conditions", "FLAT_REACT,PLAN_REACT,SEARCH,ROUTED")
    command("compare", "alfworld", *few, "--model", "scripted/slip=0", "--no-cache", "--out", out, "--json")
    return out


@pytest.fixture(scope="module")
def dispatched(tmp_path_factory):
    """A day on the feeder: messages by a scripted model, two modes and ROUTED."""
    out = tmp_path_factory.mktemp("grid") / "run"
    spoken = ("--communication", "model", "--model", "scripted/declare=SEARCH", "--no-cache")
    command("compare", "grid", "--seeds", 7, "--modes", "PREDEFINED,SEARCH", *spoken, "--out", out, "--json")
    return out


def test_the_page_of_text_tasks_of_every_domain(played, tmp_path):
    run, files = copied(played, tmp_path)
    clean = {}
    for domain in ("alfworld", "webarena", "swebench", "mind2web", "of a stranger"):
        clean[domain] = elements(page_as(run, domain))
    kinds = poison(files, lambda: render_report(run, evidence))
    assert {"goal", "action", "text", "rationale", "task", "model", "factors"} <= {
        name for kind in kinds for name in kind
    }
    for domain, before in clean.items():
        page = page_as(run, domain)
        shown = harmless(page)
        assert elements(page) <= before | {("blockquote", ("dir",))}
        for mark in ("script", "closing", "attribute", "style", "template"):
            assert MARKS[mark] in shown, domain


def page_as(run, domain):
    """The page of ``run``, as if it were of ``domain``."""
    manifest = json.loads((run / "manifest.json").read_text())
    (run / "manifest.json").write_text(json.dumps(manifest | {"domain": domain}))
    return render_report(run, evidence)


def test_the_page_of_the_grid(dispatched, tmp_path):
    run, files = copied(dispatched, tmp_path)
    before = elements(render_report(run))
    kinds = poison(files, lambda: render_report(run))
    assert {"rationale", "model", "text"} <= {name for kind in kinds for name in kind}
    page = render_report(run)
    assert MARKS["closing"] in harmless(page)
    assert elements(page) <= before


def test_the_page_of_an_analysis(played, tmp_path, capsys):
    run, files = copied(played, tmp_path)
    command("analyse", run)
    before = elements((run / "analysis.html").read_text())
    assert {"model", "error", "declarer"} & {kind[-1] for kind in poison(files, lambda: rows_of(run))}
    command("analyse", run)
    assert not UNSEEN.search(capsys.readouterr().out)
    page = (run / "analysis.html").read_text()
    assert MARKS["attribute"] in harmless(page)
    assert elements(page) <= before


SWEEP = {"x": "noise", "panels": [{"y": "objective"}]}
STUDY = {
    "manifest.json": {"kind": "study", "experiments": ["E3"]},
    "e3/manifest.json": {
        "experiment": "E3",
        "planroute": "0.1",
        "definition": {
            "tables": [{"name": "all", "caption": "All", "rows": "levels", "columns": ["objective"]}],
            "figures": [
                {
                    "name": "noise",
                    "kind": "sweep",
                    "caption": "Sweep",
                    "with": SWEEP,
                }
            ],
        },
    },
    "e3/result.json": {
        "experiment": "E3",
        "title": "Noise",
        "question": "Does it matter?",
        "source": "V-B",
        "status": "partly",
        "why": "no model",
        "seeds": [7],
        "episodes": 3,
        "communication": "calibrated",
        "claims": [
            {"what": "J", "where": "Table X", "paper": 1.0, "ours": 1.01, "verdict": "reproduced", "note": "so"},
            {"what": "better", "where": "V-B", "values": [{"value": 1.0}], "verdict": "holds", "note": "so"},
        ],
        "conditions": {
            "SEARCH": {
                "levels": {f"noise={n}": {"objective": n, "intervals": {"objective": [0.5, 2.5]}} for n in (1.0, 2.0)}
            }
        },
        "not_run": {"ROUTED_NATURAL": "needs a model"},
        "arm_notes": {"ROUTED_HYBRID": "prior only"},
        "models": {"m": {"share": 0.5}},
        "notes": ["a note"],
    },
}


@pytest.fixture
def study(tmp_path):
    """The folder of one experiment."""
    (tmp_path / "study" / "e3").mkdir(parents=True)
    for name, content in STUDY.items():
        (tmp_path / "study" / name).write_text(json.dumps(content))
    return tmp_path / "study"


def accepted(study):
    """Raise ``InputError`` where the page would be refused, without drawing it."""
    for one in read_study(study):
        for figure in one.definition["figures"]:
            check(figure["kind"], figure["with"])
        for each in [*one.definition["figures"], *one.definition["tables"]]:
            if not NAME.fullmatch(each["name"]):
                raise InputError("no name")


def test_the_page_of_experiments(study):
    before = elements(write_study_report(study).read_text())
    kinds = poison([study / name for name in STUDY], lambda: accepted(study))
    assert {"title", "question", "why", "what", "where", "note", "caption"} <= {kind[-1] for kind in kinds}
    assert not {"experiment", "name"} & {kind[-1] for kind in kinds}
    page = write_study_report(study).read_text()
    assert MARKS["attribute"] in harmless(page)
    assert elements(page) <= before


@pytest.mark.parametrize("name", ["../../e3", "/tmp/e3", "a/b", "..", "", "x\0y", "x" * 300])
@pytest.mark.parametrize("place", ["experiment", "tables", "figures"])
def test_no_name_in_an_experiment_leads_out_of_its_folder(study, tmp_path, place, name):
    file = study / "e3" / ("result.json" if place == "experiment" else "manifest.json")
    content = json.loads(file.read_text())
    if place == "experiment":
        content["experiment"] = name
    else:
        content["definition"][place][0]["name"] = name
    file.write_text(json.dumps(content))
    before = {path for path in tmp_path.rglob("*") if path.is_relative_to(study) is False}
    if place == "experiment" or len(name) > 99 or "/" in name or "\0" in name:
        with pytest.raises(InputError):
            write_study_report(study)
    else:
        write_study_report(study)
    assert {path for path in tmp_path.rglob("*") if path.is_relative_to(study) is False} == before


@pytest.mark.parametrize("name", ["tables", "figures"])
def test_a_linked_folder_is_not_written_through(study, tmp_path, name):
    (tmp_path / "elsewhere").mkdir()
    (study / name).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(InputError, match=f"{name} is a link"):
        write_study_report(study)
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_a_linked_file_is_replaced_and_not_written_through(study, tmp_path):
    (tmp_path / "precious").write_text("kept")
    (study / "tables").mkdir()
    for name in ("report.html", "tables/claims.csv", "tables/claims.parquet"):
        (study / name).symlink_to(tmp_path / "precious")
    write_study_report(study)
    assert (tmp_path / "precious").read_text() == "kept"
    assert not any(path.is_symlink() for path in study.rglob("*"))
