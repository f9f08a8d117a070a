"""What the browser and the evaluator find in their environment: what they need to start, and no key of anybody."""

import os
from typing import Final

NAMES: Final = {
    *("PATH", "HOME", "USER", "LOGNAME", "SHELL", "TMPDIR", "TZ", "LANG", "LANGUAGE", "DISPLAY", "WAYLAND_DISPLAY"),
    *("LD_LIBRARY_PATH", "DBUS_SESSION_BUS_ADDRESS", "CHROME_DEVEL_SANDBOX", "PLAYWRIGHT_BROWSERS_PATH"),
}
PREFIXES: Final = ("LC_", "XDG_", "FONTCONFIG_")
FOR_INSTALLING: Final = ("_API_KEY", "_TOKEN", "_SECRET", "_SECRET_KEY", "_ACCESS_KEY")
"""How the names of keys end; an installer sees everything else, among it where its packages come from."""


def surroundings() -> dict[str, str]:
    """The environment of a program that reads what others wrote."""
    return {name: value for name, value in os.environ.items() if name in NAMES or name.startswith(PREFIXES)}


def of_an_installer() -> dict[str, str]:
    """The environment of an installer, without keys."""
    return {name: value for name, value in os.environ.items() if not name.upper().endswith(FOR_INSTALLING)}
