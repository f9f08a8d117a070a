"""The state of a browser that is signed in, as Playwright saves one: cookies, and what sites keep, by origin."""

from pathlib import Path
from typing import Final, Literal, Self

from pydantic import BaseModel, ConfigDict, ValidationError, model_validator

from planroute.domains.text.task_files import contents, reason
from planroute.errors import InputError

HINT: Final = "give a storage state as Playwright saves one: cookies and origins, in JSON"


def check_storage(path: Path) -> None:
    """Raise ``InputError`` where ``path`` holds nothing that a browser can be opened with."""
    try:
        if not path.is_file():
            raise InputError("is not a file" if path.exists() else "does not exist")
        (held,) = contents(path, suffix=".json")
        _State.model_validate(held)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(map(str, first["loc"])) or "it"
        raise InputError(f"--storage {path}: {where}: {first['msg']}", hint=HINT) from None
    except (InputError, OSError) as error:
        raise InputError(f"--storage {path}: {reason(error)}", hint=HINT) from None


class _Part(BaseModel):
    model_config = ConfigDict(strict=True, allow_inf_nan=False)


class _Cookie(_Part):
    name: str
    value: str
    url: str | None = None
    domain: str | None = None
    path: str | None = None
    expires: float | None = None
    httpOnly: bool | None = None
    secure: bool | None = None
    sameSite: Literal["Strict", "Lax", "None"] | None = None

    @model_validator(mode="after")
    def _is_for_somewhere(self) -> Self:
        if not (self.url or (self.domain and self.path)):
            raise ValueError("a cookie has a url, or a domain and a path")
        return self


class _Entry(_Part):
    name: str
    value: str


class _Origin(_Part):
    origin: str
    localStorage: list[_Entry] = []


class _State(_Part):
    cookies: list[_Cookie] = []
    origins: list[_Origin] = []
