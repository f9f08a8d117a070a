"""A small site on a free port of 127.0.0.1, with a state of its own that ends with it."""

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final, Protocol
from urllib.parse import parse_qs, urlsplit

MOST_BODY: Final = 1_000_000


@dataclass(frozen=True, slots=True)
class Asked:
    """A request: method, path, the first value of each field of query and form, and whether it is signed in."""

    method: str
    path: str
    query: Mapping[str, str]
    form: Mapping[str, str]
    signed_in: bool


@dataclass(frozen=True, slots=True)
class Answer:
    """A page, or the address to go on to. ``cookie`` is set with it."""

    body: str = ""
    status: int = 200
    location: str = ""
    cookie: str = ""
    headers: Sequence[tuple[str, str]] = field(default=())


class Site(Protocol):
    """What a site answers."""

    def answer(self, asked: Asked) -> Answer:
        """Answer one request."""


class Served:
    """A site while it is served. ``address`` has no slash at its end."""

    def __init__(self, site: Site) -> None:
        self.site = site
        self._server = _Server(site)
        self.address = f"http://127.0.0.1:{self._server.server_address[1]}"
        self._thread = threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, name="site", daemon=True
        )
        self._thread.start()

    def close(self) -> None:
        """Stop serving. May be called twice."""
        if self._thread.is_alive():
            self._server.shutdown()
            self._thread.join()
            self._server.server_close()


def serve(site: Site) -> Served:
    """Serve ``site``."""
    return Served(site)


def page(title: str, body: str, links: Sequence[tuple[str, str]] = ()) -> Answer:
    """A page with links at its head. ``body`` is markup, ``title`` and links are texts."""
    nav = " ".join(link(name, href) for name, href in links)
    return Answer(
        f"<!doctype html><html lang=en><head><meta charset=utf-8><title>{escape(title)}</title></head>"
        f"<body><nav>{nav}</nav><main><h1>{escape(title)}</h1>{body}</main></body></html>"
    )


def link(name: str, href: str) -> str:
    """A link by its text."""
    return f'<a href="{escape(href)}">{escape(name)}</a>'


def to(path: str, cookie: str = "") -> Answer:
    """Go on to ``path``."""
    return Answer(status=303, location=path, cookie=cookie)


def missing() -> Answer:
    """There is no such page."""
    return Answer("<!doctype html><title>Not found</title><h1>Not found</h1>", 404)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def __init__(self, site: Site) -> None:
        self.site = site
        self.lock = threading.Lock()
        super().__init__(("127.0.0.1", 0), _Handler)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A browser that goes away is no error."""


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    protocol_version = "HTTP/1.1"
    timeout = 30

    def do_GET(self) -> None:
        """Answer a GET."""
        self._answer({})

    def do_POST(self) -> None:
        """Answer a POST."""
        length = min(int(self.headers.get("Content-Length") or 0), MOST_BODY)
        self._answer(_first(self.rfile.read(length).decode("utf-8", "replace")))

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing is logged."""

    def _answer(self, form: Mapping[str, str]) -> None:
        parts = urlsplit(self.path)
        signed_in = "session=1" in (self.headers.get("Cookie") or "")
        asked = Asked(self.command, parts.path, _first(parts.query), form, signed_in)
        handle: Callable[[Asked], Answer] = self.server.site.answer
        with self.server.lock:
            answer = handle(asked)
        body = answer.body.encode()
        self.send_response(answer.status)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "no-store")
        if answer.location:
            self.send_header("Location", answer.location)
        if answer.cookie:
            self.send_header("Set-Cookie", f"{answer.cookie}; Path=/; HttpOnly; SameSite=Lax")
        for name, value in answer.headers:
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)


def _first(text: str) -> dict[str, str]:
    return {name: values[0] for name, values in parse_qs(text, keep_blank_values=True).items()}
