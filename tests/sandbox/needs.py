"""What tests of commands need of a machine: a jail. In CI it must be there; elsewhere they are skipped without one."""

import os

import pytest

from planroute.sandbox import Jail

needs_jail = pytest.mark.skipif(
    bool(Jail.problem()) and not os.environ.get("CI"), reason=f"no jail on this machine: {Jail.problem()}"
)
