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
