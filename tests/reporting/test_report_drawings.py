"""Drawings: the tidy tree, scales, ticks, lines with gaps, numbers as they are written."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planroute.errors import InputError
from planroute.reporting import grid_feeder
from planroute.reporting.charts import Dots, Event, dot_plot, event_line
from planroute.reporting.grid_days import Feeder
from planroute.reporting.svg import Scale, path, rounded, tag, ticks
from planroute.reporting.wording import amount, counted, css, label, listed, number, percent, prose, unbroken


def feeder(parents, positions=None):
    nodes = [{"id": str(i), "name": f"n{i}", "lateral": "1"} for i in range(len(parents))]
    if positions is not None:
        nodes = [node | {"position": xy} for node, xy in zip(nodes, positions, strict=True)]
    lines = [{"from": "head" if p < 0 else str(p), "to": str(i)} for i, p in enumerate(parents)]
    return Feeder.model_validate({"head": "head", "nodes": nodes, "lines": lines})


trees = st.lists(st.integers(0, 10**6), min_size=1, max_size=60).map(
    lambda numbers: [number % (i + 1) - 1 for i, number in enumerate(numbers)]
)


@given(trees)
def test_a_tree_is_drawn_without_anything_on_top_of_anything(parents):
    places, _ = grid_feeder._tree(parents)
    assert len(set(places)) == len(places)
    depth = {}
    for node, parent in enumerate(parents):
        depth[node] = 1 if parent < 0 else depth[parent] + 1
        assert places[node][0] == depth[node]
    for node, parent in enumerate(parents):
        if parent < 0:
            continue
        (x, top), (_, bottom) = places[parent], places[node]
        assert top <= bottom
        passed = {place for place in places if place[0] == x and top < place[1] <= bottom}
        assert not passed, "a connector runs through a node"


@given(trees)
def test_every_layout_stays_inside_the_drawing(parents):
    where = grid_feeder.layout(feeder(parents))
    for x, y in [*where.nodes, where.head]:
        assert 0 <= x <= grid_feeder.WIDTH
        assert 0 <= y <= where.height


def test_a_thousand_nodes_in_a_row_are_drawn():
    assert len(grid_feeder.layout(feeder(list(range(-1, 1500)))).nodes) == 1501


def test_given_positions_keep_their_shape():
    where = grid_feeder.layout(feeder([-1, 0, 1], [(0, 0), (1, 1), (2, 0)]))
    (x0, y0), (x1, y1), (x2, y2) = where.nodes
    assert y0 == y2 > y1
    assert x1 - x0 == pytest.approx(x2 - x1)
    assert not where.square


def test_equal_positions_fall_back_to_the_tree():
    where = grid_feeder.layout(feeder([-1, 0, 0], [(1, 1)] * 3))
    assert len(set(where.nodes)) == 3


@pytest.mark.parametrize("lines", [[], [{"from": "0", "to": "1"}]])
def test_a_feeder_that_is_not_fed_is_an_input_error(lines):
    with pytest.raises(InputError, match="not every node is fed"):
        grid_feeder.parents(
            Feeder.model_validate({"head": "head", "nodes": [{"id": "0"}, {"id": "1"}], "lines": lines})
        )


def test_lines_may_be_given_either_way():
    turned = {
        "head": "h",
        "nodes": [{"id": "a"}, {"id": "b"}],
        "lines": [{"from": "b", "to": "a"}, {"from": "a", "to": "h"}],
    }
    assert grid_feeder.parents(Feeder.model_validate(turned)) == [-1, 0]


@pytest.mark.parametrize(
    ("voltage", "colour"), [(None, None), (0.9, 0), (0.9499, 3), (0.95, 4), (0.9551, 5), (1.05, 8)]
)
def test_colours_turn_at_the_floor(voltage, colour):
    assert grid_feeder.shade(voltage, 0.95) == colour


def test_every_colour_stands_in_the_legend():
    assert [place for place, _ in grid_feeder.legend(0.95)] == list(range(len(grid_feeder.STEPS) + 1))


def test_late_events_are_marked():
    events = [Event(0, "declare", 5.0, True), Event(1, "decompose", 1.0, False)]
    drawing = event_line("HIERARCHICAL", events, ["14", "15"], 3.0, 6.0)
    assert "declare: 5.00 s, late" in drawing
    assert drawing.count('class="late-mark"') == 1
    assert "deadline 3 s" in drawing


def test_a_condition_without_cost_is_named_in_the_dot_plot():
    drawing = dot_plot("J", "none", [Dots("SEARCH", [], []), Dots("ROUTED", [10.0], [12.0])])
    assert "not measured" in drawing
    assert "nan" not in drawing


def test_long_names_have_room_in_the_dot_plot():
    drawing = dot_plot("J", "none", [Dots("ROUTED natural, few examples", [10.0], [])])
    end = float(re.search(r'<text x="([\d.]+)"[^>]*>Routed natural, few examples', drawing).group(1))
    assert end >= 7.5 * len("Routed natural, few examples")


def test_elements_escape_text_and_attributes():
    assert tag("text", "<b>", aria_label='"<') == '<text aria-label="&#34;&lt;">&lt;b&gt;</text>'


def test_a_line_breaks_where_nothing_is_known():
    assert path([(0, 1.0), (1, None), (2, 3.0), (3, 4.0)]) == "M0 1M2 3L3 4"


@given(st.floats(-1e4, 1e4), st.floats(1e-3, 1e4))
def test_ticks_are_round_and_inside(low, width):
    high = low + width
    marks = ticks(low, high)
    assert 1 <= len(marks) <= 12
    assert all(low - width * 1e-6 - 1e-9 <= mark <= high + width * 1e-6 + 1e-9 for mark in marks)
    around = rounded(low, high)
    assert around[0] <= low + width * 1e-6 + 1e-9
    assert around[1] >= high - width * 1e-6 - 1e-9


def test_a_scale_maps_its_ends():
    assert [Scale(0, 10, 100, 0)(v) for v in (0, 5, 10)] == [100, 50, 0]


@pytest.mark.parametrize(
    ("value", "digits", "text"),
    [(None, 0, "n/a"), (1234.6, 0, "1,235"), (-3.2, 1, "−3.2"), (-0.001, 1, "0.0"), (0.5, 2, "0.50")],
)
def test_numbers(value, digits, text):
    assert number(value, digits) == text


def test_words():
    assert listed(["a", "b", "c"]) == "a, b and c"
    assert counted(1, "seed") == "1 seed"
    assert counted(2000, "seed") == "2,000 seeds"
    assert percent(0.001) == "under 1 %"
    assert number(5, sign=True) == "+5"
    assert [amount(v) for v in (8.0, 7.6, 100.0, None)] == ["8", "7.6", "100", "n/a"]
    assert unbroken("2 % in 4 s of 10 seeds") == "2\u00a0% in 4\u00a0s of 10 seeds"


def test_routed_conditions_are_written_alike():
    names = ("ROUTED", "ROUTED natural", "SEARCH", "PLAN_REACT", "own name")
    assert [label(name) for name in names] == ["Routed", "Routed natural", "Search", "Plan+ReAct", "own name"]
    assert [prose(name) for name in names] == ["routed", "routed natural", "search", "Plan+ReAct", "own name"]


def test_an_unknown_condition_gives_no_class_of_its_own():
    assert re.fullmatch(r"c-other c-other-[0-3]", css('" onclick="x'))
