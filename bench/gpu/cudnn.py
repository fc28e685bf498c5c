"""cuDNN's RNN by ctypes, with the chosen algorithm and not the one that PyTorch would choose.

The names are those of cuDNN 8 and 9 (cudnn_adv.h).  cuDNN keeps all weights in one space of its own; each
gate's matrix and bias has its place there, in PyTorch's order of gates.
"""

import ctypes
from collections.abc import Iterator
from ctypes import byref, c_float, c_int, c_size_t, c_uint, c_void_p
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from bench.gpu.events import seconds
from bench.workload import Problem
from rnnlab.cells import find_cell
from rnnlab.kernels.persistence.fragments import STORED, loaded, stored

LIBRARIES = ("libcudnn.so.9", "libcudnn.so.8", "cudnn64_9.dll", "cudnn64_8.dll")
ALGORITHMS = {"standard": 0, "persist_static": 1, "persist_dynamic": 2, "persist_static_small_h": 3}
CELLS = {"rnn_relu": 0, "rnn_tanh": 1, "lstm": 2, "gru": 3}
TYPES = {"float32": 0, "tf32": 0, "float16": 2, "bfloat16": 9}  # cudnnDataType_t
MATHS = {"float32": 3, "tf32": 0, "float16": 1, "bfloat16": 1}  # only multiply-adds; TF32; tensor cores
DOUBLE_BIAS = 2
TRAINING = 1
ADD = 0
SEQUENCES_OUTSIDE = 0
SMALL_H = {"lstm": 192, "gru": 192}
SMALL_PLAIN_H = 384  # units, in cuDNN 9.26
DYNAMIC = ALGORITHMS["persist_dynamic"]


@cache
def library() -> ctypes.CDLL:
    """cuDNN, from the system or from its wheel.  Raises OSError where there is none."""
    spec = find_spec("nvidia.cudnn") if find_spec("nvidia") else None
    folders = [Path(location) / "lib" for location in spec.submodule_search_locations] if spec else []
    for name in LIBRARIES:
        for path in [name, *(str(folder / name) for folder in folders)]:
            try:
                return ctypes.CDLL(path)
            except OSError:
                continue
    raise OSError(f"cuDNN is not there: none of {', '.join(LIBRARIES)} can be loaded")


def call(name: str, *arguments: object) -> None:
    """A function of cuDNN's.  Raises RuntimeError with its status where that is not 0."""
    status = getattr(library(), name)(*arguments)
    if status:
        library().cudnnGetErrorString.restype = ctypes.c_char_p
        raise RuntimeError(f"{name}: {library().cudnnGetErrorString(status).decode()}")


def create(name: str) -> c_void_p:
    """A new handle or descriptor: cudnnCreate… ."""
    pointer = c_void_p()
    call(f"cudnnCreate{name}", byref(pointer))
    return pointer


class CudnnLayers:
    """The problem's network in cuDNN."""

    launches = dict.fromkeys(("forward", "backward", "step"))  # unknown

    def __init__(self, problem: Problem, name: str):
        import cupy

        self.cupy = cupy
        self.problem = problem
        self.cell, self.T, self.B, self.I, self.H, self.L = problem.workload
        self.data_type = TYPES[problem.dtype]
        self.stored_as = "tf32" if problem.dtype == "float32" else problem.dtype
        self.dtype = STORED[self.stored_as]
        self.stream = cupy.cuda.Stream(non_blocking=True)
        self.handle = create("")
        call("cudnnSetStream", self.handle, c_void_p(self.stream.ptr))
        before = cupy.get_default_memory_pool().used_bytes()
        self.network = self._describe(ALGORITHMS[name.removeprefix("cudnn_")])
        self.x_rows, self.y_rows = self._rows(self.I), self._rows(self.H)
        self.states = self._tensor()
        self._make_room()
        self._fill_weights()
        cupy.cuda.Device().synchronize()
        self.bytes = cupy.get_default_memory_pool().used_bytes() - before

    def seconds(self, part: str, repeats: int) -> float:
        """See contestant.Contestant."""
        runs = {"forward": [self._forward], "backward": [self._backward]}
        return seconds(runs.get(part, [self._forward, self._backward]), repeats, self.stream)

    def results(self) -> dict[str, np.ndarray]:
        """See contestant.Contestant."""
        gradients = {name: np.empty_like(array) for name, array in self.problem.network.parameters.items()}
        for name, rows, place, count in self._places(self.dweights):
            flat = self.dweights.view(self.dtype)[place : place + count]
            gradients[name][rows] = loaded(flat.get(), self.stored_as).reshape(gradients[name][rows].shape)
        return {
            "y": loaded(self.y.get(), self.stored_as),
            "dx": loaded(self.dx.get(), self.stored_as),
            **gradients,
        }

    def _describe(self, algorithm: int) -> c_void_p:
        dropout = create("DropoutDescriptor")
        network = create("RNNDescriptor")
        call(
            "cudnnSetDropoutDescriptor",
            dropout,
            self.handle,
            c_float(0),
            None,
            c_size_t(0),
            ctypes.c_ulonglong(0),
        )
        arithmetic = TYPES["float32"]  # whatever is stored
        call(
            "cudnnSetRNNDescriptor_v8", network, algorithm, CELLS[self.cell], DOUBLE_BIAS, 0, 0,
            self.data_type, arithmetic, MATHS[self.problem.dtype],
            self.I, self.H, self.H, self.L, dropout, c_uint(0),
        )  # fmt: skip
        if algorithm == DYNAMIC:
            call("cudnnBuildRNNDynamic", self.handle, network, self.B)
        return network

    def _rows(self, width: int) -> c_void_p:
        """Descriptor of [T,B,width]."""
        rows = create("RNNDataDescriptor")
        lengths = (c_int * self.B)(*[self.T] * self.B)
        call(
            "cudnnSetRNNDataDescriptor",
            rows,
            self.data_type,
            SEQUENCES_OUTSIDE,
            self.T,
            self.B,
            width,
            lengths,
            None,
        )
        return rows

    def _tensor(self) -> c_void_p:
        """Descriptor of [L,B,H]."""
        tensor = create("TensorDescriptor")
        sizes = (c_int * 3)(self.L, self.B, self.H)
        strides = (c_int * 3)(self.B * self.H, self.H, 1)
        call("cudnnSetTensorNdDescriptor", tensor, self.data_type, 3, sizes, strides)
        return tensor

    def _make_room(self) -> None:
        work = c_size_t()
        reserve = c_size_t()
        weights = c_size_t()
        call(
            "cudnnGetRNNTempSpaceSizes", self.handle, self.network, TRAINING, self.x_rows,
            byref(work), byref(reserve),
        )  # fmt: skip
        call("cudnnGetRNNWeightSpaceSize", self.handle, self.network, byref(weights))
        room = lambda size: self.cupy.zeros(max(1, size.value), "uint8")
        self.work = room(work)
        self.reserve = room(reserve)
        self.weights = room(weights)
        self.dweights = room(weights)

        def upload(array):
            return self.cupy.asarray(stored(array, self.stored_as))

        self.x, self.dy = upload(self.problem.x), upload(self.problem.dy)
        self.y, self.dx = (
            upload(np.full_like(self.problem.dy, np.nan)),
            upload(np.full_like(self.problem.x, np.nan)),
        )
        self.lengths = self.cupy.full(self.B, self.T, "int32")

    def _fill_weights(self) -> None:
        for name, rows, place, count in self._places(self.weights):
            values = stored(self.problem.network.parameters[name][rows], self.stored_as).reshape(-1)
            self.weights.view(self.dtype)[place : place + count] = self.cupy.asarray(values)

    def _places(self, space: object) -> Iterator[tuple[str, slice, int, int]]:
        """(parameter, rows of one gate in it, first element in the space, elements)."""
        gates = len(find_cell(self.cell).gates)
        tensors = [create("TensorDescriptor") for _ in range(2)]
        for l in range(self.L):
            for number in range(2 * gates):
                where = c_void_p(), c_void_p()
                call(
                    "cudnnGetRNNWeightParams", self.handle, self.network, l, c_size_t(space.nbytes),
                    _address(space), number, tensors[0], byref(where[0]), tensors[1], byref(where[1]),
                )  # fmt: skip
                of = ("ih", "hh")[number // gates]
                gate = number % gates
                rows = slice(gate * self.H, (gate + 1) * self.H)
                for kind, address in zip(("weight", "bias"), where, strict=True):
                    name = f"{kind}_{of}_l{l}"
                    place = (address.value - space.data.ptr) // np.dtype(self.dtype).itemsize
                    yield name, rows, place, self.problem.network.parameters[name][rows].size

    def _forward(self) -> None:
        call(
            "cudnnRNNForward", self.handle, self.network, TRAINING, _address(self.lengths),
            self.x_rows, _address(self.x), self.y_rows, _address(self.y),
            self.states, None, None, self.states, None, None,
            *_sized(self.weights), *_sized(self.work), *_sized(self.reserve),
        )  # fmt: skip

    def _backward(self) -> None:
        self.cupy.cuda.runtime.memsetAsync(self.dweights.data.ptr, 0, self.dweights.nbytes, self.stream.ptr)
        lengths = _address(self.lengths)
        spaces = (*_sized(self.work), *_sized(self.reserve))
        call(
            "cudnnRNNBackwardData_v8", self.handle, self.network, lengths,
            self.y_rows, _address(self.y), _address(self.dy), self.x_rows, _address(self.dx),
            self.states, None, None, None, self.states, None, None, None,
            *_sized(self.weights), *spaces,
        )  # fmt: skip
        call(
            "cudnnRNNBackwardWeights_v8", self.handle, self.network, ADD, lengths,
            self.x_rows, _address(self.x), self.states, None, self.y_rows, _address(self.y),
            *_sized(self.dweights), *spaces,
        )  # fmt: skip


def _address(array: object) -> c_void_p:
    return c_void_p(array.data.ptr)


def _sized(array: object) -> tuple[c_size_t, c_void_p]:
    return c_size_t(array.nbytes), _address(array)


def contestant(problem: Problem, name: str) -> CudnnLayers:
    """name: cudnn_ and one of ALGORITHMS.  Raises RuntimeError if cuDNN refuses, with the limit if known."""
    try:
        return CudnnLayers(problem, name)
    except RuntimeError as error:
        most = SMALL_H.get(problem.workload.cell, SMALL_PLAIN_H)
        if not name.endswith("small_h") or problem.workload.H <= most:
            raise
        raise RuntimeError(f"{error}: cuDNN 9.26 has small_h up to {most} units of this cell") from error
