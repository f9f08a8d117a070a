"""Where the files of a record come from: a git repository that has its base commit, or a folder of source files.

What a box gets is one commit and nothing that came after it or before.
"""

import hashlib
import io
import shutil
import tarfile
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from planroute.domains.swebench.git import commit_all, git
from planroute.domains.swebench.records import Record
from planroute.errors import DomainError, InputError

ANY_COMMIT: Final = "git -c uploadpack.allowAnySHA1InWant=true -c safe.directory=* upload-pack"
LEFT_OUT: Final = "__pycache__/\n*.py[co]\n.pytest_cache/\n.hypothesis/\n"
"""What running tests leaves behind, which is no part of a patch."""


@dataclass(frozen=True, slots=True)
class Checkout:
    """The files of one commit. ``packed`` is a tar of them and of a git folder that knows this commit only.

    ``history`` is a tar of that git folder alone.
    """

    commit: str
    packed: bytes
    history: bytes


@dataclass(frozen=True, slots=True)
class Source:
    """A folder of this machine; ``plain`` says that it is no git repository."""

    folder: Path
    plain: bool

    def identity(self, record: Record) -> str:
        """What an episode's files are: the commit, or for a plain folder a hash of what is in it."""
        return hash_of(self.folder) if self.plain else record.base_commit

    def check_out(self, record: Record) -> Checkout:
        """Pack the base commit of ``record``. Raises ``DomainError`` where git fails."""
        with tempfile.TemporaryDirectory(prefix="planroute-checkout-") as made:
            folder = Path(made) / "testbed"
            if self.plain:
                shutil.copytree(self.folder, folder, symlinks=True)
                git(folder, "init", "--quiet")
                commit = commit_all(folder, record.instance_id)
            else:
                folder.mkdir()
                git(folder, "init", "--quiet")
                commit = git(self.folder, "rev-parse", "--verify", f"{record.base_commit}^{{commit}}")
                where = self.folder.resolve().as_uri()
                git(folder, "fetch", "--quiet", "--no-tags", "--depth", "1", "--upload-pack", ANY_COMMIT, where, commit)
                git(folder, "checkout", "--quiet", "--detach", commit)
            history = folder / ".git"
            for name in ("hooks", "logs", "description", "FETCH_HEAD", "ORIG_HEAD"):
                shutil.rmtree(history / name) if (history / name).is_dir() else (history / name).unlink(missing_ok=True)
            (history / "info").mkdir(exist_ok=True)
            (history / "info" / "exclude").write_text(LEFT_OUT)
            return Checkout(commit, _packed(folder, "."), _packed(history, ".git"))


def find_source(repos: Path, record: Record) -> Source:
    """Find the files of ``record`` below ``repos``: by instance, by owner and name, or by name.

    Raises ``InputError`` where there are none, or the base commit is not among them.
    """
    owner, name = record.repo.split("/")
    names = (record.instance_id, f"{owner}__{name}", f"{owner}/{name}", name)
    for each in names:
        folder = below(repos, each)
        if not folder.is_dir() or (each == record.repo and _is_repository(folder.parent)):
            continue
        if not _is_repository(folder):
            return Source(folder, plain=True)
        try:
            git(folder, "rev-parse", "--verify", f"{record.base_commit}^{{commit}}")
        except DomainError:
            raise InputError(
                f"{folder} has no commit {record.base_commit}",
                hint=f"git -C {folder} fetch origin {record.base_commit}",
            ) from None
        return Source(folder, plain=False)
    raise InputError(
        f"no checkout of {record.repo} in {repos}",
        hint=f"git clone https://github.com/{record.repo} {repos / names[1]}",
    )


def below(folder: Path, name: str) -> Path:
    """``name``, which a record spells, in ``folder``. Raises ``InputError`` where it would lead out of there.

    A link in ``folder`` is a person's own, and may lead wherever that person put it.
    """
    if any(part in ("", ".", "..") or "\0" in part for part in name.split("/")):
        raise InputError(f"{name!r} is no folder below {folder}", hint="mend the record")
    return folder / name


def _is_repository(folder: Path) -> bool:
    return (folder / ".git").exists() or ((folder / "HEAD").is_file() and (folder / "objects").is_dir())


def hash_of(folder: Path) -> str:
    """A hash of the names and contents below ``folder``."""
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        digest.update(path.relative_to(folder).as_posix().encode("utf-8", "surrogateescape") + b"\0")
        if path.is_symlink():
            digest.update(str(path.readlink()).encode("utf-8", "surrogateescape"))
        elif path.is_file():
            digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


def _packed(folder: Path, name: str) -> bytes:
    """``folder`` as a tar, in which it is called ``name``, of nobody's files in their order."""

    def nobody(entry: tarfile.TarInfo) -> tarfile.TarInfo:
        entry.uid = entry.gid = 0
        entry.uname = entry.gname = ""
        entry.mtime = 1_704_067_200
        return entry

    held = io.BytesIO()
    with tarfile.open(fileobj=held, mode="w") as tar:
        tar.add(folder, arcname=name, filter=nobody)
    return held.getvalue()
