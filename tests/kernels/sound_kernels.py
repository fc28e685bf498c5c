"""Kernels without a fault unlike those of learners: the simulator must not accuse them.

`leaves` says what is in their last argument, computed by NumPy from the others before the launch.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from faulty_kernels import COLLECTIVES, floats, swapped_after
from kernel_cases import table_of
from numba import from_dtype, int32, uint32

from pocketgpu import cuda

ZERO, HALF = np.float32(0), np.float32(0.5)
WEIGHTS = np.arange(4, dtype="float32")
SIZE = 32


class Case(NamedTuple):
    """One launch of one kernel; expected(*arguments) is what it leaves in the last of them."""

    kernel: Callable
    expected: Callable
    grid: object
    block: object
    arguments: Callable
    shared: int = 0


CASES, leaves = table_of(Case)


def one(n=SIZE, m=None):
    """x [n] and an empty result [m]."""
    return lambda: (floats(n), np.zeros(n if m is None else m, "float32"))


first = lambda x, *_: x


# one element a thread


@leaves(lambda x, y: x / 2, 2, 16, one())
def multiplies_by_a_constant_of_the_module(x, y):
    y[cuda.grid(1)] = HALF * x[cuda.grid(1)] + ZERO


@leaves(lambda x, y: x / 2, 2, 16, one())
def has_a_default_argument(x, y, factor=HALF):
    y[cuda.grid(1)] = factor * x[cuda.grid(1)]


@leaves(first, 2, 16, one())
def asserts_what_it_relies_on(x, y):
    i = cuda.grid(1)
    assert x.size == y.size
    y[i] = x[i]


@leaves(first, 2, 16, one())
def prints_its_first_element(x, y):
    i = cuda.grid(1)
    y[i] = x[i]
    if i == 0:
        print("first", x[0])


@leaves(first, (1, 2, 2), (4, 2, 1), lambda: (floats(2, 4, 4), np.zeros((2, 4, 4), "float32")))
def uses_three_dimensions(x, y):
    i, j, k = cuda.grid(3)
    if k < 2:
        y[k, j, i] = x[k, j, i]


@leaves(lambda x, y: np.tanh(x), 1, 32, one())
def uses_a_ufunc_on_elements(x, y):
    y[cuda.grid(1)] = np.tanh(x[cuda.grid(1)])


@leaves(lambda x, y: x[1:5], 1, 4, lambda: (floats(8), np.zeros(4, "float32")))
def indexes_a_slice(x, y):
    part = x[1:5]
    y[cuda.grid(1)] = part[cuda.grid(1)]


@leaves(lambda x, y: x.T, (1, 1), (4, 4), lambda: (floats(4, 4), np.zeros((4, 4), "float32")))
def indexes_the_transpose(x, y):
    i, j = cuda.grid(2)
    y[i, j] = x.T[i, j]


@leaves(lambda x, y: x.reshape(-1), 1, 16, lambda: (floats(4, 4), np.zeros(16, "float32")))
def indexes_another_shape(x, y):
    y[cuda.grid(1)] = x.reshape(16)[cuda.grid(1)]


@leaves(lambda x, y: x * 3, 1, 4, lambda: (floats(4), np.zeros(4, "float32")))
def reads_an_array_of_the_module(x, y):
    value = ZERO
    for k in range(3):
        value += x[cuda.grid(1)] * WEIGHTS[k]
    y[cuda.grid(1)] = value


@leaves(
    lambda x, y: np.full(32, 2**31 - 1),
    1,
    32,
    lambda: (np.full(32, 2**31 - 1, "int32"), np.zeros(32, "int32")),
)
def averages_large_integers(x, y):
    i = cuda.grid(1)
    y[i] = (x[i] + x[31 - i]) // 2


@leaves(
    lambda x, y: x.astype("uint64") ** 2,
    1,
    4,
    lambda: (np.full(4, 2**32 - 1, "uint32"), np.zeros(4, "uint64")),
)
def squares_unsigned_integers(x, y):
    y[cuda.grid(1)] = x[cuda.grid(1)] * x[cuda.grid(1)]


@leaves(lambda x, y: np.full(4, 24), 1, 4, lambda: (np.full(4, 255, "int32"), np.zeros(4, "int32")))
def counts_zeros_of_32_bits(x, y):
    y[cuda.grid(1)] = cuda.clz(x[cuda.grid(1)])


# shared memory


@leaves(lambda x, y: x, 1, 32, one(), shared=256)
def cuts_dynamic_memory_in_two_types(x, y):
    whole = cuda.shared.array(0, np.float32)
    numbers, flags = whole[:SIZE], whole[SIZE:].view(np.int32)
    i = cuda.threadIdx.x
    numbers[i] = x[i]
    flags[i] = 1
    cuda.syncthreads()
    y[i] = numbers[i] * flags[SIZE - 1 - i]


@leaves(lambda x, y: 3 * x, 1, 32, one())
def reuses_a_tile_between_two_barriers(x, y):
    tile = cuda.shared.array(SIZE, np.float32)
    i = cuda.threadIdx.x
    for _ in range(3):
        tile[i] = x[i]
        cuda.syncthreads()
        y[SIZE - 1 - i] += tile[SIZE - 1 - i]
        cuda.syncthreads()


# warps


@leaves(lambda x, out: np.array([x[:16].sum()]), 1, 32, one(32, 1))
def sums_half_a_warp_with_half_a_mask(x, out):
    if cuda.laneid < 16:
        value = x[cuda.laneid]
        for step in (8, 4, 2, 1):
            value += cuda.shfl_down_sync(0xFFFF, value, step)
        if cuda.laneid == 0:
            out[0] = value


@leaves(lambda x, out: np.array([x.max()]), 1, 8, one(8, 1))
def finds_the_largest_of_eight_lanes(x, out):
    value = x[cuda.laneid]
    for step in (4, 2, 1):
        value = max(value, cuda.shfl_down_sync(0xFF, value, step))
    if cuda.laneid == 0:
        out[0] = value


# flags, locks, grids


@leaves(lambda flags, h: np.repeat(np.arange(4), 32).reshape(h.shape), 4, 8, lambda: (
    np.zeros(4, "int32"), np.zeros((4, 32), "float32")
))  # fmt: skip
def the_first_thread_fences_and_looks_at_all(flags, h):
    i = cuda.grid(1)
    for t in range(h.shape[0] - 1):
        h[t + 1, i] = h[t, (i + 8) % 32] + 1
        cuda.syncthreads()
        if cuda.threadIdx.x == 0:
            cuda.threadfence()
            cuda.stcg(flags, cuda.blockIdx.x, t + 1)
            for block in range(cuda.gridDim.x):
                while True:
                    if cuda.atomic.add(flags, block, 0) >= t + 1:
                        break
            cuda.threadfence()
        cuda.syncthreads()


@leaves(lambda lock, x: np.array([4]), 4, 1, lambda: (np.zeros(1, "int32"), np.zeros(1, "float32")))
def gives_a_lock_back_with_a_store(lock, x):
    while cuda.atomic.cas(lock, 0, 0, 1) != 0:
        pass
    cuda.threadfence()
    x[0] += 1
    cuda.threadfence()
    lock[0] = 0


@leaves(lambda ticket, x: np.array([4]), 4, 1, lambda: (np.zeros(2, "int32"), np.zeros(1, "float32")))
def serves_tickets_in_turn(ticket, x):
    mine = cuda.atomic.add(ticket, 0, 1)
    while cuda.atomic.add(ticket, 1, 0) != mine:
        pass
    cuda.threadfence()
    x[0] += 1
    cuda.threadfence()
    cuda.atomic.add(ticket, 1, 1)


@leaves(lambda x, flags, y: np.cumsum(x), 4, 1, lambda: (
    floats(4), np.zeros(4, "int32"), np.zeros(4, "float32")
))  # fmt: skip
def looks_back_at_the_block_before(x, flags, y):
    block, before = cuda.blockIdx.x, ZERO
    if block > 0:
        while cuda.atomic.add(flags, block - 1, 0) == 0:
            cuda.nanosleep(10)
        cuda.threadfence()
        before = y[block - 1]
    y[block] = before + x[block]
    cuda.threadfence()
    cuda.atomic.exch(flags, block, 1)


# memory of every kind, and records


POINT = np.dtype([("x", np.float32), ("n", np.int32), ("v", np.float64, 2)])
CLUSTER = np.dtype(
    [("label", np.int32), ("sum", np.float64), ("T", np.float64), ("owner", np.int32)], align=True
)
TABLE = np.array([3.0, 1.0, 4.0])


def records(dtype, **fields):
    """Records whose other fields are zero."""
    array = np.zeros(len(next(iter(fields.values()))), dtype)
    for name, values in fields.items():
        array[name] = values
    return array


@leaves(lambda out: np.array([30, 20, 10, 0, 31, 21, 11, 1]), 2, 4, lambda: (np.zeros(8, "int32"),))
def has_a_shared_array_for_each_place_and_block(out):
    first, second = cuda.shared.array(4, np.int32), cuda.shared.array(4, np.int32)
    t = cuda.threadIdx.x
    first[t], second[t] = cuda.blockIdx.x, 10 * t
    cuda.syncthreads()
    out[cuda.grid(1)] = first[3 - t] + second[3 - t]


@leaves(lambda out: np.full(2, 42), 1, 2, lambda: (np.zeros(2, "int32"),), shared=8)
def has_one_dynamic_shared_memory(out):
    words, halves = cuda.shared.array(0, np.uint32), cuda.shared.array(0, np.uint16)
    words[cuda.threadIdx.x] = 0x20001
    out[cuda.threadIdx.x] = 10 * halves.size + halves[2 * cuda.threadIdx.x + 1]


@leaves(lambda out: np.array([3, 2, 6]), 1, 3, lambda: (np.zeros(3, "float32"),))
def has_a_local_array_in_each_thread_and_constants(out):
    mine, constant = cuda.local.array((2, 2), np.float32), cuda.const.array_like(TABLE)
    mine[1, 0] = cuda.grid(1)
    cuda.syncthreads()
    out[cuda.grid(1)] = mine[1, 0] + constant[cuda.grid(1)]


@leaves(
    lambda one, points: records(POINT, x=[2.5, 4.5, 6.5], n=[1] * 3, v=[(0, 0), (0, 1), (0, 2)]),
    1,
    3,
    lambda: (records(POINT, x=[0.5])[0], records(POINT, x=[1, 2, 3])),
)
def reads_and_writes_records_by_field(one, points):
    i = cuda.grid(1)
    points[i].x = 2 * points[i]["x"] + one.x
    points["n"][i] = points.n[i] + 1
    points[i].v[1] = i


@leaves(lambda a: np.array([[6, 4, 0, 6], [0, 0, 0, 0]]), 1, 1, lambda: (np.zeros((2, 4)),))
def writes_through_slices_and_other_shapes(a):
    row = a[cuda.grid(1)]
    row[0] = a.shape[1] + a.ndim
    row[1:][0] = a.T[0, 0] if False else len(row)
    a.reshape(8)[3] = a.ravel()[0]


@leaves(lambda a: np.array([5, 10]), 1, 1, lambda: (np.zeros(2, "int32"),))
def keeps_the_low_bits_of_large_integers(a):
    a[0] = np.int64(2**32 + 5)
    a[1] = a[0] * 2


@leaves(lambda out: np.array([10, 5]), 1, 2, lambda: (np.zeros(2, "float32"),))
def shares_records(out):
    points = cuda.shared.array(2, from_dtype(POINT))
    point = points[cuda.threadIdx.x]
    point.x = cuda.threadIdx.x + 1
    point["n"] = 5
    cuda.syncthreads()
    out[cuda.threadIdx.x] = points[1 - cuda.threadIdx.x].x * point.n


@leaves(lambda points: records(POINT, x=[3, 3], n=[4, 4]), 1, 2, lambda: (np.zeros(2, POINT),))
def writes_two_fields_of_a_record_and_copies_it(points):
    if cuda.threadIdx.x:
        points[0].x = 3
    else:
        points[0].n = 4
    cuda.syncthreads()
    if cuda.threadIdx.x:
        points[1] = points[0]


@leaves(lambda out: np.full((4, 2), 7), 1, 4, lambda: (np.zeros((4, 2), "float32"),))
def fills_slices(out):
    own = cuda.local.array((2, 3), np.float32)
    own[:] = 2
    own[1, 1:] = 5
    out[cuda.grid(1), :] = own[0, 0] + own[1, 2]


@leaves(
    lambda x, clusters: records(CLUSTER, label=[5, 6, 7], sum=x, T=[7, 10, 13], owner=[4, 5, 6]),
    1,
    3,
    lambda: (np.array([1.0, 2, 3]), records(CLUSTER, owner=[4, 5, 6])),
)
def has_fields_with_names_of_numpy(x, clusters):
    i = cuda.grid(1)
    own = clusters[i]
    own.sum += x[i]
    own.label = own.owner + 1
    clusters[i].T = 2 * clusters[i].sum + clusters.label[i]


# places, device functions, numbers


@leaves(
    lambda out: 1 + np.tile(np.arange(8).reshape(2, 2, 2), (3, 2, 5)),
    (5, 2, 3),
    (2, 2, 2),
    lambda: (np.zeros((6, 4, 10), np.int64),),
)
def finds_its_place_in_three_dimensions(out):
    x, y, z = cuda.grid(3)
    i, j, k = cuda.threadIdx, cuda.blockIdx, cuda.blockDim
    assert (x, y, z) == (j.x * k.x + i.x, j.y * k.y + i.y, j.z * k.z + i.z)
    assert (x, y) == cuda.grid(2)
    assert x == cuda.grid(1)
    out[z, y, x] += 1 + cuda.laneid


@cuda.jit(device=True, inline=True)
def own_place():
    return cuda.grid(1)


@cuda.jit("float32(float32)", device=True)
def doubled_and_placed(x):
    return 2 * x + own_place()


@leaves(lambda a: 2 + np.arange(6), 3, 2, lambda: (np.ones(6, "float32"),))
def calls_device_functions_that_use_every_word(a):
    a[own_place()] = doubled_and_placed(a[own_place()])


@leaves(lambda a: np.full(4, np.inf), 1, 4, lambda: (np.full(4, 1e30, np.float32),))
def overflows_quietly_after_waiting(a):
    cuda.syncthreads()
    a[cuda.grid(1)] *= np.float32(1e30)


@leaves(lambda a, b: np.tile(a, (5, 1)), 2, 3, lambda: (np.arange(6.0), np.zeros((5, 6))))
def loads_and_stores_with_hints(a, b):
    i = cuda.grid(1)
    loads = cuda.ldca, cuda.ldcg, cuda.ldcs, cuda.ldlu, cuda.ldcv
    stores = cuda.stcg, cuda.stcs, cuda.stwb, cuda.stwt, cuda.stcg
    for row in range(5):
        stores[row](b, (row, i), loads[row](a, i))


@cuda.jit(device=True)
def chosen(which, value, other):
    return value if which else other


@leaves(lambda x, out: np.array([-5, 0, 1, 2]), 1, 4, lambda: (np.arange(4.0), np.zeros(4)))
def ignores_a_name_without_a_value(x, out):
    i = cuda.grid(1)
    for k in range(i):
        last = x[k]
    out[i] = chosen(i > 0, last, -5.0)


@leaves(lambda x: np.arange(32)[::-1], 1, 32, lambda: (np.zeros(32, np.int32),))
def uses_types_of_integers_as_dtypes(x):
    box = cuda.shared.array(32, np.int32)
    own = cuda.local.array(2, np.uint32)
    t = cuda.threadIdx.x
    own[0] = t
    box[t] = own[0]
    cuda.syncthreads()
    x[t] = box[31 - t] if x.dtype == np.int32 else -1


def hash_of(i):
    """A hash in 32 bits of whole numbers [n]."""
    h = i * 2654435761 % 2**32
    return h ^ (h >> 15)


@leaves(
    lambda bins: np.bincount(hash_of(np.arange(256)) % 16, minlength=16),
    4,
    64,
    lambda: (np.zeros(16, np.int32),),
)
def scatters_by_a_hash_of_the_index(bins):
    h = np.uint32(cuda.grid(1) * 2654435761)
    h = np.uint32(h ^ (h >> 15))
    cuda.atomic.add(bins, h % bins.size, 1)


# kernels of which the engine in lockstep runs all threads at once


BLOCKS, THREADS = 40, 32


@leaves(lambda out: np.arange(1280) / 8 + 10.5, BLOCKS, THREADS, lambda: (np.zeros(BLOCKS * THREADS),))
def has_numbers_that_pythons_compiler_works_out(out):
    i = cuda.grid(1)
    out[i] = i * 2**-3 + 3 / 2**-1 + (1 << 63) // 2**61 + 2 * (2**2) ** -1


def by_conditions(few, many, out):
    """What the four conditions of the next kernel add."""
    i, j = np.indices(out.shape)
    return 2 * (i < 3) + 4 * (j < 5) + 8


@leaves(by_conditions, (2, 3), (4, 4), lambda: (1, 2, np.zeros((7, 9))))
def joins_a_condition_that_is_the_same_in_all_threads(few, many, out):
    i, j = cuda.grid(2)
    if i < out.shape[0] and j < out.shape[1]:
        if i < 3 and few > many:
            out[i, j] += 1
        if i < 3 and many > few:
            out[i, j] += 2
        if j < 5 or few > many:
            out[i, j] += 4
        if j < 5 or many > few:
            out[i, j] += 8


def steps_to_one(value):
    return 0 if value == 1 else 1 + steps_to_one(value // 2 if value % 2 == 0 else 3 * value + 1)


@leaves(
    lambda n, steps: np.array([*map(steps_to_one, n.tolist())]),
    BLOCKS,
    THREADS,
    lambda: (np.arange(1, BLOCKS * THREADS - 20), np.zeros(BLOCKS * THREADS - 21, int)),
)
def leaves_a_loop_at_its_own_time(n, steps):
    i = cuda.grid(1)
    if i < n.size:
        value = n[i]
        count = 0
        while value != 1:
            if value % 2 == 0:
                value //= 2
            else:
                value = 3 * value + 1
            count += 1
        steps[i] = count


def first_places(x, limit, places):
    """First column of each row up to which the numbers, less one for each negative, exceed the limit."""
    sums = np.cumsum(x - (x < 0), 1)
    reached = (sums > limit) & (x >= 0)
    return np.where(reached.any(1), reached.argmax(1), -1)


def uniform_rows():
    """Rows [2530,9] of numbers of which some are negative, a limit, and a place for each row."""
    x = np.random.default_rng(0).uniform(-0.2, 1, (2 * BLOCKS * THREADS - 30, 9))
    return x, 2.0, np.zeros(len(x), np.int32)


@leaves(first_places, BLOCKS, THREADS, uniform_rows)
def finds_the_first_in_its_rows(x, limit, places):
    """A grid-stride loop with a loop that is left by a break behind other statements."""
    for row in range(cuda.grid(1), x.shape[0], cuda.gridsize(1)):
        place = -1
        seen = 0.0
        for column in range(x.shape[1]):
            seen += x[row, column]
            if x[row, column] < 0:
                seen -= 1.0
                continue
            if seen > limit:
                place = column
                break
        places[row] = place


@leaves(
    lambda a: np.sort(a, 1),
    BLOCKS,
    THREADS,
    lambda: (np.random.default_rng(0).integers(0, 50, (BLOCKS * THREADS - 9, 11)),),
)
def sorts_rows_with_a_stack(a):
    """Quicksort with a stack; `low` is an element of it, and behind a branch a number of Python."""
    row = cuda.grid(1)
    if row >= a.shape[0]:
        return
    stack = cuda.local.array((16, 2), np.int32)
    stack[0, 0] = 0
    stack[0, 1] = a.shape[1] - 1
    top = 1
    while top > 0:
        top -= 1
        first = stack[top, 0]
        last = stack[top, 1]
        if first >= last:
            continue
        low = first
        high = last
        pivot = a[row, (first + last) // 2]
        while low <= high:
            while a[row, low] < pivot:
                low += 1
            while a[row, high] > pivot:
                high -= 1
            if low <= high:
                a[row, low], a[row, high] = a[row, high], a[row, low]
                low += 1
                high -= 1
        stack[top, 0] = first
        stack[top, 1] = high
        stack[top + 1, 0] = low
        stack[top + 1, 1] = last
        top += 2


@leaves(
    lambda a, places: a.argmax(2),
    (2, 3),
    (8, 8),
    lambda: (np.random.default_rng(0).random((13, 21, 6)), np.zeros((13, 21), np.int8)),
)
def finds_the_largest_by_tuples(a, places):
    position = cuda.grid(2)
    if position[0] < a.shape[0] and position[1] < a.shape[1]:
        best = position[0], position[1], 0
        for k in range(a.shape[2]):
            candidate = position[0], position[1], k
            if a[candidate] > a[best]:
                best = candidate
        places[position] = best[2]


# numbers of 64 bits, and long loops


def wrap(value):
    """A whole number in 64 bits with a sign."""
    return (value + 2**63) % 2**64 - 2**63


def mixed(seed, out):
    """What the next kernel leaves, in whole numbers of Python that wrap."""
    expected = []
    for i in range(6):
        z = wrap(seed + i * 0x9E3779B97F4A7C15)
        z = wrap((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9)
        for round_number in range(3):
            z = wrap(z * 31 + round_number)
        low = z
        high = 1
        for _ in range(100):
            low, high = high, wrap(low + high)
        expected.append((high >> 7) % 1000)
    return np.array(expected)


@leaves(mixed, 1, 6, lambda: (-7, np.zeros(6, np.int64)))
def draws_random_numbers_in_64_bits(seed, out):
    i = cuda.grid(1)
    z = seed + i * 0x9E3779B97F4A7C15
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9
    for round_number in range(3):
        z = z * 31 + round_number
    low, high = z, 1
    for _ in range(100):
        low, high = high, low + high
    out[i] = (high >> 7) % 1000


@cuda.jit(device=True)
def shifted(x):
    x ^= x << 21
    x ^= x >> 35
    return x ^ (x << 4)


def shifted_nine_times(out):
    """What the next kernel leaves, in whole numbers of Python that wrap."""
    state = 1234567
    for _ in range(9):
        state = wrap(state ^ wrap(state << 21))
        state ^= state >> 35
        state = wrap(state ^ wrap(state << 4))
    return np.array([state // 1000])


@leaves(shifted_nine_times, 1, 1, lambda: (np.zeros(1, np.int64),))
def wraps_what_a_device_function_is_given(out):
    state = 1234567
    for _ in range(9):
        state = shifted(state)
    out[0] = state // 1000


@leaves(lambda x, table, out: np.ones(1), 1, 1, lambda: (np.zeros(3000), np.arange(1.0, 11), np.zeros(1)))
def searches_in_rounds_that_leave_the_names_alike(x, table, out):
    matches = 0
    for v in x:
        for k in range(table.size):
            if table[k] == v:
                matches += 1
    for v in x:
        k = 0
        while k < table.size:
            if table[k] == v:
                matches += 1
            k += 1
    for _weight in (0.5, 0.5, 0.5):
        k = 0
        while k < 1000:
            matches += x[k] > 0
            k += 1
    for i in range(3):
        i = 0
        while i < 1000:
            matches += x[i] > 0
            i += 1
    out[0] = matches + 1


@cuda.jit(device=True)
def first_above(table, limit):
    k = 0
    while table[k] <= limit:
        k += 1
    return k


for rounds in (90, 999, 1_000):

    def follows_loops_that_are_alike(table, out, rounds=rounds):
        for k in range(out.size):
            out[k] = first_above(table, rounds - 1)
            out[k] += first_above(table, rounds - 1)

    follows_loops_that_are_alike.__name__ = f"follows_loops_of_{rounds}_rounds"
    leaves(
        lambda table, out, rounds=rounds: np.full(40, 2 * rounds),
        1,
        1,
        lambda rounds=rounds: (np.arange(rounds + 1), np.zeros(40)),
    )(follows_loops_that_are_alike)


def hashes_of(out):
    i = np.arange(out.shape[1])
    return np.stack([(i * 1103515245 + 12345).astype(np.int32), i * 2654435761 % 2**32])


@leaves(hashes_of, 2, 32, lambda: (np.zeros((2, 64), "int64"),))
def converts_by_types_of_numba(out):
    i = cuda.grid(1)
    out[0, i] = int32(i * 1103515245 + 12345)
    out[1, i] = uint32(i * 2654435761)


@leaves(
    lambda flags, out: np.array([[np.inf, 3.5], [0, 7], [np.nan, 0.5]]),  # Numba: an integer by zero gives 0
    1,
    2,
    lambda: (np.array([False, True]), np.zeros((3, 2))),
)
def divides_by_a_truth_value(flags, out):
    i = cuda.grid(1)
    out[0, i] = 3.5 / flags[i]
    out[1, i] = 7 // flags[i]
    out[2, i] = 3.5 % flags[i]


# threads that wait for one another


@leaves(lambda a: a.reshape(3, 64)[:, ::-1].ravel(), 3, 64, lambda: (np.arange(192, dtype="float32"),))
def reverses_a_block(a):
    s = cuda.shared.array(64, np.float32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    s[t] = a[i]
    cuda.syncthreads()
    a[i] = s[63 - t]


@leaves(lambda a: a[::-1].copy(), 1, 32, lambda: (np.arange(32, dtype="float32"),))
def reverses_a_warp(a):
    s = cuda.shared.array(32, np.float32)
    s[cuda.laneid] = a[cuda.laneid]
    cuda.syncwarp()
    a[cuda.laneid] = s[31 - cuda.laneid]


PATTERNS = np.array([[1] * 40, [0] * 40, [0, 2] * 20])


@leaves(
    lambda a, out: (
        np.stack([[np.count_nonzero(row), row.all(), row.any()] for row in a])[:, :, None] + 0 * out
    ),
    3,
    40,
    lambda: (PATTERNS, np.zeros((3, 3, 40), "int64")),
)
def counts_votes_at_a_barrier(a, out):
    block, t = cuda.blockIdx.x, cuda.threadIdx.x
    yes = a[block, t]
    out[block, 0, t] = cuda.syncthreads_count(yes)
    out[block, 1, t] = cuda.syncthreads_and(yes)
    out[block, 2, t] = cuda.syncthreads_or(yes)


@leaves(lambda m: np.arange(12)[:, None] + 0 * m, 8, 8, lambda: (np.zeros((12, 64), "int32"),))
def meets_as_a_grid_at_each_row(m):
    column, grid = cuda.grid(1), cuda.cg.this_grid()
    for row in range(1, m.shape[0]):
        m[row, column] = m[row - 1, m.shape[1] - column - 1] + 1
        grid.sync()


def steps_of_four_blocks():
    history = np.zeros((6, 4), np.int64)
    history[0] = 1, 2, 3, 4
    return np.zeros(4, np.int64), history


def sums_of_sums(flags, history):
    return np.concatenate([history[:1], (10 * 4 ** np.arange(5))[:, None] * np.ones(4, int)])


@leaves(sums_of_sums, 4, 32, steps_of_four_blocks)
def waits_at_flags_in_each_step(flags, history):
    """Every block adds up what all blocks wrote in the step before, with a flag for each block."""
    block, t, blocks = cuda.blockIdx.x, cuda.threadIdx.x, cuda.gridDim.x
    for step in range(1, history.shape[0]):
        if t < blocks:
            while cuda.atomic.add(flags, t, 0) < step - 1:
                pass
            cuda.threadfence()
        cuda.syncthreads()
        if t == 0:
            total = 0
            for other in range(blocks):
                total += cuda.ldcg(history[step - 1], other)
            history[step, block] = total
        cuda.syncthreads()
        if t == 0:
            cuda.threadfence()
            cuda.stcg(flags, block, step)


@leaves(lambda *_: np.array([48]), 3, 16, lambda: (np.zeros(1, "int32"), np.zeros(1, "int32")))
def counts_under_a_lock(lock, counter):
    while cuda.atomic.cas(lock, 0, 0, 1) == 1:
        cuda.nanosleep(100)
    cuda.threadfence()
    value = cuda.ldcv(counter, 0)
    cuda.nanosleep(10)
    counter[0] = value + 1
    cuda.threadfence()
    cuda.atomic.exch(lock, 0, 0)


@leaves(
    lambda a, *_: a.sum(keepdims=True),
    10,
    4,
    lambda: (np.arange(10.0), np.zeros(10), np.zeros(1, "uint32"), np.zeros(1)),
)
def lets_the_last_block_add_up_all(a, partial, ticket, out):
    if cuda.threadIdx.x == 0:
        partial[cuda.blockIdx.x] = a[cuda.blockIdx.x]
        cuda.threadfence()
        if cuda.atomic.inc(ticket, 0, cuda.gridDim.x - 1) == cuda.gridDim.x - 1:
            for block in range(cuda.gridDim.x):
                out[0] += partial[block]


def then_syncwarp(word):
    """The word of a warp with the barrier that it is not."""

    collective = cuda.jit(device=True)(word)

    @cuda.jit(device=True)
    def both(lane):
        collective(lane)
        cuda.syncwarp()

    return both


for name, word in COLLECTIVES.items():
    function = swapped_after(then_syncwarp(word))
    function.__name__ = f"synchronises_after_{name}"
    leaves(lambda x, y: x[::-1], 1, 32, one(32))(function)
