"""Archives, repositories and paths that come with data: nothing of them is written or run outside of their place."""

import io
import json
import stat
import subprocess
import zipfile
from pathlib import Path

import pytest

from planroute.domains.swebench.own import own_records, own_repository
from planroute.domains.swebench.sources import Source, find_source
from planroute.errors import DomainError, InputError
from planroute.importers import read
from planroute.reporting.reading import read_run

HEADER = {"eval": {"model": "m", "task": "t"}}
SAMPLE = {"id": "a", "epoch": 1, "input": "do it", "messages": [], "scores": {"match": {"value": "C"}}}


def everything(folder):
    """What is below ``folder`` and how it was last changed."""
    return {path: path.lstat().st_mtime_ns for path in folder.rglob("*")}


def archive(*entries):
    """A log of Inspect with one good sample and ``entries`` beside it."""
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("header.json", json.dumps(HEADER))
        packed.writestr("samples/a_epoch_1.json", json.dumps(SAMPLE))
        for entry, content in entries:
            packed.writestr(entry, content)
    return held.getvalue()


def as_link(name):
    info = zipfile.ZipInfo(name)
    info.create_system, info.external_attr = 3, (stat.S_IFLNK | 0o777) << 16
    return info


def as_device(name):
    info = zipfile.ZipInfo(name)
    info.create_system, info.external_attr = 3, (stat.S_IFCHR | 0o666) << 16
    return info


@pytest.mark.parametrize(
    "entry",
    ["../../out", "/tmp/planroute-out", "samples/../../../out.json", "..\\out", "samples/\x01\x7f.json", "SAMPLES/A"],
)
def test_no_entry_of_a_log_is_written_anywhere(tmp_path, monkeypatch, entry):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "in").mkdir()
    monkeypatch.chdir(tmp_path / "in")
    before = everything(tmp_path)
    found = read(archive((entry, json.dumps(SAMPLE))), "log.eval")
    assert {one.source for one in found} == {"inspect m"}
    assert everything(tmp_path) == before
    assert not Path("/tmp/planroute-out").exists()


@pytest.mark.parametrize("kind", [as_link, as_device])
def test_a_link_or_device_in_a_log_is_read_as_text(kind):
    with pytest.raises(InputError, match="damaged"):
        read(archive((kind("samples/b.json"), "/etc/passwd")), "log.eval")


def test_a_log_in_a_log_is_not_unpacked():
    inner = archive(("samples/bomb.json", b"0" * 1_000_000))
    with pytest.raises(InputError, match="damaged"):
        read(archive(("samples/b.json", inner)), "log.eval")


RECORD = next(record for record in own_records() if record.repo.endswith("/slugs"))


def run_git(folder, *arguments):
    subprocess.run(["git", "-C", str(folder), *arguments], check=True, capture_output=True)


@pytest.fixture
def marker(tmp_path):
    """A file that commands in the settings of a repository would make."""
    return tmp_path / "run"


def test_the_settings_of_a_checkout_run_nothing_to_get_what_it_lacks(tmp_path, marker):
    folder = tmp_path / "repos" / RECORD.repo.replace("/", "__")
    folder.mkdir(parents=True)
    run_git(folder, "init", "--quiet")
    settings = {
        "core.repositoryformatversion": "1",
        "extensions.partialclone": "origin",
        "remote.origin.url": str(tmp_path),
        "remote.origin.promisor": "true",
        "remote.origin.uploadpack": f"touch {marker}; git-upload-pack",
        "core.sshCommand": f"touch {marker};",
        "protocol.ext.allow": "always",
    }
    for name, value in settings.items():
        run_git(folder, "config", name, value)
    with pytest.raises(InputError, match="has no commit"):
        find_source(tmp_path / "repos", RECORD)
    run_git(folder, "config", "remote.origin.url", f"ext::touch {marker}")
    with pytest.raises(DomainError):
        Source(folder, plain=False).check_out(RECORD)
    assert not marker.exists()


def test_the_settings_of_a_checkout_run_nothing_when_it_is_packed(tmp_path, marker):
    folder = tmp_path / "copy"
    run_git(tmp_path, "clone", "--quiet", str(own_repository("slugs")), str(folder))
    hooks = ("post-checkout", "pre-commit", "post-commit", "reference-transaction", "post-index-change")
    for name in hooks:
        hook = folder / ".git" / "hooks" / name
        hook.parent.mkdir(exist_ok=True)
        hook.write_text(f"#!/bin/sh\ntouch {marker}\n")
        hook.chmod(0o755)
    for name in ("core.fsmonitor", "uploadpack.packObjectsHook", "filter.evil.smudge", "core.pager", "core.editor"):
        run_git(folder, "config", name, f"touch {marker};")
    (folder / ".git" / "info" / "attributes").write_text("* filter=evil\n")
    assert Source(folder, plain=False).check_out(RECORD).commit == RECORD.base_commit
    assert not marker.exists()


def test_a_repository_in_a_plain_folder_runs_nothing(tmp_path, marker):
    folder = tmp_path / "plain"
    inner = folder / "vendor"
    inner.mkdir(parents=True)
    (folder / "a.py").write_text("a = 1\n")
    run_git(inner, "init", "--quiet")
    (inner / "b.py").write_text("b = 1\n")
    run_git(inner, "add", "b.py")
    run_git(inner, "-c", "user.name=x", "-c", "user.email=x@x", "commit", "--quiet", "--message", "b")
    run_git(inner, "config", "core.fsmonitor", f"touch {marker};")
    (inner / "b.py").write_text("b = 2\n")
    Source(folder, plain=True).check_out(RECORD)
    assert not marker.exists()


@pytest.fixture
def run(tmp_path):
    """The folder of a run that somebody else made."""
    (tmp_path / "run" / "cells").mkdir(parents=True)
    (tmp_path / "run" / "result.json").write_text('{"conditions": {}}')
    return tmp_path / "run"


@pytest.mark.parametrize("name", ["../result", "/etc/passwd", "..", ".", "", "a/b", "x\0y", "x" * 300])
def test_no_name_in_a_manifest_leads_out_of_its_run(planroute, run, name):
    (run / "manifest.json").write_text(json.dumps({"domain": "grid", "cells": [name]}))
    before = everything(run.parent)
    with pytest.raises(InputError) as told:
        read_run(run)
    assert "root:" not in str(told.value)
    for command in (("report", run), ("analyse", run)):
        status, shown, said = planroute(*command)
        assert (status, shown, said.count("\n")) == (2, "", 1)
        assert "root:" not in said
    assert everything(run.parent) == before


def test_what_a_link_in_a_run_leads_to_is_not_shown(planroute, run, tmp_path):
    (tmp_path / "secret").write_text("canary-3b9e")
    (tmp_path / "secret.json").write_text('{"password": "canary-3b9e"}')
    for place, target in enumerate(("secret", "secret.json")):
        link = run / "cells" / f"c{place}.json"
        link.symlink_to(tmp_path / target)
        (run / "manifest.json").write_text(json.dumps({"domain": "grid", "cells": [f"c{place}"]}))
        for command in ("report", "analyse"):
            status, shown, said = planroute(command, run)
            assert status == 2
            assert "canary" not in shown + said
    assert not (run / "report.html").exists()
