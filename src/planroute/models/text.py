"""Text of others, made fit to be shown and to be stored."""

import json
import math
from collections.abc import Mapping
from typing import Any, Final

COUNT_BELOW: Final = 2**63
"""No count is larger: what is not below it fits into no table."""

_DEPTH: Final = 8


def storable(text: str) -> str:
    """Return ``text`` with a question mark for every lone surrogate, which UTF-8 cannot hold."""
    return text.encode("utf-8", "replace").decode()


def one_line(text: str) -> str:
    """Return the printable characters of ``text`` on one line: no controls, and nothing that turns its direction."""
    return "".join(character for character in " ".join(text.split()) if character.isprintable())


def utf8_json(value: Any) -> Any:
    """Return the JSON value ``value`` with storable texts throughout."""
    text = json.dumps(value, ensure_ascii=False)
    try:
        text.encode()
    except UnicodeEncodeError:
        return json.loads(storable(text))
    return value


def plain_account(raw: Mapping[str, Any], depth: int = _DEPTH) -> dict[str, Any]:
    """Return a provider's account as strict JSON can hold it: what no number or text can be is ``None``."""
    return {storable(str(name)): _plain(value, depth - 1) for name, value in raw.items()}


def _plain(value: Any, depth: int) -> Any:
    if isinstance(value, str):
        return storable(value)
    if isinstance(value, int):
        return value if abs(value) < COUNT_BELOW else None
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if depth > 0 and isinstance(value, Mapping):
        return plain_account(value, depth)
    if depth > 0 and isinstance(value, list | tuple):
        return [_plain(item, depth - 1) for item in value]
    return None


def spellings(secret: str) -> set[str]:
    """``secret`` as an endpoint may repeat it: as it is, or as JSON, HTML, a URL, Python or a header spells it."""
    from base64 import b64encode
    from html import escape
    from urllib.parse import quote, quote_plus, unquote

    once = json.dumps(secret)[1:-1]
    found = {secret, once, json.dumps(once)[1:-1], escape(secret), escape(secret, quote=False), repr(secret)[1:-1]}
    found |= {quote(secret), quote(secret, safe=""), quote_plus(secret), unquote(secret)}
    return (found | {b64encode(secret.encode("utf-8", "replace")).decode()}) - {""}
