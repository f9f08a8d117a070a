"""The prompts of text domains as templates, one file each. Their words are part of a call's identity."""

from functools import cache
from importlib.resources import files
from string import Template

VERSION = "1"
"""Counts up with every change of a template; stored with each run."""


@cache
def template(name: str) -> Template:
    """Return the template called ``name``: text with ``$placeholders``."""
    return Template(files(__name__).joinpath(f"{name}.txt").read_text(encoding="utf-8").strip())


def prompt(name: str, **values: str) -> str:
    """Fill the template called ``name``. Raises ``KeyError`` where a value is missing."""
    return template(name).substitute(values)
