"""One call of an answer, seen from the judge: the question, the answer's calls of the judge's functions, the
outcome.

A function that counts, watches or knows weights stays with the judge. The answer's process holds a name for
it; calling the name sends the arguments here and brings the result back. What the answer can read or change
in its own process is therefore neither a count nor a wanted number. A refusal (Wrong) stands from the moment
it is raised: an answer that catches the exception has failed all the same.

The outcome was written in the answer's own process, perhaps by the answer itself: each field is held against
its type, and a frame that breaks the rules is a verdict on the answer, never an exception in the judge.
"""

import re
from collections.abc import Callable
from contextlib import suppress
from importlib.util import find_spec

import numpy as np

from nbjudge.answers import load
from nbjudge.comparing.differences import WRONG_TYPE
from nbjudge.course import install_command
from nbjudge.exercise import Code, Proxy, Wrong
from nbjudge.running.inside import wire
from nbjudge.verdict import Status, Stopped

MAX_NUMBERS = 1 << 13  # in the arguments of one call of a judge's function: products of them stay small
TOO_MANY = f"a function of the exercise takes at most {MAX_NUMBERS} numbers in one call"
CHANGED_INPUT = "changes its input"
SAME_ARRAYS = "returns the same array or list in every call"
NO_SPACE = "[Errno 28]"  # a full file system: under bubblewrap all of them are memory
LESSONS_USE = {"numba", "scipy", "matplotlib", "tqdm", "ipywidgets"}
TOO_BIG = "{name} returns {what}."
TOO_SLOW = "{name} did not come to an end in {seconds:g} s. Is there a loop that never stops?"
ASLEEP = (  # without the seconds: two runs of one answer say the same
    "{name} did not come to an end in {seconds:g} s, and computed for less than half of them. "
    "What does it wait for?"
)
STARVED = "{name} waited for a core or a disk, and got {ran:.2g} of its {seconds:g} s of a core: not judged."
IDLE = "grade this exercise again when the machine is less busy"


def out_of_time(name: str, seconds: float, ran: float, starved: bool) -> Stopped:
    """What to say of an answer whose time is over after `ran` seconds of the processor."""
    if starved:
        message = STARVED.format(name=name, seconds=seconds, ran=ran)
        return Stopped(Status.grader_error, message, IDLE)
    text = ASLEEP if ran < seconds / 2 else TOO_SLOW
    return Stopped(Status.timeout, text.format(name=name, seconds=seconds))


class Conversation:
    """One call of the answer `name`, and the functions of the judge that it may call meanwhile."""

    def __init__(self, name: str):
        self.name = name
        self.functions: list[Callable] = []
        self.names: list[str] = []
        self.refusal: Wrong | None = None
        self._sources: dict[str, dict] = {}
        self._shells: set[str] = set()
        self._frame = b""
        self._content = (None, {})

    def question(self, arguments: tuple, keywords: dict) -> bytes:
        """The frame that requests the answer's function(*arguments, **keywords)."""
        value = wire.mapped((arguments, keywords), self._sendable)
        attributes = map(_plain_attributes, self.functions)
        described = [[*pair] for pair in zip(self.names, attributes, strict=True)]
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
            self._frame = frame
            self._content = wire.unpack(frame)
        return self._content

    def _request(self, frame: bytes) -> tuple[Callable, tuple, dict]:
        # whoever wrote what cannot be read gets the sentence below
        with suppress(wire.Broken, KeyError, TypeError, ValueError):
            (arguments, keywords), header = self._unpacked(frame)
            if type(arguments) is tuple and type(keywords) is dict and all(type(k) is str for k in keywords):
                number = header["number"]
                if type(number) is int and 0 <= number < len(self.functions):
                    return self.functions[number], arguments, keywords
        message = f"{self.name} disturbed the process it ran in: what it asks of the exercise cannot be read."
        raise Stopped(Status.crashed, message)

    def _sendable(self, part) -> object:
        if isinstance(part, Code):
            return self._offered(part.name, load(part, self._sources))
        if isinstance(part, Proxy):
            if part.source not in self._shells:
                self._shells.add(part.source)
                for name, function in part.services.items():
                    self._offered(name, function)
            return wire.Program(part.source, part.name)
        return part

    def _offered(self, name: str, function: Callable) -> wire.Program:
        """The name under which the answer's process calls a function: a program without a source."""
        self.names.append(name)
        self.functions.append(function)
        return wire.Program("", str(len(self.functions) - 1))


def _plain_attributes(function: Callable) -> dict[str, int | float | str]:
    """The attributes that an answer may read of a function of the judge: numbers and texts."""
    return {name: part for name, part in vars(function).items() if isinstance(part, int | float | str)}


def _refused(wrong: Wrong) -> bytes:
    return wire.pack(None, kind="wrong", said=[wrong.message, wrong.misconception, wrong.next_step])


def _numbers(part) -> int:
    """How many numbers and texts a value holds."""
    if isinstance(part, np.ndarray):
        return part.size
    if isinstance(part, tuple | list):
        return sum(map(_numbers, part))
    if isinstance(part, dict):
        return sum(map(_numbers, part.values()))
    return 1


def answer(name: str, frame: bytes, unpack: Callable = wire.unpack) -> object:
    """What the function returned; raises Wrong or Stopped if it returned nothing that can be judged."""
    try:
        result, outcome = unpack(frame)
        kind = _text(outcome, "kind")
        if kind != "returned":
            raise _REASONS[kind](name, outcome)
        return result
    except (wire.Broken, KeyError) as error:
        sentence = f"{name} disturbed the process it ran in: its answer cannot be read."
        raise Stopped(Status.crashed, sentence) from error


def _text(outcome: dict, field: str) -> str:
    """A field of an outcome that must be text."""
    if type(outcome[field]) is not str:
        raise wire.Broken(f"{field} is not text")
    return outcome[field]


def _wrong(name: str, outcome: dict) -> Wrong:
    parts = outcome["said"]
    whole = type(parts) is list and len(parts) == 3 and type(parts[0]) is str
    if not whole or not all(part is None or type(part) is str for part in parts[1:]):
        raise wire.Broken("said is not a message, a misconception and a next step")
    return Wrong(*parts)


def _changed(name: str, outcome: dict) -> Wrong:
    message = f"After the call, {_text(outcome, 'which')} holds other numbers than before."
    remedy = (
        "Make a new array instead of writing into the argument; `.copy()` gives one. A number that you "
        "change for a moment must be kept and put back: adding and subtracting leaves other last digits."
    )
    return Wrong(message, CHANGED_INPUT, remedy)


def _overwritten(name: str, outcome: dict) -> Wrong:
    message = "After another call, what an earlier call returned holds other numbers."
    return Wrong(message, SAME_ARRAYS, "Make new arrays in every call; `.copy()` gives one.")


def _unsuitable(name: str, outcome: dict) -> Wrong:
    what = _text(outcome, "what")
    judged = "arrays, plain numbers, and lists, tuples and dicts of them can be judged"
    return Wrong(f"It returns {what}; {judged}.", WRONG_TYPE)


def _not_attempted(name: str, outcome: dict) -> Stopped:
    inside = _text(outcome, "inside")
    if inside in ("", name):
        return Stopped(
            Status.not_attempted,
            f"{name} still raises NotImplementedError.",
            f"write it, or ask hint({name})",
        )
    return Stopped(Status.not_attempted, f"{name} needs {inside}, which is not written yet.")


def _raised(name: str, outcome: dict) -> Stopped:
    kind = _text(outcome, "type")
    text = _text(outcome, "text")
    if kind == "OSError" and text.startswith(NO_SPACE):
        return _memory(name, outcome)
    if kind == "ModuleNotFoundError" and (package := _package_not_installed(text)):
        fault = f"{name} needs the package {package}, which is not installed where it is graded: not graded."
        return Stopped(Status.grader_error, fault, f"{install_command()}, then grade again")
    message = f"{kind}: {text}".rstrip(": ")
    if kind == "RecursionError":
        message += "\nA function calls itself without end."
    if kind == "KeyboardInterrupt":
        message = f"You stopped {name} before it came to an end."
    return Stopped(Status.crashed, f"{message}\n{_at(outcome)}".rstrip())


def _package_not_installed(text: str) -> str | None:
    """A package that lessons use and that this installation lacks."""
    missing = re.match(r"No module named '(\w+)", text)
    known = missing and missing[1] in LESSONS_USE
    return missing[1] if known and find_spec(missing[1]) is None else None


def _memory(name: str, outcome: dict) -> Stopped:
    message = f"{name} requested more memory than there is. {_text(outcome, 'text')}"
    return Stopped(Status.memory, f"{message}\n{_at(outcome)}".rstrip())


def _forbidden(name: str, outcome: dict) -> Stopped:
    return Stopped(Status.forbidden, f"{_text(outcome, 'text')}\n{_at(outcome)}".rstrip())


def _too_big(name: str, outcome: dict) -> Stopped:
    return Stopped(Status.too_big, TOO_BIG.format(name=name, what=_text(outcome, "what")))


def _at(outcome: dict) -> str:
    where = _text(outcome, "where")
    return f"in {where}" if where else ""


_REASONS = {
    "wrong": _wrong,
    "changed": _changed,
    "overwritten": _overwritten,
    "unsuitable": _unsuitable,
    "not_attempted": _not_attempted,
    "raised": _raised,
    "memory": _memory,
    "forbidden": _forbidden,
    "too_big": _too_big,
}
