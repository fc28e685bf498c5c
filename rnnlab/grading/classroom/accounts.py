"""Where the processor's time goes while a class is graded: answers, starting their processes, judging.

An answer's time is that of its processes, and of the functions of the exercise that it calls: these compute
what the answer asks for, and run in the judge's process only so that it can reach no count.
"""

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
        self._servers_before = 0.0, 0.0
        self.begin()

    def begin(self) -> None:
        """Begin anew, with the next exercise."""
        self._own = own_seconds()
        self._starting = self._own_starting = self._answers = self._called = 0.0
        self._has_ended = False

    def end(self) -> dict[str, float]:
        """The seconds since `begin` by what they were for."""
        starting, answers = self._starting, self._answers
        if self.servers is not None:  # they have counted all that was forked, to the end
            now = self.servers.seconds(), self.servers.loading()
            total, loading = (after - before for after, before in zip(now, self._servers_before, strict=True))
            self._servers_before = now
            starting += loading
            rest = max(total - answers - starting, 0.0)  # 0 where a server died with its count
            if self._has_ended:
                answers += rest
            else:
                starting += rest
        judge = own_seconds() - self._own - self._own_starting - self._called
        starting += self._own_starting
        seconds = {"answers": answers + self._called, "starting": starting, "judge": judge}
        return {name: round(value, 3) for name, value in seconds.items()}

    def _add(self, starting: float, answer: float | None, own: float, called: float) -> None:
        """One worker's time; `answer` is None where its process ended before its seconds could be read.

        own: the judge's seconds for starting and ending it; called: for functions that the answer called.
        """
        self._starting += starting
        self._own_starting += own
        self._called += called
        self._answers += answer or 0.0
        self._has_ended |= answer is None
