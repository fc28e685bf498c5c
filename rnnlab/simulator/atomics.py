"""Read, change and write in one: nobody comes in between, because nobody else runs.

A thread that polls again and again gives way now and then, so that whoever it waits for can come.
"""

from collections.abc import Callable
from sys import _getframe
from types import FrameType

import numpy as np

from rnnlab.simulator.arithmetic import as_register, wrapped
from rnnlab.simulator.memory import Watched, beyond
from rnnlab.simulator.threads import machine
from rnnlab.simulator.trace import ATOMIC, LOAD, STORE, VOLATILE_LOAD, VOLATILE_STORE


def _read(kind: int, array, index, frame: FrameType, verb: str):
    """array[index], written down as an event of that kind."""
    if not isinstance(array, Watched):
        return as_register(array[index])
    array.recorder.note(array.tag + kind, index, frame)
    try:
        return as_register(array.data[index])
    except IndexError:
        raise beyond(array, index, frame, verb) from None


def _write(array, index, value) -> None:
    data = array.data if isinstance(array, Watched) else array
    try:
        data[index] = value
    except OverflowError:
        data[index] = wrapped(value, data.dtype)


def _atomic(change: Callable):
    """cuda.atomic.<name>(array, index, *values): array[index] becomes change(old, *values); returns old."""

    def operation(array, index, *values):
        frame = _getframe(1)
        old = _read(ATOMIC, array, index, frame, "changes")
        _write(array, index, change(old, *values))
        machine.launch.look(frame, (id(array), index), old, "an atomic")
        return old

    return staticmethod(operation)


def _plain(old):
    return old.item() if old.dtype.kind in "iu" else old


class atomic:
    """The words of numba.cuda.atomic."""

    add = _atomic(lambda old, value: _plain(old) + value)
    sub = _atomic(lambda old, value: _plain(old) - value)
    and_ = _atomic(lambda old, value: _plain(old) & value)
    or_ = _atomic(lambda old, value: _plain(old) | value)
    xor = _atomic(lambda old, value: _plain(old) ^ value)
    inc = _atomic(lambda old, limit: 0 if old >= limit else _plain(old) + 1)
    dec = _atomic(lambda old, limit: limit if old == 0 or old > limit else _plain(old) - 1)
    exch = _atomic(lambda old, value: value)
    max = _atomic(lambda old, value: old if np.isnan(old) or not old < value else value)
    min = _atomic(lambda old, value: old if np.isnan(old) or not old > value else value)
    nanmax = _atomic(lambda old, value: np.fmax(old, value))
    nanmin = _atomic(lambda old, value: np.fmin(old, value))
    cas = _atomic(lambda old, expected, value: value if old == expected else old)

    @staticmethod
    def compare_and_swap(array: Watched | np.ndarray, old: object, value: object) -> object:
        """cas on the first element of an array of any shape."""
        return atomic.cas(array, 0 if array.ndim == 1 else (0,) * array.ndim, old, value)


def _load(kind: int) -> Callable:
    """A load with a cache hint: a volatile one does not trust what was loaded before."""

    def load(array, index):
        frame = _getframe(1)
        value = _read(kind, array, index, frame, "reads")
        if kind == VOLATILE_LOAD:
            machine.launch.look(frame, (id(array), index), value, "a load")
        return value

    return load


def _store(kind: int) -> Callable:
    def store(array, index, value) -> None:
        frame = _getframe(1)
        _read(kind, array, index, frame, "writes")
        _write(array, index, value)

    return store


ldca, ldcs, ldlu = (_load(LOAD) for _ in range(3))
ldcg, ldcv = (_load(VOLATILE_LOAD) for _ in range(2))  # past the first-level cache, which is not coherent
stcs, stwb = (_store(STORE) for _ in range(2))
stcg, stwt = (_store(VOLATILE_STORE) for _ in range(2))


def nanosleep(nanoseconds: int) -> None:
    """Let everybody else run first."""
    machine.launch.spin(_getframe(1), "nanosleep()")
