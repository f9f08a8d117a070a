"""Audit the pinned dependencies for known vulnerabilities, by pip-audit.

Exit 0: none, or none that `audit.toml` does not let pass; 1: at least one; 2: the list or the pins cannot be read.
Where no service for vulnerabilities can be reached, one line says so, and the exit status is 0.
"""

import argparse
import datetime
import json
import subprocess
import sys
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
SERVICES = (("--vulnerability-service", "pypi"), ("--vulnerability-service", "osv"))
"""Asked in this order, until one answers."""


def main() -> int:
    """Ask, print what was found, and return the exit status."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--pins", type=Path, default=HERE.parent / "requirements.lock")
    options.add_argument("--ignored", type=Path, default=HERE / "audit.toml")
    options.add_argument("--osv-url", help="a service that speaks OSV's protocol, instead of the usual ones")
    given = options.parse_args()
    try:
        passing = ignored(given.ignored)
    except (OSError, ValueError) as error:
        print(f"audit: {given.ignored}: {error}", file=sys.stderr)
        return 2
    services = [("--vulnerability-service", "osv", "--osv-url", given.osv_url)] if given.osv_url else SERVICES
    for service in services:
        done = subprocess.run(
            [
                *(sys.executable, "-m", "pip_audit", "--requirement", str(given.pins), "--no-deps", "--disable-pip"),
                *("--format", "json", "--progress-spinner", "off", "--timeout", "20", *service),
            ],
            capture_output=True,
            text=True,
            check=False,
        )
        try:
            packages = json.loads(done.stdout)["dependencies"]
        except (ValueError, KeyError):
            last = (done.stderr.strip().splitlines() or ["no reason was given"])[-1]
            if "Error" in last and ("Connection" in last or "Timeout" in last or "HTTP" in last):
                continue
            print(f"audit: pip-audit failed: {last[:300]}", file=sys.stderr)
            return 2
        audited = [package for package in packages if "vulns" in package]
        if audited:
            return told(audited, len(packages) - len(audited), passing)
    print("audit: no service for known vulnerabilities can be reached: NOT AUDITED")
    return 0


def ignored(path: Path) -> dict[str, datetime.date]:
    """Return what the list lets pass, and until when. Raises ``ValueError`` where an entry lacks anything."""
    found = {}
    for entry in tomllib.loads(path.read_text(encoding="utf-8")).get("ignored", []):
        name, reason, until = (entry.get(key) for key in ("id", "reason", "until"))
        if not (isinstance(name, str) and name and isinstance(reason, str) and reason.strip()):
            raise ValueError("every entry needs an id and a reason")
        if type(until) is not datetime.date:
            raise ValueError(f"{name} needs a day: until = 2027-01-31")
        found[name] = until
    return found


def told(packages: Sequence[dict[str, Any]], left_out: int, passing: dict[str, datetime.date]) -> int:
    """Print every vulnerability with what mends it, then a summary; return the exit status."""
    today = datetime.datetime.now(datetime.UTC).date()
    failed, seen = 0, set()
    for package in packages:
        for found in package["vulns"]:
            names = {found["id"], *found.get("aliases", ())}
            allowed = [name for name in names if name in passing]
            seen.update(allowed)
            lets_pass = any(today < passing[name] for name in allowed)
            failed += not lets_pass
            mended = ", ".join(found.get("fix_versions", ())) or "no version yet"
            verdict = "ignored" if lets_pass else "no longer ignored" if allowed else "FOUND"
            print(f"audit: {verdict}: {package['name']} {package['version']}: {found['id']}, mended in {mended}")
    for name in sorted(passing.keys() - seen):
        print(f"audit: {name} is not found any more: take it off the list")
    apart = f", {left_out} that the service does not know" if left_out else ""
    print(f"audit: {len(packages)} packages{apart}; {failed} vulnerabilities to mend")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
