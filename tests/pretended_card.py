"""A card without a GPU: streams are queues, served in any order that events allow; kernels are simulated.

CuPy without a GPU, too, as far as the contestants use it.
"""

import math
import random
from functools import cache
from types import ModuleType, SimpleNamespace

import numpy as np

from pocketgpu import cuda
from rnnlab.gpu.card import launch_of, registers, row_length
from rnnlab.gpu.cublas import sizes_of
from rnnlab.schedule.run_numpy import RUN


@cache
def python_kernel(work):
    """The kernel in Python: arguments count, columns, then a flat array and a row length for each region."""
    parameters = "".join(f", p{k}, s{k}" for k in range(work.loads + len(work.stores)))
    lines = [f"{name} = {line}" for name, line in registers(work)]
    lines += [f"p{k}[row * s{k} + column] = r{r}" for k, r in enumerate(work.stores, work.loads)]
    body = "\n".join(f"        {line}" for line in lines)
    source = f"""def {work.name}(count, columns{parameters}):
    for i in range(cuda.grid(1), count, cuda.gridsize(1)):
        row, column = i // columns, i % columns
{body}
"""
    names = {"cuda": cuda, "tanh": math.tanh, "one": 1, "half": 0.5, "zero": 0}
    exec(source, names)
    return cuda.jit(names[work.name])


class HostBuffer:
    """A matrix in this computer's memory."""

    def __init__(self, array):
        self.array = array

    def host(self):
        return self.array.copy()

    def flat(self, region):
        """Everything from the region's first element on."""
        return self.array.reshape(-1)[region.rows[0] * self.array.shape[1] + region.columns[0] :]


def in_columns(flat, rows, columns, length):
    """[rows, columns] as cuBLAS sees memory: column by column, `length` elements apart."""
    return np.lib.stride_tricks.as_strided(flat, (rows, columns), (flat.itemsize, length * flat.itemsize))


class PretendedCard:
    """run_cuda.Card; `seed` decides whose turn it is where several streams could continue."""

    def __init__(self, seed=0):
        self.draw, self.queues, self.launches = random.Random(seed), {}, 0

    def buffer(self, shape, dtype, content):
        return HostBuffer(np.full(shape, np.nan, dtype) if content is None else np.array(content, dtype))

    def launch(self, operation, buffers, stream):
        run = {"gemm": self.gemm, "pointwise": self.pointwise}.get(operation.kind, self.by_numpy)
        return lambda: self.put(stream, "run", lambda: run(operation, buffers))

    def copy(self, source, target, stream):
        def run():
            target.array[...] = source.array

        return lambda: self.put(stream, "run", run)

    def event(self):
        return {"asked": 0, "happened": 0}  # how often

    def record(self, event, stream):
        def ask():
            event["asked"] += 1
            return self.put(stream, "record", event)

        return ask

    def wait(self, event, stream):
        return lambda: self.put(stream, "wait", (event, event["asked"]))

    def capture(self, commands, stream):
        return lambda: sum(command() for command in commands)

    def finish(self):
        while ready := [
            number for number, queue in self.queues.items() if queue and self.may_go_on(queue[0])
        ]:
            kind, what = self.queues[self.draw.choice(sorted(ready))].pop(0)
            if kind == "run":
                what()
            elif kind == "record":
                what["happened"] += 1
        assert not any(self.queues.values()), "streams wait for each other"

    def seconds(self, run):
        run()
        self.finish()
        return 1e-3

    def used_bytes(self):
        return 0

    def put(self, stream, kind, what):
        self.launches += kind == "run"
        self.queues.setdefault(stream, []).append((kind, what))
        return 0

    @staticmethod
    def may_go_on(entry):
        kind, what = entry
        return kind != "wait" or what[0]["happened"] >= what[1]

    @staticmethod
    def gemm(operation, buffers):
        sizes = sizes_of(operation, {name: item.array.shape[1] for name, item in buffers.items()})
        a, b, out = (buffers[r.buffer].flat(r) for r in operation.reads + operation.writes)
        first = (sizes.k, sizes.m) if sizes.first_transposed else (sizes.m, sizes.k)
        second = (sizes.n, sizes.k) if sizes.second_transposed else (sizes.k, sizes.n)
        first = in_columns(b, *first, sizes.first_length)
        second = in_columns(a, *second, sizes.second_length)
        target = in_columns(out, sizes.m, sizes.n, sizes.out_length)
        product = (first.T if sizes.first_transposed else first) @ (
            second.T if sizes.second_transposed else second
        )
        target[...] = product + target if operation.accumulates else product

    @staticmethod
    def pointwise(operation, buffers):
        work, regions = launch_of(operation)
        rows, columns = operation.writes[0].shape
        arguments = [rows * columns, columns]
        for region in regions:
            buffer = buffers[region.buffer]
            arguments += [buffer.flat(region), row_length(region, rows, buffer.array.shape[1])]
        with cuda.settings(checks=False):
            python_kernel(work)[-(-rows * columns // 32), 32](*arguments)

    @staticmethod
    def by_numpy(operation, buffers):
        RUN[operation.kind](operation, {name: item.array for name, item in buffers.items()})


class Array(np.ndarray):
    """NumPy's array with CuPy's way back to the host."""

    def get(self):
        return np.array(self)


def cupy_by_numpy():
    """What the contestants use of CuPy; memory is counted as it is allocated."""
    used = [0]

    def counted(array):
        used[0] += array.nbytes
        return array.view(Array)

    pool = SimpleNamespace(used_bytes=lambda: used[0])
    empty = SimpleNamespace(synchronize=lambda: None, record=lambda: None)
    module = ModuleType("cupy")
    module.asarray = lambda array: counted(np.array(array))
    module.zeros = lambda shape, dtype: counted(np.zeros(shape, dtype))
    module.empty_like = lambda array: counted(np.empty_like(array))
    module.matmul, module.add, module.get_default_memory_pool = np.matmul, np.add, lambda: pool
    events = {"Event": lambda: empty, "Device": lambda: empty, "get_elapsed_time": lambda a, b: 1.0}
    module.cuda = SimpleNamespace(**events)
    return module
