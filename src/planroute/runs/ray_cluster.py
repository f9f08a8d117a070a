"""Ray itself: one of this process's own on 127.0.0.1, or a cluster that is joined."""

import atexit
import os
import secrets
import shutil
import signal
import socket
import tempfile
import threading
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

from planroute.errors import InputError, PlanrouteError

LOOPBACK: Final = "127.0.0.1"
PATIENCE_S: Final = 5.0
"""How long a cluster's port may take to accept a connection."""
STORE_BYTES: Final = 256 * 2**20
"""Of memory that a Ray of one's own takes for what is sent to workers; what is larger goes to disk."""
AUTO: Final = "auto"

_QUIET: Final = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_ENABLE_UV_RUN_RUNTIME_ENV": "0",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
    "RAY_DISABLE_IMPORT_WARNING": "1",
    # A busy machine starts its processes slowly.
    "RAY_agent_register_timeout_ms": "120000",
    "RAY_worker_register_timeout_seconds": "120",
}
_ALONE: Final = {
    # The switch with which Ray stays on the loopback interface: an address alone is turned into one that others reach.
    "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",
    "RAY_AUTH_MODE": "token",
}
STARTS: Final = 3
"""How often a Ray of one's own is started where it does not come up in the half minute that it allows itself."""
_scratch: list[Path] = []


def require_ray() -> None:
    """Raise ``InputError`` where Ray is not installed."""
    if find_spec("ray") is None:
        raise InputError("--runner ray needs Ray", hint="pip install 'planroute[ray]'")


def checked_address(address: str) -> str:
    """Return ``address`` as Ray takes it. Raises ``InputError`` where it is neither ``auto`` nor ``HOST:PORT``."""
    host, colon, port = address.strip().rpartition(":")
    if address.strip() == AUTO:
        return AUTO
    if "://" in address:
        raise InputError(
            f"--address {address!r}: only HOST:PORT or auto",
            hint="run the command on a machine of the cluster, which joins it with auto",
        )
    if not (colon and host and port.isdecimal() and 0 < int(port) < 65536):
        raise InputError(f"--address {address!r} is neither HOST:PORT nor auto", hint="such as 10.0.0.5:6379")
    return address.strip()


def connected(address: str | None, cpus: int | None = None) -> Any:
    """Return Ray's module, connected; the connection stays until this process ends or ``disconnect`` is called.

    Without ``address`` a Ray is started that listens on 127.0.0.1 only, with ``cpus`` processors (by default all) and a
    key of its own. Raises ``InputError`` where the cluster at ``address`` cannot be joined, ``PlanrouteError`` where no
    Ray can be started.
    """
    require_ray()
    if address is not None and address != AUTO:
        _refuse_nobody(address)
    for name, value in {**_QUIET, **({} if address else _ALONE)}.items():
        os.environ.setdefault(name, value)
    if address is None:
        # Others of this machine can reach the loopback interface too; without the key they can do nothing there.
        os.environ.setdefault("RAY_AUTH_TOKEN", secrets.token_hex(32))
    import ray

    if ray.is_initialized():
        return ray
    before = signal.getsignal(signal.SIGTERM)
    try:
        if address is not None:
            _join(ray, address)
        else:
            for attempt in range(STARTS):
                if _started(ray, cpus or _processors(), last=attempt == STARTS - 1):
                    break
    finally:
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGTERM, before)
    atexit.register(disconnect)
    return ray


def _join(ray: Any, address: str) -> None:
    try:
        ray.init(address=address, log_to_driver=False, logging_level="CRITICAL")
    except (Exception, SystemExit) as error:
        disconnect()
        raise InputError(
            f"cannot join the Ray cluster at {address}: {_line(error)}",
            hint="check the address, Ray's version there, and its token (RAY_AUTH_MODE, RAY_AUTH_TOKEN)",
        ) from None


def _started(ray: Any, cpus: int, *, last: bool) -> bool:
    """Start a Ray of one's own; false where that was too slow and is to be tried again."""
    try:
        ray.init(
            num_cpus=cpus,
            object_store_memory=STORE_BYTES,
            include_dashboard=False,
            log_to_driver=False,
            logging_level="CRITICAL",
            _node_ip_address=LOOPBACK,
            _temp_dir=str(_private_folder()),
        )
        if (at := ray.util.get_node_ip_address()) != LOOPBACK:
            last = True
            raise RuntimeError(f"it would listen at {at}; planroute must start it before ray is imported")
    except (Exception, SystemExit) as error:
        disconnect()
        if last:
            raise PlanrouteError(f"Ray cannot be started here: {_line(error)}") from None
        return False
    return True


def _line(error: BaseException) -> str:
    return " ".join(str(error).split())[:300] or type(error).__name__


def disconnect() -> None:
    """Leave the cluster, or end the Ray of one's own with all that it has left behind. May be called twice."""
    import ray

    with suppress(Exception):
        ray.shutdown()
    while _scratch:
        shutil.rmtree(_scratch.pop(), ignore_errors=True)


def _private_folder() -> Path:
    """A folder that only this user can read, for Ray's logs and sockets; their paths must stay short."""
    base = tempfile.gettempdir() if len(tempfile.gettempdir()) <= 16 else "/tmp"  # noqa: S108 - mkdtemp is safe there
    folder = Path(tempfile.mkdtemp(prefix="planroute-", dir=base))
    _scratch.append(folder)
    return folder / "r"  # Ray opens its own folder to everybody, but not the one around it


def _processors() -> int:
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # pragma: no cover - not on every system
        return os.cpu_count() or 1


def _refuse_nobody(address: str) -> None:
    """Raise ``InputError`` where nothing listens at ``address``: Ray itself would try for minutes."""
    host, _, port = address.rpartition(":")
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=PATIENCE_S).close()
    except OSError as error:
        why = error.strerror or str(error)
        raise InputError(
            f"no Ray cluster can be reached at {address}: {why}",
            hint="check the address and that it runs: ray start --head prints it",
        ) from None


__all__ = ["AUTO", "checked_address", "connected", "disconnect", "require_ray"]
