"""Background sums between GPUs, by NCCL: one rank per GPU, and the same `start` and `finish` as sums.MpiSums.

MPI starts the ranks and carries NCCL's identifier; the gradients travel from GPU to GPU.  An all-reduce is a
kernel in a stream of its own: it runs beside the kernels of the backward pass, and no thread has to look in.
Gradients that lie in the computer's memory are copied to the GPU and back, which the stream does, too.

No machine with two GPUs has run this yet.  Tests run it on real ranks with a stand-in for CuPy.
"""

import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from mpi4py import MPI

from rnnlab.scaling.overlap import Interval

MILLISECONDS = 1e3


@dataclass
class Pending:
    """A sum that was started."""

    name: str
    ready: float
    start: float
    array: Any  # of NumPy or CuPy
    on_gpu: Any  # the same numbers on the GPU; `array` itself if it lies there
    event: Any  # in the stream, after the sum


class NcclSums:
    """Background sums over the GPUs of an MPI communicator's ranks.

    background: False leaves every sum to `finish`, one after another: overlap is measured against that.
    Raises ValueError on every rank, with the remedy, where CuPy, NCCL or a GPU for each rank is missing.
    """

    def __init__(self, comm: Any, background: bool = True):
        self.comm, self.background, self.pending = comm, background, []
        self.cupy = _choose_gpu(comm)
        nccl = self.cupy.cuda.nccl
        identifier = comm.bcast(nccl.get_unique_id() if comm.Get_rank() == 0 else None)
        self.communicator = nccl.NcclCommunicator(comm.Get_size(), identifier, comm.Get_rank())
        self.types = {np.dtype("float32"): nccl.NCCL_FLOAT32, np.dtype("float64"): nccl.NCCL_FLOAT64}
        self.add = nccl.NCCL_SUM
        self.stream = self.cupy.cuda.Stream(non_blocking=True)
        self.stream.synchronize()
        self.origin = time.perf_counter(), self.stream.record()  # one moment on both clocks

    def start(self, name: str, array: Any) -> None:
        """Begin to replace array [n], contiguous, of NumPy or CuPy, by its sum over all ranks."""
        sum_ = Pending(name, time.perf_counter(), 0.0, array, None, None)
        self.pending.append(sum_)
        if self.background:
            self._launch(sum_)

    def finish(self) -> list[Interval]:
        """Wait for all sums; their intervals."""
        intervals = []
        for sum_ in self.pending:
            if sum_.event is None:
                self._launch(sum_)
            sum_.event.synchronize()
            if sum_.on_gpu is not sum_.array:
                sum_.array[:] = sum_.on_gpu.get(stream=self.stream)
            moments = sum_.ready, sum_.start, self._moment(sum_.event)
            intervals.append(Interval(sum_.name, sum_.array.nbytes, *moments))
        self.pending = []
        return intervals

    def stop(self) -> None:
        """Leave the ring of GPUs; all ranks must call it."""
        self.communicator.destroy()

    def _launch(self, sum_: Pending) -> None:
        sum_.start = time.perf_counter()
        backward = self.cupy.cuda.get_current_stream().record()  # an array of CuPy may still be computed
        with self.stream:
            self.stream.wait_event(backward)
            is_on_gpu = not isinstance(sum_.array, np.ndarray)
            sum_.on_gpu = sum_.array if is_on_gpu else self.cupy.asarray(sum_.array)
            pointer, data_type = sum_.on_gpu.data.ptr, self.types[sum_.on_gpu.dtype]
            self.communicator.allReduce(
                pointer, pointer, sum_.on_gpu.size, data_type, self.add, self.stream.ptr
            )
            sum_.event = self.stream.record()

    def _moment(self, event: Any) -> float:
        """When the GPU passed the event, on the clock of time.perf_counter."""
        moment, origin = self.origin
        return moment + self.cupy.cuda.get_elapsed_time(origin, event) / MILLISECONDS


def _choose_gpu(comm: Any) -> Any:
    """CuPy, with the GPU of this rank chosen; NCCL refuses two ranks on one GPU."""
    local = comm.Split_type(MPI.COMM_TYPE_SHARED).Get_rank()  # ranks of one computer count its GPUs
    cupy, reason = _usable_cupy(local)
    reasons = comm.allgather(reason)
    for rank, of_rank in enumerate(reasons):
        if of_rank is not None:
            raise ValueError(f"the engine nccl cannot run on rank {rank}: {of_rank}; choose the engine mpi")
    cupy.cuda.Device(local).use()
    return cupy


def _usable_cupy(device: int) -> tuple[Any, str | None]:
    """(CuPy, None), or why this rank cannot use that GPU of its computer."""
    try:
        import cupy
        from cupy.cuda import nccl  # noqa: F401  without NVIDIA's library this name is missing
    except ImportError as error:
        return None, f"{error}: .venv/bin/pip install -e '.[cuda13]' nvidia-nccl-cu13 beside an NVIDIA driver"
    try:
        count = cupy.cuda.runtime.getDeviceCount()
    except cupy.cuda.runtime.CUDARuntimeError as error:
        return None, f"there is no usable GPU ({error})"
    if device < count:
        return cupy, None
    plural = "s" * (count != 1)
    return cupy, f"its computer has {count} GPU{plural}, and it is rank {device} there, counted from 0"
