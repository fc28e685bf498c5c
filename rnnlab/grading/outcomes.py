"""From the outcome of one call to its result, or to the exception that says why there is none.

The outcome was written in the answer's own process, perhaps by the answer itself: each field is held against
its type, and a frame that breaks the rules is a verdict on the answer, never an exception in the judge.
"""

import re
from collections.abc import Callable
from importlib.util import find_spec

from rnnlab.grading.differences import WRONG_TYPE
from rnnlab.grading.exercise import Wrong
from rnnlab.grading.inside import wire
from rnnlab.grading.verdict import Status, Stopped

CHANGED_INPUT = "changes its input"
NO_SPACE = "[Errno 28]"  # a full file system: under bubblewrap all of them are memory
LESSONS_USE = {"numba", "scipy", "greenlet", "igraph", "matplotlib", "tqdm", "ipywidgets"}
TOO_BIG = f"{{name}} returns more than {wire.MAX_BUFFERS >> 20} MiB, far above what any answer needs."


def answer(name: str, frame: bytes, unpack: Callable = wire.unpack) -> object:
    """What the function returned; raises Wrong or Stopped if it returned nothing that can be judged."""
    try:
        result, outcome = unpack(frame)
        kind = _text(outcome, "kind")
        if kind != "returned":
            raise _REASONS[kind](name, outcome)
        return result
    except (wire.Broken, KeyError) as error:
        raise Stopped(
            Status.crashed, f"{name} disturbed the process it ran in: its answer cannot be read."
        ) from error


def _text(outcome: dict, field: str) -> str:
    """A field of an outcome that must be text."""
    if type(outcome[field]) is not str:
        raise wire.Broken(f"{field} is no text")
    return outcome[field]


def _wrong(name: str, outcome: dict) -> Wrong:
    parts = outcome["said"]
    whole = type(parts) is list and len(parts) == 3 and type(parts[0]) is str
    if not whole or not all(part is None or type(part) is str for part in parts[1:]):
        raise wire.Broken("said is no message, misconception, next step")
    return Wrong(*parts)


def _changed(name: str, outcome: dict) -> Wrong:
    message = f"After the call, {_text(outcome, 'which')} holds other numbers than before."
    return Wrong(
        message, CHANGED_INPUT, "Make a new array instead of writing into the argument; `.copy()` gives one."
    )


def _unsuitable(name: str, outcome: dict) -> Wrong:
    what = _text(outcome, "what")
    return Wrong(f"It returns {what}; arrays and plain numbers can be judged.", WRONG_TYPE)


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
    kind, text = _text(outcome, "type"), _text(outcome, "text")
    if kind == "OSError" and text.startswith(NO_SPACE):
        return _memory(name, outcome)
    if kind == "ModuleNotFoundError" and (package := _package_not_installed(text)):
        fault = f"{name} needs the package {package}, which is not installed where it is graded: not graded."
        return Stopped(Status.grader_error, fault, "pip install 'rnnlab[lab]', then grade again")
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


def _at(outcome: dict) -> str:
    where = _text(outcome, "where")
    return f"in {where}" if where else ""


_REASONS = {
    "wrong": _wrong,
    "changed": _changed,
    "unsuitable": _unsuitable,
    "not_attempted": _not_attempted,
    "raised": _raised,
    "memory": _memory,
    "forbidden": _forbidden,
    "too_big": lambda name, outcome: Stopped(Status.too_big, TOO_BIG.format(name=name)),
}
