"""Where the processor's time goes while a class is graded: answers, starting their processes, judging."""

from dataclasses import replace

from rnnlab.grading.family import own_seconds
from rnnlab.grading.fork_server import ForkServers, forking
from rnnlab.grading.sandbox import Sandbox


class Accounts:
    """A sandbox whose workers are forked where that works, and report their time in seconds of a core."""

    def __init__(self, box: Sandbox):
        self.servers: ForkServers | None
        forked, self.servers = forking(box)
        self.box = replace(forked, report=self._add)
        self._servers_before = 0.0
        self.begin()

    def begin(self) -> None:
        """Begin anew, with the next exercise."""
        self._own = own_seconds()
        self._starting = self._own_starting = self._answers = 0.0

    def end(self) -> dict[str, float]:
        """The seconds since `begin` by what they were for."""
        starting = self._starting
        if self.servers is not None:  # they have counted all that was forked, to the end
            total, before = self.servers.seconds(), self._servers_before
            starting = total - before - self._answers  # negative where a server died with its count
            self._servers_before = total
        judge = own_seconds() - self._own - self._own_starting
        starting = max(starting, 0.0) + self._own_starting
        seconds = {"answers": self._answers, "starting": starting, "judge": judge}
        return {name: round(value, 3) for name, value in seconds.items()}

    def _add(self, starting: float, answer: float, own: float) -> None:
        """One worker's time: `own` are the judge's seconds for starting and ending it."""
        self._starting += starting
        self._own_starting += own
        self._answers += answer
