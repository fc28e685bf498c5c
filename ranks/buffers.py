"""Arrays and operations of simulated ranks, checked as MPI and mpi4py check them.

MPI reads the memory of an array, number after number, whatever its shape and order: Fortran-ordered arrays
are summed in the order of their memory.  What mpi4py 4.1 with Open MPI 5.0 refuses is refused here.
"""

import operator
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

SUM = "SUM"
PROD = "PROD"
MAX = "MAX"
MIN = "MIN"
IN_PLACE = "IN_PLACE"
OF_OBJECTS = {
    SUM: operator.add,
    PROD: operator.mul,
    MAX: lambda a, b: b if b > a else a,
    MIN: lambda a, b: b if b < a else a,
}
OF_ARRAYS = {SUM: np.add, PROD: np.multiply, MAX: np.maximum, MIN: np.minimum}


def constant_name(value: Any) -> Any:
    """The name of an operation of mpi4py, or of its IN_PLACE; other values as they are."""
    mpi = sys.modules.get("mpi4py.MPI")
    for name in (*OF_OBJECTS, IN_PLACE):
        if value is getattr(mpi, name, None):
            return name
    return value


def operation_of(op: Any, known: dict[str, Callable]) -> Callable:
    """The function of two parts that an operation stands for.  Raises ValueError for an unknown one."""
    op = constant_name(op)
    if isinstance(op, str) and op in known:
        return known[op]
    mpi = sys.modules.get("mpi4py.MPI")
    if known is OF_OBJECTS and callable(op) and not isinstance(op, getattr(mpi, "Op", ())):
        return op
    raise ValueError(f"op is {op!r}; simulated ranks know {', '.join(known)}")


def memory(what: str, array: Any, is_written: bool = False) -> np.ndarray:
    """The numbers [n] of an array in the order of its memory, which they share.

    Raises TypeError or BufferError for what mpi4py does not take as a buffer.
    """
    if not isinstance(array, np.ndarray | np.generic):
        raise TypeError(f"{what} is a {type(array).__name__}, expected a NumPy array")
    array = np.asarray(array)
    if array.dtype.hasobject or not array.dtype.isnative:
        raise BufferError(f"{what} has dtype {array.dtype}: MPI has no such type")
    if not (array.flags.c_contiguous or array.flags.f_contiguous):
        raise BufferError(
            f"{what} is not contiguous: send np.ascontiguousarray of it, or receive into a copy"
        )
    if is_written and not array.flags.writeable:
        raise BufferError(f"{what} is not writable")
    return (array if array.flags.c_contiguous else array.T).reshape(-1)


def receive(message: np.ndarray, buffer: np.ndarray) -> None:
    """Write the message [n] to the first n numbers of the buffer [m]; the others stay as they are."""
    if message.dtype != buffer.dtype:
        raise ValueError(
            f"the message holds {message.dtype}, recvbuf {buffer.dtype}: MPI would only copy the bytes"
        )
    if message.size > buffer.size:
        raise ValueError(
            f"the message has {message.size} numbers, recvbuf room for {buffer.size}: MPI_ERR_TRUNCATE"
        )
    buffer[: message.size] = message


def for_reduction(send: Any, receive: Any, op: Any) -> tuple[np.ndarray, np.ndarray]:
    """Numbers [n] to combine and to write, of the two arguments of an Allreduce.  Raises ValueError."""
    target = memory("recvbuf", receive, is_written=True)
    name = constant_name(send)
    is_in_place = isinstance(name, str) and name == IN_PLACE
    source = target if is_in_place else memory("sendbuf", send)
    if source.dtype != target.dtype:
        raise ValueError(f"sendbuf holds {source.dtype}, recvbuf {target.dtype}: both must be alike")
    if source.size != target.size:
        raise ValueError(f"sendbuf has {source.size} numbers, recvbuf {target.size}: both must be alike")
    if source is not target and np.shares_memory(source, target):
        raise ValueError("sendbuf and recvbuf share memory: use MPI.IN_PLACE for sendbuf")
    if source.dtype.kind == "b":
        raise ValueError("MPI refuses booleans in this operation: use integers")
    operation_of(op, OF_ARRAYS)
    return source, target
