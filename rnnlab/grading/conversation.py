"""One call of an answer, seen from the judge: the question, the answer's calls of the judge's functions, the
outcome.

A function that counts, watches or knows weights stays with the judge. The answer's process holds a name for
it; calling the name sends the arguments here and brings the result back. What the answer can read or change
in its own process is therefore neither a count nor a wanted number. A refusal (Wrong) stands from the moment
it is raised: an answer that catches the exception has failed all the same.
"""

from collections.abc import Callable
from functools import lru_cache
from types import CodeType

import numpy as np

from rnnlab.grading.exercise import Code, Shell, Wrong
from rnnlab.grading.inside import wire
from rnnlab.grading.outcomes import answer
from rnnlab.grading.verdict import Status, Stopped

MAX_NUMBERS = 1 << 13  # in the arguments of one call of a judge's function: products of them stay small
TOO_MANY = f"a function of the exercise takes at most {MAX_NUMBERS} numbers in one call"


class Conversation:
    """One call of the answer `name`, and the functions of the judge that it may call meanwhile."""

    def __init__(self, name: str):
        self.name = name
        self.functions: list[Callable] = []
        self.names: list[str] = []
        self.refusal: Wrong | None = None
        self._sources: dict[str, dict] = {}
        self._shells: set[str] = set()
        self._frame, self._content = b"", (None, {})

    def question(self, arguments: tuple, keywords: dict) -> bytes:
        """The frame that requests the answer's function(*arguments, **keywords)."""
        value = self._sendable(arguments), self._sendable(keywords)
        described = [
            [name, {key: part for key, part in vars(function).items() if isinstance(part, int | float | str)}]
            for name, function in zip(self.names, self.functions, strict=True)
        ]
        return wire.pack(value, functions=described)

    def is_request(self, frame: bytes) -> bool:
        """Is this frame a call of a judge's function, and not yet the outcome?"""
        try:
            return self._unpacked(frame)[1].get("kind") == "call"
        except wire.Broken:
            return False

    def reply(self, frame: bytes) -> bytes:
        """The frame that answers a call of a judge's function."""
        function, arguments, keywords = self._request(frame)
        if self.refusal is not None:
            return _refused(self.refusal)
        try:
            if _numbers((arguments, keywords)) > MAX_NUMBERS:
                raise ValueError(TOO_MANY)
            with np.errstate(all="ignore"):
                return wire.pack(function(*arguments, **keywords), kind="returned")
        except Wrong as wrong:
            self.refusal = wrong
            return _refused(wrong)
        except Exception as error:  # the learner's: the arguments do not suit the function
            return wire.pack(None, kind="raised", type=type(error).__name__, text=str(error)[:1000])

    def outcome(self, frame: bytes) -> object:
        """What the answer returned; raises what it was refused for, or what else became of it."""
        if self.refusal is not None:
            raise self.refusal
        return answer(self.name, frame, self._unpacked)

    def _unpacked(self, frame: bytes) -> tuple[object, dict]:
        """The value of the latest frame and its header, read once. Raises wire.Broken."""
        if frame is not self._frame:
            self._frame, self._content = frame, wire.unpack(frame)
        return self._content

    def _request(self, frame: bytes) -> tuple[Callable, tuple, dict]:
        try:
            (arguments, keywords), header = self._unpacked(frame)
            if type(arguments) is tuple and type(keywords) is dict and all(type(k) is str for k in keywords):
                number = header["number"]
                if type(number) is int and 0 <= number < len(self.functions):
                    return self.functions[number], arguments, keywords
        except (wire.Broken, KeyError, TypeError, ValueError):
            pass  # whoever wrote it gets the sentence below
        message = f"{self.name} disturbed the process it ran in: what it asks of the exercise cannot be read."
        raise Stopped(Status.crashed, message)

    def _sendable(self, part: object) -> object:
        if isinstance(part, Code):
            return self._offered(part.name, self._loaded(part))
        if isinstance(part, Shell):
            if part.source not in self._shells:
                self._shells.add(part.source)
                for name, function in part.services.items():
                    self._offered(name, function)
            return wire.Program(part.source, part.name)
        if type(part) in (tuple, list):
            return type(part)(map(self._sendable, part))
        if type(part) is dict:
            return {key: self._sendable(value) for key, value in part.items()}
        return part

    def _offered(self, name: str, function: Callable) -> wire.Program:
        """The name under which the answer's process calls a function: a program without a source."""
        self.names.append(name)
        self.functions.append(function)
        return wire.Program("", str(len(self.functions) - 1))

    def _loaded(self, code: Code) -> Callable:
        if code.source not in self._sources:
            trace = [] if code.trace is None else code.trace
            self._sources[code.source] = {"np": np, "Wrong": Wrong, "trace": trace}
            exec(_compiled(code.source), self._sources[code.source])
        return self._sources[code.source][code.name]


@lru_cache(maxsize=256)
def _compiled(source: str) -> CodeType:
    return compile(source, "<string>", "exec")


def _refused(wrong: Wrong) -> bytes:
    return wire.pack(None, kind="wrong", said=[wrong.message, wrong.misconception, wrong.next_step])


def _numbers(part: object) -> int:
    """How many numbers and texts a value holds."""
    if isinstance(part, np.ndarray):
        return part.size
    if isinstance(part, tuple | list):
        return sum(map(_numbers, part))
    if isinstance(part, dict):
        return sum(map(_numbers, part.values()))
    return 1
