"""Identities and rows of recorded calls are what they always were: call caches of earlier versions stay valid."""

import hashlib
import math
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from planroute.calls import Message, ModelReply, ModelRequest, Sampling
from planroute.ledger import Usage
from planroute.models.cache import APPLICATION, VERSION, CallCache
from planroute.models.record import COLUMNS, CallRecord

ENDPOINT = "http://127.0.0.1:8000/v1#some-model"
SIMPLE = ModelRequest("action", (Message("user", "Which way?"),))
WHOLE = ModelRequest(
    "declaration",
    (
        Message("system", "Answer in JSON."),
        Message("user", 'Zürich "Nord" \\ \n 漢字 \ud800 end'),
        Message("assistant", ""),
    ),
    Sampling(0.7, 0.95, 1024, 7, ("\n\n", "END"), thinking=True),
    {"type": "object", "required": ["mode"], "properties": {"mode": {"enum": ["SEARCH"]}, "n": {"maximum": 1e-07}}},
    ({"name": "look", "parameters": {}},),
    draw=3,
)
REPLY = ModelReply(
    '{"mode": "SEARCH"} é\n',
    Usage(12, 5, 3, {"total": 20, "b": None, "a": [1.5]}),
    "hm",
    "length",
    0.25,
    price_usd=1e-07,
)
CHECKSUM = "3205b3aaf329d35ac190cfda423f44be1dd84d2a19dc25926e70fa902c4be9c9"


def test_a_question_has_the_canonical_form_that_it_always_had() -> None:
    assert SIMPLE.canonical(ENDPOINT) == (
        '{"draw":0,"endpoint":"http://127.0.0.1:8000/v1#some-model",'
        '"messages":[{"content":"Which way?","role":"user"}],'
        '"sampling":{"max_tokens":400,"seed":0,"stop":[],"temperature":0.2,"thinking":null,"top_p":1.0},'
        '"schema":null,"tools":[]}'
    )


@pytest.mark.parametrize(
    ("request_", "sha256"),
    [
        (SIMPLE, "3f650ce42872cb887cf60828dd11c678b6fe4cc952fba212c4a2874d222987e4"),
        (WHOLE, "6d35c47232391beac9dfd5e306647fb371d42155ed8f09da4dc347f7e2916839"),
    ],
)
def test_a_question_has_the_identity_that_it_always_had(request_: ModelRequest, sha256: str) -> None:
    assert request_.identity(ENDPOINT) == sha256
    assert hashlib.sha256(request_.canonical(ENDPOINT).encode()).hexdigest() == sha256


def test_a_record_has_the_row_and_the_checksum_that_it_always_had() -> None:
    record = CallRecord(WHOLE.identity(ENDPOINT), WHOLE.purpose, WHOLE.canonical(ENDPOINT), REPLY)
    assert record.row()[3:] == (
        '{"mode": "SEARCH"} é\n',
        "hm",
        "length",
        12,
        5,
        3,
        '{"a": [1.5], "b": null, "total": 20}',
        0.25,
        1e-07,
    )
    assert record.digest() == CHECKSUM


def test_a_file_made_by_hand_in_the_first_format_is_read(tmp_path: Path) -> None:
    canonical, identity = WHOLE.identified(ENDPOINT)
    record = CallRecord(identity, WHOLE.purpose, canonical, REPLY)
    with closing(sqlite3.connect(tmp_path / "calls.sqlite")) as db:
        db.execute(f"CREATE TABLE calls ({', '.join(COLUMNS)}, digest, PRIMARY KEY (identity)) WITHOUT ROWID")
        db.execute(f"PRAGMA application_id = {0x706C616E}")
        db.execute("PRAGMA user_version = 1")
        db.execute(f"INSERT INTO calls VALUES ({', '.join('?' * 13)})", (*record.row(), CHECKSUM))
        db.commit()
    assert (APPLICATION, VERSION) == (0x706C616E, 1)
    with closing(CallCache(tmp_path / "calls.sqlite")) as cache:
        found = cache.find(identity, canonical)
    assert found is not None
    assert (found.text, found.usage, found.usage.raw, found.billed) == (REPLY.text, REPLY.usage, REPLY.usage.raw, False)


@pytest.mark.parametrize(
    ("column", "value", "kind"),
    [
        ("latency_s", math.nan, ValueError),
        ("latency_s", math.inf, ValueError),
        ("latency_s", None, TypeError),
        ("price_usd", math.nan, ValueError),
        ("price_usd", -math.inf, ValueError),
        ("price_usd", "1", TypeError),
        ("prompt_tokens", -1, ValueError),
        ("answer_tokens", 2**63, ValueError),
        ("thinking_tokens", True, TypeError),
        ("thinking_tokens", 1.0, TypeError),
        ("text", b"bytes", TypeError),
        ("raw_usage", "[]", TypeError),
    ],
)
def test_a_value_that_cannot_stand_in_its_column_is_refused(column: str, value: object, kind: type[Exception]) -> None:
    row = list(CallRecord(SIMPLE.identity(ENDPOINT), "action", SIMPLE.canonical(ENDPOINT), REPLY).row())
    row[COLUMNS.index(column)] = value
    with pytest.raises(kind):
        CallRecord.of_row(tuple(row))


@pytest.mark.parametrize(("column", "value"), [("price_usd", None), ("price_usd", 0), ("latency_s", 2)])
def test_what_may_stand_in_a_column_is_read(column: str, value: object) -> None:
    row = list(CallRecord(SIMPLE.identity(ENDPOINT), "action", SIMPLE.canonical(ENDPOINT), REPLY).row())
    row[COLUMNS.index(column)] = value
    assert CallRecord.of_row(tuple(row)).row() == tuple(row)
