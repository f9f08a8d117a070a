"""The entries of a zip in memory, bounded by the size that each is declared to have.

Inspect packs its logs with Zstandard (method 93 of the zip format, APPNOTE 4.4.5), which ``zipfile`` cannot read before
Python 3.14; long entries are several frames in a row. Nothing is unpacked beyond an entry's declared size, so whoever
adds those sizes up knows beforehand what a file can grow to.
"""

import io
import struct
import zipfile
import zlib

ZSTANDARD = 93
LOCAL_HEADER = struct.Struct("<26xHH")
"""The fixed part of what stands before an entry's bytes; it ends with the lengths of name and extra field in bytes."""


def unpacked(archive: zipfile.ZipFile, data: bytes, entry: str) -> bytes:
    """Return the content of ``entry`` of ``archive``, whose bytes are ``data``.

    Raises ``ImportError`` where the library that unpacks Zstandard is missing, and otherwise what ``zipfile`` raises:
    ``BadZipFile``, ``zlib.error`` or ``EOFError`` for damage, ``RuntimeError`` for encryption.
    """
    info = archive.getinfo(entry)
    if info.compress_type == ZSTANDARD:
        return _zstandard(data, info)
    if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise zipfile.BadZipFile(f"{entry} is packed by method {info.compress_type}")
    with archive.open(info) as content:
        return content.read(info.file_size + 1)


def _zstandard(data: bytes, info: zipfile.ZipInfo) -> bytes:
    from backports import zstd

    if info.flag_bits & 1:
        raise zipfile.BadZipFile(f"{info.filename} is encrypted")
    try:
        start = info.header_offset + LOCAL_HEADER.size + sum(LOCAL_HEADER.unpack_from(data, info.header_offset))
        with zstd.ZstdFile(io.BytesIO(data[start : start + info.compress_size])) as content:
            found = content.read(info.file_size + 1)
    except (zstd.ZstdError, struct.error) as error:
        raise zipfile.BadZipFile(f"{info.filename}: {error}") from None
    if len(found) != info.file_size or zlib.crc32(found) != info.CRC:
        raise zipfile.BadZipFile(f"{info.filename} is not what was packed")
    return found
