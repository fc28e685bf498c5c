"""What goes between the benchmark and a peer: one line of JSON, then the bytes of the arrays that it names.

Nothing is pickled, and the line says how many bytes follow, so that either side knows where a message ends.
"""

import json
import math
from collections.abc import Mapping
from typing import BinaryIO

import numpy as np

MAX_LINE = 1 << 20  # bytes: a longer line is not a message of ours
DTYPES = {"float32", "float64"}


def send(stream: BinaryIO, fields: Mapping, arrays: Mapping[str, np.ndarray] | None = None) -> None:
    """Write one message: fields that JSON can hold, and arrays by name."""
    arrays = {name: np.ascontiguousarray(array) for name, array in (arrays or {}).items()}
    layout = [[name, str(array.dtype), array.shape] for name, array in arrays.items()]
    stream.write(json.dumps({**fields, "arrays": layout}).encode() + b"\n")
    for array in arrays.values():
        stream.write(array.tobytes())
    stream.flush()


def receive(stream: BinaryIO) -> tuple[dict, dict[str, np.ndarray]]:
    """The next message.  Raises EOFError if the other side has gone, ValueError if it is not a message."""
    line = stream.readline(MAX_LINE)
    if not line.endswith(b"\n"):
        raise EOFError("the other side has gone") if len(line) < MAX_LINE else ValueError("no message")
    fields = json.loads(line)
    try:
        layout = fields.pop("arrays")
        return fields, {name: _array(stream, dtype, shape) for name, dtype, shape in layout}
    except (AttributeError, KeyError, TypeError) as error:
        raise ValueError("no message") from error


def _array(stream: BinaryIO, dtype: str, shape: list[int]) -> np.ndarray:
    if dtype not in DTYPES:
        raise ValueError(f"an array of {dtype}: only {' and '.join(sorted(DTYPES))} cross")
    size = math.prod(shape) * np.dtype(dtype).itemsize
    data = stream.read(size)
    if len(data) < size:
        raise EOFError("the other side has gone in the middle of an array")
    return np.frombuffer(bytearray(data), dtype).reshape(shape)  # a bytearray: PyTorch wants it writable
