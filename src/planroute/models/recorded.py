"""A model that only repeats what was recorded: the call cache's file, or the lines that its ``export`` wrote."""

import json
from contextlib import closing
from pathlib import Path

from planroute.calls import ModelReply, ModelRequest
from planroute.errors import InputError, ModelMissing, StorageError
from planroute.models.cache import CallCache
from planroute.models.record import CallRecord

_SQLITE = b"SQLite format 3\x00"


class RecordedModel:
    """Answers from the recording in ``path``, never billed, under the endpoint that was recorded.

    ``endpoint`` is needed only where the recording holds calls of several. Raises ``InputError`` where the file is
    missing, empty or not a recording, or the endpoint is not in it.
    """

    def __init__(self, path: str | Path, endpoint: str | None = None) -> None:
        self.path = Path(path)
        self._records = {record.identity: record for record in _read(self.path)}
        endpoints = sorted({json.loads(record.request)["endpoint"] for record in self._records.values()})
        if endpoint is None and len(endpoints) == 1:
            (endpoint,) = endpoints
        if endpoint is None or endpoint not in endpoints:
            raise InputError(
                f"{self.path} holds calls of {len(endpoints)} models: {', '.join(endpoints) or 'none'}",
                hint=f"name one of them: recorded:{self.path}#ENDPOINT",
            )
        self._endpoint = endpoint

    @property
    def endpoint(self) -> str:
        """The endpoint whose calls were recorded: identities are those of the recorded run."""
        return self._endpoint

    async def complete(self, request: ModelRequest) -> ModelReply:
        """Repeat the recorded reply. Raises ``ModelMissing`` where the question was not recorded."""
        identity = request.identity(self.endpoint)
        record = self._records.get(identity)
        if record is None:
            raise ModelMissing(
                f"{self.path} holds no answer for {request.purpose!r} (identity {identity[:16]})",
                hint="record the run again with the model itself",
            )
        return record.answers(request.canonical(self.endpoint), str(self.path))

    async def aclose(self) -> None:
        """Nothing is held."""


def _read(path: Path) -> list[CallRecord]:
    try:
        with path.open("rb") as file:
            is_cache = file.read(len(_SQLITE)) == _SQLITE
        if is_cache:
            with closing(CallCache(path)) as cache:
                return list(cache)
        lines = path.read_text(encoding="utf-8").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"cannot read the recording {path}: {error}") from None
    records = []
    for number, line in enumerate(lines, 1):
        try:
            if line.strip():
                records.append(CallRecord.from_json(line))
        except StorageError as error:
            raise InputError(f"{path}, line {number}: {error}") from None
    return records
