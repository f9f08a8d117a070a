"""Logs of Inspect: the verdict among several scores, and zips of every compression, damaged and swollen ones too."""

import io
import json
import struct
import sys
import tracemalloc
import zipfile

import pytest
from backports import zstd
from backports.zstd import zipfile as newer

from planroute.errors import InputError
from planroute.importers import inspect_logs, read

HEADER = {"eval": {"model": "m", "task": "t"}}
SAMPLE = {"id": "a", "epoch": 1, "input": "do it", "messages": [], "scores": {"match": {"value": "C"}}}
NAME, SIZE = 46, 24
"""Where the directory of a zip holds an entry's name and its unpacked size, in bytes from the entry's mark."""


def log(scores):
    sample = {"id": "a", "epoch": 1, "input": "do it", "messages": [], "scores": scores}
    return json.dumps({"version": 2, "status": "success", **HEADER, "samples": [sample]}).encode()


@pytest.mark.parametrize(
    ("scores", "verdict"),
    [
        ({"match": {"value": "C"}}, True),
        ({"planroute/success": {"value": "I"}, "planroute/order": {"value": "C"}}, False),
        ({"success": {"value": 1}, "order": {"value": 0}, "adherence": {"value": 0.5}}, True),
        ({"order": {"value": "C"}, "adherence": {"value": 0.5}}, None),
        ({"a/success": {"value": "C"}, "b/success": {"value": "I"}}, None),
        ({}, None),
    ],
)
def test_the_verdict_is_the_one_score_or_the_one_named_success(scores, verdict):
    (trajectory,) = read(log(scores), "log.json", "inspect")
    assert trajectory.success is verdict


def packed(method=newer.ZIP_ZSTANDARD, sample=SAMPLE, **more):
    stream = io.BytesIO()
    with newer.ZipFile(stream, "w", method) as archive:
        for name, content in {"header.json": HEADER, "samples/a_epoch_1.json": sample, **more}.items():
            archive.writestr(name, json.dumps(content))
    return stream.getvalue()


def declaring(log, entry, size):
    """``log`` with another size of ``entry`` in bytes, as its directory has it."""
    at = log.rindex(entry.encode()) - NAME + SIZE
    return log[:at] + struct.pack("<I", size) + log[at + 4 :]


def framed(log, entry, length):
    """``log`` with ``entry`` in Zstandard frames of ``length`` bytes each, as Inspect splits long ones."""
    stream = io.BytesIO()
    with newer.ZipFile(io.BytesIO(log)) as old, zipfile.ZipFile(stream, "w") as new:
        for name in old.namelist():
            content = old.read(name)
            cuts = range(0, len(content), length)
            new.writestr(name, b"".join(zstd.compress(content[at : at + length]) for at in cuts))
        for info in new.infolist():
            told = old.getinfo(info.filename)
            info.compress_type, info.file_size, info.CRC = newer.ZIP_ZSTANDARD, told.file_size, told.CRC
    return stream.getvalue()


@pytest.mark.parametrize("method", [newer.ZIP_STORED, newer.ZIP_DEFLATED, newer.ZIP_ZSTANDARD])
def test_a_log_of_any_compression_is_read(method):
    (trajectory,) = read(packed(method), "log.eval")
    assert (trajectory.id, trajectory.source, trajectory.success) == ("log.eval#a/1", "inspect m", True)


def test_an_entry_of_several_frames_is_read():
    assert read(framed(packed(), "samples/a_epoch_1.json", 7), "log.eval") == read(packed(), "log.eval")


def test_a_log_behind_other_bytes_is_read():
    assert read(b"#!/bin/sh\n" + packed(), "log.eval", "inspect-eval") == read(packed(), "log.eval")


@pytest.mark.parametrize("method", [newer.ZIP_BZIP2, newer.ZIP_LZMA])
def test_a_method_that_inspect_does_not_use_is_refused(method):
    with pytest.raises(InputError, match=rf"log\.eval is a damaged log of Inspect: .* is packed by method {method}"):
        read(packed(method), "log.eval")


def told(data):
    try:
        return read(data, "log.eval", "inspect-eval")
    except InputError as error:
        return str(error)


def test_damage_is_told_in_one_line_or_does_no_harm():
    log = packed()
    for at in range(len(log)):
        found = told(log[:at] + bytes([log[at] ^ 0xFF]) + log[at + 1 :])
        assert "\n" not in found
        assert len(found) <= 1 or "log.eval" in found
        assert isinstance(told(log[:at]), str)


@pytest.mark.parametrize("method", [newer.ZIP_DEFLATED, newer.ZIP_ZSTANDARD])
def test_more_than_an_entry_declares_is_not_unpacked(method):
    bomb = declaring(packed(method, SAMPLE | {"input": " " * 50_000_000}), "samples/a_epoch_1.json", 10)
    tracemalloc.start()
    with pytest.raises(InputError, match=r"is a damaged log of Inspect: .*samples/a_epoch_1.json"):
        read(bomb, "log.eval")
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 5_000_000


def test_a_log_that_declares_too_much_is_refused(monkeypatch):
    monkeypatch.setattr(inspect_logs, "LARGEST_ARCHIVE", 3 << 20)
    assert read(packed(), "log.eval")
    with pytest.raises(InputError, match=r"log\.eval unpacks to more than 3 MB"):
        read(packed(more=" " * (3 << 20)), "log.eval")


def test_without_the_library_a_way_out_is_told(monkeypatch):
    monkeypatch.setitem(sys.modules, "backports", None)
    with pytest.raises(InputError, match=r"log\.eval is packed with Zstandard.* — install `backports\.zstd`, or"):
        read(packed(), "log.eval")
    assert read(packed(newer.ZIP_DEFLATED), "log.eval")
