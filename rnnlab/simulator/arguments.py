"""What the host passes to a kernel, as the kernel gets it: arrays watched or bare, copies written back."""

from collections.abc import Sequence

import numpy as np
from numba.cuda.simulator.cudadrv.devicearray import FakeCUDAArray, sentry_contiguous

from rnnlab.simulator.elements import as_kernel_sees
from rnnlab.simulator.events import GLOBAL, Trace
from rnnlab.simulator.host import In, InOut, Out
from rnnlab.simulator.memory import is_written, poisoned
from rnnlab.simulator.watched import watched


class Arguments:
    """The arguments of one launch, `given` to its threads; afterwards write_back() updates the host's."""

    def __init__(self, arguments: tuple, trace: Trace | None, extensions: Sequence = ()):
        self.trace, self.copies, self.after = trace, [], []
        self.given = [self._given(self._prepared(each, extensions)) for each in arguments]

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

    def _given(self, argument: object) -> object:
        if isinstance(argument, tuple):
            whole = tuple(self._given(each) for each in argument)
            return type(argument)(*whole) if hasattr(argument, "_fields") else whole
        if isinstance(argument, In | Out | InOut):
            return self._hinted(argument)
        if isinstance(argument, FakeCUDAArray):
            written = is_written(argument._ary) if getattr(argument, "unwritten", False) else True
            return self._array(argument._ary, written)
        if isinstance(argument, np.void):
            return self._array(np.asarray(argument))
        if isinstance(argument, np.ndarray) and argument.ndim:
            sentry_contiguous(argument)
            return self._array(argument)
        return argument

    def _hinted(self, hint: In | Out | InOut) -> object:
        """In is not copied back, Out is not copied there."""
        if isinstance(hint.value, FakeCUDAArray):
            return self._given(hint.value)
        data, written = np.array(hint.value), True
        if isinstance(hint, Out):
            data, written = poisoned(data.shape, data.dtype), False
        if not isinstance(hint, In):
            self.copies.append((hint.value, data))
        return self._array(data, written)

    def _array(self, data: np.ndarray, written: bool | np.ndarray = True) -> object:
        if self.trace is None:
            return as_kernel_sees(data)
        return watched(data, GLOBAL, self.trace, written)
