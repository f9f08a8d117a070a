"""Work on one record as an environment of text domains: commands, views and edits in a box, and tests at the end.

Whatever differs from the base commit when the course is over is the patch, submitted or not. Nobody is told before
that, or after, what the tests say of it.
"""

import shlex
from collections.abc import Mapping
from typing import Final

from planroute.domains.swebench.actions import Command, Edit, Submit, Unreadable, View, read_action
from planroute.domains.swebench.grading import Grade
from planroute.domains.swebench.showing import cut, steady
from planroute.domains.swebench.sources import Checkout
from planroute.domains.swebench.workshop import Patch, Workshop
from planroute.domains.text.environment import Turn
from planroute.errors import DomainError
from planroute.sandbox import WORK, Box, Ended, Ran

LARGEST_FILE: Final = 1_000_000
FILE_S: Final = 20.0
NOT_FOUND: Final = (126, 127)
"""Exit statuses of the shell for a command that is not there or cannot be run."""

BOUNDS: Final[Mapping[Ended, str]] = {
    Ended.SECONDS: "it took longer than {seconds:g} s",
    Ended.OUTPUT: "it printed too much",
    Ended.MEMORY: "it used too much memory",
    Ended.SPACE: "the files take too much space: remove some",
}


class Workplace:
    """One course of work. See ``planroute.domains.text.environment.Environment`` for the contract."""

    slow: Final = True

    def __init__(self, workshop: Workshop) -> None:
        self.workshop = workshop
        self._box: Box | None = None
        self._checkout: Checkout | None = None
        self._patch: Patch | None = None
        self._failed: DomainError | None = None

    @property
    def admissible(self) -> tuple[str, ...]:
        """Nothing is listed: any command may be tried."""
        return ()

    def reset(self) -> str:
        """Begin with the files of the base commit; show what is in the work folder."""
        self._end()
        self._box, self._checkout = self.workshop.open()
        self._patch = None
        names = " ".join(self._box.run("ls -Ap", seconds=FILE_S).text.replace(".git/\n", "").split("\n"))
        record = self.workshop.record
        return f"You are in {WORK}, a checkout of {record.repo} {record.version}. It holds: {names.strip()}"

    def step(self, action: str) -> Turn:
        """Carry out one action. Raises ``DomainError`` where the sandbox fails, never for what a command does."""
        box = self._box
        if box is None:
            raise DomainError(f"{self.workshop.record.instance_id} is over")
        try:
            what = read_action(action)
        except Unreadable as error:
            return Turn(f"Nothing happens: {error}.", False, False, executed=False)
        match what:
            case Submit():
                return Turn("The patch is submitted.", True, False)
            case View():
                return self._view(box, what)
            case Edit():
                return self._edit(box, what)
            case Command(script):
                ran = self.workshop.run(box, script)
                shown = cut(steady(ran.text.rstrip("\n"), box.drawn))
                return Turn(_ending(shown, ran, self._seconds), False, False, executed=ran.code not in NOT_FOUND)

    def close(self) -> None:
        """Keep the patch and remove everything else."""
        try:
            self._patch = self._collect()
        except DomainError as error:
            self._failed = error
        finally:
            self._end()

    def patch(self) -> Patch:
        """What was changed so far. Raises ``DomainError`` where that could not be found out."""
        if self._failed is not None:
            raise self._failed
        return self._collect()

    def grade(self) -> Grade:
        """What the tests say of the patch."""
        return self.workshop.grade(self.patch())

    def verdict(self) -> bool:
        """Whether the patch resolves the issue."""
        return self.grade().resolved

    def measures(self) -> Mapping[str, float | None]:
        """The benchmark's metrics, ``None`` where they could not be found out."""
        try:
            patch, grade = self.patch(), self.grade()
        except DomainError:
            return dict.fromkeys(("resolved", "psr", "pass_to_pass", "patched"))
        return {
            "resolved": float(grade.resolved),
            "psr": grade.fail_to_pass,
            "pass_to_pass": grade.pass_to_pass,
            "patched": float(bool(patch.text)),
        }

    @property
    def _seconds(self) -> float:
        return self.workshop.bounds.seconds

    def _collect(self) -> Patch:
        if self._box is not None and self._checkout is not None:
            return self.workshop.changes(self._box, self._checkout)
        return self._patch or Patch("")

    def _end(self) -> None:
        if self._box is not None:
            box, self._box = self._box, None
            box.close()

    def _view(self, box: Box, what: View) -> Turn:
        file = shlex.quote(what.path)
        ran = box.run(f"test -d {file} && exec ls -Ap -- {file}; exec cat -- {file}", seconds=FILE_S)
        text = ran.text
        if ran.ended is not Ended.EXITED or ran.code != 0:
            return Turn(_ending(cut(text.rstrip("\n")), ran, FILE_S), False, False)
        lines = text.split("\n")
        if lines[-1] == "":
            lines.pop()
        chosen = lines[what.first - 1 : what.last]
        if not chosen:
            return Turn(f"{what.path} has {len(lines)} lines.", False, False)
        numbered = [f"{number}\t{line}" for number, line in enumerate(chosen, what.first)]
        return Turn(cut("\n".join(numbered)), False, False)

    def _edit(self, box: Box, what: Edit) -> Turn:
        file = shlex.quote(what.path)
        ran = box.run(f"test -e {file} || exit 3; test -f {file} || exit 4; exec cat -- {file}",
                      seconds=FILE_S, output=LARGEST_FILE)  # fmt: skip
        if ran.code == 3 and not what.old:
            return self._write(box, what.path, what.new + "\n" if what.new else "", f"{what.path} is made.")
        told = {3: f"{what.path} does not exist", 4: f"{what.path} is no file"}
        if ran.ended is not Ended.EXITED or ran.code != 0:
            known = "it is too large" if ran.ended is Ended.OUTPUT else "it cannot be read"
            return _nothing(told.get(ran.code or 0, f"{what.path}: {known}"))
        text = ran.output.decode("utf-8", "surrogateescape")
        if not what.old:
            return _nothing(f"{what.path} exists; write the text that is to be replaced")
        count = text.count(what.old)
        if count != 1:
            return _nothing(f"the text to be replaced occurs {count} times in {what.path}, not once")
        at = text.index(what.old)
        whole = what.old + "\n" if not what.new and text.startswith(what.old + "\n", at) else what.old
        changed = text[:at] + what.new + text[at + len(whole) :]
        first = text.count("\n", 0, at) + 1
        lines = changed.split("\n")[max(first - 3, 0) : first + what.new.count("\n") + 2]
        shown = "\n".join(f"{number}\t{line}" for number, line in enumerate(lines, max(first - 2, 1)))
        return self._write(box, what.path, changed, cut(f"{what.path} is changed:\n{_printable(shown)}"))

    def _write(self, box: Box, path: str, text: str, told: str) -> Turn:
        file = shlex.quote(path)
        script = f'mkdir -p -- "$(dirname -- {file})" && cat > {file}'
        ran = box.run(script, input=text.encode("utf-8", "surrogateescape"), seconds=FILE_S)
        if ran.ended is not Ended.EXITED or ran.code != 0:
            return Turn(_ending(cut(ran.text.rstrip("\n")), ran, FILE_S), False, False)
        return Turn(told, False, False)


def _ending(shown: str, ran: Ran, seconds: float) -> str:
    """``shown``, and how the command ended where that was not well."""
    if ran.ended is not Ended.EXITED:
        how = f"[ended: {BOUNDS[ran.ended].format(seconds=seconds)}]"
    elif ran.code != 0:
        how = f"[exit status {ran.code}]"
    else:
        how = "" if shown else "[no output]"
    return "\n".join(part for part in (shown, how) if part)


def _nothing(reason: str) -> Turn:
    return Turn(f"Nothing happens: {reason}.", False, False, executed=False)


def _printable(text: str) -> str:
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
