"""The report of a run: one HTML file that opens without network and can be mailed.

Every domain composes its own page (``PAGES``); a run of any other domain gets the sections that need no domain. All
text of a run is untrusted: templates escape it, the script's data is escaped JSON, and a content security policy admits
the report's own style and script by their hashes and nothing else.
"""

import base64
import hashlib
import json
import re
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from planroute.reporting import grid, sections, text, verdict
from planroute.reporting.page import Page
from planroute.reporting.placing import placed
from planroute.reporting.reading import Evidence, Run, read_run
from planroute.reporting.wording import css, label

REPORT = "report.html"
PAGES: Mapping[str, Callable[[Run], Page]] = {
    "grid": grid.page,
    "alfworld": text.page,
    "mind2web": text.page,
    "swebench": text.page,
    "webarena": text.page,
}
"""Who composes the page of each domain; every text domain shares one."""
ASSETS: Mapping[Callable[[Run], Page], tuple[tuple[str, ...], str]] = {
    text.page: (("style.css", "text.css"), "text.js"),
}
"""Styles and script of a page, where it needs more than the common ones."""


def write_report(folder: Path, evidence: Evidence | None = None) -> Path:
    """Write ``report.html`` into the run's ``folder`` and return its path.

    Raises ``InputError`` where the run is missing or damaged, ``StorageError`` where the file cannot be written.
    """
    return write_page(folder, render_report(folder, evidence))


def write_page(folder: Path, text: str, name: str = REPORT) -> Path:
    """Write ``text`` as the page ``name`` of ``folder``, whole. Raises ``StorageError`` where that is impossible."""
    with placed(folder, name) as part:
        part.write_bytes(text.encode("utf-8", "replace"))
    return folder / name


def render_report(folder: Path, evidence: Evidence | None = None) -> str:
    """Return the report of the run in ``folder``. Raises ``InputError`` where the run is missing or damaged."""
    run = read_run(folder, evidence)
    compose = PAGES.get(run.manifest.domain, _plain)
    page = compose(run)
    styles, script = ASSETS.get(compose, (("style.css",), "report.js"))
    return render_page(page, run.manifest.planroute, styles, script, stand_in=verdict.stand_in(run))


def render_page(
    page: Page,
    version: str,
    styles: tuple[str, ...],
    script_name: str,
    *,
    stand_in: str | None = None,
    images: bool = False,
) -> str:
    """Return ``page`` as one HTML file, with the package's own styles and script; ``images`` admits data images."""
    style, script = "".join(map(_asset, styles)), _asset(script_name)
    return (
        _environment()
        .get_template("page.html.j2")
        .render(
            page=page,
            version=version,
            stand_in=stand_in,
            style=Markup(style),  # noqa: S704 - the package's own file
            script=Markup(script),  # noqa: S704 - the package's own file
            policy=_policy(style, script) + ("; img-src data:" if images else ""),
            data=None if page.data is None else embedded_json(page.data),
        )
    )


def _plain(run: Run) -> Page:
    return Page(
        title=f"{run.manifest.domain} run",
        sentence=verdict.outcomes(run),
        cautions=verdict.cautions(run, None),
        figures=(),
        sections=(sections.declared(run), sections.how_made(run, [], [])),
    )


def embedded_json(value: Any) -> Markup:
    """JSON that may stand in a script element: without any character that could end it or open a comment.

    Nor does it hold a character that turns the order of what is shown.
    """
    text = _TURNING_ESCAPE.sub(r"\1\\ufffd", json.dumps(value, separators=(",", ":"), allow_nan=False))
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return Markup(text)  # noqa: S704 - escaped above; what is beyond ASCII was escaped by json


def _policy(*allowed: str) -> str:
    style, script = (
        f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'" for text in allowed
    )
    return f"default-src 'none'; style-src {style}; script-src {script}; base-uri 'none'; form-action 'none'"


def _asset(name: str) -> str:
    return (Path(__file__).parent / "templates" / name).read_text(encoding="utf-8")


_TURNING = (*range(0x202A, 0x202F), *range(0x2066, 0x206A))
"""What turns the order in which the characters after it are shown, beyond the end of its own text."""
_TURNING_ESCAPE = re.compile(r"((?<!\\)(?:\\\\)*)\\u(?:202[a-e]|206[6-9])")
_CONTROLS: dict[int, str | None] = dict.fromkeys([*range(9), 11, 12, *range(14, 32), *range(127, 160)])
_CONTROLS |= dict.fromkeys(_TURNING, "\ufffd")


def _without_controls(value: Any) -> Any:
    """Text without what steers a terminal or passes for other text; a report is not looked at in browsers alone."""
    return value.translate(_CONTROLS) if isinstance(value, str) else value


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("planroute.reporting"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_without_controls,
    )
    environment.filters.update(label=label, css=css)
    return environment
