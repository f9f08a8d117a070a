"""The floors of the package: what may import what, which words stay outside, how large a module may be.

Imports only point down. On a floor marked APART no module knows another; elsewhere neighbours may meet, as
long as no circle comes of it.
"""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

SRC = Path(__file__).parents[1] / "src"
PACKAGE = SRC / "planroute"

APART = True
FLOORS = (
    # top
    ("__main__",),
    ("cli",),
    ("experiments", "inspect_", APART),
    ("runs", "analysis", "batched"),
    ("episode", "contract"),
    ("router", "process", "evidence", "labelling", "testing"),
    ("declarers", "executors", "domains", "models", "evaluation", "importers", APART),
    ("ask",),
    ("protocols",),
    ("trace",),
    ("gate",),
    ("calls", "declaration", "reply", "mending"),
    ("plan", "ledger", "sandbox"),
    ("modes", "errors", "streams", APART),
    # bottom
)

# Beside the floors, from the bottom: each reads tables, may import those before it and what is named below.
# Whatever stands above `protocols` may import them.
TABLE_READERS = ("statistics", "selection", "reporting")
TABLE_READERS_MAY_IMPORT = {"modes", "errors", "streams"}
# The page of an analysis reads what the analysis found and the rows that it was made of.
READER_MAY_ALSO_IMPORT = {"reporting": {"analysis", "episode"}}

ONLY_IN = {"inspect_ai": "inspect_"}
HEAVY = (
    *("numba", "scipy", "httpx2", "openai", "xllamacpp", "matplotlib", "inspect_ai", "ray", "pandapower"),
    *("pandas", "pyarrow", "sklearn", "statsmodels"),
)
NO_NAMES = {"utils", "util", "helpers", "helper", "misc", "common"}
LINES = 400

MODE_WORDS = "predefined|sequential(ly)?|hierarch(y|ical|ically)|search(es|ed|ing)?"
GRID_WORDS = (
    "feeders?|grids?|laterals?|prosumers?|voltages?|hours?|hourly|kw|mw|kwh|mwh|curtail(s|ed|ment|ments)?|themes?"
    "|alfworld|webarena|swebench|mind2web"
)

LEVEL = {name: len(FLOORS) - i for i, floor in enumerate(FLOORS) for name in floor if name is not APART}
PLACED = {*LEVEL, *TABLE_READERS}
KNOWS_NO_NEIGHBOUR = {LEVEL[floor[0]] for floor in FLOORS if APART in floor}


def module_name(path: Path, src: Path = SRC) -> str:
    parts = path.relative_to(src).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def is_module(name: str, src: Path) -> bool:
    path = src.joinpath(*name.split("."))
    return path.is_dir() or path.with_suffix(".py").is_file()


def imports(path: Path, src: Path = SRC) -> Iterator[str]:
    """Every module that ``path`` imports, at any depth of its code, with relative names resolved."""
    package = module_name(path, src).split(".")
    if path.name != "__init__.py":
        package = package[:-1]
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            up = package[: len(package) - node.level + 1] if node.level else []
            base = ".".join([*up, *([node.module] if node.module else [])])
            for alias in node.names:
                name = f"{base}.{alias.name}"
                dunder_of_root = base == "planroute" and alias.name.startswith("__")
                if not dunder_of_root:
                    yield name if base.startswith("planroute") and is_module(name, src) else base


def floor_of(module: str) -> str:
    """The name under which ``module`` stands in the table; the package's own ``__init__`` has none."""
    return module.split(".")[1] if "." in module else ""


def may_import(importer: str, imported: str) -> bool:
    if importer == imported or importer == "":  # the package's own names may come from anywhere
        return True
    if imported == "":
        return False
    if not {importer, imported} <= PLACED:  # told by test_every_module_stands_in_the_table
        return True
    if importer in TABLE_READERS:
        below = TABLE_READERS[: TABLE_READERS.index(importer)]
        also = READER_MAY_ALSO_IMPORT.get(importer, set())
        return imported in below or imported in TABLE_READERS_MAY_IMPORT | also
    if imported in TABLE_READERS:
        return LEVEL[importer] > LEVEL["protocols"]
    if LEVEL[importer] == LEVEL[imported]:
        return LEVEL[importer] not in KNOWS_NO_NEIGHBOUR
    return LEVEL[importer] > LEVEL[imported]


def unplaced(src: Path) -> set[str]:
    modules = {floor_of(module_name(path, src)) for path in (src / "planroute").rglob("*.py")}
    return modules - PLACED - {""}


def upward(src: Path) -> list[str]:
    """A line for every import that points up, or sideways where neighbours must not know one another."""
    found = []
    for path in sorted((src / "planroute").rglob("*.py")):
        importer = module_name(path, src)
        for imported in imports(path, src):
            inside = imported == "planroute" or imported.startswith("planroute.")
            if inside and not may_import(floor_of(importer), floor_of(imported)):
                found.append(f"{importer} imports {imported}")
    return found


def circle(src: Path) -> list[str]:
    """The modules of one circle of imports, or nothing."""
    graph = {}
    for path in (src / "planroute").rglob("*.py"):
        name = module_name(path, src)
        graph[name] = {other for other in imports(path, src) if other.startswith("planroute.") and other != name}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return error.args[1]
    return []


def words(text: str) -> Iterator[tuple[int, str]]:
    """Every word with its line; identifiers are taken apart, and ``re.search`` is none."""
    for number, line in enumerate(text.splitlines(), 1):
        line = re.sub(r"\bre\.search\b", "", line)
        for word in re.findall(r"mind2web|[A-Z]+(?![a-z])|[A-Z]?[a-z]+", line, re.ASCII):
            yield number, word.lower()
        for whole in re.findall(r"[A-Za-z]+(?:2[A-Za-z]+)?", line):  # names with capitals of their own: WebArena
            if whole.lower() != whole:
                yield number, whole.lower()


def forbidden(folder: Path, pattern: str) -> list[str]:
    found = {
        f"{path.relative_to(folder.parent)}:{number}: {word}"
        for path in folder.rglob("*.py")
        for number, word in words(path.read_text())
        if re.fullmatch(pattern, word)
    }
    return sorted(found)


def test_every_module_stands_in_the_table():
    assert not unplaced(SRC), "a new top-level module: place it in FLOORS, on the lowest floor that it can stand on"


def test_imports_point_down():
    assert upward(SRC) == []


def test_no_circle_of_imports():
    assert circle(SRC) == []


@pytest.mark.parametrize(("library", "home"), ONLY_IN.items())
def test_library_is_imported_in_one_place_only(library, home):
    strangers = [
        module_name(path)
        for path in PACKAGE.rglob("*.py")
        if floor_of(module_name(path)) != home and any(name.split(".")[0] == library for name in imports(path))
    ]
    assert strangers == []


def test_domains_know_no_mode():
    assert forbidden(PACKAGE / "domains", MODE_WORDS) == []


def test_executors_know_no_domain():
    assert forbidden(PACKAGE / "executors", GRID_WORDS) == []


def test_modules_are_short():
    long = {module_name(p): n for p in PACKAGE.rglob("*.py") if (n := len(p.read_text().splitlines())) > LINES}
    assert not long, f"more than {LINES} lines: look for the seam"


def test_modules_are_named_after_what_they_hold():
    assert not [str(p.relative_to(SRC)) for p in PACKAGE.rglob("*") if p.name.removesuffix(".py") in NO_NAMES]


@pytest.mark.parametrize("module", [name for name in ("planroute", "planroute.cli") if is_module(name, SRC)])
def test_import_is_light(module):
    code = f"import sys, {module}; print(*[name for name in {HEAVY} if name in sys.modules])"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert loaded == [], "import it inside the function that uses it"


@pytest.fixture
def tree(tmp_path):
    """Write a small package; its modules by name, with their code."""

    def write(**modules: str) -> Path:
        for name, code in {"__init__": "", **modules}.items():
            path = tmp_path / "planroute" / f"{name.replace('__in__', '/')}.py"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(code)
        return tmp_path

    return write


@pytest.mark.parametrize(
    ("module", "code"),
    [
        ("plan", "import planroute.gate"),
        ("plan", "from planroute import gate"),
        ("plan", "from . import gate"),
        ("plan", "from .gate import Gate"),
        ("plan", "def late():\n    from planroute.gate import Gate"),
        ("plan", "from planroute import Gate"),
        ("modes", "import planroute.errors"),
        ("statistics", "import planroute.plan"),
        ("statistics", "import planroute.selection"),
        ("protocols", "import planroute.statistics"),
        ("executors__in__walk", "from ..domains import grid"),
        ("executors__in__walk", "from planroute.declarers.fixed import fixed"),
    ],
)
def test_an_import_that_points_up_is_found(tree, module, code):
    src = tree(gate="", errors="", selection="", declarers__in__fixed="", domains__in__grid="", **{module: code})
    assert upward(src)


@pytest.mark.parametrize(
    ("module", "code"),
    [
        ("gate", "from planroute.plan import Plan"),
        ("calls", "from planroute.declaration import Clip"),
        ("selection", "import planroute.statistics, planroute.errors"),
        ("declarers__in__learned", "from planroute.selection import ridge"),
        ("executors__in__walk", "from .carry_out import carry_out"),
        ("cli", "from planroute import __version__"),
        ("__init__", "from planroute.episode import run"),
        ("plan", "import json"),
    ],
)
def test_an_import_that_points_down_is_not(tree, module, code):
    assert upward(tree(**{"executors__in__carry_out": "", module: code})) == []


def test_a_circle_is_found(tree):
    assert circle(tree(calls="from . import reply", reply="import planroute.calls"))


def test_an_unplaced_module_is_found(tree):
    assert unplaced(tree(novelty="")) == {"novelty"}


@pytest.mark.parametrize(
    "text",
    [
        "Mode.SEARCH",
        "hierarchical_plan",
        "planSequential",
        "# searches",
        '"Predefined"',
        "class SearchWorld:",
    ],
)
def test_a_mode_word_is_found(tmp_path, text):
    (tmp_path / "domain.py").write_text(text)
    assert forbidden(tmp_path, MODE_WORDS)


@pytest.mark.parametrize("text", ["re.search(a, b)", "np.searchsorted(a, b)", "research", "subsequent"])
def test_another_word_is_not(tmp_path, text):
    (tmp_path / "domain.py").write_text(text)
    assert forbidden(tmp_path, MODE_WORDS) == []


@pytest.mark.parametrize("text", ["p_kw", "the next hour", "WebArena", "ALFWorld", "Mind2Web", "laterals", "GridWorld"])
def test_a_domain_word_is_found(tmp_path, text):
    (tmp_path / "executor.py").write_text(text)
    assert forbidden(tmp_path, GRID_WORDS)
