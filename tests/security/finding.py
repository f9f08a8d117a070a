"""Looking for a secret in whatever a run left behind, in every form in which bytes usually travel."""

import base64
import html
import io
import json
import re
import sqlite3
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from urllib.parse import quote, quote_plus

from planroute.importers.packed import unpacked


def forms(secret: str) -> set[bytes]:
    """``secret`` as it is, as JSON, HTML, a URL and Python write it, in UTF-16, in hex, in Base64 at every offset."""
    texts = {
        secret,
        json.dumps(secret)[1:-1],
        json.dumps(json.dumps(secret)[1:-1])[1:-1],
        html.escape(secret),
        html.escape(secret, quote=False),
        quote(secret),
        quote(secret, safe=""),
        quote_plus(secret),
        repr(secret)[1:-1],
    }
    raw = secret.encode()
    found = {text.encode() for text in texts} | {secret.encode("utf-16-le"), raw.hex().encode()}
    for encode in (base64.b64encode, base64.urlsafe_b64encode):
        for before in range(3):
            # The signs at both ends also depend on the neighbours.
            whole = encode(b"\0" * before + raw).rstrip(b"=")
            found.add(whole[(0, 2, 3)[before] : len(whole) - 1])
    return found


def contents(path: Path) -> Iterator[tuple[str, bytes]]:
    """Every byte of the file ``path``, and what is packed in it: zips, Parquet, SQLite, compressed streams of a PDF."""
    data = path.read_bytes()
    yield str(path), data
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            for name in archive.namelist():
                yield f"{path}!{name}", unpacked(archive, data, name)
    if data.startswith(b"PAR1"):
        from pyarrow import parquet

        table = parquet.ParquetFile(path).read()
        yield f"{path}!columns", repr([table.schema.metadata, table.to_pylist()]).encode()
        yield f"{path}!json", json.dumps(table.to_pylist(), default=str).encode()
    if data.startswith(b"SQLite format 3\0"):
        with closing(sqlite3.connect(path)) as opened:
            yield f"{path}!rows", "\n".join(opened.iterdump()).encode()
    if data.startswith(b"%PDF"):
        for stream in re.findall(rb"stream\r?\n(.*?)endstream", data, re.DOTALL):
            try:
                yield f"{path}!stream", zlib.decompress(stream)
            except zlib.error:
                continue


def leaks(secrets: list[str], folder: Path, *shown: str) -> list[str]:
    """Where any of ``secrets`` is: in a name or a byte of the files below ``folder``, or in what was ``shown``."""
    wanted = set().union(*map(forms, secrets))
    found = [f"shown: {text[:300]!r}" for text in shown if any(form in text.encode() for form in wanted)]
    for path in sorted(folder.rglob("*")):
        where = str(path.relative_to(folder)).encode("utf-8", "surrogateescape")
        found += [f"name: {where!r}" for form in wanted if form in where]
        if path.is_file():
            found += [f"{name}: {form!r}" for name, data in contents(path) for form in wanted if form in data]
    return found
