"""How the repositories of SWE-bench Verified are tested, for records that do not say it themselves.

Source: ``MAP_REPO_VERSION_TO_SPECS`` and ``MAP_REPO_TO_PARSER`` of swebench 4.1, which later versions have no more.
"""

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Testing:
    """The command that runs the tests, to which their files are added, and the library's parser of its output.

    ``modules`` says that the command wants names of modules below ``tests`` and no files.
    """

    command: str
    parser: str
    modules: bool = False


_SYMPY: Final = "PYTHONWARNINGS='ignore::UserWarning,ignore::SyntaxWarning' bin/test -C --verbose"

REPOSITORIES: Final[dict[str, Testing]] = {
    "astropy/astropy": Testing("pytest -rA", "parse_log_astropy"),
    "django/django": Testing(
        "./tests/runtests.py --verbosity 2 --settings=test_sqlite --parallel 1", "parse_log_django", modules=True
    ),
    "matplotlib/matplotlib": Testing("pytest -rA", "parse_log_matplotlib"),
    "mwaskom/seaborn": Testing("pytest --no-header -rA", "parse_log_seaborn"),
    "pallets/flask": Testing("pytest -rA", "parse_log_flask"),
    "psf/requests": Testing("pytest -rA", "parse_log_requests"),
    "pydata/xarray": Testing("pytest -rA", "parse_log_xarray"),
    "pylint-dev/pylint": Testing("pytest -rA", "parse_log_pylint"),
    "pytest-dev/pytest": Testing("pytest -rA", "parse_log_pytest"),
    "scikit-learn/scikit-learn": Testing("pytest -rA", "parse_log_scikit"),
    "sphinx-doc/sphinx": Testing("tox --current-env -epy39 -v --", "parse_log_sphinx"),
    "sympy/sympy": Testing(_SYMPY, "parse_log_sympy"),
    "planroute/ledgers": Testing("python -m pytest -rA", "parse_log_pytest"),
}
"""By owner and name; the last one is of the project's own."""

NO_TESTS: Final = (".json", ".png", "csv", ".txt", ".md", ".jpg", ".jpeg", ".pkl", ".yml", ".yaml", ".toml")
"""Endings of files in a tests' patch that are no tests (``NON_TEST_EXTS`` of the library)."""
