"""The addresses of an episode's sites: by placeholder, as origins, and what a browser may connect to."""

import re
from collections.abc import Mapping
from typing import Final
from urllib.parse import urlsplit

REFUSED: Final = "http://refused.invalid:1"
"""A proxy that no browser finds: what it is asked for fails."""
REFUSED_CODE: Final = "ERR_PROXY_CONNECTION_FAILED"
"""What a browser says of that."""

_PORTS: Final = {"http": 80, "https": 443}


class Places:
    """The sites at ``addresses``, by placeholder."""

    def __init__(self, addresses: Mapping[str, str]) -> None:
        self.addresses = {name: url.rstrip("/") for name, url in addresses.items()}
        self.origins = frozenset(origin(url) for url in self.addresses.values())

    def hold(self, url: str) -> bool:
        """Whether ``url`` is on one of the sites."""
        return origin(url) in self.origins

    def rendered(self, url: str) -> str:
        """``url`` with the address in place of a placeholder."""
        for name, address in self.addresses.items():
            if url == name or url.startswith((f"{name}/", f"{name}?")):
                return address + (url[len(name) :] or "/")
        return url

    def derendered(self, url: str) -> str:
        """``url`` with the placeholder in place of an address."""
        for name, address in self.addresses.items():
            if url == address or url.startswith((f"{address}/", f"{address}?", f"{address}#")):
                return name + url[len(address) :]
        return url

    def told(self, text: str) -> str:
        """``text`` with placeholders in place of the addresses in it."""
        for name, address in self.addresses.items():
            text = re.sub(re.escape(address) + r"(?![\w-]|[.:]\w)", name, text)
        return text

    def connections(self) -> dict[str, str]:
        """The proxy setting of a context that connects to the sites' hosts and ports, and to nothing else.

        It holds for every connection, also for those that a server's redirect asks for.
        """
        own = []
        for each in sorted(self.origins):
            parts = urlsplit(each)
            host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname
            own.append(f"{host}:{parts.port or _PORTS[parts.scheme]}")
        return {"server": REFUSED, "bypass": ",".join(own)}


def origin(url: str) -> str:
    """Scheme, host and port of ``url``; a socket has those of its site. Empty where it is no address."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return ""
    scheme = {"ws": "http", "wss": "https"}.get(parts.scheme, parts.scheme)
    return f"{scheme}://{parts.netloc}".lower()
