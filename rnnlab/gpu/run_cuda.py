"""A plan on a GPU: every operation is prepared once, as a call with all arguments, and issued often.

Issuing is a loop over calls without arguments, so that Python adds little to a launch; a captured plan is one
call.  The streams of a plan begin when the first has come to the plan and end before it continues.  What the
calls are is the card's business (card.py), which has

    buffer(shape, dtype, content)       memory with this content, NaN where it is None; its host() is a copy
    launch(operation, buffers, stream)  a command: the operation
    copy(source, target, stream)        a command: target = source, of the same shape
    event()                             something to be recorded and waited for
    record(event, stream)               a command: the event happens when the stream comes here
    wait(event, stream)                 a command: the stream continues when the event has happened
    capture(commands, stream)           a command: all of these as one, issued to that stream
    finish()                            return when all is done; RuntimeError if something failed

A command is called without arguments and returns 0, or the code of an error.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from rnnlab.schedule.order import events
from rnnlab.schedule.plan import Plan

Command = Callable[[], int]
Buffer = Card = Any


class PreparedPlan:
    """A plan, ready to be issued; `arrays` [name -> array or Buffer] is what stands in its buffers before.

    A plan that is issued again finds what it left; arrays named in `renewed` are put back each time.
    """

    def __init__(
        self,
        plan: Plan,
        dtype: str,
        arrays: dict[str, np.ndarray | Buffer],
        card: Card,
        renewed: tuple[str, ...] = (),
    ):
        self.plan = plan
        self.card = card
        self._first = {name: card.buffer(arrays[name].shape, dtype, arrays[name]) for name in renewed}
        names = sorted(plan.used | arrays.keys())
        self.buffers = {name: self._buffer(name, dtype, arrays.get(name)) for name in names}
        self.streams = {operation.stream for operation in plan.operations}
        self.first_stream = min(self.streams, default=0)
        self.commands = list(self._commands())
        if plan.captured:
            self.commands = [card.capture(self.commands, self.first_stream)]
        card.finish()  # buffers are filled in another stream than those of the plan

    def issue(self) -> None:
        """Hand everything to the card; it may be done later.  Raises RuntimeError if a command is refused."""
        for number, command in enumerate(self.commands):
            if failed := command():
                raise RuntimeError(f"command {number} of {len(self.commands)} is refused with code {failed}")

    def arrays(self) -> dict[str, np.ndarray]:
        """Contents [rows,columns] of the buffers that outlive the pass, when all work is done."""
        self.card.finish()
        return {name: self.buffers[name].host() for name in self.plan.outputs}

    def _buffer(self, name: str, dtype: str, content: np.ndarray | Buffer | None) -> Buffer:
        if content is not None and not isinstance(content, np.ndarray):
            return content
        shape = self.plan.buffers[name] if content is None else content.shape
        return self.card.buffer(shape, dtype, content)

    def _commands(self) -> Iterator[Command]:
        card = self.card
        for name, first in self._first.items():
            yield card.copy(first, self.buffers[name], self.first_stream)
        others = sorted(self.streams - {self.first_stream})
        yield from self._synchronise([self.first_stream], others)
        marks = {}
        waits = defaultdict(list)
        for earlier, later in events(self.plan):
            if earlier not in marks:
                marks[earlier] = card.event()
            waits[later].append(marks[earlier])
        for index, operation in enumerate(self.plan.operations):
            stream = operation.stream
            for event in waits[index]:
                yield card.wait(event, stream)
            yield card.launch(operation, self.buffers, stream)
            if index in marks:
                yield card.record(marks[index], stream)
        yield from self._synchronise(others, [self.first_stream])

    def _synchronise(self, before: list[int], after: list[int]) -> Iterator[Command]:
        """The streams `after` continue when those `before` have come here."""
        if not after:
            return
        for stream in before:
            event = self.card.event()
            yield self.card.record(event, stream)
            for waiting in after:
                yield self.card.wait(event, waiting)


def executed(plan: Plan, dtype: str, arrays: dict[str, np.ndarray], card: Card) -> dict[str, np.ndarray]:
    """Contents [rows,columns] of the buffers that outlive the plan, and of `arrays`, after one run."""
    prepared = PreparedPlan(plan, dtype, arrays, card)
    prepared.issue()
    return arrays | prepared.arrays()
