"""What the host passes to a kernel, as the kernel gets it: arrays watched or bare, copies written back."""

from collections.abc import Sequence

import numpy as np
from numba.cuda.simulator.api import In, InOut, Out
from numba.cuda.simulator.cudadrv.devicearray import FakeCUDAArray, sentry_contiguous

from rnnlab.simulator.arithmetic import as_kernel_sees, as_register
from rnnlab.simulator.memory import is_written, poisoned, watched
from rnnlab.simulator.trace import GLOBAL, Trace


class Arguments:
    """The arguments of one launch, `values` for its threads; afterwards write_back() updates the host's."""

    def __init__(
        self, arguments: tuple, trace: Trace | None, extensions: Sequence = (), names: Sequence[str] = ()
    ):
        self.trace, self.copies, self.after = trace, [], []
        names = [*names, *[""] * len(arguments)]
        self.values = [
            self._value(self._prepared(argument, extensions), name)
            for argument, name in zip(arguments, names, strict=False)
        ]

    def write_back(self) -> None:
        """Copy what the kernel wrote to where the host expects it."""
        for target, source in self.copies:
            target[...] = source
        for finish in self.after:
            finish()

    def _prepared(self, argument: object, extensions: Sequence) -> object:
        """What numba's argument extensions, such as those of cuda.jit(extensions=…), make of it."""
        kind = None
        for extension in extensions:
            kind, argument = extension.prepare_args(kind, argument, stream=0, retr=self.after)
        return argument

    def _value(self, argument: object, name: str) -> object:
        if isinstance(argument, tuple):
            whole = tuple(self._value(member, name) for member in argument)
            return type(argument)(*whole) if hasattr(argument, "_fields") else whole
        if isinstance(argument, In | Out | InOut):
            return self._hinted(argument, name)
        if isinstance(argument, FakeCUDAArray):
            data = argument._ary
            written = is_written(data) if getattr(argument, "unwritten", False) else True
            return self._array(data, name, written, _allocation(data))
        if isinstance(argument, np.void):
            return self._array(np.asarray(argument), name)
        if isinstance(argument, np.ndarray) and argument.ndim:
            sentry_contiguous(argument)
            return self._array(argument, name, owner=_aligned(argument))
        return as_register(taken(argument))

    def _hinted(self, hint: In | Out | InOut, name: str) -> object:
        """In is not copied back, Out is not copied to the device."""
        if isinstance(hint.value, FakeCUDAArray):
            return self._value(hint.value, name)
        data, written = np.array(hint.value), True
        if isinstance(hint, Out):
            data, written = poisoned(data.shape, data.dtype), False
        if not isinstance(hint, In):
            self.copies.append((hint.value, data))
        return self._array(data, name, written)

    def _array(
        self, data: np.ndarray, name: str, written: bool | np.ndarray = True, owner: int | None = None
    ) -> object:
        if self.trace is None:
            return as_kernel_sees(data)
        return watched(data, GLOBAL, self.trace, written, name, owner)


def taken(argument: object) -> object:
    """The argument.  Raises TypeError for one that no kernel takes."""
    if isinstance(argument, list | dict | set | str):
        raise TypeError(f"a {type(argument).__name__} as argument; pass an array")
    return argument


def _allocation(array: np.ndarray) -> int:
    """Address where the memory begins that a device array is a view of."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array.__array_interface__["data"][0]


def _aligned(array: np.ndarray) -> int:
    """Address from which a host array counts: its own, or a multiple of its elements' size before that."""
    address = array.__array_interface__["data"][0]
    return address if array.flags.aligned else address - address % array.itemsize
