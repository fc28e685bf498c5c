"""How values cross between the judge and the learner's process: JSON that says what there is, then raw
buffers.

Never pickle: to read a pickle is to run it, and what comes back was made by code that nobody has read. Types
are exact: a subclass of an array or of a number may answer one thing now and another thing later.

A frame: two lengths (8 bytes each, little-endian), a header in JSON, the bytes of the header's arrays one
after another.
"""

import json
import math
import os
import re
import struct
from collections import OrderedDict, defaultdict
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

LENGTHS = struct.Struct("<QQ")
MAX_HEADER = 1 << 20  # bytes
MAX_BUFFERS = 64 << 20  # bytes: 8 million float64, far above any right answer
MAX_PARTS = 10_000
MAX_ROW_NUMBERS = 1 << 18  # in lists of rows of whole numbers; such a list crosses as an array
MAX_DEPTH = 16
MAX_INT_BITS = 4096
NUMBERS = "biuf"  # kinds of dtype that are numbers: no objects, no text, no records
DTYPE = re.compile(rf"[<>|][{NUMBERS}][0-9]{{1,2}}")  # as pack writes it; NumPy reads far more
ROWS = {"list": list, "tuple": tuple}
DICTS = (dict, OrderedDict, defaultdict)  # all cross as a dict
TOO_MANY_BYTES = f"more than {MAX_BUFFERS >> 20} MiB, far above what any answer needs"
TOO_MANY_PARTS = f"more than {MAX_PARTS:,} numbers one by one; as an array, np.array(...), they are one part"
TOO_MUCH_TEXT = f"more than {MAX_HEADER >> 20} MiB of text and single numbers; an array holds more"
TOO_DEEP = f"lists within lists, more than {MAX_DEPTH} deep"
MAX_SIDE = 1 << 40  # of an array without numbers, the one that may be longer than its bytes


class Unsuitable(Exception):
    """A value that cannot cross: says what it is, in words that follow 'returns'."""


class TooBig(Exception):
    """More than a frame may hold: says of what, in words that follow 'returns'."""


class Broken(Exception):
    """Bytes that `pack` did not write."""


class Program(NamedTuple):
    """Source text to run on the other side, and the name in it that is meant."""

    source: str
    name: str


def pack(value: object, **header: object) -> bytes:
    """One frame that holds a value and the fields of `header`."""
    buffers = []
    text = json.dumps(header | {"value": _describe(value, buffers, MAX_DEPTH, [0, 0])}).encode()
    if len(text) > MAX_HEADER:
        raise TooBig(TOO_MUCH_TEXT)
    return b"".join((LENGTHS.pack(len(text), sum(map(len, buffers))), text, *buffers))


def unpack(frame: bytes) -> tuple[object, dict]:
    """The value of a frame and its header; Broken if anything about it is not as `pack` would have written
    it."""
    header_bytes, _ = lengths(frame)
    end = LENGTHS.size + header_bytes
    try:
        header = json.loads(frame[LENGTHS.size : end].decode())
        buffers = _Reader(frame, end)
        value = _build(header.pop("value"), buffers, MAX_DEPTH)
    except (
        ValueError,
        TypeError,
        KeyError,
        IndexError,
        AttributeError,
        RecursionError,
        OverflowError,
    ) as error:
        raise Broken(str(error)) from error
    if buffers.at != len(frame):
        raise Broken("bytes left over")
    return value, header


def lengths(frame: bytes) -> tuple[int, int]:
    """Bytes of header and of buffers, as the beginning of a frame states them, held against the caps."""
    if len(frame) < LENGTHS.size:
        raise Broken("no whole frame")
    header, buffers = LENGTHS.unpack_from(frame)
    if header > MAX_HEADER or buffers > MAX_BUFFERS:
        raise TooBig(TOO_MUCH_TEXT if header > MAX_HEADER else TOO_MANY_BYTES)
    return header, buffers


def mapped(part: object, change: Callable) -> object:
    """The same lists, tuples and dicts, with all else in them changed."""
    if type(part) in (tuple, list):
        return type(part)(mapped(element, change) for element in part)
    if type(part) is dict:
        return {key: mapped(element, change) for key, element in part.items()}
    return change(part)


def write(fd: int, frame: bytes) -> None:
    """All of a frame."""
    view = memoryview(frame)
    while view:
        view = view[os.write(fd, view) :]


def read(fd: int) -> bytes:
    """The next whole frame; EOFError where the other side has gone."""
    start = _read_exactly(fd, LENGTHS.size)
    return start + _read_exactly(fd, sum(lengths(start)))


def _read_exactly(fd: int, size: int) -> bytes:
    parts = []
    missing = size
    while missing:
        part = os.read(fd, min(missing, 1 << 20))
        if not part:
            raise EOFError
        parts.append(part)
        missing -= len(part)
    return b"".join(parts)


def _describe(value, buffers: list[bytes], depth: int, parts: list[int]) -> list:
    """[kind, ...] of a value; the bytes of its arrays are appended to `buffers`.

    parts: how many have been described, and how many numbers in rows.
    """
    parts[0] += 1
    if depth == 0 or parts[0] > MAX_PARTS:
        raise TooBig(TOO_DEEP if depth == 0 else TOO_MANY_PARTS)
    kind = type(value)
    if kind in _SIMPLE:
        return _SIMPLE[kind](value)
    if kind is np.ndarray or (isinstance(value, np.generic) and kind.__module__ == "numpy"):
        return _describe_numbers(value, buffers)
    below = lambda part: _describe(part, buffers, depth - 1, parts)
    if kind in DICTS:
        if not all(type(key) in (str, int) for key in value):
            raise Unsuitable("a dict whose keys are not all text or int")
        return ["dict", [[key, below(part)] for key, part in value.items()]]
    if kind is list:
        if (rows := _whole_rows(value, MAX_ROW_NUMBERS - parts[1])) is not None:
            parts[1] += rows.size
            return ["rows", type(value[0]).__name__, *_describe_numbers(rows, buffers)[1:]]
        return ["list", [below(part) for part in value]]
    if kind is tuple or (isinstance(value, tuple) and hasattr(kind, "_fields")):
        return ["tuple", [below(part) for part in value]]
    raise Unsuitable(f"an object of type {kind.__name__}")


def _whole_rows(value: list, most: int) -> np.ndarray | None:
    """int64 [n,width], n·width ≤ most, of a list of rows, all lists or all tuples of int; None for others."""
    kind = type(value[0]) if value else None
    if kind not in ROWS.values() or not 0 < len(value) * len(value[0]) <= most:
        return None
    if any(type(row) is not kind or len(row) != len(value[0]) for row in value):
        return None
    if any(type(number) is not int for row in value for number in row):
        return None
    try:
        return np.array(value, "<i8")
    except OverflowError:
        return None


def _describe_numbers(value: np.ndarray | np.generic, buffers: list[bytes]) -> list:
    scalar = isinstance(value, np.generic)
    if value.dtype.kind not in NUMBERS:
        raise Unsuitable(f"{'a value' if scalar else 'an array'} of dtype {value.dtype}")
    if sum(map(len, buffers)) + value.nbytes > MAX_BUFFERS:
        raise TooBig(TOO_MANY_BYTES)
    buffers.append(value.tobytes())
    return ["scalar" if scalar else "array", value.dtype.str, list(value.shape)]


def _describe_int(value: int) -> list:
    if value.bit_length() > MAX_INT_BITS:
        raise TooBig(f"a whole number of more than {MAX_INT_BITS} bits")
    return ["int", hex(value)]  # in hex, because JSON would lose nothing but Python refuses long decimals


_SIMPLE = {
    type(None): lambda value: ["none"],
    bool: lambda value: ["bool", value],
    int: _describe_int,
    float: lambda value: ["float", value.hex()],
    str: lambda value: ["str", value],
    Program: lambda value: ["program", value.source, value.name],
}


class _Reader:
    """Takes a frame's buffers off, one after another."""

    def __init__(self, frame: bytes, at: int):
        self.frame = frame
        self.at = at
        self.row_numbers = 0

    def numbers(self, dtype: str, shape: list) -> np.ndarray:
        sides = type(shape) is list and all(type(n) is int and 0 <= n <= MAX_SIDE for n in shape)
        if not sides or not DTYPE.fullmatch(_text(dtype)):
            raise Broken("an array that is not numbers")
        kind = np.dtype(dtype)
        count = math.prod(shape)
        start = self.at
        self.at = self.at + count * kind.itemsize
        if self.at > len(self.frame):
            raise Broken("an array longer than its bytes")
        return np.frombuffer(self.frame, kind, count, start).reshape(shape).copy()

    def rows(self, row_type: str, dtype: str, shape: list) -> list:
        if dtype != "<i8" or type(shape) is not list or len(shape) != 2:
            raise Broken("rows that are not whole numbers")
        numbers = self.numbers(dtype, shape)
        self.row_numbers += numbers.size
        if not numbers.size or self.row_numbers > MAX_ROW_NUMBERS:
            raise Broken("a number of rows that pack does not write")
        return list(map(ROWS[row_type], numbers.tolist()))


def _build(tree: list, buffers: _Reader, depth: int) -> object:
    if depth == 0:
        raise Broken("too deep")
    kind, *rest = tree
    if kind in _PLAIN:  # for speed: most parts
        return _PLAIN[kind](*rest)
    below = lambda part: _build(part, buffers, depth - 1)
    if kind == "array":
        return buffers.numbers(*rest)
    if kind == "scalar":
        return buffers.numbers(*rest)[()]
    if kind == "rows":
        return buffers.rows(*rest)
    if kind == "dict":
        if not all(type(key) in (str, int) for key, _ in rest[0]):
            raise Broken("a dict whose keys are not all text or int")
        return {key: below(part) for key, part in rest[0]}
    if kind in ("list", "tuple"):
        parts = [below(part) for part in rest[0]]
        return parts if kind == "list" else tuple(parts)
    raise Broken("no kind of value")


def _text(value) -> str:
    if type(value) is not str:
        raise Broken("text expected")
    return value


def _whole_number(value) -> int:
    if len(_text(value)) > MAX_INT_BITS // 4 + 3:  # with its sign and 0x
        raise Broken("a number longer than pack writes it")
    return int(value, 16)


_PLAIN = {
    "none": lambda: None,
    "bool": lambda value: value is True,
    "int": _whole_number,
    "float": lambda value: float.fromhex(value),
    "str": _text,
    "program": lambda source, name: Program(_text(source), _text(name)),
}
