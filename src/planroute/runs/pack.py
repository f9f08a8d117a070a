"""A finished run's cells in one Parquet file instead of many small ones, and back again byte for byte.

``cells.parquet`` has a line for each cell: ``cell`` its name, ``sha256`` of its file's bytes, ``content`` the bytes,
and the plain fields of its row, for queries without unpacking. Its metadata hold ``schema``, the version of this form.
"""

import hashlib
import json
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from planroute.errors import DamagedFile, InputError, StorageError
from planroute.runs.folder import CELLS, RunFolder

PACK: Final = "cells.parquet"
VERSION: Final = "1"
CELLS_AT_ONCE: Final = 256
"""Cells of one row group: what is in memory at once, packing and unpacking."""
_FIELDS = ("domain", "task", "condition", "declarer", "seed", "declared", "executed", "status", "stop", "success")
_SCHEMA_KEY = b"planroute.schema"


def pack(run: Path) -> tuple[int, int, int]:
    """Move the cells of ``run`` into one file; return how many, and the bytes before and after.

    A pack that is already there is taken up. No cell's file is removed before the pack has been read back whole.
    Raises ``InputError`` where there is no run or a cell is damaged, ``StorageError`` where it cannot be written.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    folder = RunFolder(run)
    with folder.held():
        unpack_missing(run)
        folder.cells()  # nothing damaged is packed
        keys = [key for key in folder.manifest()["cells"] if _file(run, key).is_file()]
        if not keys:
            raise InputError(f"{run} holds no finished episode", hint="there is nothing to pack")
        before = sum(_file(run, key).stat().st_size for key in keys)
        text, integer = pa.string(), pa.int64()
        kinds = dict.fromkeys(_FIELDS, text) | {"seed": integer, "success": pa.bool_()}
        schema = pa.schema(
            [("cell", text), ("sha256", text), ("content", pa.binary()), *kinds.items()], {_SCHEMA_KEY: VERSION}
        )
        part = _new_file(run)
        try:
            with pq.ParquetWriter(part, schema, compression="zstd") as writer:
                for at in range(0, len(keys), CELLS_AT_ONCE):
                    lines = [_line(run, key) for key in keys[at : at + CELLS_AT_ONCE]]
                    writer.write_table(pa.Table.from_pylist(lines, schema))
            found = sum(1 for _ in _packed(part))
            if found != len(keys):
                raise StorageError(f"{part} holds {found} of {len(keys)} cells; nothing was removed")
            part.replace(run / PACK)
            for key in keys:
                _file(run, key).unlink()
        except OSError as error:
            raise StorageError(f"cannot pack {run}: {error.strerror or error}") from None
        finally:
            part.unlink(missing_ok=True)
        return len(keys), before, (run / PACK).stat().st_size


def unpack(run: Path) -> int:
    """Put the cells of ``run`` back into files of their own, and return how many there were.

    Raises ``InputError`` where there is no pack, ``DamagedFile`` where a cell in it is not what was packed: the rest is
    put back, and the pack is kept.
    """
    folder = RunFolder(run)
    folder.manifest()
    if not (run / PACK).is_file():
        raise InputError(f"{run} is not packed: it has no {PACK}")
    with folder.held():
        return unpack_missing(run)


def unpack_missing(run: Path) -> int:
    """Put back every packed cell of ``run`` that has no file, and remove the pack. 0 where there is none."""
    source = run / PACK
    if not source.is_file():
        return 0
    folder, count, damaged = RunFolder(run), 0, []
    known = set(folder.manifest()["cells"])
    for key, content in _packed(source):
        if content is None or key not in known:
            damaged.append(key)
            continue
        count += 1
        if not _file(run, key).exists():
            folder.write(f"{CELLS}/{key}.json", content.decode())
    if damaged:
        raise DamagedFile(
            f"{source} is damaged: {len(damaged)} cells are not what was packed, the first {damaged[0][:60]!r}",
            hint="the others are unpacked; rename that file, and the run's command makes the missing ones again",
        )
    source.unlink()
    return count


def _new_file(run: Path) -> Path:
    """Make a file for a pack, under a name where nobody can have put a link."""
    try:
        handle, name = tempfile.mkstemp(prefix=".part-", suffix=f"-{PACK}", dir=run)
    except OSError as error:
        raise StorageError(f"cannot pack {run}: {error.strerror or error}") from None
    os.close(handle)
    part = Path(name)
    part.chmod(0o644)
    return part


def _is_text(content: bytes) -> bool:
    try:
        content.decode()
    except UnicodeDecodeError:
        return False
    return True


def _file(run: Path, key: str) -> Path:
    return run / CELLS / f"{key}.json"


def _line(run: Path, key: str) -> dict[str, Any]:
    content = _file(run, key).read_bytes()
    row = json.loads(content)["row"]
    return {
        "cell": key,
        "sha256": hashlib.sha256(content).hexdigest(),
        "content": content,
        **{name: row[name] for name in _FIELDS},
    }


def _packed(source: Path) -> Iterator[tuple[str, bytes | None]]:
    """Each cell and its bytes, ``None`` where they are not what was packed."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(source) as file:
            version = (file.schema_arrow.metadata or {}).get(_SCHEMA_KEY, b"").decode()
            if version != VERSION:
                raise InputError(
                    f"{source} has schema version {version!r}, this planroute reads {VERSION!r}",
                    hint="install the planroute version that wrote it",
                )
            for group in range(file.num_row_groups):
                for line in file.read_row_group(group, ["cell", "sha256", "content"]).to_pylist():
                    key, content = str(line["cell"]), line["content"]
                    whole = isinstance(content, bytes) and hashlib.sha256(content).hexdigest() == line["sha256"]
                    yield key, content if whole and _is_text(content) else None
    except (pa.ArrowException, KeyError, UnicodeError) as error:
        raise DamagedFile(
            f"{source} is damaged: {str(error).splitlines()[0]}",
            hint="rename that file, and the run's command makes the missing cells again",
        ) from None
    except OSError as error:
        raise InputError(f"cannot read {source}: {str(error).splitlines()[0]}") from None


__all__ = ["PACK", "pack", "unpack", "unpack_missing"]
