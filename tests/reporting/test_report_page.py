"""The report as a file: self-contained, safe with text that it was given, readable without its script."""

import base64
import hashlib
import html
import json
import re
import shutil
import subprocess

import pytest

from planroute.errors import InputError, StorageError
from planroute.reporting import render_report, write_report
from planroute.reporting.report import embedded_json

CHROMIUM = shutil.which("chromium")


def script_of(page):
    found = re.search(r'<script type="application/json" id="report-data">(.*?)</script>', page, re.DOTALL)
    return json.loads(found.group(1))


def words(page):
    """What a person reads, without markup."""
    body = re.sub(r"<(script|style)\b.*?</\1>", " ", page, flags=re.DOTALL)
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", body)).split())


@pytest.fixture(scope="session")
def page(calibrated):
    return render_report(calibrated)


@pytest.fixture(scope="session")
def unsafe_page(spoken):
    return render_report(spoken)


def test_writes_one_file_beside_the_run(run):
    before = {path.name for path in run.iterdir()}
    path = write_report(run)
    assert path == run / "report.html"
    assert {p.name for p in run.iterdir()} - before == {"report.html"}
    assert path.read_text(encoding="utf-8") == render_report(run)


def test_equal_runs_give_equal_bytes(run, calibrated):
    assert render_report(run) == render_report(calibrated)


def test_an_older_report_is_replaced(run):
    (run / "report.html").write_text("old")
    assert "<!DOCTYPE html>" in write_report(run).read_text(encoding="utf-8")


def test_a_folder_that_cannot_be_written_is_a_storage_error(run, monkeypatch):
    def refuse(*args, **options):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("planroute.reporting.placing.tempfile.mkstemp", refuse)
    with pytest.raises(StorageError, match=r"report\.html: Permission denied"):
        write_report(run)


def test_small_enough_to_mail(page):
    assert len(page.encode()) < 400_000


def test_loads_nothing(page):
    assert not re.search(r"<(link|img|iframe|object|embed|base)\b", page)
    assert not re.search(r"""\b(src|srcset|action|data)=|@import|url\(""", page)
    assert {target[0] for target in re.findall(r'href="([^"]*)"', page)} == {"#"}
    assert set(re.findall(r"https?://[^\s\"'<]+", page)) == {"http://www.w3.org/2000/svg"}


def test_policy_admits_the_own_style_and_script_by_hash(page):
    policy = html.unescape(re.search(r'Content-Security-Policy" content="([^"]*)"', page).group(1))
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy
    style = re.search(r"<style>(.*?)</style>", page, re.DOTALL).group(1)
    script = re.search(r"<script>(.*?)</script>", page, re.DOTALL).group(1)
    for text in (style, script):
        assert base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() in policy
    assert not re.search(r"\s(style|on[a-z]+)=", re.sub(r"<(script|style)\b.*?</\1>", "", page, flags=re.DOTALL))


def test_script_never_makes_markup_of_data(page):
    script = re.search(r"<script>(.*?)</script>", page, re.DOTALL).group(1)
    assert not re.search(r"innerHTML|outerHTML|insertAdjacent|document\.write|eval|Function\(", script)


def test_every_section_stands_in_the_page(page):
    for title in (
        "In detail",
        "What it cost",
        "The day",
        "The feeder, hour by hour",
        "Who was asked and who answered",
        "Planning events",
        "What was declared",
        "How this was made",
    ):
        assert f">{title}</h2>" in page


def test_first_seed_is_drawn_without_the_script(page, calibrated):
    charts = re.findall(r'<svg [^>]*data-chart="(\w+)".*?</svg>', page, re.DOTALL)
    assert charts == ["import", "voltage"]
    assert len(re.findall(r'<path d="M[^"]+" class="series [^"]*" data-series', page)) == 2 * 6
    assert len(re.findall(r'class="node v\d', page)) >= 40
    assert re.search(r"Hour 17, search, seed 7: \d+ asked, \d+ complied, \d+ of \d+ kW", words(page))


def test_every_drawing_says_what_it_shows(page):
    drawings = re.findall(r"<svg [^>]*role=\"img\".*?</svg>", page, re.DOTALL)
    assert len(drawings) >= 9
    for drawing in drawings:
        assert re.search(r"<title>[^<]+</title><desc>[^<]+</desc>", drawing)


def test_static_lines_and_script_data_agree(page):
    data = script_of(page)
    table = re.findall(r'<td data-value="(\w+) (\d+)">([^<]*)</td>', page)
    hour = int(re.search(r"data-hour-shown>(\d+)<", page).group(1))
    step = data["steps"].index(hour)
    for quantity, place, text in table:
        assert float(text) == pytest.approx(data["lines"][quantity]["linear"][0][int(place)][step], abs=6e-4)


def test_script_data_holds_every_episode(page):
    data = script_of(page)
    assert data["cases"] == ["seed 7", "seed 13"]
    days = data["map"]["days"]["ac"]
    assert len(days) == 2
    assert all(len(day) == 5 and None not in day for day in days)
    assert len(data["map"]["answers"][1][0]) == 8
    rows = data["map"]["rows"]
    assert all(len(row) == 40 for row in rows)
    assert len({tuple(row) for row in rows}) == len(rows)


# What a run says is untrusted


def test_no_text_of_a_run_becomes_markup(unsafe_page, canary):
    assert canary in html.unescape(unsafe_page)
    for piece in ("<script>document", "<img", 'onerror="', canary):
        assert piece not in unsafe_page
    assert unsafe_page.count("<script") == 2
    assert unsafe_page.count("</script") == 2


@pytest.mark.parametrize("where", ["rationale", "message", "node", "feeder", "task"])
def test_the_canary_is_shown_as_text(unsafe_page, where):
    pattern = {
        "rationale": r"<blockquote dir=\"auto\">&lt;/script&gt;",
        "message": r"<blockquote dir=\"auto\">Please reduce your cooling\. &lt;/script&gt;",
        "node": r"<title>&lt;/script&gt;[^<]*pu",
        "feeder": r"<p class=\"lead\">&lt;/script&gt;",
        "task": r"<dt>task &lt;/script&gt;",
    }[where]
    assert re.search(pattern, unsafe_page)


def test_script_data_survives_the_canary(unsafe_page, canary):
    assert script_of(unsafe_page)["map"]["names"][3] == canary


def test_no_control_character_of_a_run_stands_in_the_page(run, change):
    def spoil(data):
        data["row"].update(model="a\x1b]0;owned\x07\x9b31m")

    change(run / "cells" / "nominal-ROUTED-7.json", spoil)
    page = render_report(run)
    assert "a]0;owned31m" in page
    assert not re.search(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]", page)


def test_embedded_json_has_no_character_that_could_end_its_element():
    text = embedded_json({"a": "</script><!--&\u2028\u2029"})
    assert not set("<>&\u2028\u2029") & set(text)
    assert json.loads(text) == {"a": "</script><!--&\u2028\u2029"}


def test_text_that_is_not_unicode_is_written_all_the_same(run, change):
    cell = next((run / "cells").glob("*ROUTED-7.json"))
    change(cell, lambda data: data["row"]["declaration"].update(rationale="half \ud800 a pair"))
    assert "half ? a pair" in write_report(run).read_text(encoding="utf-8")


@pytest.mark.skipif(CHROMIUM is None, reason="no chromium")
def test_a_browser_runs_the_reports_own_script_and_nothing_else(spoken, tmp_path):
    shutil.copytree(spoken, tmp_path / "run")
    path = write_report(tmp_path / "run")
    flags = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"]
    flags += ["--disable-background-networking", "--disable-component-update", "--disable-sync"]
    flags += [f"--user-data-dir={tmp_path / 'profile'}", "--virtual-time-budget=2000", "--dump-dom"]
    shown = subprocess.run([CHROMIUM, *flags, path.as_uri()], capture_output=True, text=True, timeout=90).stdout
    assert '<html lang="en" class="js">' in shown
    assert "<title>Demand response on a radial feeder – planroute</title>" in shown
    assert "<img" not in shown


# What a reader must be told


def test_a_stand_in_model_is_named_as_such(unsafe_page, page):
    assert "Made with the embedded model. It is there for trying the program out." in words(unsafe_page)
    assert "trying the program out" not in page


def test_calls_messages_and_mended_answers_are_counted(unsafe_page):
    text = words(unsafe_page)
    assert "embedded:tiny" in text
    assert "shift clipped" in text
    assert "prosumer evaluation ReplyError" in text
    assert re.search(r"a model was asked \d+ times what one does to a prosumer", text)


def test_gate_and_late_events_are_shown(unsafe_page):
    text = words(unsafe_page)
    assert "replaced: deadline: an event of SEARCH takes 5.5 s, allowed are 3 s" in text
    assert "25 late" in text
    assert "deadline 3 s" in text


def row_of(page, metric):
    """The cells of a line of the results table as text, without the line's own heading."""
    found = re.search(rf'<th scope="row">{metric}.*?</tr>', page, re.DOTALL).group(0)
    return [words(cell) for cell in re.findall(r"<td[^>]*>.*?</td>", found, re.DOTALL)]


def test_modes_that_missed_the_deadline_are_marked(unsafe_page):
    head = re.search(r"<thead>.*?</thead>", unsafe_page, re.DOTALL).group(0)
    assert words(head).count("missed the deadline") == 1
    assert row_of(unsafe_page, "Regret")[1] == "n/a"
    assert row_of(unsafe_page, "Late events")[1] == "25.0"
    assert "The best of the forced modes that kept the deadline is marked" in words(unsafe_page)
    assert words(unsafe_page).count("Only predefined kept the deadline of 3 s") == 1


def test_without_a_deadline_nothing_is_late_or_in_time(page):
    assert row_of(page, "Late events") == ["n/a"] * 5
    assert "missed" not in words(page)
    assert "No deadline was set" in words(page)


def test_regret_stands_in_the_table_in_two_parts(page, calibrated):
    routed = json.loads((calibrated / "result.json").read_text())["conditions"]["ROUTED"]
    mode, rest = row_of(page, "…of which the mode"), row_of(page, "…of which the rest")
    assert mode[:4] == rest[:4] == ["n/a"] * 4
    assert mode[4].startswith(f"+{routed['mode_regret']:,.0f}")
    assert rest[4] == "0"
    assert ": all of it from the mode, none from the rest of its policy." in words(page)


def test_the_table_says_what_a_column_may_ask_for(page):
    head = words(re.search(r"<thead>.*?</thead>", page, re.DOTALL).group(0))
    assert "Hierarchical hands no quota back intensity 0.715" in head
    assert "Search intensity up to 0.905" in head


def test_minimality_says_on_what_it_rests(page, calibrated):
    cells = row_of(page, "Minimality")
    rows = [json.loads(path.read_text()) for path in (calibrated / "cells").glob("*HIERARCHICAL*")]
    measured = [row for row in rows if row["row"]["metrics"]["minimality"] is not None]
    assert re.search(rf"\b{len(measured)} of 2 seeds, [1-9]\d* h$", cells[2])
    assert all(re.search(r"^n/a 0 of 2 seeds, 0 h$|[12] of 2 seeds, [1-9]", cell) for cell in cells)


def test_a_key_figure_says_when_nobody_keeps_the_limits(page):
    assert re.search(
        r"still outside the limits under search; no condition keeps them [\d.]+ h uncontrolled: 8 h", words(page)
    )


def test_failure_labels_are_shown_though_all_episodes_finished(page):
    text = words(page)
    assert "Hierarchical UNMET_NEED 2 of 2 the plan left too much of the need unasked" in text
    assert "None." not in text


def test_failures_are_none_only_where_no_label_says_otherwise(run, change, summarised):
    for cell in (run / "cells").iterdir():
        change(cell, lambda data: data["row"].update(failure="NONE"))
    assert "Failures None." in words(render_report(summarised(run)))


def test_the_way_from_declaration_to_execution_is_counted(page, unsafe_page):
    assert "Routed Hierarchical passed Hierarchical 2 of 2" in words(page)
    assert "Routed Search replaced Search 1 of 1" in words(unsafe_page)
    assert row_of(page, "Mode agreement") == ["1.00"] * 5


def test_a_mode_that_the_gate_replaced_is_counted_against_agreement(run, change, summarised):
    def replace(data):
        data["row"].update(gate="REPLACED", executed="SEARCH", mode_agreement=False)
        next(e for e in data["trace"]["events"] if e["kind"] == "dispatched").update(executed="SEARCH")

    change(run / "cells" / "nominal-ROUTED-7.json", replace)
    page = render_report(summarised(run))
    assert row_of(page, "Mode agreement")[4] == "0.50 0.00 – 1.00"
    text = words(page)
    assert "Routed Hierarchical replaced Search 1 of 2 Routed Hierarchical passed Hierarchical 1 of 2" in text


def test_a_line_that_hides_another_says_which(page):
    shown = re.findall(r'<small data-same="(\d)"[^>]*?( hidden)?>([^<]*)</small>', page)
    assert [(place, text) for place, hidden, text in shown if not hidden] == [("4", "same as hierarchical")]


def test_pooled_answers_are_called_what_they_are(page):
    text = words(page)
    assert "On the left all answers under the forced modes together, on the right each condition by itself" in text
    assert "routed is not in the left part" in text


def test_texts_of_a_declarer_and_draws_of_code_are_told_apart(page, unsafe_page):
    assert "Rationale, in the declarer’s words </script>" in words(unsafe_page)
    assert re.search(
        r"Mode chosen by code, drawn with probability [\d.]+( to [\d.]+)? from base scores, the", words(page)
    )
    assert "Confidence 0.700" in words(unsafe_page)


def test_a_hybrid_with_a_model_names_its_reason(run, change):
    for cell in (run / "cells").glob("*ROUTED*.json"):
        change(cell, lambda data: data["row"].update(declarer="hybrid"))
        change(cell, lambda data: data["row"]["declaration"].update(rationale="hot"))
    text = words(render_report(run))
    assert "The model’s reason for its shifts hot" in text
    assert "the project’s own prior, which the model may shift by up to 0.30 each" in text


def test_one_forced_mode_is_called_the_least_of_nothing(run, change, summarised):
    def keep(data):
        data["cells"] = [name for name in data["cells"] if "SEARCH" in name]

    change(run / "manifest.json", keep)
    for cell in (run / "cells").iterdir():
        if "SEARCH" not in cell.name:
            cell.unlink()
    page = render_report(summarised(run))
    text = words(page)
    assert "Only search was forced (mean J" in text
    assert "mean J of search, the only forced mode" in text
    for claim in ("cheapest", "The best of the forced modes", ">Regret"):
        assert claim not in page
    assert "all answers under forced search" in text


def test_what_was_not_measured_is_na(run, change, summarised):
    for cell in (run / "cells").glob("*SEARCH*.json"):
        change(cell, lambda data: data["row"]["metrics"].update(minimality=None, objective_ac=None))
    page = render_report(summarised(run))
    row = re.search(r"<th scope=\"row\">Minimality.*?</tr>", page, re.DOTALL).group(0)
    assert re.findall(r"<td[^>]*>([^<]*)", row)[3] == "n/a"


def test_the_papers_figures_stand_beside_where_they_are_given(run, change):
    change(run / "result.json", lambda data: data.update(paper={"SEARCH": {"objective": 1277.0}}))
    assert "paper 1,277" in words(render_report(run))


def test_a_domain_without_a_page_of_its_own_is_reported_all_the_same(run, change):
    change(run / "manifest.json", lambda data: data.update(domain="another"))
    text = words(render_report(run))
    assert "10 episodes finished." in text
    assert "How this was made" in text


# Runs that are not whole


def test_a_failed_episode_without_a_day_leaves_a_gap(run, change, summarised):
    def fail(data):
        data["row"].update(status="infrastructure", stop="INFRASTRUCTURE", error="endpoint is down", metrics={})
        kept = [e for e in data["trace"]["events"] if e["kind"] in ("declared", "gated")]
        failed = {"kind": "failed", "error": "ModelUnavailable", "message": "endpoint is down", "where": "execution"}
        data["trace"]["events"] = [*kept, failed]
        data["row"]["planning"] = []

    change(run / "cells" / "nominal-SEARCH-7.json", fail)
    page = render_report(summarised(run))
    data = script_of(page)
    assert data["lines"]["import"]["linear"][0][3] is None
    assert data["map"]["days"]["linear"][0][3] is None
    text = words(page)
    assert "1 episode ended by the infrastructure" in text
    assert "1 of 2 episodes finished" in text
    assert "Search INFRASTRUCTURE 1 yes endpoint is down" in text


def test_nothing_measured_at_all_is_still_a_report(run, change, summarised):
    def fail(data):
        data["row"].update(status="infrastructure", stop="INFRASTRUCTURE", error="down", metrics={}, declaration=None)
        data["row"].update(declared=None, executed=None, planning=[], spent={}, gate=None)
        data["trace"]["events"] = []

    for cell in (run / "cells").iterdir():
        change(cell, fail)
    text = words(render_report(summarised(run)))
    assert "The forced modes cannot be compared, since no seed has a measured episode for each of them" in text
    assert "Nobody was asked." in text
    assert "No planning event took place." in text


def test_cells_that_were_not_run_are_told(run, summarised):
    (run / "cells" / "nominal-SEARCH-13.json").unlink()
    text = words(render_report(summarised(run)))
    assert "1 episode of 10 had not been run yet." in text
    assert "Not every forced mode was measured on seed 13" in text


@pytest.mark.parametrize("name", ["manifest.json", "result.json", "cells/nominal-SEARCH-7.json", "billing.json"])
@pytest.mark.parametrize("content", ["", "{", "[]", "[" * 100_000, "\x00", '{"schema": 99}'])
def test_a_damaged_file_is_named_in_one_line(run, name, content):
    (run / name).write_text(content)
    with pytest.raises(InputError) as caught:
        write_report(run)
    assert name in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", ["manifest.json", "result.json"])
def test_a_missing_file_is_named(run, name):
    (run / name).unlink()
    with pytest.raises(InputError, match=re.escape(name)):
        write_report(run)


def test_a_folder_that_is_no_run(tmp_path):
    with pytest.raises(InputError, match="is not a run"):
        write_report(tmp_path / "nowhere")


def directed(data):
    return next(e for e in data["trace"]["events"] if e["kind"] == "directed")


def settled(data):
    return next(e for e in data["trace"]["events"] if e["kind"] == "settled")


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: data.pop("trace"),
        lambda data: data["row"].pop("seed"),
        lambda data: data["row"].update(metrics={"objective": "much"}),
        lambda data: data["row"].update(metrics={"objective": float("nan")}),
        lambda data: data["row"].update(metrics={"objective": 10**400}),
        lambda data: data["row"].update(metrics={"adherence": 5}),
        lambda data: data["row"].update(success="yes"),
        lambda data: data["row"].update(success=True, status="failed"),
        lambda data: data["row"].update(status="unknown"),
        lambda data: data["row"].update(spent={"action": {"model_calls": "3"}}),
        lambda data: data["row"].update(spent={"environment": {"interactions": -5}}),
        lambda data: data["trace"]["events"].append("event"),
        lambda data: directed(data)["columns"].pop("node"),
        lambda data: directed(data)["columns"]["node"].append(99),
        lambda data: directed(data).update(step=99),
        lambda data: settled(data)["columns"]["voltage_pu"].pop(),
        lambda data: settled(data)["columns"].update(voltage_pu=["high"] * 40),
    ],
)
def test_a_cell_of_another_form_is_named_in_one_line(run, change, damage):
    name = "nominal-SEARCH-7.json"
    change(run / "cells" / name, damage)
    with pytest.raises(InputError) as caught:
        write_report(run)
    assert name in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_cell_that_is_a_folder_is_named(run):
    target = run / "cells" / "nominal-SEARCH-7.json"
    target.unlink()
    target.mkdir()
    with pytest.raises(InputError, match=re.escape(f"{target} is not a file")):
        write_report(run)


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: data.update(facts={}),
        lambda data: data["facts"]["nominal"].pop("feeder"),
        lambda data: data["facts"]["nominal"]["feeder"]["lines"].pop(),
        lambda data: data.update(cells=["../../etc/passwd"]),
        lambda data: data.update(cells=[]),
    ],
)
def test_a_manifest_of_another_form_is_an_input_error(run, change, damage):
    change(run / "manifest.json", damage)
    with pytest.raises(InputError):
        write_report(run)


def test_values_that_are_not_finite_are_gaps(run, change):
    def spoil(data):
        event = settled(data)
        event["values"]["import_ac_mw"] = float("nan")
        event["columns"]["voltage_ac_pu"] = [float("nan")] * 40

    change(run / "cells" / "nominal-PREDEFINED-7.json", spoil)
    data = script_of(render_report(run))
    assert data["lines"]["import"]["ac"][0][0][0] is None
    assert data["lines"]["voltage"]["ac"][0][0][0] is None
