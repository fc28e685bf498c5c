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


IN_LOCKSTEP = (
    "has_numbers_that_pythons_compiler_works_out",
    "joins_a_condition_that_is_the_same_in_all_threads",
    "leaves_a_loop_at_its_own_time",
    "finds_the_first_in_its_rows",
    "sorts_rows_with_a_stack",
    "finds_the_largest_by_tuples",
)


@pytest.mark.parametrize("name", IN_LOCKSTEP)
def test_a_kernel_of_sound_ones_runs_in_lockstep_alone(engines, chunks, name):
    case = sound_kernels.CASES[name]
    arguments = case.arguments()
    expected = case.expected(*arguments)
    cuda.observe(case.kernel, case.grid, case.block, *arguments)
    np.testing.assert_array_equal(arguments[-1], expected)
    assert engines.differing == []
    assert [*engines.reasons] == [""]


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


def test_each_thread_prints(capsys):
    @cuda.jit
    def kernel(out):
        out[cuda.grid(1)] = 1
        print("here")

    kernel[BLOCKS, THREADS](np.zeros(BLOCKS * THREADS))
    assert capsys.readouterr().out.count("here") == BLOCKS * THREADS


def test_bits_of_a_size_are_those_of_an_int32(engines):
    @cuda.jit
    def kernel(out):
        out[cuda.grid(1)] = cuda.clz(cuda.blockDim.x) + 100 * cuda.clz(8)

    out = np.zeros(BLOCKS * THREADS, np.int64)
    with cuda.settings(raise_findings=False):
        kernel[BLOCKS, THREADS](out)
    np.testing.assert_array_equal(out, 26 + 6000)


def test_an_index_may_be_taken_apart(engines):
    @cuda.jit
    def kernel(out):
        x, y, z = cuda.threadIdx
        out[cuda.blockIdx.x, x] = x + 10 * y + 100 * z

    out = np.ones((BLOCKS, THREADS))
    cuda.observe(kernel, BLOCKS, THREADS, out)
    np.testing.assert_array_equal(out, np.broadcast_to(np.arange(THREADS), out.shape))
    assert engines.differing == []


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
