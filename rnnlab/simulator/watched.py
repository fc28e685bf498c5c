"""Arrays as a thread sees them in a watched launch: bounds checked, every access written down.

A watched array is a thin shell around a NumPy array.  Indexing it appends to the launch's trace (events.py)
and does nothing else, so that what it means can be worked out afterwards, all at once.  The shell has slots,
a few plain integers and no __getattr__, because Python finds such attributes fastest: an access costs 0.18 µs
where that of the bare array costs 0.08, and would cost 0.23 with __getattr__.
"""

from sys import _getframe
from types import FrameType

import numpy as np

from rnnlab.simulator.elements import Narrow, as_kernel_sees, wrapped
from rnnlab.simulator.events import LOAD, STORE, Trace
from rnnlab.simulator.faults import out_of_bounds
from rnnlab.simulator.threads import machine


class Watched:
    """A NumPy array in a kernel, `data`; a slice's `root` is the array it was cut from."""

    __slots__ = ("data", "events", "load", "recorder", "root", "space", "store", "tag", "written")

    def __init__(
        self,
        data: np.ndarray,
        space: str,
        trace: Trace,
        root: "Watched | None" = None,
        written: bool | np.ndarray = True,
    ):
        assign = super().__setattr__  # a record's own is for its fields
        assign("data", data)
        assign("space", space)
        assign("root", self if root is None else root)
        assign("written", written)  # had it a value before the launch?  An array where some elements had
        assign("recorder", trace)
        assign("events", trace.events)
        assign("tag", trace.tag(self))
        assign("load", self.tag + LOAD)
        assign("store", self.tag + STORE)

    def __getitem__(self, index):
        try:
            value = self.data[index]
        except IndexError:
            raise beyond(self, index, _getframe(1), "reads") from None
        if type(value) is ndarray:
            return part(self, value)
        frame, events = _getframe(1), self.events
        events += self.load, index, frame.f_lasti, frame.f_code
        return value

    def __setitem__(self, index, value):
        try:
            self.data[index] = value
        except IndexError:
            raise beyond(self, index, _getframe(1), "writes") from None
        except OverflowError:
            self.data[index] = wrapped(value, self.data.dtype)
        frame, events = _getframe(1), self.events
        events += self.store, index, frame.f_lasti, frame.f_code

    def __len__(self) -> int:
        return len(self.data)

    def __iter__(self):
        return (self[i] for i in range(len(self.data)))

    def __array__(self, dtype=None, copy=None) -> np.ndarray:
        return np.asarray(self.data, dtype)

    def __array_ufunc__(self, function, method, *inputs, out=(), **options):
        """np.sin(a, b): a loop over all elements in one word, which is not written down."""
        bare = lambda array: array.data if isinstance(array, Watched) else array
        if out:
            options["out"] = tuple(bare(each) for each in out)
        return getattr(function, method)(*(bare(each) for each in inputs), **options)


class WatchedNarrow(Watched):
    """An array of which slices are of a class of their own."""

    __slots__ = ()

    def __getitem__(self, index):
        try:
            value = self.data[index]
        except IndexError:
            if self.data.ndim == 0 and self.data.dtype.names:
                return self[self.data.dtype.names[index]]  # a record's fields have numbers, too
            raise beyond(self, index, _getframe(1), "reads") from None
        if isinstance(value, np.ndarray) and value.ndim:
            return part(self, value)
        self.recorder.note(self.load, index, _getframe(1))
        return value[()] if isinstance(value, np.ndarray) else value


class WatchedRecords(WatchedNarrow):
    """An array of records: a["x"] and a.x are one field of all of them, a[i].x that of one."""

    __slots__ = ()

    def __getattr__(self, name: str):
        if name not in self.data.dtype.names:
            raise AttributeError(f"a record of {self.data.dtype} has no {name}")
        return self[name]

    def __setattr__(self, name: str, value: object) -> None:
        self[name] = value


ndarray = np.ndarray
SHELLS = {np.ndarray: Watched, Narrow: WatchedNarrow, np.recarray: WatchedRecords}


def watched(data: np.ndarray, space: str, trace: Trace, written: bool | np.ndarray = True) -> Watched:
    """The array as a kernel gets it in a watched launch."""
    data = as_kernel_sees(data)
    return SHELLS[type(data)](data, space, trace, written=written)


def part(whole: Watched, data: np.ndarray) -> Watched:
    """A slice of an array, or the same memory in another shape."""
    data = as_kernel_sees(data)
    return SHELLS[type(data)](data, whole.space, whole.recorder, whole.root)


def beyond(array: Watched, index: object, frame: FrameType, verb: str) -> Exception:
    """The fault that names thread, block, line, index and shape."""
    if isinstance(index, str):
        return AttributeError(f"a record of {array.data.dtype} has no {index}")
    access = f"{verb} index {index} of a {array.space} array of shape {array.data.shape}"
    return out_of_bounds(machine.now, frame, access)


def _passed_on(name: str) -> property:
    """What NumPy knows of the array; what shares its memory is watched too."""

    def find(self: Watched):
        value = getattr(self.data, name)
        if callable(value):
            return lambda *arguments, **options: _shared(self, value(*arguments, **options))
        return _shared(self, value)

    return property(find)


def _shared(whole: Watched, value: object) -> object:
    return part(whole, value) if isinstance(value, np.ndarray) else value


for _name in dir(np.ndarray):
    if not _name.startswith("_") and not hasattr(Watched, _name):
        setattr(Watched, _name, _passed_on(_name))
