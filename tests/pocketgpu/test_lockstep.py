"""The engine in lockstep: what it leaves behind is what one thread after another leaves behind."""

import faulty_kernels
import numpy as np
import pytest
import random_kernels
import right_kernels_of_learners
import sound_kernels
import wrong_kernels_of_learners
from answer_cells import answer_cells
from both_engines import Comparison
from launches import names_of

from nbjudge.grading.in_process import InProcess
from nbjudge.grading.judge import judge
from pocketgpu import cuda
from pocketgpu.simulator import lockstep
from rnncourse import checks

TABLES = faulty_kernels, right_kernels_of_learners, sound_kernels, wrong_kernels_of_learners
CASES = {f"{table.__name__}:{name}": case for table in TABLES for name, case in table.CASES.items()}
KERNELS = {
    exercise.name: (lesson, exercise)
    for lesson in checks.LESSONS
    for exercise in checks.exercises(lesson)
    if exercise.is_kernel
}
BLOCKS, THREADS = 40, 32


@pytest.fixture
def engines(monkeypatch):
    return Comparison(monkeypatch)


@pytest.fixture
def chunks(monkeypatch):
    """Several chunks in small launches."""
    monkeypatch.setattr(lockstep, "FIRST_CHUNK", 64)
    monkeypatch.setattr(lockstep, "LARGEST_CHUNK", 128)


@pytest.mark.corpus
@pytest.mark.parametrize("name", CASES)
def test_a_kernel_of_the_tables_has_the_same_outcome(engines, name):
    case = CASES[name]
    try:
        cuda.observe(case.kernel, case.grid, case.block, *case.arguments(), shared=case.shared)
    except Exception as error:  # a GPU would not launch it
        pytest.skip(f"refused: {error}")
    assert engines.differing == []
    print(engines)


@pytest.mark.corpus
@pytest.mark.parametrize("seed", range(150))
def test_a_random_kernel_has_the_same_outcome(engines, seed):
    kernel, arguments = random_kernels.kernel(seed)
    try:
        cuda.observe(kernel, random_kernels.BLOCKS, random_kernels.THREADS, *arguments)
    except Exception as error:  # Python's own, as of arithmetic that no GPU has either
        pytest.skip(f"refused: {error}")
    assert engines.differing == []
    print(engines)


def test_numbers_of_the_text_are_what_pythons_compiler_makes_of_them(engines):
    @cuda.jit
    def kernel(out):
        i = cuda.grid(1)
        out[i] = i * 2**-3 + 3 / 2**-1 + (1 << 63) // 2**61 + 2 * (2**2) ** -1

    out = np.zeros(BLOCKS * THREADS)
    cuda.observe(kernel, BLOCKS, THREADS, out)
    np.testing.assert_array_equal(out, np.arange(out.size) / 8 + 10.5)
    assert engines.differing == []
    assert engines.reasons[""] == 1


def test_one_condition_of_two_may_be_the_same_in_all_threads(engines):
    @cuda.jit
    def kernel(out, few, many):
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

    out = np.zeros((7, 9))
    cuda.observe(kernel, (2, 3), (4, 4), out, 1, 2)
    i, j = np.indices(out.shape)
    np.testing.assert_array_equal(out, 2 * (i < 3) + 4 * (j < 5) + 8)
    assert engines.differing == []
    assert engines.reasons[""] == 1


def test_an_index_has_three_axes():
    @cuda.jit
    def kernel(out):
        out[cuda.grid(1)] = cuda.threadIdx.w

    with pytest.raises(AttributeError):
        kernel[BLOCKS, THREADS](np.zeros(BLOCKS * THREADS))


def answers_to(name):
    """{label: function or text} of all answers to an exercise that the course knows."""
    lesson, exercise = KERNELS[name]
    texts = [*exercise.right, *(cell.text for cell in answer_cells(lesson)[name])]
    functions = [exercise.reference, *map(exercise.make, exercise.mutants)]
    return {f"{name} {number}": answer for number, answer in enumerate([*functions, *texts])}


ANSWERS = {label: (name, answer) for name in KERNELS for label, answer in answers_to(name).items()}


@pytest.mark.slow
@pytest.mark.corpus
@pytest.mark.parametrize("label", ANSWERS)
def test_an_answer_to_an_exercise_has_the_same_outcome(engines, label):
    name, answer = ANSWERS[label]
    if isinstance(answer, str):
        answer = names_of(answer, f"<{label}>", __name__=name, np=np, cuda=cuda)[name]
    judge(KERNELS[name][1], InProcess(answer), 1)
    assert engines.differing == []
    print(engines)


def run(kernel, *arguments, allowed=True):
    """Findings, and why the launch did not run in lockstep."""
    with cuda.settings(lockstep=allowed):
        report = cuda.observe(kernel, BLOCKS, THREADS, *arguments)
    return report.findings, report.watch.why_not_in_lockstep


@cuda.jit
def collatz(n, steps):
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


def steps_to_one(value):
    return 0 if value == 1 else 1 + steps_to_one(value // 2 if value % 2 == 0 else 3 * value + 1)


def test_threads_leave_a_loop_at_their_own_time(chunks):
    n = np.arange(1, BLOCKS * THREADS - 20)
    steps = np.zeros_like(n)
    assert run(collatz, n, steps) == ((), "")
    assert steps.tolist() == [*map(steps_to_one, n.tolist())]


@cuda.jit
def sum_of_block(x, sums, wrong):
    part = cuda.shared.array(THREADS, np.float64)
    t = cuda.threadIdx.x
    part[t] = x[cuda.grid(1)]
    stride = THREADS // 2
    while stride > 0:
        if t != wrong:
            cuda.syncthreads()
        if t < stride:
            part[t] += part[t + stride]
        stride //= 2
    if t == 0:
        sums[cuda.blockIdx.x] = part[0]


@cuda.jit
def sum_without_barriers(x, sums):
    part = cuda.shared.array(THREADS, np.float64)
    t = cuda.threadIdx.x
    part[t] = x[cuda.grid(1)]
    if t == 0:
        for k in range(THREADS):
            sums[cuda.blockIdx.x] += part[k]


def test_a_barrier_orders_the_threads_of_a_block(chunks):
    x = np.arange(BLOCKS * THREADS, dtype=np.float64)
    sums = np.zeros(BLOCKS)
    assert run(sum_of_block, x, sums, -1) == ((), "")
    assert sums.tolist() == x.reshape(BLOCKS, THREADS).sum(1).tolist()
    findings, reason = run(sum_without_barriers, x, np.zeros(BLOCKS))
    assert {finding.kind for finding in findings} == {"race"}
    assert reason


def test_a_barrier_that_a_thread_leaves_out_is_found(chunks):
    findings, reason = run(sum_of_block, np.ones(BLOCKS * THREADS), np.zeros(BLOCKS), 3)
    assert "barrier_divergence" in {finding.kind for finding in findings}
    assert reason


@cuda.jit
def add_and_look_ahead(y, distance):
    i = cuda.grid(1)
    y[i] += 1
    if i + distance < y.size:
        y[i] += 0 * y[i + distance]


@pytest.mark.parametrize("distance", [THREADS, 5 * THREADS, BLOCKS * THREADS - 1])
def test_a_race_between_blocks_is_found_however_far_apart_they_run(chunks, distance):
    y, other = np.zeros((2, BLOCKS * THREADS))
    findings, reason = run(add_and_look_ahead, y, distance)
    assert {finding.kind for finding in findings} == {"race"}
    assert reason
    assert run(add_and_look_ahead, other, distance, allowed=False)[0] == findings
    assert y.tolist() == other.tolist() == [1] * len(y)  # not two: the first attempt was taken back


@cuda.jit
def gather(x, places, out):
    i = cuda.grid(1)
    out[i] = x[places[i]]


def test_an_index_beyond_the_array_ends_the_launch_as_it_does_thread_by_thread(chunks):
    size = BLOCKS * THREADS
    places = np.random.default_rng(0).permutation(size)
    outs = np.zeros((2, size))
    assert run(gather, np.arange(size), places, outs[0]) == ((), "")
    assert outs[0].tolist() == places.tolist()
    places[-3] = size
    outs[:] = 0
    findings = [run(gather, np.arange(size), places, out, allowed=out is outs[0])[0] for out in outs]
    assert findings[0] == findings[1]
    assert [finding.kind for finding in findings[0]] == ["out_of_bounds"]
    assert outs[0].tolist() == outs[1].tolist() == [*places[:-3], 0, 0, 0]


@cuda.jit
def scaled(a, x, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i] = a * x[i] + y[i]


def test_a_million_threads_run_with_all_checks():
    x = np.random.default_rng(0).random(1 << 20, np.float32)
    y = np.ones_like(x)
    scaled[1 << 12, 256](2.0, x, y)
    np.testing.assert_array_equal(y, np.float32(2) * x + 1)
    assert scaled.watch.sectors == 3 * x.nbytes // 32


def test_a_launch_of_many_accesses_runs_but_keeps_no_report(chunks):
    x, y = np.ones((2, BLOCKS * THREADS), np.float32)
    with cuda.settings(events=2 * BLOCKS * THREADS):
        scaled[BLOCKS, THREADS](2.0, x, y)
        assert y.tolist() == [3] * len(y)
        with pytest.raises(RuntimeError, match=f"{3 * len(y):,}"):
            scaled.report()


@cuda.jit
def first_in_row(x, limit, places):
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


@pytest.mark.parametrize("rounds", [63, 64, 1000])
def test_a_loop_may_keep_its_threads_for_any_number_of_rounds(engines, rounds):
    @cuda.jit
    def kernel(out, n):
        k = 0
        while k < n:
            k += 1
        out[cuda.grid(1)] = k

    out = np.zeros(BLOCKS * THREADS)
    cuda.observe(kernel, BLOCKS, THREADS, out, rounds)
    np.testing.assert_array_equal(out, rounds)
    assert engines.reasons[""] == 1


def test_long_loops_of_few_threads_run_one_by_one():
    @cuda.jit
    def kernel(out):
        i = cuda.grid(1)
        if i < 2:
            for _ in range(200):
                for _ in range(100):
                    out[i] += 1

    out = np.zeros(BLOCKS * THREADS)
    with cuda.settings(seconds=0.1):
        assert run(kernel, out) == ((), "a loop that runs for long")
    assert out.tolist() == [20_000] * 2 + [0] * (out.size - 2)


def test_an_endless_loop_around_a_loop_that_threads_leave_ends():
    @cuda.jit
    def kernel(out):
        k = 0
        while k >= 0:
            k = (k + 1) % 7
            j = 0
            while j < 1 + cuda.grid(1) % 20:
                j += 1
        out[0] = k

    with cuda.settings(seconds=0.3), pytest.raises(RuntimeError, match=r"ended|never"):
        kernel[BLOCKS, THREADS](np.zeros(1))


def test_threads_that_have_left_a_loop_touch_nothing(chunks, engines):
    x = np.random.default_rng(0).uniform(-0.2, 1, (2 * BLOCKS * THREADS - 30, 9))
    places = np.zeros(len(x), np.int32)
    cuda.observe(first_in_row, BLOCKS, THREADS, x, 2.0, places)
    sums = np.cumsum(x - (x < 0), 1)
    reached = (sums > 2.0) & (x >= 0)
    np.testing.assert_array_equal(places, np.where(reached.any(1), reached.argmax(1), -1))
    assert engines.differing == []
    assert engines.reasons[""] == 1


@cuda.jit(device=True)
def rounds_until(z, c, most):
    for k in range(most):
        if abs(z) > 2.0:
            return k
        z = z * z + c
    return most


@cuda.jit
def complex_rounds(z, c, rounds, squares):
    i = cuda.grid(1)
    if i < z.size:
        rounds[i] = rounds_until(z[i], c, 30)
        squares[i] = -2 * z[i] * complex(z[i].imag, 1) if z[i].real > 0 else z[i] / c


@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
def test_complex_numbers_have_the_bits_of_one_thread(chunks, engines, dtype):
    draw = np.random.default_rng(0)
    z = draw.normal(size=BLOCKS * THREADS).astype(dtype) + dtype(1j) * draw.normal(size=BLOCKS * THREADS)
    z = z.astype(dtype)
    c = 0.3 - 0.5j
    rounds = np.zeros(z.size, np.int64)
    squares = np.zeros_like(z)
    cuda.observe(complex_rounds, BLOCKS, THREADS, z, c, rounds, squares)
    expected = np.where(z.real > 0, -2 * z * (z.imag + 1j), z / c)
    np.testing.assert_allclose(squares, expected, rtol=1e-5)
    exact = dtype is np.complex128
    assert [rounds_until.py_func(number, c, 30) for number in z.tolist()] == rounds.tolist() or not exact
    assert engines.differing == []
    assert engines.reasons[""] == 1


@cuda.jit
def sorted_rows(a):
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


def test_an_index_may_have_several_types_of_integers(chunks, engines):
    a = np.random.default_rng(0).integers(0, 50, (BLOCKS * THREADS - 9, 11))
    expected = np.sort(a, 1)
    cuda.observe(sorted_rows, BLOCKS, THREADS, a)
    np.testing.assert_array_equal(a, expected)
    assert engines.differing == []
    assert engines.reasons[""] == 1


@cuda.jit
def largest_of_each(a, places):
    position = cuda.grid(2)
    if position[0] < a.shape[0] and position[1] < a.shape[1]:
        best = position[0], position[1], 0
        for k in range(a.shape[2]):
            candidate = position[0], position[1], k
            if a[candidate] > a[best]:
                best = candidate
        places[position] = best[2]


def test_a_name_may_stand_for_a_tuple_that_differs_between_threads(engines):
    a = np.random.default_rng(0).random((13, 21, 6))
    places = np.zeros(a.shape[:2], np.int8)
    cuda.observe(largest_of_each, (2, 3), (8, 8), a, places)
    np.testing.assert_array_equal(places, a.argmax(2))
    assert engines.differing == []
    assert engines.reasons[""] == 1
