"""A packed run is told as whole as it is, and what cannot read it says how to unpack it."""

import json

import pytest

from planroute.runs.pack import PACK, pack


@pytest.fixture
def packed(planroute, tmp_path):
    arguments = ("--seeds", "7,13", "--modes", "PREDEFINED", "--out", tmp_path / "run")
    status, _, error = planroute("compare", "grid", *arguments)
    assert status == 0, error
    pack(tmp_path / "run")
    return tmp_path / "run"


def shown(planroute, run):
    status, out, error = planroute("runs", "show", run, "--json")
    assert status == 0, error
    return json.loads(out)


def test_packed_episodes_are_counted_as_there(planroute, packed):
    found = shown(planroute, packed)
    assert (found["state"], found["finished"], found["cells"], found["missing"]) == ("packed", 2, 2, [])
    assert found["status"] == {"finished": 2}
    status, out, _ = planroute("runs", "list", packed)
    assert (status, "2 of 2" in out) == (0, True)


def test_a_pack_that_cannot_be_read_is_damage(planroute, packed):
    (packed / PACK).write_bytes(b"PAR1")
    found = shown(planroute, packed)
    assert found["state"] == "damaged"
    assert f"{PACK} is damaged" in found["fault"]


@pytest.mark.parametrize("command", ["analyse", "report"])
def test_what_reads_episodes_says_how_to_unpack_them(planroute, packed, command):
    status, _, error = planroute(command, packed)
    assert status == 2
    assert f"planroute runs unpack {packed}" in error
