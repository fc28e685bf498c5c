"""CuPy without a GPU: what probes, contestants and events need of it, by NumPy."""

from types import SimpleNamespace

import numpy as np


class Array(np.ndarray):
    """NumPy's array with CuPy's way back to the host."""

    def get(self):
        return np.array(self)


def asarray(array):
    return np.array(array).view(Array)


def zeros(shape, dtype):
    return np.zeros(shape, dtype).view(Array)


def ones(shape, dtype):
    return np.ones(shape, dtype).view(Array)


def synchronize():
    """Raise as a CUDA context does that has had an illegal access."""
    if broken:
        raise RuntimeError(broken[0])


broken = []  # the error that the context does not forget
empty_like, matmul, add = np.empty_like, np.matmul, np.add
pool = SimpleNamespace(used_bytes=lambda: 0)
get_default_memory_pool = lambda: pool
event = SimpleNamespace(record=lambda *stream: None, synchronize=synchronize)
device = SimpleNamespace(
    id=0,
    synchronize=synchronize,
    attributes={"MultiProcessorCount": 2, "MaxSharedMemoryPerBlockOptin": 232448, "CooperativeLaunch": 1},
)
properties = {
    "name": b"Pretended 1",
    "totalGlobalMem": 1 << 30,
    "multiProcessorCount": 2,
    "major": 9,
    "minor": 0,
}


class CUDARuntimeError(RuntimeError):
    """An error of the runtime."""


runtime = SimpleNamespace(
    CUDARuntimeError=CUDARuntimeError,
    getDevice=lambda: 0,
    getDeviceCount=lambda: 1,
    getDeviceProperties=lambda number: properties,
    driverGetVersion=lambda: 13000,
    runtimeGetVersion=lambda: 13000,
)
cuda = SimpleNamespace(
    runtime=runtime, Event=lambda: event, Device=lambda *number: device, get_elapsed_time=lambda a, b: 1.0
)
