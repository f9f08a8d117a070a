"""The page of an analysis: every sentence, every part or what it needs, nothing of a run as markup, equal bytes."""

import html
import json
import re
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from planroute.analysis import Measure, analyse
from planroute.analysis.wording import Words
from planroute.errors import StorageError
from planroute.modes import MODES, Baseline
from planroute.reporting.analysis import MARKS, QUESTIONS, write_analysis
from planroute.reporting.analysis_shown import Table, differing, estimated, minus, typeset
from planroute.reporting.figures import FORMATS, draw
from tests.analysis.planted import declared, forced, row

CANARY = "<script>alert('$x_{1}$')</script>"
KINDS = [CANARY, "plain", "third"]
PLACES = range(6)
FIGURES = ("preservation_by_length", "success_by_length", "tokens", "frontier")
PUBLISHED = [
    {
        "what": f"success {CANARY}",
        "where": "Table 3",
        "domain": "ALFWorld",
        "model": CANARY,
        "value": "77 %",
        "ours": "50 %",
    }
]


def planned(number, seed, kept):
    """An episode of PLAN_REACT whose plan is known."""
    metrics = {"units_planned": 3.0, "units_needed": 3.0, "units_completed": 2.0, "adherence": 2 / 3, "steps": 7.0}
    return row(
        Baseline.PLAN_REACT,
        f"task {number} {CANARY}",
        seed,
        True,
        metrics={**metrics, "plan_order_faithful": float(kept), "setbacks": 1.0},
        declared="SEARCH" if number == 5 else "SEQUENTIAL",
    )


def searched(condition, number, seed, success):
    attempts = {f"attempt_{place}_{what}": 1.0 for place in (1, 2) for what in ("score", "success")}
    return row(condition, f"task {number} {CANARY}", seed, success, metrics=attempts | {"candidates": 2.0})


def everything():
    """Rows that hold something for every part of the page but a judge of plans."""
    chances = {
        f"task {place} {CANARY}": {mode: (place + nth) % 4 / 3 for nth, mode in enumerate(MODES)} for place in PLACES
    }
    rows = forced({task: {m: c for m, c in some.items() if m != "SEARCH"} for task, some in chances.items()}, 4)
    for place in PLACES:
        for seed in range(4):
            rows.append(searched("SEARCH", place, seed, place % 2 == 0))
            rows.append(searched(Baseline.REPEATED_REACT, place, seed, True))
            rows.append(row(Baseline.FLAT_REACT, f"task {place} {CANARY}", seed, seed > 0))
            rows.append(planned(place, seed, kept=seed != 1))
    modes = {task: [MODES[(place + seed) % 4] for seed in range(2)] for place, task in enumerate(chances)}
    rows += declared("ROUTED", modes, ranking=True) + declared(f"DECLARED {CANARY}", modes)
    rows.append(row(MODES[0], f"task 0 {CANARY}", 9, False, status="infrastructure", stop="INFRASTRUCTURE"))
    factors = [{"task_type": KINDS[int(one.task.split()[1]) % 3]} for one in rows]
    return [
        replace(one, factors=some, model=f"scripted/{CANARY}", spent=spending(one))
        for one, some in zip(rows, factors, strict=True)
    ]


def spending(one):
    used = {"model_calls": 2, "prompt_tokens": 50, "thinking_tokens": 20 + one.seed, "answer_tokens": 10}
    return {"action": used | {"interactions": 5, "planning_s": 1.5}}


@pytest.fixture(scope="module")
def rows():
    return everything()


@pytest.fixture(scope="module")
def found(rows):
    return json.loads(json.dumps(analyse(rows)))


@pytest.fixture(scope="module")
def folder(tmp_path_factory, found, rows):
    folder = tmp_path_factory.mktemp("analysis")
    write_analysis(folder, found, rows, PUBLISHED)
    return folder


@pytest.fixture(scope="module")
def text(folder):
    return (folder / "analysis.html").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def costly(tmp_path_factory):
    """A cost in place of success, one execution of each case, forced modes only; the page, and what was found."""
    rows = [
        replace(
            row(mode, "one", seed, None, metrics={"objective": 100.0 * nth + seed}), model=None, factors={}, spent={}
        )
        for nth, mode in enumerate(MODES, 1)
        for seed in range(5)
    ]
    folder = tmp_path_factory.mktemp("costly")
    found = analyse(rows, Measure("objective", "less", worlds=True))
    return write_analysis(folder, found, rows).read_text(encoding="utf-8"), found


def visible(text):
    """What a reader sees, without markup and with single spaces."""
    body = re.sub(r"<style>.*?</style>|<wbr>", "", text, flags=re.S)
    return " ".join(html.unescape(re.sub(r"<[^>]*>", " ", body)).split())


def sentence(one):
    """A conclusion as a page shows it."""
    return minus(" ".join(one["sentence"].split()))


def test_the_page_holds_every_sentence_under_a_question_with_its_mark(text, found):
    seen = visible(text)
    for one in found["conclusions"]:
        assert f"{MARKS[one['sure']][0]} {sentence(one)}" in seen
    for about, question in QUESTIONS.items():
        assert (question in seen) is (about != "use")
    for mark, name, about in MARKS.values():
        assert f"{mark} {name} : {about}" in seen


def test_its_first_sentence_says_what_to_use(text, found):
    use = next(one for one in found["conclusions"] if one["about"] == "use")
    (heading,) = re.findall(r"<h1>.*?</h1>", text, flags=re.S)
    assert visible(heading) == f"{MARKS[use['sure']][0]} {sentence(use)}"
    assert visible(text).count(sentence(use)) == 1
    assert QUESTIONS["use"] not in visible(text)


def test_nothing_of_a_run_becomes_markup(text):
    assert "<script" not in text
    assert "alert(" in text
    assert "default-src &#39;none&#39;" in text
    assert "unsafe" not in text
    assert not re.search(r"""(src|href)=["'](?!#|data:image/svg)""", text)


def test_cautions_stand_at_the_top(text):
    top = visible(text.partition("<nav")[0])
    assert "Made with a scripted model." in top
    assert "Only 6 tasks" in top
    assert "broken off from outside: 1 episode." in top
    assert "points" in top
    assert "against the same shuffled over the tasks" in top


@pytest.mark.parametrize(
    "heading",
    [
        *("(Table 1)", "(Tables 2, 15, 16)", "(Table 3)", "(Tables 3, 18)", "(Table 5)", "(Figure 2)", "(Figure 3)"),
        *("(Table 17)", "(Tables 6, 19)", "(TSR@k)", "(Figure 7)", "(Tables 7, 9)", "Whose failure"),
    ],
)
def test_every_part_is_there(text, heading):
    assert heading in visible(text)


def test_what_was_not_run_says_what_it_needs(text):
    assert "Judged quality of plans (Table 4): not run; no plan was judged: name a judge with --judge." in visible(text)


def test_the_row_of_search_stands_apart(text):
    apart = re.findall(r'<tr class="apart">.*?</tr>', text, flags=re.S)
    assert any("declared SEARCH (apart)" in visible(one) for one in apart)


def test_the_papers_values_are_context(text, found, rows, tmp_path):
    assert "The paper's values are of other models: context, not comparison." in visible(text)
    assert "Published values" not in write_analysis(tmp_path, found, rows).read_text(encoding="utf-8")


def test_figures_and_tables_lie_beside_it(folder, found):
    for name in FIGURES:
        assert {path.suffix for path in (folder / "figures").glob(f"analysis_{name}.*")} == {f".{k}" for k in FORMATS}
    names = {path.stem for path in (folder / "tables").iterdir()}
    assert names >= {f"analysis_{name}" for name in ("preservation", "modes", "controls", "policies", "costs", "tasks")}
    modes = pd.read_parquet(folder / "tables" / "analysis_modes.parquet").set_index("mode")
    assert modes["value"]["SEARCH"] == found["rq2"]["modes"]["SEARCH"]["mean"]
    assert modes["value"]["oracle"] == found["rq2"]["oracle"]
    assert {path.name for path in folder.iterdir()} == {"analysis.html", "figures", "tables"}


def test_the_same_analysis_gives_the_same_bytes(folder, found, rows):
    def every() -> dict[Path, bytes]:
        return {path: path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}

    before = every()
    write_analysis(folder, found, rows, PUBLISHED)
    assert every() == before


def test_a_cost_is_told_as_a_number_and_what_it_lacks_is_not_run(costly):
    text, found = costly
    seen = visible(text)
    assert "objective (less is better) with PREDEFINED, the best fixed mode" in seen
    assert "No language model took part" in seen
    assert "Comparing declared modes with luck: not run; it needs a condition in which the mode is declared" in seen
    assert "Attributing failures: not run; a cost has no failures to attribute." in seen
    assert "Whether a plan in sight is kept: not run" in seen
    assert "An execution here repeats exactly" in seen
    assert seen.count(f"{MARKS['not_run'][0]} Not run; it needs FLAT_REACT or PLAN_REACT") == 2
    assert all(sentence(one) in seen for one in found["conclusions"])


def test_one_mode_alone_still_gives_a_page(tmp_path):
    rows = [row("SEARCH", f"t{number}", 0, number > 1) for number in range(3)]
    seen = visible(write_analysis(tmp_path, analyse(rows), rows).read_text(encoding="utf-8"))
    assert "Comparing fixed modes: not run; it needs two forced modes on the same tasks" in seen
    assert "cannot be said" in seen


@pytest.mark.parametrize("kind", FIGURES)
def test_figures_stand_what_is_missing(kind, costly):
    _, found = costly
    assert (
        draw(kind, {"rq1": {}, "rq3": {"status": "not_run"}, "costs": {"conditions": {}, "frontier": []}}, {}) is None
    )
    assert (draw(kind, found, {}) is not None) is (kind == "frontier")


def test_a_task_that_nobody_solved_has_no_place_among_lengths(found):
    known = {"tasks": 2, "conditions": {"SEARCH": {"mean": 0.5, "low": None, "high": None, "sparse": True}}}
    lengths = {"1-5": known, "unsolved": known}
    figure = draw("success_by_length", {**found, "rq3": {"by_length": lengths}}, {})
    assert [one.get_text() for one in figure.axes[0].get_xticklabels()] == ["1-5\n2 tasks"]
    assert draw("success_by_length", {**found, "rq3": {"by_length": {"unsolved": known}}}, {}) is None


def test_a_folder_that_cannot_be_written_is_told(found, rows, tmp_path):
    (tmp_path / "figures").write_text("in the way")
    with pytest.raises(StorageError, match="cannot write"):
        write_analysis(tmp_path, found, rows)


def test_letters_that_no_file_or_font_holds_make_neither_an_error_nor_a_warning(tmp_path):
    strange = "m\ud800\x1b[31m"
    rows = [
        row(mode, f"t{place}", 1, None, model=strange, metrics={strange: 1.0 + place}, tokens=1e-320)
        for mode in MODES
        for place in range(2)
    ]
    found = analyse(rows, Measure(strange, "less"))
    page = write_analysis(tmp_path, found, rows)
    assert page.is_file()
    shown = pd.read_parquet(tmp_path / "tables" / "analysis_episodes.parquet")
    assert set(shown["models"]) == {"m\\ud800\x1b[31m"}


def test_true_minus_signs_and_breaks_after_underscores():
    assert minus("-3 points [-6, +5], 1-3 units, GPT-4") == "\u22123 points [\u22126, +5], 1-3 units, GPT-4"
    assert typeset("A_B <i>") == "A_<wbr>B &lt;i&gt;"


def test_a_cell_says_counts_where_an_interval_has_no_width_and_marks_few():
    one = {"mean": 0.0, "low": 0.0, "high": 0.0, "episodes": 5, "tasks": 3, "sparse": True}
    words = Words({"name": "success"})
    assert estimated(words, one) == ("0 %\u00a0†", "0\u00a0of\u00a05")
    assert differing(words, one) == ("0 points\u00a0†", "on\u00a0each\u00a0of\u00a03\u00a0tasks")
    assert estimated(words, {**one, "mean": 0.4, "low": 0.2, "high": 0.6, "sparse": False}) == (
        "40 %",
        "[20,\u00a060]",
    )


def test_columns_that_say_nothing_are_left_out():
    rows = [("a", "0", "0 %", "–"), ("b", "0", "10 %", "–")]
    table = Table("t", "T", "C", ("name", "x", "y", "z"), rows, [], optional=frozenset({"x", "y"}))
    assert table.columns == [0, 2, 3]


def test_failed_episodes_stand_by_party_and_add_up(text, folder, found):
    assert "solved, but dispatch record and actions disagree on the order" in visible(text) or not any(
        one["disagreements"] for one in found["handoff"]["conditions"].values()
    )
    lines = pd.read_parquet(folder / "tables" / "analysis_handoff.parquet")
    parties = [name for name in lines if name.startswith("party_")]
    assert (lines[parties].sum(axis=1) == lines["failures"]).all()
    total = found["handoff"]["total"]["failures"]
    assert re.search(rf"all conditions {lines['episodes'].sum()} {total} ", visible(text))


def test_a_word_is_explained_only_where_the_page_uses_it(text, costly):
    assert "standard deviation" in visible(text)
    assert "corrected p how often" in visible(text)
    assert "corrected p how often" not in visible(costly[0])


def test_a_difference_is_that_of_the_row(folder, found):
    lines = pd.read_parquet(folder / "tables" / "analysis_modes.parquet").set_index("mode")
    for mode, one in found["rq2"]["behind"].items():
        if mode in lines.index:
            assert lines["against_best"][mode] == -one["mean"]
            assert lines["against_best_low"][mode] == -one["high"]


def test_a_figure_joins_no_plans_that_are_few(found):
    cell = {"mean": 0.5, "low": None, "high": None, "sparse": True, "tasks": 2}
    lengths = {name: {**cell, "episodes": count} for name, count in (("1-3", 4), ("4-5", 2), ("6-7", 3))}
    preservation = {"by_length": lengths, "by_mode_and_length": {}}
    figure = draw("preservation_by_length", {**found, "rq1": {"preservation": preservation}}, {})
    joined = next(one for one in figure.axes[0].get_lines() if len(one.get_xdata()) == 3)
    assert [value == value for value in joined.get_ydata()] == [True, False, True]
