"""A Parquet table of episodes is analysed as the rows that it was made from."""

import pandas as pd
import pytest

from planroute.analysis import analyse
from planroute.cli.analyse import rows_of
from planroute.errors import InputError
from planroute.modes import MODES
from planroute.runs.folder import canonical
from planroute.runs.table import read_rows, row_frame, write_table
from tests.analysis.planted import forced, row

ROWS = [
    row(mode, "day", seed, None, metrics={"objective": 900.0 + 10 * place, "minimality": None}, late_events=None)
    for seed in (7, 13)
    for place, mode in enumerate(MODES)
]


def test_a_table_and_its_rows_give_the_same_analysis(tmp_path):
    path = write_table(tmp_path / "rows.parquet", row_frame(ROWS))
    from_table = analyse(read_rows(path))
    from_rows = analyse(ROWS)
    for found in (from_table, from_rows):
        found.pop("rq1")
    assert canonical(from_table) == canonical(from_rows)
    assert rows_of(tmp_path)[0] == rows_of(path)[0]


def test_success_late_events_and_what_is_missing_survive(tmp_path):
    rows = [*forced({"a": dict.fromkeys(MODES, 0.5)}, 2), row("SEARCH", "b", 3, None, late_events=2, status="failed")]
    back = read_rows(write_table(tmp_path / "rows.parquet", row_frame(rows)))
    assert [(r.task, r.condition, r.seed, r.success, r.late_events, r.status) for r in back] == [
        (r.task, r.condition, r.seed, r.success, r.late_events, r.status) for r in rows
    ]
    assert {tuple(r.spent["all"]) for r in back} == {tuple(back[0].spent["all"])}
    assert back[0].spent["all"]["answer_tokens"] == 100


@pytest.mark.parametrize("content", [b"", b"PAR1", b"not a table"])
def test_what_is_no_table_is_refused_by_name(tmp_path, content):
    path = tmp_path / "rows.parquet"
    path.write_bytes(content)
    with pytest.raises(InputError, match=r"rows\.parquet"):
        read_rows(path)


def test_a_table_of_something_else_says_what_it_lacks(tmp_path):
    path = write_table(tmp_path / "rows.parquet", pd.DataFrame({"x": [1]}))
    with pytest.raises(InputError, match="is no table of episodes: it lacks domain, task"):
        read_rows(path)


COLUMNS = [
    ("seed", "x", "seed: Input should be a valid integer"),
    ("seed", 1.5, "seed: Input should be a valid integer"),
    ("seed", -1, "seed: Input should be greater than or equal to 0"),
    ("late_events", float("inf"), "late_events: not a finite number"),
    ("success", "yes", "success: Input should be a valid boolean"),
    ("condition", None, "condition: Input should be a valid string"),
    ("condition", "a\x1b[31m", "condition: 'a\\x1b[31m' is no name of letters"),
    ("task", None, "task: Input should be a valid string"),
    ("task", b"\xff", "task: neither a text nor a number nor true or false"),
    ("status", "x", "status: Input should be 'finished', 'failed' or 'infrastructure'"),
    ("stop", "x", "stop: Input should be 'DONE'"),
    ("model", 4, "model: Input should be a valid string"),
    ("deadline_s", "x", "deadline_s: Input should be a valid number"),
    ("declared", "x", "declared: Input should be 'PREDEFINED'"),
    ("spent_answer_tokens", "x", "spent_answer_tokens: Input should be a valid number"),
    ("spent_answer_tokens", -5.0, "spent_answer_tokens: Input should be greater than or equal to 0"),
    ("planning_s", -1.0, "planning_s: Input should be greater than or equal to 0"),
    ("planning_s", [1], "planning_s: neither a text nor a number"),
    ("metric_objective", "x", "metric_objective: Input should be a valid number"),
    ("metric_objective", float("inf"), "metric_objective: not a finite number"),
    ("metric_adherence", 7.0, "metric_adherence: 7 is no share from 0 to 1"),
    ("metric_objective", pd.Timestamp("2020"), "metric_objective: neither a text nor a number"),
    ("factor_task_type", {"a": 1}, "factor_task_type: neither a text nor a number"),
]


@pytest.mark.parametrize(
    ("column", "value", "told"), COLUMNS, ids=[f"{column}={value!r}" for column, value, _ in COLUMNS]
)
def test_what_no_episode_has_is_named_by_file_row_and_column(tmp_path, column, value, told):
    path = write_table(tmp_path / "rows.parquet", row_frame(ROWS).assign(**{column: [value] * len(ROWS)}))
    with pytest.raises(InputError) as error:
        read_rows(path)
    assert f"{path} is damaged: row 1, column {told}" in error.value.message


def test_an_episode_that_is_there_twice_and_a_table_without_any_are_refused(tmp_path):
    path = write_table(tmp_path / "rows.parquet", row_frame([*ROWS, ROWS[2]]))
    with pytest.raises(InputError, match="row 9, column task: task, condition and seed are those of row 3"):
        read_rows(path)
    with pytest.raises(InputError, match="holds no episode"):
        read_rows(write_table(path, row_frame(ROWS).iloc[:0]))
