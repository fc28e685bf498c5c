"""What a check observes where answers reply alike: computed once for all of them.

A check draws the same numbers for every answer with one seed. So what it sends first is known, what it sends
next follows from the reply, and equal replies give equal observations, byte for byte. The frames of a case
form a tree: below each frame that was sent, what followed each reply. An answer whose replies lead to an end
of the tree is not checked again. Where its reply is new, the check runs, and gets the replies so far first.
"""

import copy
from collections.abc import Callable, Sequence
from hashlib import blake2b
from typing import ClassVar
from weakref import WeakSet

from nbjudge.comparing.judging import Observation, Transcript, recording
from nbjudge.exercise import Wrong
from nbjudge.grading.in_process import InProcess

ROOM = 64 << 20  # bytes of the frames in all trees: those of one lesson take a few million

Exchanges = list[tuple[bytes, bytes]]  # what was sent, and the reply


class Diverged(BaseException):
    """A check sent something else after the same replies: it must be made without what is known of others.

    No Exception: a check that catches those must not go on.
    """


class New(BaseException):
    """A request that the tree does not hold, raised where an answer of the course made it."""


class Node:
    """A frame to send, and the nodes that follow by the reply; or an end, with what was observed."""

    def __init__(self, frame: bytes | None, observations: Sequence[Observation] = ()):
        self.frame, self.observations = frame, observations
        self.following: dict[bytes, Node] = {}

    def after(self, reply: bytes) -> "Node | None":
        """The node that follows a reply; None for a new one."""
        return self.following.get(_digest(reply))


class Replies:
    """The replies to the cases of a check with one seed, and what was observed with them."""

    everywhere: ClassVar[WeakSet] = WeakSet()

    def __init__(self) -> None:
        self.first: dict[int, Node] = {}  # by case
        self.size = 0  # bytes of the frames
        self.is_kept = True
        Replies.everywhere.add(self)

    def observe(
        self, case: int, submission: Callable, check: Callable[[], None], transcript: Transcript
    ) -> None:
        """Add what the check observes about a submission. Raises what ends the check, but for Wrong."""
        if hasattr(submission, "exchange") and self.is_kept:
            self._of_worker(case, submission, check, transcript)
        elif isinstance(submission, InProcess) and submission.is_own and case in self.first:
            _of_course(self.first[case], submission, check, transcript)
        else:
            _run(check, transcript)

    def _of_worker(
        self, case: int, worker: Callable, check: Callable[[], None], transcript: Transcript
    ) -> None:
        """Let the answer reply to what is known to follow; where a reply is new, run the check."""
        node, known, failure, exchange = self.first.get(case), [], None, worker.exchange
        try:
            while node is not None and node.frame is not None:
                known.append((node.frame, exchange(node.frame)))
                node = node.after(known[-1][1])
        except Exception as error:  # to be raised where the check waits for this reply
            failure = error
        if node is not None and failure is None:
            transcript.observations += map(_copied, node.observations)
            return
        exchanges: Exchanges = []

        def replay(frame: bytes) -> bytes:
            if len(exchanges) < len(known):
                question, reply = known[len(exchanges)]
                if question != frame:
                    self.is_kept, self.first = False, {}
                    raise Diverged
            elif failure is not None:
                raise failure
            else:
                reply = exchange(frame)
            exchanges.append((frame, reply))
            return reply

        before = len(transcript.observations)
        worker.exchange = replay
        try:
            _run(check, transcript)
        finally:
            worker.exchange = exchange
        self._keep(case, exchanges, [_copied(seen) for seen in transcript.observations[before:]])

    def _keep(self, case: int, exchanges: Exchanges, observations: Sequence[Observation]) -> None:
        size = sum(len(frame) + len(reply) for frame, reply in exchanges)
        by_clock = any(seen.problem is not None and seen.problem.by_clock for seen in observations)
        if not exchanges or by_clock or size > ROOM:
            return
        if size + sum(trees.size for trees in Replies.everywhere) > ROOM:
            for trees in Replies.everywhere:  # a judge that comes to other lessons needs the first no more
                trees.first, trees.size = {}, 0
        self.size += size
        node = self.first.setdefault(case, Node(exchanges[0][0]))
        following = [Node(frame) for frame, _ in exchanges[1:]] + [Node(None, observations)]
        for (_, reply), after in zip(exchanges, following, strict=True):
            node = node.following.setdefault(_digest(reply), after)


def _of_course(
    node: Node | None, answer: InProcess, check: Callable[[], None], transcript: Transcript
) -> None:
    """The same for an answer of the course, which runs again from the beginning where a request is new."""
    known, converse = [], answer.converse

    def follow(request: bytes) -> bytes:
        nonlocal node
        requests.append(request)
        node = node and node.after(request)
        if node is None or node.frame is None:
            raise New
        return node.frame

    while node is not None and node.frame is not None:
        question, requests = node.frame, []
        outcome = converse(question, follow)
        if node is not None:
            known.append((question, requests, outcome))
            node = node.after(outcome)
    if node is not None:
        transcript.observations += map(_copied, node.observations)
        return

    def replay(question: bytes, reply: Callable[[bytes], bytes]) -> bytes:
        if not known or known[0][0] != question:
            known.clear()
            return converse(question, reply)
        _, requests, outcome = known.pop(0)
        for request in requests:  # what counts and watches is with the judge
            reply(request)
        return outcome

    answer.converse = replay
    try:
        _run(check, transcript)
    finally:
        answer.converse = converse


def _run(check: Callable[[], None], transcript: Transcript) -> None:
    try:
        with recording(transcript):
            check()
    except Wrong as wrong:
        transcript.observations.append(Observation(wrong, wrong.message))


def _copied(seen: Observation) -> Observation:
    """An observation whose problem may get another misconception."""
    return seen._replace(problem=copy.copy(seen.problem))


def _digest(frame: bytes) -> bytes:
    return blake2b(frame, digest_size=16).digest()
