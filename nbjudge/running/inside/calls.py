"""One call of a learner's function, and what became of it.

Used on both sides: in a notebook directly, when grading in the learner's own process. The outcome is a plain
dict whose `kind` is returned, changed, overwritten, wrong, not_attempted, raised, memory, forbidden,
unsuitable or too_big.
"""

import hashlib
import linecache
import warnings
from collections import deque
from collections.abc import Callable, Iterator
from functools import lru_cache
from types import CodeType

import numpy as np

from . import wire

EARLIER = 40  # results that are looked at again after each call
LARGEST = 1 << 20  # bytes of such a result


class Misuse(Exception):
    """What the source of a Code raises to say what is wrong with the way it is used."""

    def __init__(self, message: str, misconception: str | None = None, next_step: str | None = None):
        super().__init__(message)
        self.said = (message, misconception, next_step)


class Forbidden(Exception):
    """Something that an answer may not do; the message says what."""


def call(
    function: Callable,
    frame: bytes,
    exchange: Callable[[bytes], bytes],
    failure: dict | None = None,
    is_own: bool = False,
    launched: Callable[[Callable, bool], Callable] = lambda function, is_own: function,
    earlier: "Earlier | None" = None,
) -> bytes:
    """The frame of the outcome of function(*arguments, **keywords), where `frame` holds both.

    `exchange` sends the judge a frame and returns the judge's: it carries the calls of the judge's functions.
    `failure` is the outcome of a statement that did not run; it is why a name is missing. `is_own`: an answer
    of the course, which a GPU compiles. `launched`: see course.Kind. `earlier`: results of the calls
    before this one, which must not change.
    """
    (arguments, keywords), header = wire.unpack(frame)
    programs = Programs(header.get("functions", []), exchange)
    arguments = programs.ready(arguments)
    keywords = programs.ready(keywords)
    before = _bytes(arguments, keywords)
    try:
        # what a notebook has set to find its NaN decides no verdict: neither warnings nor NumPy's errors
        with warnings.catch_warnings(), np.errstate(all="ignore", call=None):
            warnings.simplefilter("ignore")
            result = launched(function, is_own)(*arguments, **keywords)
        after = _bytes(arguments, keywords)
        changed = [n for n, content in enumerate(before) if content != after[n]]
        if changed:
            name = _parameter(function, changed[0], len(arguments), keywords)
            return wire.pack(None, kind="changed", which=name)
        frame = wire.pack(result, kind="returned")  # first: it refuses what is too deep or too large to walk
        if earlier is not None and earlier.is_overwritten_for(result):
            return wire.pack(None, kind="overwritten")
        return frame
    except BaseException as error:
        if isinstance(error, NameError) and failure is not None:
            return wire.pack(None, **failure)
        return wire.pack(None, **outcome(error, function))


class Earlier:
    """The latest results that hold arrays or lists, to see whether a later call writes into one of them."""

    def __init__(self) -> None:
        self.results: deque[tuple[object, bytes]] = deque(maxlen=EARLIER)

    def is_overwritten_for(self, result: object) -> bool:
        """Does one of them hold other numbers than when it was returned?  Keeps this result."""
        is_overwritten = any(_digest(value) != digest for value, digest in self.results)
        size = _bytes_that_change(result)
        if 0 < size <= LARGEST:
            self.results.append((result, _digest(result)))
        return is_overwritten


def _bytes_that_change(part) -> int:
    """Bytes, more or less, of the arrays, lists and dicts in a result."""
    if isinstance(part, np.ndarray):
        return part.nbytes
    if isinstance(part, tuple):
        return sum(map(_bytes_that_change, part))
    if isinstance(part, dict):
        part = [*part.values()]
    if not isinstance(part, list):
        return 0
    return sum(8 + _bytes_that_change(element) for element in part)


def _digest(result) -> bytes:
    """A digest of what stands in a result."""
    digest = hashlib.blake2b(digest_size=16)
    for part in _arrays(result):
        digest.update(part)
    return digest.digest()


def outcome(error: BaseException, function: Callable | None = None) -> dict:
    """An exception as plain words: its kind, what it says, and the learner's line that it came from."""
    if isinstance(error, Misuse):
        return {"kind": "wrong", "said": error.said}
    if isinstance(error, wire.Unsuitable):
        return {"kind": "unsuitable", "what": str(error)}
    if isinstance(error, wire.TooBig):
        return {"kind": "too_big", "what": str(error)}
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


class Programs:
    """What stands for each wire.Program of a call: a function of the judge, or what its source makes."""

    def __init__(self, functions: list, exchange: Callable[[bytes], bytes]):
        self.functions = [
            _of_the_judge(number, *description, exchange) for number, description in enumerate(functions)
        ]
        self.globals: dict[str, dict] = {}  # by source: programs with the same source share them

    def ready(self, part: object) -> object:
        """The arguments with each Program turned into what it stands for."""
        return wire.mapped(part, self._ready)

    def _ready(self, part) -> object:
        if not isinstance(part, wire.Program):
            return part
        return self._loaded(part) if part.source else self.functions[int(part.name)]

    def _loaded(self, program: wire.Program) -> object:
        if program.source not in self.globals:
            own = {"np": np, "Wrong": Misuse, "__name__": "given"}
            self.globals[program.source] = own | {function.__name__: function for function in self.functions}
            exec(_compiled(program), self.globals[program.source])
        return self.globals[program.source][program.name]


@lru_cache(maxsize=64)
def _compiled(program: wire.Program) -> CodeType:
    return compile(program.source, f"<{program.name}>", "exec")


_ORDINARY = {  # what a judge's function raises when its arguments do not suit it
    kind.__name__: kind
    for kind in (TypeError, ValueError, IndexError, KeyError, AttributeError, ZeroDivisionError, MemoryError)
}


def _of_the_judge(
    number: int, name: str, attributes: dict, exchange: Callable[[bytes], bytes]
) -> Callable[..., object]:
    """A function that runs in the judge's process: here are its name and its plain attributes only."""

    def function(*arguments, **keywords):
        try:
            request = wire.pack((arguments, keywords), kind="call", number=number)
        except wire.Unsuitable as unsuitable:
            raise TypeError(f"{name} takes arrays and plain numbers, not {unsuitable}") from None
        result, header = wire.unpack(exchange(request))
        if header["kind"] == "returned":
            return result
        if header["kind"] == "wrong":
            raise Misuse(*header["said"])
        raise _ORDINARY.get(header["type"], RuntimeError)(header["text"])

    function.__name__ = function.__qualname__ = name
    function.__dict__.update(attributes)
    return function


def _bytes(arguments: tuple, keywords: dict) -> list[bytes]:
    """What stands in the arrays and lists of each argument."""
    return [b"".join(_arrays(part)) for part in (*arguments, *keywords.values())]


def _arrays(part) -> Iterator[bytes]:
    if isinstance(part, np.ndarray):
        yield repr((part.shape, part.dtype)).encode() + part.tobytes()
    elif isinstance(part, tuple | list | dict):
        yield str(len(part)).encode()
        for element in part.values() if isinstance(part, dict) else part:
            yield from _arrays(element)
    elif isinstance(part, int | float | str):  # a list of numbers can be sorted in place
        yield repr(part).encode()


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
    place = "", ""
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
            place = f"{cell}line {trace.tb_lineno}: {source}".rstrip(": "), code.co_name
        trace = trace.tb_next
    return place
