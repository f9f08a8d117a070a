"""A fitted selector is plain numbers: it chooses as it did when it was fitted, wherever it is read again."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planroute.errors import InputError, StorageError
from planroute.modes import MODES, Mode
from planroute.selection import FEATURES, LearnedSelector, fit
from planroute.selection.features import design
from tests.selection.banks import CELLS, bank, crossing, late_at_four, search_best

LOW = {"import_cap_mw": 1.1, "r_pu": 0.022, "forecast_noise": 0.05, "deadline_s": 8.0, "mean_resistance": 0.2}
HIGH = LOW | {"forecast_noise": 0.30}


@pytest.fixture(scope="module")
def learned():
    return {kind: fit(bank(search_best, late_at_four), kind) for kind in ("ridge", "constraint_aware")}


@pytest.mark.parametrize("kind", ["ridge", "constraint_aware"])
def test_it_chooses_by_feature(kind):
    selector = fit(bank(crossing), kind)
    assert selector.choose(LOW) is Mode.PREDEFINED
    assert selector.choose(HIGH) is Mode.SEQUENTIAL


def test_only_the_constraint_aware_one_looks_at_feasibility(learned):
    short = [Mode.PREDEFINED, Mode.SEQUENTIAL]
    assert learned["constraint_aware"].choose(LOW) is Mode.SEARCH
    assert learned["constraint_aware"].choose(LOW, short) is Mode.PREDEFINED
    assert learned["ridge"].choose(LOW, [Mode.SEQUENTIAL]) is Mode.PREDEFINED


def test_where_nothing_is_feasible_it_chooses_among_all(learned):
    assert learned["constraint_aware"].choose(LOW, []) is Mode.SEARCH


def test_a_mode_without_a_regression_is_chosen_only_where_nothing_else_is_feasible():
    selector = fit(bank(search_best, lambda mode, cell: int(mode == "SEARCH")), "constraint_aware")
    assert Mode.SEARCH not in selector.regressions
    assert selector.choose(LOW) is Mode.PREDEFINED
    assert selector.choose(LOW, [Mode.SEARCH]) is Mode.SEARCH


@pytest.mark.parametrize("kind", ["ridge", "constraint_aware"])
def test_saved_and_loaded_it_is_the_same(kind, learned, tmp_path):
    learned[kind].save(tmp_path / "selector.json")
    again = LearnedSelector.load(tmp_path / "selector.json")
    assert again == learned[kind]
    features = design({name: [cell[name] for cell in CELLS] for name in LOW}, FEATURES)
    assert np.array_equal(again.predict(features), learned[kind].predict(features))
    assert json.loads((tmp_path / "selector.json").read_text())["kind"] == kind


@settings(deadline=None, max_examples=50)
@given(st.sets(st.sampled_from(MODES), min_size=1), st.floats(0.5, 3), st.floats(0, 1), st.floats(0.1, 60))
def test_the_choice_is_feasible_whatever_the_scenario(learned, feasible, cap, noise, deadline):
    values = LOW | {"import_cap_mw": cap, "forecast_noise": noise, "deadline_s": deadline}
    assert learned["constraint_aware"].choose(values, feasible) in feasible


@pytest.mark.parametrize(
    ("values", "line"),
    [
        ({"r_pu": 0.02}, "feature 'cap_tightness' is not in the bank"),
        (LOW | {"r_pu": "wide"}, "feature r_pu is no number in every scenario"),
        (LOW | {"r_pu": None}, "feature r_pu is not known in every scenario"),
        (LOW | {"import_cap_mw": 0}, "feature cap_tightness is not known in every scenario"),
    ],
)
def test_values_that_are_missing_or_no_numbers_are_refused(learned, values, line):
    with pytest.raises(InputError, match=line):
        learned["ridge"].choose(values)


def broken(selector, change):
    values = json.loads(selector.model_dump_json())
    change(values)
    return json.dumps(values)


@pytest.mark.parametrize(
    ("change", "line"),
    [
        (lambda v: v.pop("kind"), "kind: Field required — fit it again"),
        (lambda v: v.update(schema_version=2), "schema_version: Input should be 1"),
        (lambda v: v.update(kind="forest"), "kind: Input should be 'ridge' or 'constraint_aware'"),
        (lambda v: v["regressions"].update(GUESS=v["regressions"]["SEARCH"]), "regressions.GUESS"),
        (lambda v: v["regressions"]["SEARCH"].update(coefficients=[1.0]), "not one coefficient, mean and scale for"),
        (lambda v: v["regressions"]["SEARCH"].update(scale=[0.0] * 5), "Input should be greater than 0"),
        (lambda v: v["regressions"]["SEARCH"].update(intercept=None), "Input should be a valid number"),
        (lambda v: v.update(regressions={}), "at least 1 item"),
    ],
)
def test_a_damaged_file_is_refused_in_one_line(learned, change, line, tmp_path):
    path = tmp_path / "selector.json"
    path.write_text(broken(learned["ridge"], change))
    with pytest.raises(InputError) as caught:
        LearnedSelector.load(path)
    assert line in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("content", [b"", b"\xff\xfe\x00", b"[1, 2", b"null"])
def test_what_is_no_selector_is_refused(content, tmp_path):
    (tmp_path / "selector.json").write_bytes(content)
    with pytest.raises(InputError, match="selector "):
        LearnedSelector.load(tmp_path / "selector.json")


def test_no_file_and_no_folder_are_told(learned, tmp_path):
    with pytest.raises(InputError, match="No such file or directory"):
        LearnedSelector.load(tmp_path / "absent.json")
    with pytest.raises(StorageError, match="No such file or directory"):
        learned["ridge"].save(tmp_path / "absent" / "selector.json")


def test_a_bank_without_a_feasible_mode_teaches_nothing():
    with pytest.raises(InputError, match="nothing to learn from"):
        fit(bank(search_best, lambda mode, cell: 1), "constraint_aware")
