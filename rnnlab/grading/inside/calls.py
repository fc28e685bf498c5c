"""One call of a learner's function, and what became of it.

Used on both sides: in a notebook directly, when grading in the learner's own process. The outcome is a plain
dict whose `kind` is returned, changed, wrong, not_attempted, raised, memory, forbidden, unsuitable or
too_big.
"""

import linecache
import warnings
from collections.abc import Callable, Iterator

import numpy as np

from . import kernels, wire


class Wrong(Exception):
    """What the source of a Code raises to say what is wrong with the way it is used."""

    def __init__(self, message: str, misconception: str | None = None, next_step: str | None = None):
        super().__init__(message)
        self.said = (message, misconception, next_step)


class Forbidden(Exception):
    """Something that an answer may not do; the message says what."""


def call(function: Callable, frame: bytes, failure: dict | None = None) -> bytes:
    """The frame of the outcome of function(*arguments, **keywords), where `frame` holds both.

    `failure` is the outcome of a statement that did not run; it is why a name is missing.
    """
    (arguments, keywords), _ = wire.unpack(frame)
    programs: dict[str, dict] = {}
    arguments, keywords = _ready(arguments, programs), _ready(keywords, programs)
    before = _bytes(arguments, keywords)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter(
                "ignore"
            )  # a warning is no mistake, however the course's own tests treat one
            result = kernels.launched(function)(*arguments, **keywords)
        changed = [
            n
            for n, (old, new) in enumerate(zip(before, _bytes(arguments, keywords), strict=True))
            if old != new
        ]
        if changed:
            return wire.pack(
                None, kind="changed", which=_parameter(function, changed[0], len(arguments), keywords)
            )
        return wire.pack(result, kind="returned")
    except BaseException as error:
        missing = isinstance(error, NameError) and failure is not None
        return wire.pack(None, **(failure if missing else outcome(error, function)))


def outcome(error: BaseException, function: Callable | None = None) -> dict:
    """An exception as plain words: its kind, what it says, and the learner's line that it came from."""
    if isinstance(error, Wrong):
        return {"kind": "wrong", "said": error.said}
    if isinstance(error, wire.Unsuitable):
        return {"kind": "unsuitable", "what": str(error)}
    if isinstance(error, wire.TooBig):
        return {"kind": "too_big"}
    kinds = {NotImplementedError: "not_attempted", MemoryError: "memory", Forbidden: "forbidden"}
    kind = next((kind for type_, kind in kinds.items() if isinstance(error, type_)), "raised")
    where, inside = _learners_line(error, function)
    return {
        "kind": kind,
        "type": type(error).__name__,
        "text": _text(error),
        "where": where,
        "inside": inside,
    }


def _ready(part: object, programs: dict[str, dict]) -> object:
    """The arguments with each Program turned into its function; programs with the same source share
    globals."""
    if isinstance(part, wire.Program):
        if part.source not in programs:
            programs[part.source] = {"np": np, "Wrong": Wrong, "__name__": "given"}
            exec(compile(part.source, f"<{part.name}>", "exec"), programs[part.source])
        return programs[part.source][part.name]
    if isinstance(part, tuple | list):
        return type(part)(_ready(each, programs) for each in part)
    if isinstance(part, dict):
        return {key: _ready(each, programs) for key, each in part.items()}
    return part


def _bytes(arguments: tuple, keywords: dict) -> list[bytes]:
    """What stands in the arrays of each argument."""
    return [b"".join(_arrays(part)) for part in (*arguments, *keywords.values())]


def _arrays(part: object) -> Iterator[bytes]:
    if isinstance(part, np.ndarray):
        yield repr((part.shape, part.dtype)).encode() + part.tobytes()
    elif isinstance(part, tuple | list | dict):
        yield str(len(part)).encode()
        for each in part.values() if isinstance(part, dict) else part:
            yield from _arrays(each)


def _parameter(function: Callable, n: int, positional: int, keywords: dict) -> str:
    """The name of argument n, as the learner wrote it."""
    if n >= positional:
        return list(keywords)[n - positional]
    code = getattr(function, "__code__", None)
    return code.co_varnames[n] if code and n < code.co_argcount else f"argument {n + 1}"


def _text(error: BaseException) -> str:
    try:
        return str(error)[:1000]
    except Exception:
        return "(its message cannot be shown)"


def _learners_line(error: BaseException, function: Callable | None) -> tuple[str, str]:
    """("line 3: h = x @ w", name of the function) for the innermost line that the learner wrote, ("", "") if
    none."""
    home = getattr(getattr(function, "__code__", None), "co_filename", None)
    found = "", ""
    trace = error.__traceback__
    while trace is not None:
        code = trace.tb_frame.f_code
        if (
            code.co_filename == home
            or code.co_filename.startswith(("cell ", "<ipython-input"))
            or "ipykernel" in code.co_filename
        ):
            cell = f"{code.co_filename}, " if code.co_filename.startswith("cell ") else ""
            source = linecache.getline(code.co_filename, trace.tb_lineno).strip()[:1000]
            found = f"{cell}line {trace.tb_lineno}: {source}".rstrip(": "), code.co_name
        trace = trace.tb_next
    return found
