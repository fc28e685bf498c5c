"""Memory that host and device share, mapped or managed: the host reads it only behind a synchronisation.

A launch returns at once on a GPU, so that the host may find old values in such memory, or half of the new
ones.  An access of the host to what a launch wrote is a finding until the host has waited for the launch.
"""

from collections.abc import Callable, Iterable

import numpy as np

from pocketgpu.simulator.settings import current
from pocketgpu.simulator.threads import Finding, Findings, users_frame
from pocketgpu.simulator.trace import Line, indices_of

Extent = tuple[int, int]  # first address and end
ACCESSES = "__iter__ __str__ __repr__ __array_function__ astype copy fill flatten item tobytes tolist"
_unfinished: list[tuple[Callable, Extent]] = []  # kernels, and what they wrote of such memory


class MappedArray(np.ndarray):
    """An array of the host that kernels reach; the host's accesses are compared with launches."""

    def __getitem__(self, index: object) -> object:
        value = super().__getitem__(index)
        if not isinstance(value, np.ndarray):  # a part is compared when it is used
            check_access(self._part(index))
        return value

    def __setitem__(self, index: object, value: object) -> None:
        check_access(self._part(index))
        super().__setitem__(index, value)

    def _part(self, index: object) -> "MappedArray":
        """The memory that an index names; all of it, if NumPy makes a copy of that part."""
        indices = indices_of(index)
        if not any(axis is Ellipsis for axis in indices):
            indices += (...,)
        part = super().__getitem__(indices)
        return part if part.base is not None else self

    def __array_ufunc__(self, function: np.ufunc, method: str, *inputs: object, out: tuple = (), **options):
        for array in (*inputs, *out):
            check_access(array)
        if out:
            options["out"] = tuple(map(without_check, out))
        return getattr(function, method)(*map(without_check, inputs), **options)


def _checked(name: str) -> Callable:
    of_numpy = getattr(np.ndarray, name)

    def method(self: MappedArray, *arguments: object, **options: object) -> object:
        check_access(self)
        return of_numpy(self, *arguments, **options)

    return method


for _name in ACCESSES.split():
    setattr(MappedArray, _name, _checked(_name))


def without_check(value: object) -> object:
    """The same memory as NumPy has it; what is not a mapped array, as it is."""
    return value.view(np.ndarray) if isinstance(value, MappedArray) else value


def is_mapped(argument: object) -> bool:
    """Is it, or the array that it wraps, memory that host and device share?"""
    return isinstance(getattr(argument, "_ary", argument), MappedArray)


def note_launch(kernel: Callable, written: Iterable[Extent], arguments: Iterable[object]) -> None:
    """Keep in mind what a launch wrote of the mapped arrays among its arguments."""
    arrays = [getattr(argument, "_ary", argument) for argument in arguments if is_mapped(argument)]
    for extent in written:
        if any(_overlap(array, extent) for array in arrays):
            _unfinished.append((kernel, extent))


def forget_launches() -> None:
    """The host has waited: what was launched before is over."""
    _unfinished.clear()


def check_access(array: object) -> None:
    """Report an access of the host to what a launch may be writing still; once for each such launch."""
    if not _unfinished or not isinstance(array, MappedArray):
        return
    early = next((entry for entry in _unfinished if _overlap(array, entry[1])), None)
    if early is None:
        return
    _unfinished.remove(early)
    kernel = early[0]
    frame = users_frame()
    line = Line(frame.f_lineno, frame.f_code.co_filename)
    message = (
        f"the host uses on line {line} an array that {kernel.__name__} writes, and has not waited for the "
        "launch: on a GPU it may find old values; call cuda.synchronize() before"
    )
    findings = (Finding("race", message, line),)
    now = current()
    if now.collect:
        now.collect(kernel, findings, 0)
    elif now.raise_findings:
        raise Findings(kernel.__name__, findings)


def _overlap(array: np.ndarray, extent: Extent) -> bool:
    """Do an array of any shape and an extent have an address in common?"""
    low, high = np.lib.array_utils.byte_bounds(array.view(np.ndarray))
    return low < extent[1] and extent[0] < high
