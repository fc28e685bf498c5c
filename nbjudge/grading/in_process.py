"""A submission in the learner's own process: what `check` uses in a notebook. Quick, and no defence against
anything."""

import dis
import math
import time
from collections.abc import Callable
from contextlib import nullcontext
from types import ModuleType

from nbjudge.clock import BACKSTOP, Limit, Overtime, limited
from nbjudge.course import current
from nbjudge.running.conversation import Conversation, out_of_time
from nbjudge.running.inside import calls
from nbjudge.verdict import Stopped


def course_module(function: Callable) -> str | None:
    """Module of the course that the function imports, or takes a class or function from; None if none.

    The simulator's `cuda` and what grading offers (`use`, `check`) are allowed.
    """
    function = getattr(function, "py_func", function)  # of a compiled one, what was written
    code = getattr(function, "__code__", None)
    for instruction in dis.get_instructions(code) if code else ():
        name = instruction.argval
        if instruction.opname == "LOAD_GLOBAL":
            value = function.__globals__.get(name)  # a module has no __module__, and looks long for it
            name = None if isinstance(value, ModuleType) else getattr(value, "__module__", None)
        elif instruction.opname != "IMPORT_NAME":
            continue
        if isinstance(name, str) and name.startswith(current().refused):
            return name
    return None


class InProcess:
    """Calls the learner's function on copies and returns a copy of its result, as the separate process
    would.

    is_own: an answer or a known mistake of the course, which takes nothing of the course and compiles.
    seconds: limit of all calls together, in the main thread; the judge limits known mistakes itself.
    """

    def __init__(
        self, function: Callable, name: str | None = None, is_own: bool = False, seconds: float = math.inf
    ):
        self.function = function
        self.name = name or function.__name__
        self.is_own = is_own
        self.seconds = self.left = seconds
        self.earlier = calls.Earlier()

    def __call__(self, *arguments, **keywords) -> object:
        conversation = Conversation(self.name)
        module = None if self.is_own else course_module(self.function)
        if module:  # grading refuses it, so a check must not accept it
            refusal = calls.Forbidden(f"An answer may not import {module}: write it with NumPy.")
            return conversation.outcome(calls.wire.pack(None, **calls.outcome(refusal, self.function)))
        question = conversation.question(arguments, keywords)
        begin = time.process_time()
        limit = Limit()
        clock = limited(max(self.left, 0.01), BACKSTOP) if self.left < math.inf else nullcontext(limit)
        try:
            with clock as limit:
                frame = calls.call(
                    self.function,
                    question,
                    conversation.reply,
                    is_own=self.is_own,
                    launched=current().launched,
                    earlier=self.earlier,
                )
            return conversation.outcome(frame)
        except (Overtime, Stopped) as end:
            if isinstance(end, Overtime) or end.message.startswith(Overtime.__name__):
                ran = self.seconds - self.left + limit.ran
                raise out_of_time(self.name, self.seconds, ran, limit.starved) from None
            raise
        finally:
            self.left -= time.process_time() - begin
