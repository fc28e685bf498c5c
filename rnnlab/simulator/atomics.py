"""Read, change and write in one: nobody comes in between, because nobody else runs.

A thread that polls again and again gives way now and then, so that whoever it waits for can come.
"""

import sys

import numpy as np

from rnnlab.simulator.events import ATOMIC, VOLATILE_LOAD, VOLATILE_STORE
from rnnlab.simulator.memory import Watched, out_of_bounds, wrapped
from rnnlab.simulator.threads import machine

POLLS = 16  # how often a thread may look before it lets others run


def _atomic(change):
    """cuda.atomic.<name>(array, index, *values): array[index] becomes change(old, *values); returns old."""

    def operation(array, index, *values):
        frame, data = sys._getframe(1), array
        if isinstance(array, Watched):
            data = array.data
            machine.trace.note(array.tag + ATOMIC, index, frame)
        try:
            old = data[index]
        except IndexError:
            raise out_of_bounds(array, index, frame, "changes") from None
        new = change(old, *values)
        try:
            data[index] = new
        except OverflowError:
            data[index] = wrapped(new, data.dtype)
        machine.launch.progress += bool(new != old)
        _polled(frame, "an atomic")
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
    def compare_and_swap(array, old, value):
        """cas on the first element."""
        return atomic.cas(array, (0,) * array.ndim, old, value)


def _load(array, index):
    """A load that the compiler must not keep in a register, and that goes past the first-level cache."""
    frame, data = sys._getframe(1), array
    if isinstance(array, Watched):
        data = array.data
        machine.trace.note(array.tag + VOLATILE_LOAD, index, frame)
    try:
        value = data[index]
    except IndexError:
        raise out_of_bounds(array, index, frame, "reads") from None
    _polled(frame, "a load")
    return value


def _store(array, index, value) -> None:
    frame, data = sys._getframe(1), array
    if isinstance(array, Watched):
        data = array.data
        machine.trace.note(array.tag + VOLATILE_STORE, index, frame)
    try:
        data[index] = value
    except IndexError:
        raise out_of_bounds(array, index, frame, "writes") from None


ldca = ldcg = ldcs = ldlu = ldcv = _load
stcg = stcs = stwb = stwt = _store


def nanosleep(nanoseconds: int) -> None:
    """Let everybody else run first."""
    frame = sys._getframe(1)
    machine.launch.spin((frame.f_code, frame.f_lasti, "nanosleep()"))


def _polled(frame, what: str) -> None:
    thread = machine.now
    thread.polls += 1
    if thread.polls % POLLS == 0:
        machine.launch.spin((frame.f_code, frame.f_lasti, what))
