"""What the documents show is true: marked console examples are run, and docstring examples too.

A block is run where ``<!-- runs -->`` stands on the line before it, or ``<!-- runs slow -->`` for one that is
run with the slow tests::

    <!-- runs -->
    ```console
    $ planroute --version
    planroute 0.1.0
    ```

Its commands run one after another in an empty folder and must succeed. Lines under a command must occur in
its output in this order; ``...``, alone or within a line, stands for anything.
"""

import doctest
import importlib
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PROGRAMS = ("planroute", "inspect")
BLOCK = re.compile(r"^<!-- runs( slow)? -->\n+```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
MARK = re.compile(r"^<!-- runs.*$", re.MULTILINE)

Example = tuple[str, list[str]]


def examples(block: str) -> list[Example]:
    """The commands of a block, each with the lines shown under it."""
    found: list[Example] = []
    for line in block.splitlines():
        if line.startswith("$ "):
            found.append((line.removeprefix("$ "), []))
        elif line.strip() and line.strip() != "...":
            found[-1][1].append(" ".join(line.split()))
    return found


def documents() -> list[Path]:
    return [path for path in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))] if path.is_file()]


def blocks():
    for path in documents():
        text = path.read_text()
        for match in BLOCK.finditer(text):
            place = f"{path.relative_to(ROOT)}:{text.count(chr(10), 0, match.start()) + 1}"
            yield pytest.param(match[2], id=place, marks=[pytest.mark.slow] if match[1] else [])


def run(block: str, folder: Path) -> None:
    env = os.environ | {"NO_COLOR": "1", "COLUMNS": "110"}
    for command, shown in examples(block):
        program, *arguments = shlex.split(command)
        assert program in PROGRAMS, f"only {' and '.join(PROGRAMS)} are run here: {command}"
        done = subprocess.run(
            [str(Path(sys.executable).parent / program), *arguments],
            cwd=folder,
            env=env,
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
            timeout=900,
            check=False,
        )
        assert done.returncode == 0, f"$ {command}\n{done.stdout}{done.stderr}"
        lines = iter(" ".join(line.split()) for line in done.stdout.splitlines())
        for line in shown:
            wanted = re.compile(".*".join(map(re.escape, line.split("..."))))
            assert any(wanted.fullmatch(found) for found in lines), (
                f"$ {command}\nshows no line {line!r} (in this order):\n{done.stdout}"
            )


@pytest.mark.parametrize("block", list(blocks()))
def test_example_runs(block, tmp_path):
    run(block, tmp_path)


def test_every_mark_stands_before_a_console_block():
    astray = [
        str(p.relative_to(ROOT))
        for p in documents()
        if len(MARK.findall(p.read_text())) != len(BLOCK.findall(p.read_text()))
    ]
    assert astray == []


def with_examples() -> list[str]:
    paths = (
        path for path in sorted((ROOT / "src").rglob("*.py")) if re.search(r"^\s*>>> ", path.read_text(), re.MULTILINE)
    )
    return [".".join(p.relative_to(ROOT / "src").with_suffix("").parts).removesuffix(".__init__") for p in paths]


@pytest.mark.parametrize("module", with_examples())
def test_docstring_examples(module):
    result = doctest.testmod(importlib.import_module(module))
    assert result.attempted > 0
    assert result.failed == 0


def test_a_block_is_taken_apart():
    text = "<!-- runs -->\n```console\n$ planroute a\none\n...\n  two   three\n$ planroute b\n```\n"
    assert examples(BLOCK.search(text)[2]) == [("planroute a", ["one", "two three"]), ("planroute b", [])]


@pytest.mark.parametrize(
    ("block", "holds"),
    [
        ("$ planroute\none\nthree four\n", True),
        ("$ planroute\nthree four\none\n", False),
        ("$ planroute\nfive\n", False),
        ("$ planroute fail\n", False),
        ("$ rm -r .\n", False),
    ],
)
def test_a_false_example_is_found(block, holds, tmp_path, monkeypatch):
    program = tmp_path / "planroute"
    program.write_text("#!/bin/sh\necho one; echo two; echo 'three   four'; test -z \"$1\"\n")
    program.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    if holds:
        run(block, tmp_path)
    else:
        with pytest.raises(AssertionError):
            run(block, tmp_path)
