"""Where files come from: one commit and no other, the project's own repositories, plain folders, environments."""

import io
import subprocess
import sys
import tarfile
from dataclasses import replace
from pathlib import Path

import pytest

from planroute.domains.swebench import own
from planroute.domains.swebench.domain import opened
from planroute.domains.swebench.equipment import find_equipment, own_equipment
from planroute.domains.swebench.git import git
from planroute.domains.swebench.own import own_records, own_repository
from planroute.domains.swebench.sources import Source, find_source, hash_of
from planroute.errors import DomainError, InputError
from planroute.sandbox import Bounds, Jail, Room
from tests.sandbox.needs import needs_jail

RECORDS = {record.repo.partition("/")[2]: record for record in own_records()}
SLUGS = RECORDS["slugs"]


@pytest.mark.parametrize("name", RECORDS)
def test_own_repositories_are_made_with_the_commit_of_their_record(name):
    folder = own_repository(name)
    assert git(folder, "rev-list", "HEAD").split()[1:] == [RECORDS[name].base_commit]
    assert git(folder, "diff", RECORDS[name].base_commit, "HEAD") in (RECORDS[name].patch + RECORDS[name].test_patch)
    assert git(folder, "log", "-1", "--format=%s") == own.FIXED


def unpacked(packed, folder):
    with tarfile.open(fileobj=io.BytesIO(packed)) as tar:
        tar.extractall(folder, filter="data")
    return folder


def test_a_checkout_holds_one_commit_and_nothing_of_what_came_later(tmp_path):
    source = own_repository("slugs")
    later = git(source, "rev-parse", "HEAD")
    checkout = Source(source, plain=False).check_out(SLUGS)
    folder = unpacked(checkout.packed, tmp_path / "all")
    assert checkout.commit == SLUGS.base_commit == git(folder, "rev-parse", "HEAD")
    assert git(folder, "rev-list", "--all", "HEAD") == SLUGS.base_commit
    assert git(folder, "status", "--short") == ""
    with pytest.raises(DomainError):
        git(folder, "cat-file", "-e", later)
    objects = [line.split()[1] for line in git(folder, "cat-file", "--batch-all-objects", "--batch-check").splitlines()]
    assert objects.count("commit") == 1
    assert b"test_digits_are_kept" not in checkout.packed
    assert str(source).encode() not in checkout.packed
    assert not (folder / ".git" / "hooks").exists()
    assert unpacked(checkout.history, tmp_path / "history").joinpath(".git", "HEAD").is_file()
    assert Source(source, plain=False).identity(SLUGS) == SLUGS.base_commit


def test_a_plain_folder_is_made_a_repository_of_equal_commits(tmp_path):
    folder = unpacked(Source(own_repository("slugs"), plain=False).check_out(SLUGS).packed, tmp_path / "r" / SLUGS.repo)
    subprocess.run(["rm", "-r", str(folder / ".git")], check=True)
    source = find_source(tmp_path / "r", SLUGS)
    assert source == Source(folder, plain=True)
    first, second = source.check_out(SLUGS), source.check_out(SLUGS)
    assert first.commit == second.commit
    assert source.identity(SLUGS) == hash_of(folder)
    before = hash_of(folder)
    (folder / "new").symlink_to("/etc/passwd")
    assert hash_of(folder) != before
    assert not (folder / ".git").exists()


@pytest.mark.parametrize("name", ["planroute__slugs-1", "planroute__slugs", "planroute/slugs", "slugs"])
@pytest.mark.parametrize("bare", [False, True])
def test_a_checkout_is_found_by_instance_or_name_and_its_path_may_hold_a_space(tmp_path, name, bare):
    folder = tmp_path / "my repos" / name
    options = ["--bare"] if bare else []
    subprocess.run(["git", "clone", "-q", *options, str(own_repository("slugs")), str(folder)], check=True)
    source = find_source(tmp_path / "my repos", SLUGS)
    assert (source.folder, source.plain) == (folder, False)
    assert source.check_out(SLUGS).commit == SLUGS.base_commit


def test_a_missing_checkout_or_commit_says_what_to_do(tmp_path):
    with pytest.raises(
        InputError, match=r"no checkout of planroute/slugs in .*git clone https://github.com/planroute/s"
    ):
        find_source(tmp_path, SLUGS)
    subprocess.run(["git", "clone", "-q", str(own_repository("slugs")), str(tmp_path / "slugs")], check=True)
    with pytest.raises(InputError, match=r"has no commit 0{40} — git -C .* fetch origin 0{40}"):
        find_source(tmp_path, replace(SLUGS, base_commit="0" * 40))


@pytest.mark.parametrize(
    "changes", [{"instance_id": ".."}, {"instance_id": "/etc"}, {"repo": "../.."}, {"repo": "x/.."}, {"repo": "./x"}]
)
def test_a_record_leads_out_of_no_folder(tmp_path, changes):
    (tmp_path / "repos").mkdir()
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "python").touch()
    record = replace(SLUGS, **changes)
    with pytest.raises(InputError, match=r"is no folder below .* — mend the record"):
        find_source(tmp_path / "repos", record)
    if "instance_id" in changes:
        with pytest.raises(InputError, match=r"is no folder below .* — mend the record"):
            find_equipment(tmp_path / "repos", record)


def test_a_link_among_the_checkouts_leads_where_its_owner_put_it_and_one_inside_of_them_nowhere(tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "repos" / "owner").mkdir(parents=True)
    (tmp_path / "repos" / "owner" / "slugs").symlink_to(tmp_path / "elsewhere")
    record = replace(SLUGS, repo="owner/slugs")
    assert find_source(tmp_path / "repos", record).folder.resolve() == tmp_path / "elsewhere"
    (tmp_path / "repos" / "owner" / ".git").mkdir()
    with pytest.raises(InputError, match="no checkout of owner/slugs"):
        find_source(tmp_path / "repos", record)


@pytest.mark.parametrize("option", ["repos", "envs"])
def test_a_folder_of_too_long_a_name_is_named(tmp_path, option):
    with pytest.raises(InputError, match=r"/x{300} cannot be read: File name too long"):
        opened(None, None, None, **{option: tmp_path / ("x" * 300)})


def test_settings_and_hooks_of_others_are_not_used(tmp_path, monkeypatch):
    ran = tmp_path / "ran"
    (tmp_path / "gitconfig").write_text(f'[core]\n\tfsmonitor = "touch {ran}"\n\thooksPath = {tmp_path}\n')
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "gitconfig"))
    monkeypatch.setenv("HOME", str(tmp_path))
    Source(own_repository("clocks"), plain=False).check_out(RECORDS["clocks"])
    assert not ran.exists()


# Environments


def test_this_python_is_shown_and_none_of_the_project():
    equipment = own_equipment()
    assert equipment.bin == Path(sys.prefix) / "bin"
    assert Path(sys.base_prefix).resolve() in [path.resolve() for path in equipment.shown]
    assert Path.home() not in equipment.shown
    variables = equipment.variables()
    assert variables["PATH"].startswith(str(equipment.bin))
    assert variables["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] == "1"
    assert "pytest" in equipment.name


def test_an_environment_is_found_by_repository_and_version(tmp_path):
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(tmp_path / "planroute__slugs-1.0")], check=True)
    equipment = find_equipment(tmp_path, SLUGS)
    assert equipment.name == "planroute__slugs-1.0"
    assert "PYTEST_DISABLE_PLUGIN_AUTOLOAD" not in equipment.variables()
    with pytest.raises(InputError, match=r"no environment for planroute/slugs 2 in .*python3 -m venv .*slugs-2"):
        find_equipment(tmp_path, replace(SLUGS, version="2"))


@needs_jail
def test_a_python_that_is_reached_through_links_works_in_a_jail(tmp_path):
    """As of installers that keep a link to each version in one folder of the user's."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "python3.x").symlink_to(Path(sys.executable).resolve())
    (tmp_path / "secret").write_text("not to be seen")
    env = tmp_path / "envs" / "planroute__slugs"
    subprocess.run([str(tmp_path / "bin" / "python3.x"), "-m", "venv", "--without-pip", str(env)], check=True)
    (env / "bin" / "python").unlink()
    (env / "bin" / "python").symlink_to(tmp_path / "bin" / "python3.x")
    equipment = find_equipment(tmp_path / "envs", SLUGS)
    assert tmp_path not in equipment.shown
    room = Room(shown=equipment.shown, links=equipment.links, variables=equipment.variables())
    box = Jail().open(room, Bounds(seconds=20))
    ran = box.run(f"python -c 'import json, sys; print(sys.prefix)'; cat {tmp_path}/secret")
    box.close()
    assert ran.text.splitlines()[0] == str(env)
    assert "not to be seen" not in ran.text


def test_a_folder_that_is_no_python_is_not_shown(tmp_path):
    (tmp_path / "slugs" / "bin").mkdir(parents=True)
    (tmp_path / "slugs" / "bin" / "python").write_text("#!/bin/sh\n")
    (tmp_path / "planroute__slugs").symlink_to(tmp_path / "slugs")
    with pytest.raises(InputError, match="holds no Python: it is not shown"):
        find_equipment(tmp_path, SLUGS)


def test_without_pytest_own_repositories_cannot_be_tested(monkeypatch):
    monkeypatch.setattr("planroute.domains.swebench.equipment.find_spec", lambda name: None)
    with pytest.raises(InputError, match="pip install pytest"):
        own_equipment()


def test_without_git_it_says_so(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(InputError, match="apt install git"):
        git(tmp_path, "status")
