"""The errors of planroute: one class per boundary, each with one line for a person to act on.

::

    PlanrouteError
    ├── InputError            an argument, file or option that a person gave is wrong
    │   ├── FaultyInput       ... in several places: all are listed at once
    │   └── DamagedFile       a stored file is not what was written: it can be set aside and made again
    ├── ModelError            a language model or its endpoint did not answer
    │   ├── ModelUnavailable  not reachable, overloaded, too slow, or a broken stream: trying later may help
    │   ├── ModelRefused      a request is not accepted: trying again does not help
    │   │   └── ModelClosed   ... whatever is asked: key, permission, account, address or the model's name
    │   └── ModelMissing      weights or engine are not installed
    ├── ReplyError            a model answered, but not in the form that was asked for
    ├── DeclarationError      a declaration breaks a static rule
    ├── DomainError           a domain broke its contract, or its environment failed
    ├── EpisodeOverdue        an episode did not end within the time that it was given
    ├── BudgetExceeded        a limit on interactions, calls, tokens or seconds is reached
    └── StorageError          a cache, table or manifest cannot be read or written
        └── CacheMismatch     a stored call has the identity of another request

``ReplyError``, ``DeclarationError``, ``BudgetExceeded`` and ``ModelRefused`` end an episode as data: a typed stop
reason, charged and recorded. ``ModelUnavailable``, ``ModelClosed`` and ``EpisodeOverdue`` mark it as an infrastructure
failure, which is never counted as a failure of the task and is run again. Anything that is not a ``PlanrouteError`` is
a programming error and stops the run.
"""

from collections.abc import Sequence


class PlanrouteError(Exception):
    """Base of every error that planroute raises on purpose.

    ``hint`` says what to do about it and is shown after the message.
    """

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message} — {self.hint}" if self.hint else self.message


class InputError(PlanrouteError):
    """An argument, file or option is wrong."""


class FaultyInput(InputError):
    """An input with one or more faults; ``faults`` holds a line for each, all of them."""

    def __init__(self, what: str, faults: Sequence[str], *, hint: str = "") -> None:
        self.faults = tuple(faults)
        noun = "problem" if len(self.faults) == 1 else "problems"
        super().__init__(f"{what}: {len(self.faults)} {noun}: " + "; ".join(self.faults), hint=hint)


class DamagedFile(InputError):
    """A stored file is not what was written, or not where it belongs."""


class ModelError(PlanrouteError):
    """A language model or its endpoint did not answer. ``attempts`` counts the requests that were sent for it."""

    def __init__(self, message: str, *, hint: str = "", attempts: int = 0) -> None:
        super().__init__(message, hint=hint)
        self.attempts = attempts


class ModelUnavailable(ModelError):
    """The endpoint cannot be reached, is overloaded, too slow, or broke off its answer."""


class ModelRefused(ModelError):
    """The endpoint does not accept the request."""


class ModelClosed(ModelRefused):
    """The endpoint accepts no request: the key, the permission, the account, the address or the model is not right."""


class ModelMissing(ModelError):
    """The engine or the weights of a local model are not installed."""


class ReplyError(PlanrouteError):
    """A model's answer cannot be read as what was asked for."""


class DeclarationError(PlanrouteError):
    """A declaration breaks a static rule."""


class DomainError(PlanrouteError):
    """A domain broke its contract, or its environment failed."""


class EpisodeOverdue(PlanrouteError):
    """An episode did not end within the wall-clock time that it was given."""


class BudgetExceeded(PlanrouteError):
    """A limit of the episode is reached. ``resource`` names it."""

    def __init__(self, resource: str, limit: float) -> None:
        super().__init__(f"budget of {limit:g} {resource} is spent")
        self.resource = resource
        self.limit = limit


class RunBudgetReached(PlanrouteError):
    """A limit of the whole run is reached. ``unit`` names what was limited."""

    def __init__(self, unit: str, limit: float) -> None:
        super().__init__(
            f"the run's budget of {limit:,g} {unit} is reached",
            hint="what was finished is kept; the same command with a larger budget goes on from there",
        )
        self.unit = unit
        self.limit = limit

    def __reduce__(self) -> tuple[type["RunBudgetReached"], tuple[str, float]]:
        return type(self), (self.unit, self.limit)


class StorageError(PlanrouteError):
    """A cache, table or manifest cannot be read or written."""


class CacheMismatch(StorageError):
    """Two different requests share one identity; the stored answer must not be used."""
