"""Kernels that creep into float64, each with its repaired twin, and kernels that no GPU compiles."""

import math

import numpy as np

from pocketgpu import cuda

SCALE = 0.3
NARROW = np.float32(0.3)


@cuda.jit(device=True)
def halved(x):
    return x * 0.3 * x  # creeps: the number


@cuda.jit(device=True)
def halved_repaired(x):
    return x * NARROW * x


@cuda.jit
def start_value(x, y):
    total = 0.0  # creeps
    for k in range(4):
        total += x[k]
    y[0] = total


@cuda.jit
def start_value_repaired(x, y):
    total = np.float32(0)
    for k in range(4):
        total += x[k]
    y[0] = total


@cuda.jit
def number_from_outside(x, y):
    i = cuda.grid(1)
    y[i] = SCALE * x[i]  # creeps


@cuda.jit
def number_from_outside_repaired(x, y):
    i = cuda.grid(1)
    y[i] = NARROW * x[i]


@cuda.jit
def sigmoid(x, y):
    i = cuda.grid(1)
    y[i] = 1 / (1 + math.exp(-x[i]))  # creeps


@cuda.jit
def sigmoid_repaired(x, y):
    i, one = cuda.grid(1), np.float32(1)
    y[i] = one / (one + math.exp(-x[i]))


@cuda.jit
def mean(x, y):
    i = cuda.grid(1)
    y[i] = x[i] / x.size  # creeps


@cuda.jit
def mean_repaired(x, y):
    i = cuda.grid(1)
    y[i] = x[i] / np.float32(x.size)


@cuda.jit
def root_of_an_integer(x, y):
    i = cuda.grid(1)
    y[i] = math.sqrt(i)  # creeps


@cuda.jit
def root_of_an_integer_repaired(x, y):
    i = cuda.grid(1)
    y[i] = math.sqrt(np.float32(i))


@cuda.jit
def quotient_of_integers(x, y):
    i = cuda.grid(1)
    y[i] = i / 3  # creeps


@cuda.jit
def quotient_of_integers_repaired(x, y):
    i = cuda.grid(1)
    y[i] = np.float32(i) / np.float32(3)


@cuda.jit
def device_function(x, y):
    i = cuda.grid(1)
    y[i] = halved(x[i])


@cuda.jit
def device_function_repaired(x, y):
    i = cuda.grid(1)
    y[i] = halved_repaired(x[i])


@cuda.jit
def scaled(a, x, y):
    i = cuda.grid(1)
    y[i] = a * x[i]


@cuda.jit
def exact_numbers(x, y):
    i = cuda.grid(1)
    if x[i] > 0.5:
        y[i] = 2 * x[i]
    y[i] = 1.0 - x[i]


@cuda.jit
def flag(x, y):
    i = cuda.grid(1)
    cuda.stcg(y, i, cuda.ldcg(x, i))
    while cuda.ldcv(y, 0) < x[0]:
        pass
    cuda.cg.this_grid().sync()


@cuda.jit
def whole_arrays(x, y):
    y[0] = np.dot(x, x)  # no GPU compiles this


@cuda.jit
def name_that_is_not_there(x, y):
    y[0] = nowhere[0]  # noqa: F821  no GPU compiles this


@cuda.jit
def two_types(x, y):
    value = x[0]
    if x[1] > 0:
        value = (x[1], x[2])
    y[0] = value[0]  # no GPU compiles this


@cuda.jit
def size_of_shared_memory(x, y):
    part = cuda.shared.array(x.size, np.float32)  # no GPU compiles this
    y[0] = part[0]


@cuda.jit
def exceptions(x, y):
    try:
        y[0] = x[100]
    except IndexError:  # no GPU compiles this
        y[0] = 0


@cuda.jit
def too_many_arguments(x, y):
    y[0] = halved_repaired(x[0], x[1])  # no GPU compiles this


@cuda.jit
def doubled(x):
    i = cuda.threadIdx.x
    x[i] = x[i] + x[i]
