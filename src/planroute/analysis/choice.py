"""Which condition to use: the one that is clearly best, or else the cheapest not clearly worse than the first."""

from collections.abc import Mapping
from typing import Any

from planroute.analysis.estimates import difference, estimate, excludes_zero
from planroute.analysis.executions import Executions, flat


def choice(executions: Executions, costs: Mapping[str, Any]) -> dict[str, Any]:
    """Return the condition that comes out ``best``, how far others are ``behind``, and the ``default`` to use.

    All conditions that executed compete, planning or not. ``clear`` says that the best is clearly ahead of all others;
    it is then the default. Otherwise the default is the cheapest of those that are not clearly worse, and nothing says
    that it is as good. ``price`` is what the best costs more than the default for one more success.
    """
    side = executions.measure.side
    names = [name for name in executions.conditions if executions.values(name)]
    if len(names) < 2:
        return {"status": "not_run", "why": "needs two conditions on the same tasks: --conditions all"}
    values = {name: estimate(*flat(executions.values(name), executions.cases), f"choice {name}") for name in names}
    unit = costs["unit"]
    spent = {name: costs["conditions"][name][unit]["mean"] for name in names}
    best = max(names, key=lambda name: (side * values[name]["mean"], -spent[name]))
    means = {name: executions.means(name) for name in names}
    behind = {
        name: difference(means[best], means[name], side, f"choice {best} against {name}")
        for name in names
        if name != best
    }
    level = [best, *(name for name, one in behind.items() if not excludes_zero(one))]
    default = min(level, key=lambda name: (spent[name], name))
    gain = side * (values[best]["mean"] - values[default]["mean"])
    return {
        "status": "done",
        "best": best,
        "default": default,
        "clear": len(level) == 1,
        "values": values,
        "behind": behind,
        "level": level,
        "price": (spent[best] - spent[default]) / gain if executions.measure.name == "success" and gain > 0 else None,
    }
