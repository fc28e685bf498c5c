"""The host's side: device memory, streams, events.  What Numba's own simulator does well is taken from it."""

from collections.abc import Callable

import numpy as np
from numba.cuda.simulator.api import (
    In,
    InOut,
    Out,
    close,
    declare_device,
    defer_cleanup,
    detect,
    is_float16_supported,
    list_devices,
    select_device,
)
from numba.cuda.simulator.cudadrv.devicearray import (
    FakeCUDAArray,
    auto_device,
    is_cuda_ndarray,
    managed_array,
    mapped_array,
    pinned,
    pinned_array,
    pinned_array_like,
    to_device,
)
from numba.cuda.simulator.cudadrv.devicearray import device_array as _device_array
from numba.cuda.simulator.cudadrv.devicearray import device_array_like as _device_array_like
from numba.cuda.simulator.cudadrv.devices import get_context as current_context
from numba.cuda.simulator.cudadrv.devices import gpus, require_context
from numba.cuda.simulator.cudadrv.runtime import runtime
from numba.cuda.simulator.reduction import Reduce
from numba.cuda.simulator.vector_types import vector_types

from rnnlab.devices import Device
from rnnlab.simulator.memory import poisoned
from rnnlab.simulator.settings import current
from rnnlab.simulator.streams import default_stream, event, stream, synchronize
from rnnlab.simulator.trace import WARP

reduce = Reduce
VECTOR_TYPES = {alias: kind for kind in vector_types.values() for alias in (kind.__name__, *kind.aliases)}


def device_array(
    shape: int | tuple[int, ...],
    dtype: object = np.float64,
    strides: tuple[int, ...] | None = None,
    order: str = "C",
    stream: object = 0,  # noqa: F811  Numba's name
) -> FakeCUDAArray:
    """Memory of the device that nobody has written: reading it is a finding."""
    return _unwritten(_device_array(shape=shape, dtype=dtype, strides=strides, order=order, stream=stream))


def device_array_like(array: object, stream: object = 0) -> FakeCUDAArray:  # noqa: F811
    return _unwritten(_device_array_like(array, stream=stream))


class CurrentDevice:
    """The device of the settings, with the names that numba.cuda.get_current_device() has for its limits."""

    WARP_SIZE = WARP

    def __init__(self, sheet: Device):
        self.name, self.compute_capability = sheet.name, sheet.compute_capability
        self.MULTIPROCESSOR_COUNT = sheet.multiprocessors
        self.MAX_THREADS_PER_BLOCK = sheet.threads_per_block
        self.MAX_THREADS_PER_MULTI_PROCESSOR = sheet.threads_per_multiprocessor
        self.MAX_SHARED_MEMORY_PER_BLOCK = sheet.shared_per_block


def current_device() -> CurrentDevice:
    return CurrentDevice(current().sheet)


get_current_device = current_device


def _unwritten(array: FakeCUDAArray) -> FakeCUDAArray:
    array._ary[...] = poisoned(array._ary.shape, array._ary.dtype)
    array.unwritten = True
    return array


legacy_default_stream = per_thread_default_stream = default_stream


def event_elapsed_time(start: event, end: event) -> float:
    return start.elapsed_time(end)


def profile_start() -> None:
    pass


profile_stop = profile_start
