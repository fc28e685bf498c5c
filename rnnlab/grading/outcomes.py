"""From the outcome of one call to its result, or to the exception that says why there is none."""

from rnnlab.grading.differences import WRONG_TYPE
from rnnlab.grading.exercise import Wrong
from rnnlab.grading.inside import wire
from rnnlab.grading.verdict import Status, Stopped

CHANGED_INPUT = "changes its input"
TOO_BIG = f"{{name}} returns more than {wire.MAX_BUFFERS >> 20} MiB, far above what is asked for."


def answer(name: str, frame: bytes) -> object:
    """What the function returned; raises Wrong or Stopped if it returned nothing that can be judged."""
    try:
        result, outcome = wire.unpack(frame)
        kind = outcome["kind"]
        if kind == "returned":
            return result
        raise _REASONS[kind](name, outcome)
    except (wire.Broken, KeyError, TypeError) as error:
        raise Stopped(
            Status.crashed, f"{name} disturbed the process it ran in: its answer cannot be read."
        ) from error


def _wrong(name: str, outcome: dict) -> Wrong:
    return Wrong(*outcome["said"])


def _changed(name: str, outcome: dict) -> Wrong:
    message = f"After the call, {outcome['which']} holds other numbers than before."
    return Wrong(
        message, CHANGED_INPUT, "Make a new array instead of writing into the argument; `.copy()` gives one."
    )


def _unsuitable(name: str, outcome: dict) -> Wrong:
    return Wrong(f"It returns {outcome['what']}; arrays and plain numbers can be judged.", WRONG_TYPE)


def _not_attempted(name: str, outcome: dict) -> Stopped:
    if outcome["inside"] in ("", name):
        return Stopped(
            Status.not_attempted,
            f"{name} still raises NotImplementedError.",
            f"write it, or ask hint({name})",
        )
    return Stopped(Status.not_attempted, f"{name} needs {outcome['inside']}, which is not written yet.")


def _raised(name: str, outcome: dict) -> Stopped:
    text = f"{outcome['type']}: {outcome['text']}".rstrip(": ")
    if outcome["type"] == "RecursionError":
        text += "\nA function calls itself without end."
    if outcome["type"] == "KeyboardInterrupt":
        text = f"You stopped {name} before it came to an end."
    return Stopped(Status.crashed, f"{text}\n{_at(outcome)}".rstrip())


def _at(outcome: dict) -> str:
    return f"in {outcome['where']}" if outcome["where"] else ""


_REASONS = {
    "wrong": _wrong,
    "changed": _changed,
    "unsuitable": _unsuitable,
    "not_attempted": _not_attempted,
    "raised": _raised,
    "memory": lambda name, outcome: Stopped(
        Status.memory,
        f"{name} asked for more memory than there is. {outcome['text']}\n{_at(outcome)}".rstrip(),
    ),
    "forbidden": lambda name, outcome: Stopped(
        Status.forbidden, f"{outcome['text']}\n{_at(outcome)}".rstrip()
    ),
    "too_big": lambda name, outcome: Stopped(Status.too_big, TOO_BIG.format(name=name)),
}
